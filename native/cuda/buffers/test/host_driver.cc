// Linked under the name of NVIDIA's driver, so that it is found where that is opened. As cuda.h has the functions, whose declarations would not let
// what is not needed stay empty.
#include "host_driver.h"

#include <cstdlib>
#include <cstring>
#include <set>

#include "../../device/service.h"
#include "../../driver/test/idle_driver.h"

using namespace opscope::cuda;

HostDriver host_driver;

namespace {

using Pointer = unsigned long long;

template <class T>
T argument(void** arguments, int place) {
  return *static_cast<T*>(arguments[place]);
}

// scan_bands of device/service.cu; scan_8 to scan_32 look at the bands in the same way.
void scan_bands(Pointer data, long long bytes, int after, Pointer counts) {
  const auto* begin = reinterpret_cast<const unsigned char*>(data);
  auto& found = *reinterpret_cast<ScanCounts*>(counts);
  for (int i = 0; i < guard_bytes; i++) found.outside += begin[-1 - i] != guard_byte;
  for (int i = 0; i < after; i++) found.outside += begin[bytes + i] != guard_byte;
}

template <class T>
int set(Pointer to, T value, size_t count) {
  for (size_t i = 0; i < count; i++) reinterpret_cast<T*>(to)[i] = value;
  return 0;
}

}  // namespace

extern "C" {

int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDeviceGetAttribute(int* value, int which, int) {
  constexpr int multiprocessors = 16, l2_bytes = 38, major = 75;
  *value = which == multiprocessors ? 132 : which == l2_bytes ? 1 << 20 : which == major ? 9 : 0;
  return 0;
}
int cuDeviceGetPCIBusId() { return 1; }
int cuGetErrorName(int, const char** name) {
  *name = "CUDA_ERROR";
  return 0;
}
int cuGetErrorString(int, const char** text) {
  *text = "as the test wants it";
  return 0;
}
int cuMemGetInfo_v2(size_t* free, size_t* total) {
  *free = *total = size_t{1} << 34;
  return 0;
}
int cuMemAlloc_v2(Pointer* address, size_t bytes) {
  *address = reinterpret_cast<Pointer>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  return 0;
}
int cuMemFree_v2(Pointer address) {
  std::free(reinterpret_cast<void*>(address));
  return 0;
}
int cuMemHostAlloc(void** address, size_t bytes, unsigned) {
  *address = std::calloc(1, bytes);
  return 0;
}
int cuMemHostGetDevicePointer_v2(Pointer* device, void* host, unsigned) {
  *device = reinterpret_cast<Pointer>(host);
  return 0;
}
int cuMemcpyDtoH_v2(void* to, Pointer from, size_t bytes) {
  std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  return 0;
}
int cuMemsetD8Async(Pointer to, unsigned char value, size_t count, void*) { return set(to, value, count); }
int cuMemsetD16Async(Pointer to, unsigned short value, size_t count, void*) { return set(to, value, count); }
int cuMemsetD32Async(Pointer to, unsigned value, size_t count, void*) { return set(to, value, count); }
int cuStreamSynchronize(void*) { return host_driver.waiting; }
int cuEventElapsedTime(float* ms, void*, void*) {
  *ms = 0.01F;
  return 0;
}
int cuModuleGetFunction(void** function, void*, const char* name) {
  static std::set<std::string> names;
  *function = const_cast<std::string*>(&*names.insert(name).first);
  return 0;
}
int cuLaunchKernelEx(const void*, void* function, void** arguments, void**) {
  const std::string& name = *static_cast<std::string*>(function);
  if (name == "scan_bands") {
    scan_bands(argument<Pointer>(arguments, 0), argument<long long>(arguments, 1), argument<int>(arguments, 2), argument<Pointer>(arguments, 3));
  } else if (name == "scan_32") {
    scan_bands(argument<Pointer>(arguments, 0), 4 * argument<long long>(arguments, 1), argument<int>(arguments, 3), argument<Pointer>(arguments, 4));
  } else if (host_driver.kernel) {
    host_driver.kernel(name, arguments);
  }
  return 0;
}

DOES_NOTHING(cuFuncSetAttribute)
DOES_NOTHING(cuFuncGetAttribute)
DOES_NOTHING(cuTensorMapEncodeTiled)
}
