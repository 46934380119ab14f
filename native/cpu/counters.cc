#include "counters.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#if defined(__linux__)
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace opscope::cpu {

#if defined(__linux__)

namespace {

struct Event {
  uint32_t type;
  uint64_t config;
};

constexpr uint64_t cache(uint64_t which, uint64_t result) { return which | uint64_t{PERF_COUNT_HW_CACHE_OP_READ} << 8 | result << 16; }

struct Pair {
  Event first, second;
};

Pair events_of(CounterGroup group) {
  switch (group) {
    case CounterGroup::instructions: return {{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS}, {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES}};
    case CounterGroup::l1:
      return {{PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_RESULT_ACCESS)}, {PERF_TYPE_HW_CACHE, cache(PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_RESULT_MISS)}};
    default: return {{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES}, {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES}};
  }
}

int open_system(uint32_t type, uint64_t config, int leader) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = type;
  attr.config = config;
  attr.disabled = leader < 0;
  // What a process may count of itself without privileges.
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC));
}

const PerfEvents SYSTEM = {
    open_system,
    [](int leader) {
      ioctl(leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
      ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
    },
    [](int leader) { ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP); },
    [](int event, uint64_t values[3]) { return ::read(event, values, 3 * sizeof *values) == static_cast<ssize_t>(3 * sizeof *values); },
    [](int event) { ::close(event); },
};
const PerfEvents* events = &SYSTEM;

int open_event(const Event& event, int leader) { return events->open(event.type, event.config, leader); }

// -1, and an entry of `gaps`, where the event did not count all of the time: a scaled figure would be a guess.
double read_event(int file, int error, const char* name, std::vector<std::string>& gaps) {
  uint64_t values[3] = {};
  const auto absent = [&](const std::string& why) {
    gaps.push_back(std::string(name) + " (" + why + ")");
    return -1.0;
  };
  if (file < 0) return absent(error == ENOENT || error == ENODEV || error == EOPNOTSUPP || error == EINVAL ? "the processor has no such counter" : std::strerror(error));
  if (!events->read(file, values)) return absent("its counter could not be read");
  if (values[1] == 0 || values[2] == 0) return absent("its counter did not run");
  if (values[1] == values[2]) return static_cast<double>(values[0]);
  return absent("other programs had its counter for " + std::to_string(100 - 100 * values[2] / values[1]) + " % of the time");
}

struct Names {
  const char *first, *second;
};

Names names_of(CounterGroup group) {
  switch (group) {
    case CounterGroup::instructions: return {"instructions", "cycles"};
    case CounterGroup::l1: return {"L1 data cache reads", "L1 data cache misses"};
    default: return {"last-level cache reads", "last-level cache misses"};
  }
}

}  // namespace

namespace {

std::string reason_of() {
  const int event = open_event(events_of(CounterGroup::instructions).first, -1);
  if (event >= 0) {
    events->close(event);
    return {};
  }
  switch (errno) {
    case EACCES:
    case EPERM: {
      std::string level = "?";
      std::ifstream("/proc/sys/kernel/perf_event_paranoid") >> level;
      return "Hardware counters are not allowed (kernel.perf_event_paranoid is " + level + "); to allow them: sysctl kernel.perf_event_paranoid=2, and perf_event_open in the container's seccomp profile.";
    }
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP: return "This machine offers no hardware counters, as is usual of virtual machines.";
    case ENOSYS: return "This kernel has no perf_event_open.";
    default: return std::string("Hardware counters cannot be opened: ") + std::strerror(errno) + ".";
  }
}

}  // namespace

void use_perf_events(const PerfEvents* other) { events = other ? other : &SYSTEM; }

std::string no_counters_reason() {
  if (events != &SYSTEM) return reason_of();
  static const std::string reason = reason_of();
  return reason;
}

Counters::Counters(CounterGroup group) : group_(group) {
  const Pair pair = events_of(group);
  first_ = open_event(pair.first, -1);
  if (first_ < 0) {
    first_error_ = second_error_ = errno;
    return;
  }
  second_ = open_event(pair.second, first_);
  if (second_ < 0) second_error_ = errno;
  events->start(first_);
}

Counters::~Counters() {
  if (second_ >= 0) events->close(second_);
  if (first_ >= 0) events->close(first_);
}

void Counters::read(Counts& counts) {
  if (first_ >= 0) events->stop(first_);
  const Names names = names_of(group_);
  const double first = read_event(first_, first_error_, names.first, counts.gaps), second = read_event(second_, second_error_, names.second, counts.gaps);
  if (group_ == CounterGroup::instructions) counts.instructions = first, counts.cycles = second;
  else if (group_ == CounterGroup::l1) counts.l1_reads = first, counts.l1_misses = second;
  else counts.llc_reads = first, counts.llc_misses = second;
}

#else

void use_perf_events(const PerfEvents*) {}

std::string no_counters_reason() { return "Hardware counters are read on Linux only."; }

Counters::Counters(CounterGroup group) : group_(group) {}
Counters::~Counters() = default;
void Counters::read(Counts&) { (void)group_; }

#endif

}  // namespace opscope::cpu
