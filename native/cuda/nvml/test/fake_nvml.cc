// The management library of an invented machine, for what must be tested without a GPU. Linked under the real one's name, so
// that it is found where that is opened.
#include "fake_nvml.h"

#include <cstdio>

Machine machine;

namespace {

struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};

int list(const std::vector<unsigned>& pids, unsigned* count, ProcessInfo* out) {
  *count = 0;
  for (const unsigned pid : pids) out[(*count)++] = {pid, 0, 0, 0};
  return 0;
}

}  // namespace

extern "C" {
int nvmlInit_v2() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void**) { return 6; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(machine.gpus.size());
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &machine.gpus[index];
  return 0;
}
int nvmlDeviceGetName(void* device, char* text, unsigned size) {
  std::snprintf(text, size, "%s", static_cast<std::string*>(device)->c_str());
  return 0;
}
int nvmlDeviceGetClockInfo(void*, int, unsigned* mhz) {
  *mhz = machine.clock_mhz;
  return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  *millijoules = machine.millijoules;
  return 0;
}
int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* bits) {
  *bits = machine.throttle;
  return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, ProcessInfo* out) { return list(machine.computing, count, out); }
int nvmlDeviceGetGraphicsRunningProcesses_v3(void*, unsigned* count, ProcessInfo* out) { return list(machine.drawing, count, out); }
}
