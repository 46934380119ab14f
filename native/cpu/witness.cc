#include "witness.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

#include "clock.h"
#include "isa.h"
#include "topology.h"

#if defined(__linux__)
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace opscope::cpu {

namespace {

// A multiply and an add in a row take six to eight cycles: some three microseconds at usual clocks, so that the chain
// lasts a hundred ticks of the clock and yet little of a sample.
constexpr int STEPS = 1800;

// Not known to the compiler, so that it can neither work the chain out nor drop it.
volatile float start_value = 0.5f;
std::atomic<float> sink{0};

double chain_ns() {
  const int64_t from = now_ns();
  float y = start_value;
  for (int i = 0; i < STEPS; i++) y = y * 0.999f + 0.001f;
  sink.store(y, std::memory_order_relaxed);
  return static_cast<double>(now_ns() - from) - clock_cost().read_ns;
}

// Time in ms that a hypervisor ran something else while the first `threads` processors had work; NaN where that is not
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
    if (std::find(processors.begin(), end, static_cast<int>(number)) == end) continue;
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

Witness::Witness(Team& team, Of of) : team_(team), of_(of), times_(static_cast<size_t>(team.size())), switches_(switches()), stolen_ms_(stolen_ms(team.size())) {}

double Witness::probe() {
  if (of_ == Of::calling_thread || team_.size() == 1 || static_cast<size_t>(team_.size()) > topology().processors.size()) return chain_ns();
  team_.run([](void* times, int thread) { static_cast<double*>(times)[thread] = chain_ns(); }, times_.data());
  return *std::max_element(times_.begin(), times_.end());
}

int64_t Witness::switches() {
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

void Witness::report(DeviceState& state) {
  const int64_t now = switches();
  if (switches_ >= 0 && now >= switches_) state.involuntary_switches = now - switches_;
  const double stolen = stolen_ms(team_.size()) - stolen_ms_;
  state.steal_ms = stolen < 0 ? 0 : stolen;  // NaN stays NaN
}

}  // namespace opscope::cpu
