#include "fake_driver.h"

#include "idle_driver.h"

FakeDriver fake_driver;

namespace {

// As cuda.h has them, whose declarations would not let what is not needed stay empty.
struct Attribute {
  int id, pad;
  union {
    unsigned cluster[3];
    char bytes[64];
  };
};
struct Config {
  unsigned grid[3], threads[3], shared;
  void* stream;
  Attribute* attributes;
  unsigned count;
};
constexpr int cluster_dimension = 4, programmatic_serialization = 6, success = 0;

}  // namespace

extern "C" {

int cuMemAlloc_v2(unsigned long long* address, size_t bytes) {
  fake_driver.allocations.push_back(bytes);
  *address = fake_driver.next_address;
  fake_driver.next_address += (bytes + 511) / 256 * 256;
  return success;
}
int cuLaunchKernelEx(const Config* config, void* function, void**, void**) {
  FakeLaunch launch = {static_cast<std::string*>(function), {config->grid[0], config->grid[1], config->grid[2]}, config->threads[0], config->shared, 1, false};
  for (unsigned i = 0; i < config->count; i++) {
    if (config->attributes[i].id == cluster_dimension) launch.cluster = config->attributes[i].cluster[0];
    if (config->attributes[i].id == programmatic_serialization) launch.early = true;
  }
  fake_driver.launches.push_back(launch);
  return success;
}
int cuTensorMapEncodeTiled() {
  fake_driver.tensor_maps++;
  return success;
}
int cuFuncGetAttribute(int* value, int which, void* function) {
  constexpr int shared_size_bytes = 1, max_dynamic_shared_size_bytes = 8;
  const int own = fake_driver.own_shared ? fake_driver.own_shared(*static_cast<std::string*>(function)) : 0;
  const auto granted = fake_driver.granted.find(function);
  *value = which == shared_size_bytes ? own : which == max_dynamic_shared_size_bytes ? (granted == fake_driver.granted.end() ? fake_default_shared - own : granted->second) : 0;
  return success;
}
int cuFuncSetAttribute(void* function, int, int bytes) {
  fake_driver.granted[function] = bytes;
  return success;
}

DOES_NOTHING(cuGetErrorName)
DOES_NOTHING(cuGetErrorString)
DOES_NOTHING(cuDeviceGetCount)
DOES_NOTHING(cuDeviceGetAttribute)
DOES_NOTHING(cuDeviceGetPCIBusId)
DOES_NOTHING(cuMemGetInfo_v2)
DOES_NOTHING(cuMemFree_v2)
DOES_NOTHING(cuMemHostAlloc)
DOES_NOTHING(cuMemHostGetDevicePointer_v2)
DOES_NOTHING(cuMemcpyDtoH_v2)
DOES_NOTHING(cuMemsetD8Async)
DOES_NOTHING(cuMemsetD16Async)
DOES_NOTHING(cuMemsetD32Async)
DOES_NOTHING(cuStreamSynchronize)
DOES_NOTHING(cuEventElapsedTime)
DOES_NOTHING(cuModuleGetFunction)
}
