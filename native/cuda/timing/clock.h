// The SM clock around each sample, from stamps that a kernel of one thread writes between samples.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace opscope::cuda {

// As device/service.cu writes it: cycles of one multiprocessor, the GPU's global timer, and which multiprocessor it was.
struct Stamp {
  uint64_t cycles, ns;
  uint32_t sm, unused;
};

// MHz per sample. before[i] is the number of samples taken before stamps[i]: 0 for the first stamp, `samples` for the last,
// rising between. A step of `timer_step_ns` at both ends may be 0.5 % of a window, so windows of short samples reach over
// their neighbours. Multiprocessors count from different zeros: both ends are stamps of the same one. Samples for which
// there is no such pair get the median of the others; empty when none has one.
std::vector<double> clocks_mhz(std::span<const Stamp> stamps, std::span<const int> before, double timer_step_ns);

}  // namespace opscope::cuda
