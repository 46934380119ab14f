// Few terms of a sum in f32 and up to 64 filters of a group, all of them in one block (convolution_filters.cu): which convolutions, and how. Pure; see convolution_test.cc.
#pragma once
#include <algorithm>
#include <cmath>

#include "each.h"

namespace opscope::cuda {

// No warps: other kernels take the case, as convolution_window.cu does where a thread has all filters.
struct ConvFilters {
  int warps = 0;
  int64_t blocks = 0;  // of a group
  unsigned shared = 0; // bytes
  double cost = 0;     // microseconds
};

inline ConvFilters conv_filters(int sm_count, const ConvShape& c) {
  constexpr int64_t most_taps = 31, least_filters = 9, most_filters = 64, most_groups = 65'535, most = int64_t{1} << 31, most_shared = 64 << 10;
  if (c.element_bytes != 4 || c.terms / c.channels > most_taps || c.filters < least_filters || c.filters > most_filters || c.groups > most_groups || c.largest >= most || c.columns >= most - conv_filters_positions) return {};
  ConvFilters f;
  f.warps = static_cast<int>(up(c.filters, conv_filters_of_warp));
  f.blocks = up(c.columns, conv_filters_positions);
  const int64_t terms = up(c.terms, 4) * 4, shared = terms * (f.warps * conv_filters_of_warp * 4 + (c.point ? 0 : 8));
  if (shared > most_shared) return {};
  f.shared = static_cast<unsigned>(shared);
  // Turns of blocks, each of which waits for memory in every step.
  const int64_t turns = up(f.blocks * c.groups, int64_t{sm_count} * std::max(1, 16 / f.warps));
  const double products = static_cast<double>(f.blocks * conv_filters_positions * f.warps * conv_filters_of_warp * c.groups * terms);
  // Of small planes each element lies in a line of memory of its own.
  const double apart = std::max(1.0, 6.0 / static_cast<double>(c.plane));
  f.cost = (c.point ? 6.5 : 8.5) + std::hypot(static_cast<double>(c.bytes) / 2.6e6 * apart, products / (c.point && c.plane % 4 != 0 ? 5.5e6 : 7.6e6)) * 132 / sm_count + static_cast<double>(turns * terms) * 0.1;
  return f;
}

}  // namespace opscope::cuda
