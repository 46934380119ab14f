// What samples of back-to-back calls cost beyond their calls, found once per device.
#include <algorithm>

#include "kernel_calls.h"
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

double Timer::cost_ns(Mode mode, int inner) const {
  if (!costs_taken_off_ || mode == Mode::cold) return 0;
  if (mode != Mode::graph) return events_ns_;
  return inner == 1 ? single_graph_launch_ns_ : graph_launch_ns_;
}

// A sample of n calls takes cost + n * call: twice a sample of n less one of 2n is the cost. Rounds of both by turns, so
// that a clock that rises meanwhile hits both alike.
void Timer::measure_costs() {
  const std::vector<Launch> spin = {Launch(context_.kernel("service", "settle"), {}, 1, 0, call_ns, CUdeviceptr{0})};
  const auto total_of = [&](Mode mode, int n) {
    KernelCalls calls({&spin});
    return n * median_of(sample(calls, mode, samples_per_round, n).ns);
  };
  costs_taken_off_ = false;
  stamps_on_ = false;
  std::vector<double> events, graphs, single_graphs;
  for (int round = 0; round < rounds; round++) {
    const double call = total_of(Mode::hot, 1), calls = total_of(Mode::hot, 2);
    const double one = total_of(Mode::graph, 1), eight = total_of(Mode::graph, 8), sixteen = total_of(Mode::graph, 16);
    if (round == 0) continue;  // the clock may still rise
    events.push_back(2 * call - calls);
    graphs.push_back(2 * eight - sixteen);
    // A graph of one node is launched in another way, and sooner.
    single_graphs.push_back(one - (sixteen - eight) / 8);
  }
  events_ns_ = std::max(0.0, median_of(events));
  graph_launch_ns_ = std::max(0.0, median_of(graphs));
  single_graph_launch_ns_ = std::max(0.0, median_of(single_graphs));
  costs_taken_off_ = stamps_on_ = true;
}

}  // namespace opscope::cuda
