#include "clock.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace opscope::cuda {

namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();
constexpr double most_error = 0.005;

double between(const Stamp& from, const Stamp& to, double least_ns) {
  if (from.sm != to.sm || to.ns <= from.ns || to.cycles <= from.cycles) return absent;
  const auto ns = static_cast<double>(to.ns - from.ns);
  return ns < least_ns ? absent : static_cast<double>(to.cycles - from.cycles) / ns * 1e3;
}

}  // namespace

std::vector<double> clocks_mhz(std::span<const Stamp> stamps, double timer_step_ns) {
  if (stamps.size() < 2) return {};
  const double least_ns = 2 * timer_step_ns / most_error;
  const auto last = static_cast<int64_t>(stamps.size()) - 1;
  std::vector<double> clocks, known;
  for (int64_t s = 0; s < last; s++) {
    double clock = absent;
    for (int64_t reach = 0; reach <= last && std::isnan(clock); reach++) {
      const Stamp& first = stamps[static_cast<size_t>(std::max<int64_t>(0, s - reach))];
      const Stamp& end = stamps[static_cast<size_t>(std::min(last, s + 1 + reach))];
      clock = between(first, end, least_ns);
      // One end further out than the other, for where the block landed elsewhere once.
      if (std::isnan(clock) && reach > 0) clock = between(stamps[static_cast<size_t>(std::max<int64_t>(0, s - reach + 1))], end, least_ns);
      if (std::isnan(clock) && reach > 0) clock = between(first, stamps[static_cast<size_t>(std::min(last, s + reach))], least_ns);
    }
    clocks.push_back(clock);
    if (!std::isnan(clock)) known.push_back(clock);
  }
  if (known.empty()) return {};
  std::nth_element(known.begin(), known.begin() + static_cast<int64_t>(known.size() / 2), known.end());
  const double typical = known[known.size() / 2];
  for (double& clock : clocks)
    if (std::isnan(clock)) clock = typical;
  return clocks;
}

}  // namespace opscope::cuda
