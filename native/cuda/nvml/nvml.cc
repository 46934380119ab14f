#include "nvml.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <system_error>

#include "library.h"
#include "holders.h"

#ifndef _WIN32
#include <unistd.h>
#endif

namespace opscope::cuda {

namespace {

// What we use of nvml.h (not shipped with the compiler): handles are opaque, 0 is success.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};
struct MemoryInfo {
  unsigned long long total, free, used;
};
enum { clock_sm = 1, clock_memory = 2 };

struct Table {
  int (*init)() = nullptr;
  int (*by_pci)(const char*, void**) = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*by_index)(unsigned, void**) = nullptr;
  int (*name)(void*, char*, unsigned) = nullptr;
  int (*clock)(void*, int, unsigned*) = nullptr;
  int (*max_clock)(void*, int, unsigned*) = nullptr;
  int (*temperature)(void*, int, unsigned*) = nullptr;
  int (*power)(void*, unsigned*) = nullptr;
  int (*power_limit)(void*, unsigned*) = nullptr;
  int (*energy)(void*, unsigned long long*) = nullptr;
  int (*memory)(void*, MemoryInfo*) = nullptr;
  int (*throttle)(void*, unsigned long long*) = nullptr;
  int (*processes)(void*, unsigned*, ProcessInfo*) = nullptr;
  int (*graphics)(void*, unsigned*, ProcessInfo*) = nullptr;
  int (*process_name)(unsigned, char*, unsigned) = nullptr;
  int (*display_active)(void*, unsigned*) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*ecc)(void*, unsigned*, unsigned*) = nullptr;
  int (*mig)(void*, unsigned*, unsigned*) = nullptr;
  int (*persistence)(void*, unsigned*) = nullptr;
  std::string missing;
};

template <class F>
void find(const Library& library, F& slot, const char* name) {
  slot = reinterpret_cast<F>(library.symbol(name));
}

Table load() {
  Table t;
#ifdef _WIN32
  static const Library library({"nvml.dll"});
#else
  static const Library library({"libnvidia-ml.so.1"});
#endif
  if (!library.found()) {
    t.missing = "NVIDIA's management library was not found (" + library.error() + "), so clocks, power and temperature are not recorded.";
    return t;
  }
  find(library, t.init, "nvmlInit_v2");
  find(library, t.by_pci, "nvmlDeviceGetHandleByPciBusId_v2");
  find(library, t.count, "nvmlDeviceGetCount_v2");
  find(library, t.by_index, "nvmlDeviceGetHandleByIndex_v2");
  find(library, t.name, "nvmlDeviceGetName");
  find(library, t.clock, "nvmlDeviceGetClockInfo");
  find(library, t.max_clock, "nvmlDeviceGetMaxClockInfo");
  find(library, t.temperature, "nvmlDeviceGetTemperature");
  find(library, t.power, "nvmlDeviceGetPowerUsage");
  find(library, t.power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  find(library, t.energy, "nvmlDeviceGetTotalEnergyConsumption");
  find(library, t.memory, "nvmlDeviceGetMemoryInfo");
  find(library, t.throttle, "nvmlDeviceGetCurrentClocksEventReasons");
  if (!t.throttle) find(library, t.throttle, "nvmlDeviceGetCurrentClocksThrottleReasons");
  find(library, t.processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  find(library, t.graphics, "nvmlDeviceGetGraphicsRunningProcesses_v3");
  find(library, t.process_name, "nvmlSystemGetProcessName");
  find(library, t.display_active, "nvmlDeviceGetDisplayActive");
  find(library, t.driver_version, "nvmlSystemGetDriverVersion");
  find(library, t.ecc, "nvmlDeviceGetEccMode");
  find(library, t.mig, "nvmlDeviceGetMigMode");
  find(library, t.persistence, "nvmlDeviceGetPersistenceMode");
  if (!t.init || !t.by_pci || t.init() != 0) t.missing = "NVIDIA's management library does not start, so clocks, power and temperature are not recorded.";
  return t;
}

const Table& table() {
  static const Table t = load();
  return t;
}

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

double read_unsigned(int (*function)(void*, unsigned*), void* device, double factor) {
  unsigned value = 0;
  return function && function(device, &value) == 0 ? value * factor : absent;
}

double read_kind(int (*function)(void*, int, unsigned*), void* device, int kind) {
  unsigned value = 0;
  return function && function(device, kind, &value) == 0 ? value : absent;
}

// Bits of nvmlClocksEventReasons; the idle bit (1) says nothing about a running kernel and is left out.
constexpr std::pair<unsigned long long, const char*> reasons[] = {
    {0x2, "clocks set by an application"}, {0x4, "power limit"},          {0x8, "hardware slowdown"},     {0x10, "synchronised boost"},
    {0x20, "software thermal slowdown"},   {0x40, "hardware thermal slowdown"}, {0x80, "power brake"}, {0x100, "display clock setting"}};

double steady_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

#ifndef _WIN32
// Parent of a process, 0 where it cannot be read. /proc/PID/stat: "PID (name) state parent ...".
unsigned parent_of(unsigned pid) {
  std::FILE* file = std::fopen(("/proc/" + std::to_string(pid) + "/stat").c_str(), "r");
  if (!file) return 0;
  char text[512];
  const size_t length = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[length] = 0;
  const char* after_name = std::strrchr(text, ')');
  char state = 0;
  unsigned parent = 0;
  return after_name && std::sscanf(after_name + 1, " %c %u", &state, &parent) == 2 ? parent : 0;
}
#endif

// The process at the top of this app: the highest parent that runs the same program as this one's parent. 0 where not known.
unsigned top_of_app() {
#ifdef _WIN32
  return 0;
#else
  const auto program = [](unsigned pid) {
    std::error_code problem;
    return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", problem).string();
  };
  auto top = static_cast<unsigned>(getppid());
  const std::string app = program(top);
  for (unsigned above = parent_of(top); !app.empty() && above > 1 && program(above) == app; above = parent_of(above)) top = above;
  return top > 1 ? top : 0;
#endif
}

// Those of the processes that belong to this run of Opscope by their parents: the hidden WebGPU page keeps a context on the
// same card, and is idle while this process measures.
std::vector<unsigned> ours_of(const std::vector<unsigned>& pids) {
  std::vector<unsigned> list;
#ifdef _WIN32
  static_cast<void>(pids);
#else
  const unsigned app = top_of_app();
  for (const unsigned pid : pids) {
    unsigned above = pid;
    for (int depth = 0; app && above > 1 && depth < 16 && above != app; depth++) above = parent_of(above);
    if (app && above == app) list.push_back(pid);
  }
#endif
  return list;
}

// `worker`: the process of this app that is on the GPU itself. `holding`: whether it is to be found among those listed.
Listed listed_as(const std::vector<ProcessInfo>& processes, unsigned worker, bool holding) {
  std::vector<unsigned> pids;
  for (const auto& process : processes) pids.push_back(process.pid);
  std::vector<unsigned> holders = gpu_holders();
  if (worker != own_pid()) holders.push_back(worker);
  return tell_apart(pids, worker, ours_of(pids), holders, holding);
}

bool lists(const std::vector<ProcessInfo>& processes, unsigned pid) {
  return std::any_of(processes.begin(), processes.end(), [&](const ProcessInfo& process) { return process.pid == pid; });
}

std::string with_unit(double value, const char* unit) {
  char text[48];
  std::snprintf(text, sizeof text, "%.0f %s", value, unit);
  return text;
}

using ProcessList = int (*)(void*, unsigned*, ProcessInfo*);

std::vector<ProcessInfo> read_processes(ProcessList function, void* device) {
  std::vector<ProcessInfo> list(64);
  auto count = static_cast<unsigned>(list.size());
  if (!function || function(device, &count, list.data()) != 0) count = 0;
  list.resize(count);
  return list;
}

// ` (python3)`, or nothing where the name cannot be read.
std::string name_of(unsigned pid) {
  char path[256] = "";
  if (!table().process_name || table().process_name(pid, path, sizeof path) != 0) return {};
  std::string name = path;
  if (const size_t slash = name.find_last_of("/\\"); slash != std::string::npos) name = name.substr(slash + 1);
  return name.empty() ? "" : " (" + name + ")";
}

}  // namespace

std::unique_ptr<Nvml> Nvml::of_pci_bus(const std::string& bus_id, std::string* why) {
  if (!table().missing.empty()) {
    if (why) *why = table().missing;
    return nullptr;
  }
  void* device = nullptr;
  if (table().by_pci(bus_id.c_str(), &device) != 0) {
    if (why) *why = "NVIDIA's management library does not know this GPU, so clocks, power and temperature are not recorded.";
    return nullptr;
  }
  return std::unique_ptr<Nvml>(new Nvml(device, own_pid()));
}

std::unique_ptr<Nvml> Nvml::of_name(const std::string& name, unsigned worker, std::string* why) {
  const auto none = [&](const std::string& reason) {
    *why = reason;
    return nullptr;
  };
  const Table& t = table();
  if (!t.missing.empty()) return none(t.missing);
  unsigned count = 0;
  if (!t.count || !t.by_index || !t.name || t.count(&count) != 0) return none("NVIDIA's management library does not list the GPUs.");
  std::vector<void*> found;
  for (unsigned index = 0; index < count; index++) {
    void* device = nullptr;
    char text[96] = "";
    if (t.by_index(index, &device) == 0 && t.name(device, text, sizeof text) == 0 && name == text) found.push_back(device);
  }
  if (found.size() != 1) return none("There are " + std::to_string(found.size()) + " GPUs called " + name + "; expected one.");
  return std::unique_ptr<Nvml>(new Nvml(found[0], worker));
}

int Nvml::foreign_processes() {
  // The list takes milliseconds to read on some drivers: once a second is enough.
  if (steady_seconds() - processes_read_s_ < 1) return foreign_;
  processes_read_s_ = steady_seconds();
  foreign_ = -1;
  if (!table().processes || worker_ == 0) return foreign_;
  // Chromium's process may be listed among those that draw only; that it is listed shows that numbers mean here what they mean to the driver.
  const bool draws = worker_ != own_pid() && lists(read_processes(table().graphics, device_), worker_);
  return foreign_ = listed_as(read_processes(table().processes, device_), worker_, !draws).count();
}

DeviceState Nvml::state() {
  DeviceState s{};
  s.sm_clock_mhz = read_kind(table().clock, device_, clock_sm);
  s.mem_clock_mhz = read_kind(table().clock, device_, clock_memory);
  s.temperature_c = read_kind(table().temperature, device_, 0);
  s.power_w = read_unsigned(table().power, device_, 1e-3);
  s.energy_j = absent;
  s.foreign_processes = foreign_processes();
  unsigned long long bits = 0;
  if (table().throttle && table().throttle(device_, &bits) == 0) {
    s.has_throttle = true;
    for (const auto& [bit, words] : reasons)
      if (bits & bit) s.throttle.push_back(words);
  }
  return s;
}

double Nvml::energy_j() const {
  unsigned long long millijoules = 0;
  return table().energy && table().energy(device_, &millijoules) == 0 ? static_cast<double>(millijoules) * 1e-3 : absent;
}

double Nvml::power_w() const { return read_unsigned(table().power, device_, 1e-3); }

double Nvml::free_bytes() const {
  MemoryInfo memory{};
  return table().memory && table().memory(device_, &memory) == 0 ? static_cast<double>(memory.free) : absent;
}

std::string Nvml::driver() const {
  char version[96] = "";
  return table().driver_version && table().driver_version(version, sizeof version) == 0 ? version : "";
}

std::vector<std::string> Nvml::disturbances(bool holds_context) const {
  std::vector<ProcessInfo> all = read_processes(table().processes, device_);
  // Without a process that computes, this one's context says nothing about the numbers that the driver lists.
  const bool computing = !all.empty();
  for (const auto& process : read_processes(table().graphics, device_))
    if (!lists(all, process.pid)) all.push_back(process);
  std::vector<std::string> list;
  const Listed apart = listed_as(all, own_pid(), holds_context && computing);
  // A container's own numbers differ from those the driver lists: which of them is this process cannot be told.
  if (apart.unnamed > 0) list.push_back("Other processes use this GPU: " + std::to_string(apart.unnamed) + ", which cannot be named from within this container.");
  for (const auto& process : all) {
    if (std::find(apart.others.begin(), apart.others.end(), process.pid) == apart.others.end()) continue;
    // Not every driver tells the memory of another user's process; it then gives all ones.
    const bool known = process.used_bytes > 0 && process.used_bytes < 1ull << 50;
    const std::string memory = known ? " and holds " + with_unit(static_cast<double>(process.used_bytes) / (1 << 20), "MiB") + " of its memory" : "";
    list.push_back("Process " + std::to_string(process.pid) + name_of(process.pid) + " uses this GPU" + memory + ".");
  }
  // Whether one is attached says nothing: cards without connectors answer yes.
  unsigned on = 0;
  if (table().display_active && table().display_active(device_, &on) == 0 && on)
    list.push_back("A display is driven by this GPU: drawing takes time and memory bandwidth from what is measured.");
  return list;
}

std::vector<std::pair<std::string, std::string>> Nvml::facts() const {
  std::vector<std::pair<std::string, std::string>> list;
  if (const std::string version = driver(); !version.empty()) list.emplace_back("Driver", version);
  const auto add = [&](const char* name, double value, const char* unit) {
    if (!std::isnan(value)) list.emplace_back(name, with_unit(value, unit));
  };
  add("Highest SM clock", read_kind(table().max_clock, device_, clock_sm), "MHz");
  add("Highest memory clock", read_kind(table().max_clock, device_, clock_memory), "MHz");
  add("Power limit", read_unsigned(table().power_limit, device_, 1e-3), "W");
  add("Temperature", read_kind(table().temperature, device_, 0), "°C");
  unsigned current = 0, pending = 0;
  if (table().ecc && table().ecc(device_, &current, &pending) == 0) list.emplace_back("ECC", current ? "on" : "off");
  if (table().persistence && table().persistence(device_, &current) == 0) list.emplace_back("Persistence mode", current ? "on" : "off");
  return list;
}

std::vector<std::string> Nvml::warnings() const {
  std::vector<std::string> list;
  unsigned current = 0, pending = 0;
  if (table().mig && table().mig(device_, &current, &pending) == 0 && current)
    list.push_back("MIG is on: this is a part of a GPU, and its neighbours share its memory bandwidth and power.");
  return list;
}

}  // namespace opscope::cuda
