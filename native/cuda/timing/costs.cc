// What samples of back-to-back calls cost beyond their calls, found once per device.
#include <algorithm>

#include "timer.h"

namespace opscope::cuda {

namespace {

constexpr unsigned long long call_ns = 5'000;
constexpr int samples_per_round = 24, rounds = 9;

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

}  // namespace

double Timer::cost_ns(Mode mode) const {
  if (!costs_taken_off_) return 0;
  return mode == Mode::graph ? graph_launch_ns_ : mode == Mode::cold ? 0 : events_ns_;
}

// A sample of n calls takes cost + n * call: twice a sample of n less one of 2n is the cost. Rounds of both by turns, so
// that a clock that rises meanwhile hits both alike.
void Timer::measure_costs() {
  const std::vector<Launch> spin = {Launch(context_.kernel("service", "settle"), {}, 1, 0, call_ns, CUdeviceptr{0})};
  const auto cost_of = [&](Mode mode, int n) {
    std::vector<double> costs;
    for (int round = 0; round < rounds; round++) {
      Calls calls{{&spin}};
      const double once = n * median_of(sample(calls, mode, samples_per_round, n).ns);
      const double twice = 2 * n * median_of(sample(calls, mode, samples_per_round, 2 * n).ns);
      if (round > 0) costs.push_back(2 * once - twice);
    }
    return std::max(0.0, median_of(costs));
  };
  costs_taken_off_ = false;
  stamps_on_ = false;
  events_ns_ = cost_of(Mode::hot, 1);
  graph_launch_ns_ = cost_of(Mode::graph, 8);
  costs_taken_off_ = stamps_on_ = true;
}

}  // namespace opscope::cuda
