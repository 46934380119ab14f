#include "topology.h"

#include "isa.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <set>
#include <thread>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#elif defined(_WIN32)
#define NOMINMAX
#include <windows.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace opscope::cpu {

namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

#if defined(__linux__)

// "0-3,8" -> 0 1 2 3 8
std::vector<int> parse_list(const std::string& text) {
  std::vector<int> out;
  size_t at = 0;
  while (at < text.size()) {
    char* end = nullptr;
    const long from = std::strtol(text.c_str() + at, &end, 10);
    if (end == text.c_str() + at) break;
    long to = from;
    if (*end == '-') to = std::strtol(end + 1, &end, 10);
    for (long i = from; i <= to && out.size() < 65536; i++) out.push_back(static_cast<int>(i));
    at = static_cast<size_t>(end - text.c_str()) + 1;
  }
  return out;
}

// "32768K" -> bytes
int64_t parse_size(const std::string& text) {
  const int64_t n = std::strtoll(text.c_str(), nullptr, 10);
  if (text.ends_with('K')) return n << 10;
  if (text.ends_with('M')) return n << 20;
  return n;
}

std::vector<int> allowed() {
  std::vector<int> out;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int i = 0; i < CPU_SETSIZE; i++)
      if (CPU_ISSET(i, &set)) out.push_back(i);
  return out;
}

#endif

// "0-3, 8"
std::string list_text(std::vector<int>::const_iterator from, std::vector<int>::const_iterator end) {
  std::string text;
  while (from != end) {
    auto last = from;
    while (last + 1 != end && *(last + 1) == *last + 1) last++;
    text += (text.empty() ? "" : ", ") + std::to_string(*from) + (last > from ? "-" + std::to_string(*last) : "");
    from = last + 1;
  }
  return text;
}

// Of caches of which none is missing.
void find_last_level(Topology& t) {
  const Cache* top = nullptr;
  for (const Cache& cache : t.caches)
    if (cache.type != "Instruction" && (!top || cache.level > top->level)) top = &cache;
  if (!top) return;
  t.llc_known = true;
  t.llc_bytes = top->bytes;
  t.llc_instances = top->instances;
}

}  // namespace

#if defined(__linux__)

Topology read_topology(const std::string& cpus, const std::vector<int>& usable) {
  const std::string root = cpus + "/cpu";
  Topology t;
  if (usable.empty()) return t;

  std::set<int> leaders;
  std::vector<int> first, rest;
  for (int cpu : usable) {
    const std::vector<int> siblings = parse_list(first_line(root + std::to_string(cpu) + "/topology/thread_siblings_list"));
    t.cores_known = t.cores_known || !siblings.empty();
    const int leader = siblings.empty() ? cpu : siblings.front();
    (leaders.insert(leader).second ? first : rest).push_back(cpu);
  }
  t.physical = static_cast<int>(first.size());
  t.processors = first;
  t.processors.insert(t.processors.end(), rest.begin(), rest.end());

  const std::string caches = root + std::to_string(usable.front()) + "/cache/index";
  for (int i = 0; i < 8; i++) {
    const std::string dir = caches + std::to_string(i);
    const int64_t bytes = parse_size(first_line(dir + "/size"));
    if (bytes <= 0) continue;
    const int level = std::atoi(first_line(dir + "/level").c_str());
    const auto shared = parse_list(first_line(dir + "/shared_cpu_list"));
    std::set<std::string> instances;
    for (int cpu : usable) instances.insert(first_line(root + std::to_string(cpu) + "/cache/index" + std::to_string(i) + "/shared_cpu_list"));
    t.caches.push_back({level, first_line(dir + "/type"), bytes, std::max(1, static_cast<int>(shared.size())), std::max(1, static_cast<int>(instances.size()))});
  }
  find_last_level(t);
  t.governor = first_line(root + std::to_string(usable.front()) + "/cpufreq/scaling_governor");
  return t;
}

#endif

Topology topology_of_cores(const std::vector<uint64_t>& cores) {
  Topology t;
  std::vector<int> rest;
  for (const uint64_t core : cores) {
    bool first = true;
    for (int i = 0; i < 64; i++) {
      if (!(core >> i & 1)) continue;
      (first ? t.processors : rest).push_back(i);
      first = false;
    }
  }
  t.physical = static_cast<int>(t.processors.size());
  t.cores_known = t.physical > 0;
  t.processors.insert(t.processors.end(), rest.begin(), rest.end());
  return t;
}

std::string placement_text(const Topology& t, bool bound) {
  if (!bound) return "placed by the system: threads cannot be bound to a processor here";
  if (!t.cores_known) return "each bound to its processor, in their order (which of them share a core is not known): " + list_text(t.processors.begin(), t.processors.end());
  if (t.cores_of_guest) return "each bound to its processor: " + list_text(t.processors.begin(), t.processors.end()) + " (in a virtual machine, two of them may share a core; in interleaved rounds one thread takes the quietest)";
  const auto second = t.processors.begin() + t.physical;
  std::string text = "one per core first, each bound to its processor: " + list_text(t.processors.begin(), second);
  if (second != t.processors.end()) text += ", then their siblings " + list_text(second, t.processors.end());
  return text;
}

#if defined(_WIN32)

namespace {

// The processors of each core that this process may use; none where the system does not tell.
std::vector<uint64_t> cores_of_windows() {
  DWORD_PTR usable = 0, machine = 0;
  if (!GetProcessAffinityMask(GetCurrentProcess(), &usable, &machine)) return {};
  DWORD bytes = 0;
  GetLogicalProcessorInformation(nullptr, &bytes);
  std::vector<SYSTEM_LOGICAL_PROCESSOR_INFORMATION> list(bytes / sizeof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION));
  if (list.empty() || !GetLogicalProcessorInformation(list.data(), &bytes)) return {};
  std::vector<uint64_t> cores;
  for (const auto& one : list)
    if (one.Relationship == RelationProcessorCore && (one.ProcessorMask & usable)) cores.push_back(one.ProcessorMask & usable);
  return cores;
}

}  // namespace

#endif

const Topology& topology() {
  static const Topology t = [] {
    Topology out;
#if defined(__linux__)
    out = read_topology("/sys/devices/system/cpu", allowed());
#elif defined(_WIN32)
    out = topology_of_cores(cores_of_windows());
#endif
    if (out.processors.empty()) {
      const int n = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
      for (int i = 0; i < n; i++) out.processors.push_back(i);
      out.physical = n;
#if defined(__APPLE__)
      int cores = 0;
      size_t bytes = sizeof cores;
      if (sysctlbyname("hw.physicalcpu", &cores, &bytes, nullptr, 0) == 0 && cores > 0) out.physical = std::min(n, cores);
#endif
    }
    out.cores_of_guest = virtual_machine() && out.physical > 1 && static_cast<size_t>(out.physical) == out.processors.size();
    if (out.caches.empty()) {
      out.caches = caches_of(cpuid, static_cast<int>(out.processors.size()), out.physical);
      find_last_level(out);
    }
    return out;
  }();
  return t;
}

bool distant_cache() {
  constexpr int64_t NEAR_BYTES = 128 << 20;  // more than any that eight or sixteen cores share
  // Tests choose the kernels of the other processors: 0 or 1.
  static const char* const asked = std::getenv("OPSCOPE_DISTANT_CACHE");
  return asked ? *asked == '1' : topology().llc_known && topology().llc_bytes > NEAR_BYTES;
}

int64_t reached_cache(int threads) { return topology().llc_bytes * std::min(threads, topology().llc_instances); }

std::string size_text(int64_t bytes) {
  if (bytes >= int64_t{16} << 20 || (bytes >= int64_t{1} << 20 && bytes % (1 << 20) == 0)) return std::to_string(bytes >> 20) + " MiB";
  return bytes >= 1024 ? std::to_string(bytes >> 10) + " KiB" : std::to_string(bytes) + " bytes";
}

int64_t available_memory() {
  int64_t bytes = 0;
#if defined(_WIN32)
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  if (GlobalMemoryStatusEx(&status)) bytes = static_cast<int64_t>(status.ullAvailPhys);
#else
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("MemAvailable:")) bytes = std::strtoll(line.c_str() + 13, nullptr, 10) << 10;
  // The control group's limit, where this process has one of its own (version 2).
  const std::string limit = first_line("/sys/fs/cgroup/memory.max");
  if (!limit.empty() && limit != "max") {
    const int64_t left = std::strtoll(limit.c_str(), nullptr, 10) - std::strtoll(first_line("/sys/fs/cgroup/memory.current").c_str(), nullptr, 10);
    if (left > 0) bytes = bytes > 0 ? std::min(bytes, left) : left;
  }
#endif
  return bytes > 0 ? bytes : int64_t{4} << 30;
}

bool pin(int processor) {
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  if (processor < 0 || processor >= CPU_SETSIZE) return false;
  CPU_SET(processor, &set);
  return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
#elif defined(_WIN32)
  return processor >= 0 && processor < 64 && SetThreadAffinityMask(GetCurrentThread(), 1ull << processor) != 0;
#else
  (void)processor;
  return false;
#endif
}

Bound::Bound(int processor) {
  if (processor < 0) return;
#if defined(__linux__)
  cpu_set_t set;
  if (pthread_getaffinity_np(pthread_self(), sizeof set, &set) != 0) return;
  for (int i = 0; i < CPU_SETSIZE; i++)
    if (CPU_ISSET(i, &set)) before_.push_back(i);
  if (!pin(processor)) before_.clear();
#elif defined(_WIN32)
  const DWORD_PTR before = SetThreadAffinityMask(GetCurrentThread(), DWORD_PTR{1} << processor);
  for (int i = 0; i < 64; i++)
    if (before >> i & 1) before_.push_back(i);
#endif
}

Bound::~Bound() {
  if (before_.empty()) return;
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int i : before_) CPU_SET(i, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
#elif defined(_WIN32)
  DWORD_PTR mask = 0;
  for (int i : before_) mask |= DWORD_PTR{1} << i;
  SetThreadAffinityMask(GetCurrentThread(), mask);
#endif
}

}  // namespace opscope::cpu
