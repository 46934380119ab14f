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

// The shortest window around the interval from stamps[interval] to the next that tells the clock.
double around(std::span<const Stamp> stamps, int64_t interval, double least_ns) {
  const auto last = static_cast<int64_t>(stamps.size()) - 1;
  const auto at = [&](int64_t i) -> const Stamp& { return stamps[static_cast<size_t>(std::clamp<int64_t>(i, 0, last))]; };
  for (int64_t reach = 0; reach <= last; reach++) {
    double clock = between(at(interval - reach), at(interval + 1 + reach), least_ns);
    // One end further out than the other, for where the block landed elsewhere once.
    if (std::isnan(clock) && reach > 0) clock = between(at(interval - reach + 1), at(interval + 1 + reach), least_ns);
    if (std::isnan(clock) && reach > 0) clock = between(at(interval - reach), at(interval + reach), least_ns);
    if (!std::isnan(clock)) return clock;
  }
  return absent;
}

}  // namespace

std::vector<double> clocks_mhz(std::span<const Stamp> stamps, std::span<const int> before, double timer_step_ns) {
  if (stamps.size() < 2 || before.size() != stamps.size()) return {};
  std::vector<double> clocks, known;
  for (size_t i = 0; i + 1 < stamps.size(); i++) {
    const double clock = around(stamps, static_cast<int64_t>(i), 2 * timer_step_ns / most_error);
    if (!std::isnan(clock)) known.push_back(clock);
    clocks.insert(clocks.end(), static_cast<size_t>(std::max(0, before[i + 1] - before[i])), clock);
  }
  if (known.empty()) return {};
  std::nth_element(known.begin(), known.begin() + static_cast<int64_t>(known.size() / 2), known.end());
  const double typical = known[known.size() / 2];
  for (double& clock : clocks)
    if (std::isnan(clock)) clock = typical;
  return clocks;
}

}  // namespace opscope::cuda
