// What the invented drivers of tests have alike: functions that must be there and do nothing.
// Without their parameters: declarations of cuda.h must not be seen beside them.
#pragma once

#define DOES_NOTHING(name) \
  int name() { return 0; }

extern "C" {

int cuDriverGetVersion(int* version) {
  *version = 1'000'000;
  return 0;
}
DOES_NOTHING(cuInit)
DOES_NOTHING(cuDeviceGet)
DOES_NOTHING(cuDeviceGetName)
DOES_NOTHING(cuDeviceTotalMem_v2)
DOES_NOTHING(cuDeviceGetUuid)
DOES_NOTHING(cuDevicePrimaryCtxRetain)
DOES_NOTHING(cuDevicePrimaryCtxGetState)
DOES_NOTHING(cuCtxSetCurrent)
DOES_NOTHING(cuCtxResetPersistingL2Cache)
DOES_NOTHING(cuMemFreeHost)
DOES_NOTHING(cuMemcpyPeerAsync)
DOES_NOTHING(cuCtxEnablePeerAccess)
DOES_NOTHING(cuDeviceCanAccessPeer)
DOES_NOTHING(cuStreamCreate)
DOES_NOTHING(cuStreamBeginCapture_v2)
DOES_NOTHING(cuStreamEndCapture)
DOES_NOTHING(cuGraphInstantiateWithFlags)
DOES_NOTHING(cuGraphLaunch)
DOES_NOTHING(cuGraphDestroy)
DOES_NOTHING(cuGraphExecDestroy)
DOES_NOTHING(cuEventCreate)
DOES_NOTHING(cuEventRecord)
DOES_NOTHING(cuEventDestroy_v2)
DOES_NOTHING(cuModuleLoadData)
DOES_NOTHING(cuOccupancyMaxActiveBlocksPerMultiprocessor)
}
