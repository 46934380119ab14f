#include "rotation.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "prepared.h"

namespace opscope::cuda {

namespace {

constexpr int64_t most_sets = 256;

std::string mib(int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, bytes < 10 << 20 ? "%.2f MiB" : "%.0f MiB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

}  // namespace

int64_t sets_to_rotate(int64_t tensor_bytes, int64_t set_bytes, int64_t cache_bytes, int64_t free_bytes) {
  const int64_t needed = std::max<int64_t>(2, (2 * cache_bytes + tensor_bytes - 1) / tensor_bytes);
  if (needed > most_sets)
    throw Error("unsupported", "Rotating over sets of buffers that the " + mib(cache_bytes) + " L2 cache cannot hold would take " + std::to_string(needed) + " sets of " +
                                   mib(tensor_bytes) + "; at most " + std::to_string(most_sets) + " are used. Choose a larger size, or mode cold.");
  if (needed * set_bytes > free_bytes / 4)
    throw Error("unsupported", "Rotating over " + std::to_string(needed) + " sets of buffers takes " + mib(needed * set_bytes) +
                                   ", more than a quarter of the GPU's free memory (" + mib(free_bytes) + "). Choose a smaller size, or mode cold.");
  return needed;
}

}  // namespace opscope::cuda
