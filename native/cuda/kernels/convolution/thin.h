// Kernels of one element with few filters of many channels (convolution_thin.cu): which, and how their channels are shared. Pure; see convolution_test.cc.
#pragma once
#include <cmath>

#include "shape.h"
#include "thin_sizes.h"

namespace opscope::cuda {

// Filters of a group that a kernel has room for, in one pass over the channels; blocks of it that a multiprocessor holds; microseconds of a round of channels.
struct ConvThinKernel {
  int filters, resident;
  double round;
};
inline constexpr ConvThinKernel conv_thin_kernels[] = {{2, 4, 0.92}, {4, 4, 0.92}, {8, 3, 0.92}, {16, 2, 1.32}, {24, 2, 1.55}};

struct ConvThin {
  int filters = 0;      // of the kernel; 0: other kernels take the case
  int64_t shares = 1;   // blocks of a cluster that share the channels
  int64_t columns = 0;  // blocks of positions
  double cost = 0;      // microseconds
};

inline ConvThin conv_thin(int sm_count, const ConvShape& c) {
  // Of smaller planes a warp meets many lines of memory at a time.
  constexpr int64_t least_channels = 32, least_plane = 8, most_groups = 65'535, most_shares = 8;
  constexpr double launch = 4.4, block = 1.4, bytes = 3.4e6;
  if (!c.point || c.channels < least_channels || c.plane < least_plane || c.groups > most_groups || c.columns >= int64_t{1} << 30) return {};
  ConvThin best;
  for (const ConvThinKernel& kernel : conv_thin_kernels) {
    if (kernel.filters < c.filters) continue;
    const int64_t columns = (c.columns + conv_thin_columns - 1) / conv_thin_columns, channels = conv_thin_warps * conv_thin_channels, at_once = int64_t{sm_count} * kernel.resident;
    // More shares where blocks would fill the GPU just more than a whole number of times.
    for (int64_t shares = 1; shares <= (c.clusters ? most_shares : 1) && (shares == 1 || c.channels >= shares * channels); shares *= 2) {
      const int64_t turns = (columns * c.groups * shares + at_once - 1) / at_once, rounds = (c.channels + shares * channels - 1) / (shares * channels);
      const double cost = launch + std::hypot(static_cast<double>(turns) * (block + static_cast<double>(rounds) * kernel.round), static_cast<double>(c.bytes) / bytes * 132 / sm_count);
      if (best.filters == 0 || cost < best.cost) best = {kernel.filters, shares, columns, cost};
    }
    break;
  }
  return best;
}

}  // namespace opscope::cuda
