// The CUDA driver API as a table of function pointers. cuda.h gives types only; nothing is linked.
#pragma once
#include <cuda.h>

#include <string>

namespace opscope::cuda {

// Member, then the symbol in libcuda: the oldest one with the signature that cuda.h declares, for older drivers' sake.
#define OPSCOPE_CUDA_FUNCTIONS(X)                                          \
  X(Init, "cuInit")                                                        \
  X(DriverGetVersion, "cuDriverGetVersion")                                \
  X(GetErrorName, "cuGetErrorName")                                        \
  X(GetErrorString, "cuGetErrorString")                                    \
  X(DeviceGetCount, "cuDeviceGetCount")                                    \
  X(DeviceGet, "cuDeviceGet")                                              \
  X(DeviceGetName, "cuDeviceGetName")                                      \
  X(DeviceGetAttribute, "cuDeviceGetAttribute")                            \
  X(DeviceTotalMem, "cuDeviceTotalMem_v2")                                 \
  X(DeviceGetPCIBusId, "cuDeviceGetPCIBusId")                              \
  X(DeviceGetUuid, "cuDeviceGetUuid")                                      \
  X(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain")                    \
  X(DevicePrimaryCtxGetState, "cuDevicePrimaryCtxGetState")                \
  X(CtxSetCurrent, "cuCtxSetCurrent")                                      \
  X(CtxResetPersistingL2Cache, "cuCtxResetPersistingL2Cache")              \
  X(MemGetInfo, "cuMemGetInfo_v2")                                         \
  X(MemAlloc, "cuMemAlloc_v2")                                             \
  X(MemFree, "cuMemFree_v2")                                               \
  X(MemHostAlloc, "cuMemHostAlloc")                                        \
  X(MemHostGetDevicePointer, "cuMemHostGetDevicePointer_v2")               \
  X(MemFreeHost, "cuMemFreeHost")                                          \
  X(MemcpyDtoH, "cuMemcpyDtoH_v2")                                         \
  X(MemcpyPeerAsync, "cuMemcpyPeerAsync")                                  \
  X(CtxEnablePeerAccess, "cuCtxEnablePeerAccess")                          \
  X(DeviceCanAccessPeer, "cuDeviceCanAccessPeer")                          \
  X(MemsetD8Async, "cuMemsetD8Async")                                      \
  X(MemsetD16Async, "cuMemsetD16Async")                                    \
  X(MemsetD32Async, "cuMemsetD32Async")                                    \
  X(StreamCreate, "cuStreamCreate")                                        \
  X(StreamSynchronize, "cuStreamSynchronize")                              \
  X(StreamBeginCapture, "cuStreamBeginCapture_v2")                         \
  X(StreamEndCapture, "cuStreamEndCapture")                                \
  X(GraphInstantiate, "cuGraphInstantiateWithFlags")                       \
  X(GraphLaunch, "cuGraphLaunch")                                          \
  X(GraphDestroy, "cuGraphDestroy")                                        \
  X(GraphExecDestroy, "cuGraphExecDestroy")                                \
  X(EventCreate, "cuEventCreate")                                          \
  X(EventRecord, "cuEventRecord")                                          \
  X(EventElapsedTime, "cuEventElapsedTime")                                \
  X(EventDestroy, "cuEventDestroy_v2")                                     \
  X(ModuleLoadData, "cuModuleLoadData")                                    \
  X(ModuleGetFunction, "cuModuleGetFunction")                              \
  X(FuncSetAttribute, "cuFuncSetAttribute")                                \
  X(FuncGetAttribute, "cuFuncGetAttribute")                                \
  X(LaunchKernelEx, "cuLaunchKernelEx")                                    \
  X(OccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor") \
  X(TensorMapEncodeTiled, "cuTensorMapEncodeTiled")

struct Api {
#define OPSCOPE_MEMBER(name, symbol) decltype(&::cu##name) name = nullptr;
  OPSCOPE_CUDA_FUNCTIONS(OPSCOPE_MEMBER)
#undef OPSCOPE_MEMBER
  // Empty when the driver can be used; else one sentence for the user.
  std::string missing;
  int driver_version = 0;  // 1000 * major + 10 * minor
};

// Opens the driver on first use. Never throws; look at `missing`.
const Api& api();

// Throws Error when `result` is a failure. `doing` completes "The GPU driver failed while …".
void check(CUresult result, const char* doing);

// `CUDA_ERROR_X: its description`.
std::string describe(CUresult result);

}  // namespace opscope::cuda
