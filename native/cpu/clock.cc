#include "clock.h"

#include "kernel.h"

#include <algorithm>
#include <array>

namespace opscope::cpu {

const ClockCost& clock_cost() {
  static const ClockCost cost = [] {
    std::array<int64_t, 4096> gaps;
    for (int64_t& gap : gaps) {
      const int64_t a = now_ns();
      gap = now_ns() - a;
    }
    // Smallest step: the clock may stand still for several readings, so walk until it moves.
    int64_t tick = INT64_MAX;
    for (int i = 0; i < 2000; i++) {
      const int64_t a = now_ns();
      int64_t b = a;
      while (b == a) b = now_ns();
      tick = std::min(tick, b - a);
    }
    std::nth_element(gaps.begin(), gaps.begin() + gaps.size() / 2, gaps.end());
    return ClockCost{static_cast<double>(std::max<int64_t>(tick, 1)), static_cast<double>(gaps[gaps.size() / 2])};
  }();
  return cost;
}

}  // namespace opscope::cpu

extern "C" int64_t opscope_now_ns() { return opscope::cpu::now_ns(); }
