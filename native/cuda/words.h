// What the user is told of a case that failed on the GPU. Needs no GPU.
#pragma once
#include <algorithm>
#include <cstdio>
#include <string>

#include "prepared.h"

namespace opscope::cuda {

inline std::string gib(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f GiB", bytes / (1 << 30));
  return text;
}

// What would have fitted: `tensors` of the case in bytes, `free` before it was opened; negative where the driver does not tell.
inline std::string fitting_words(double tensors, double free) {
  if (free < 0 || tensors <= 0) return {};
  const std::string both = " The tensors of this case take " + gib(tensors) + " in all; " + gib(free) + " was free before it.";
  if (free >= tensors) return both + " They would fit without the workspace that its kernels take beside them.";
  return both + " About " + std::to_string(static_cast<int>(free / tensors * 95)) + " % of this size would fit.";
}

// `launch` of the `count` of a call, by its place from 0.
inline std::string fault_words(const std::string& op, const LaunchInfo& launch, size_t place, size_t count) {
  std::string grid = std::to_string(launch.blocks[0]);
  for (int axis = 1; axis < 3; axis++)
    if (launch.blocks[1] > 1 || launch.blocks[2] > 1) grid += "x" + std::to_string(launch.blocks[axis]);
  return " It was " + (launch.kernel.empty() ? "a kernel without a name" : launch.kernel) + " of " + op + ", launch " + std::to_string(place + 1) + " of " + std::to_string(count) + ": " + grid + " blocks of " +
         std::to_string(launch.threads) + " threads.";
}

}  // namespace opscope::cuda
