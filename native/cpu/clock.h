// The steady clock and what reading it costs.
#pragma once
#include <chrono>
#include <cstdint>

namespace opscope::cpu {

inline int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct ClockCost {
  double tick_ns;  // smallest step seen between two readings
  double read_ns;  // elapsed time that two readings show with nothing between them (median)
};

// Measured once.
const ClockCost& clock_cost();

}  // namespace opscope::cpu
