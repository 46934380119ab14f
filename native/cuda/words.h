// What the user is told of a case that failed on the GPU. Needs no GPU.
#pragma once
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "prepared.h"

namespace opscope::cuda {

inline std::string gib(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f GiB", bytes / (1 << 30));
  return text;
}

// `4096x3x1 blocks of 256 threads`.
inline std::string grid_words(const LaunchInfo& launch) {
  std::string grid = std::to_string(launch.blocks[0]);
  for (int axis = 1; axis < 3; axis++)
    if (launch.blocks[1] > 1 || launch.blocks[2] > 1) grid += "x" + std::to_string(launch.blocks[axis]);
  return grid + " blocks of " + std::to_string(launch.threads) + " threads";
}

inline std::string kernel_words(const LaunchInfo& launch) { return launch.kernel.empty() ? "a kernel without a name" : launch.kernel; }

// `launch` of the `count` of a call, by its place from 0.
inline std::string fault_words(const std::string& op, const LaunchInfo& launch, size_t place, size_t count) {
  return " It was " + kernel_words(launch) + " of " + op + (launch.part.empty() ? "" : ", part " + launch.part) + ", launch " + std::to_string(place + 1) + " of " + std::to_string(count) + ": " + grid_words(launch) + ".";
}

// A fault of calls that were queued together: it is one of the launches of a call. Empty without launches.
inline std::string fault_words(const std::string& op, const std::vector<LaunchInfo>& launches) {
  if (launches.empty()) return {};
  if (launches.size() == 1) return fault_words(op, launches[0], 0, 1);
  constexpr size_t most = 8;
  std::string list;
  for (size_t i = 0; i < std::min(most, launches.size()); i++) list += (i == 0 ? " " : "; ") + std::to_string(i + 1) + ". " + (launches[i].part.empty() ? "" : launches[i].part + ": ") + kernel_words(launches[i]) + ", " + grid_words(launches[i]);
  if (launches.size() > most) list += "; and " + std::to_string(launches.size() - most) + " more";
  return " It was one of the " + std::to_string(launches.size()) + " launches of " + op + ":" + list + ".";
}

}  // namespace opscope::cuda
