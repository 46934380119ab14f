// How much of a GPU's memory a case may take. Needs no GPU.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace opscope::cuda {

// A context of this process: what one takes on an H200, and room for its modules.
inline constexpr double context_bytes = 600.0 * (1 << 20);
// What every open case leaves to the driver, which gives memory in large pages.
inline constexpr double spare_bytes = 256.0 * (1 << 20);

// Bytes for all tensors of a case: what is free now, less what this process will take before the first tensor. `free` is
// NaN where the driver does not tell; `flush` are the bytes that emptying the L2 cache takes, 0 where they are taken.
inline double room_bytes(double total, double free, bool holds_context, double flush) {
  if (std::isnan(free)) free = total;
  return std::max(0.0, std::min(free, total) - (holds_context ? 0 : context_bytes) - flush - spare_bytes);
}

}  // namespace opscope::cuda
