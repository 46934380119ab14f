// Kernels that meet the whole image, with few terms (convolution_rows.cu): which convolutions, and how. Pure; see convolution_narrow_test.cc.
#pragma once
#include <algorithm>

#include "each.h"

namespace opscope::cuda {

// No terms: other kernels take the case.
struct ConvRowsShape {
  int terms = 0;          // that the kernel has registers for
  int64_t blocks_x = 0, blocks_y = 0;
  ConvRows conv = {};
  double cost = 0;        // microseconds
};

inline ConvRowsShape conv_rows(int sm_count, const ConvShape& c) {
  constexpr int64_t most_terms = 8, most = int64_t{1} << 29, resident = 8, at_once = 4;  // images whose loads a thread has on their way
  const int64_t all = c.filters * c.groups;
  if (!c.whole || c.terms > most_terms || c.columns >= most || c.largest >= int64_t{1} << 31 || up(all, conv_rows_threads) > 65'535) return {};
  ConvRowsShape r;
  r.terms = c.terms == 1 ? 1 : c.terms == 2 ? 2 : c.terms <= 4 ? 4 : 8;
  // Threads of a block have as many filters alike, where there are more of them.
  r.blocks_y = up(all, conv_rows_threads);
  const int64_t filters = up(all, r.blocks_y), together = conv_rows_threads / filters;
  r.blocks_x = std::clamp<int64_t>(up(int64_t{sm_count} * resident * 2, r.blocks_y), 1, up(c.columns, together * at_once));
  r.conv = {static_cast<int>(c.columns), static_cast<int>(filters), static_cast<int>(all), static_cast<int>(c.filters), static_cast<int>(together), static_cast<int>(c.terms), static_cast<int>(c.groups * c.terms), static_cast<int>(c.terms), 1, 0};
  // Outputs that the threads of a block write at a time, of its threads; accesses of a warp in a microsecond.
  const double filled = static_cast<double>(filters * together) / conv_rows_threads, accesses = static_cast<double>(c.outputs() * (c.terms + 1)) / 32 / filled;
  r.cost = 5 + (static_cast<double>(c.bytes) / 2.5e6 + accesses / 1e5) * 132 / sm_count;
  return r;
}

}  // namespace opscope::cuda
