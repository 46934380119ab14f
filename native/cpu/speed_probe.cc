#include "speed_probe.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "isa.h"
#include "probe.h"
#include "topology.h"

#if defined(__linux__)
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace opscope::cpu {

namespace {

// One candidate for the best speed is the lower quartile of so many readings in a row: what eight of them reached was no
// freak, and lasted.
constexpr size_t GROUP = 32;

// The least time of the probe that this process has seen, by whom it watches and how many threads that are: teams of one
// size have the same processors.
class Best {
 public:
  // Adds readings and gives the best so far; NaN before the first full group.
  double add(SpeedProbe::Of of, int threads, const std::vector<double>& readings) {
    const std::lock_guard lock(mutex_);
    Seen& seen = seen_[{of, threads}];
    for (const double ns : readings) {
      seen.group.push_back(ns);
      if (seen.group.size() < GROUP) continue;
      const auto quartile = seen.group.begin() + GROUP / 4 - 1;
      std::nth_element(seen.group.begin(), quartile, seen.group.end());
      seen.best_ns = std::fmin(seen.best_ns, *quartile);  // not the NaN of the two
      seen.group.clear();
    }
    return seen.best_ns;
  }

 private:
  struct Seen {
    std::vector<double> group;
    double best_ns = std::numeric_limits<double>::quiet_NaN();
  };
  std::mutex mutex_;
  std::map<std::pair<SpeedProbe::Of, int>, Seen> seen_;
};

Best best;

// Time in ms that a hypervisor ran something else while the processors of a team of `threads` had work; NaN where that is not
// told. Only virtual machines have it, and reading the file takes long on large machines.
double stolen_ms(int threads) {
#if defined(__linux__)
  if (!virtual_machine()) return std::numeric_limits<double>::quiet_NaN();
  const auto& processors = topology().processors;
  std::ifstream file("/proc/stat");
  double ticks = 0;
  bool found = false;
  for (std::string line; std::getline(file, line) && line.starts_with("cpu");) {
    if (line.size() < 4 || line[3] == ' ') continue;  // the sum of all
    char* at = nullptr;
    const long number = std::strtol(line.c_str() + 3, &at, 10);
    const auto end = processors.begin() + std::min<std::ptrdiff_t>(threads, static_cast<std::ptrdiff_t>(processors.size()));
    if (threads == 1 ? number != processor_of_one() : std::find(processors.begin(), end, static_cast<int>(number)) == end) continue;
    // user, nice, system, idle, iowait, irq, softirq, steal
    double value = 0;
    for (int field = 0; field < 8; field++) value = std::strtod(at, &at);
    ticks += value;
    found = true;
  }
  static const double ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  if (found && ticks_per_second > 0) return ticks * 1000 / ticks_per_second;
#else
  (void)threads;
#endif
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

SpeedProbe::SpeedProbe(Team& team, Of of) : team_(team), of_(of), times_(static_cast<size_t>(team.size())), switches_(switches()), stolen_ms_(stolen_ms(team.size())) {}

double SpeedProbe::take_ns() {
  if (of_ == Of::calling_thread || team_.size() == 1 || static_cast<size_t>(team_.size()) > topology().processors.size()) return probe_ns();
  struct Together {
    Team& team;
    std::vector<double>& times;
  } together{team_, times_};
  team_.run(
      [](void* context, int thread) {
        const auto& [team, times] = *static_cast<Together*>(context);
        team.barrier();  // who starts early would have a core alone that two threads share
        times[static_cast<size_t>(thread)] = probe_ns();
      },
      &together);
  return *std::max_element(times_.begin(), times_.end());
}

bool SpeedProbe::comparable() const {
  const size_t threads = static_cast<size_t>(team_.size());
  return threads <= (of_ == Of::team ? topology().processors.size() : static_cast<size_t>(topology().physical));
}

int64_t SpeedProbe::switches() {
#if defined(__linux__)
  if (of_ == Of::calling_thread) {
    rusage usage{};
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : -1;
  }
  std::atomic<int64_t> sum{0};
  team_.run(
      [](void* total, int) {
        rusage usage{};
        if (getrusage(RUSAGE_THREAD, &usage) == 0) *static_cast<std::atomic<int64_t>*>(total) += usage.ru_nivcsw;
      },
      &sum);
  return sum;
#else
  return -1;
#endif
}

void SpeedProbe::report(SampleBatch& batch) {
  DeviceState& state = batch.state;
  if (comparable()) state.probe_best_ns = best.add(of_, team_.size(), batch.probe_ns);
  const int64_t now = switches();
  if (switches_ >= 0 && now >= switches_) state.involuntary_switches = now - switches_;
  const double stolen = stolen_ms(team_.size()) - stolen_ms_;
  state.steal_ms = stolen < 0 ? 0 : stolen;  // NaN stays NaN
}

}  // namespace opscope::cpu
