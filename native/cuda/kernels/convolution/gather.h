// Convolutions whose sums blocks gather into shared memory (convolution_gather.cu): what they take, how blocks share them, and what a model of the time says. Pure; see
// plan_test.cc.
#pragma once
#include <cmath>

#include "each.h"

namespace opscope::cuda {

// Positions of a lane; warps with filters of their own, the others share the terms.
struct ConvGather {
  int positions, across;
  double cost;  // microseconds

  int64_t filter_blocks(const ConvShape& c) const { return up(c.filters, int64_t{across} * conv_gather_filters); }
  int64_t column_blocks(const ConvShape& c) const { return up(c.columns, int64_t{positions} * 32); }
  int64_t blocks(const ConvShape& c) const { return filter_blocks(c) * column_blocks(c) * c.groups; }
};

// Fitted to 1332 launches on an H200, 10 % root mean square error.
inline double conv_gather_cost(int sm_count, const ConvShape& c, const ConvGather& g) {
  // Microseconds of a launch and of a stage; of a block: to begin, a term of values, of weights of four filters, of sums and of those of a position; of a position, of its filters, and more where
  // neighbouring positions are of other images.
  constexpr double launch = 3.46, stage = 2.26, start = 0.433, value = 0.00345, weights = 0.000185, sum = 0.00097, product = 0.0019, position = 0.055, output = 0.00017, apart = 0.0112;
  constexpr int64_t resident = 8;
  const double terms = static_cast<double>(c.terms), stages = static_cast<double>(up(c.terms, conv_gather_terms)), fours = static_cast<double>(std::min<int64_t>(2 * g.across, up(c.filters, 4))),
               filters = static_cast<double>(std::min<int64_t>(g.across * conv_gather_filters, c.filters));
  const int64_t blocks = g.blocks(c);
  const double block = start + terms * (value * g.positions + weights * fours + g.across * (sum + product * g.positions)) + g.positions * (position + filters * (output + apart / static_cast<double>(c.plane)));
  const double rounds = blocks > sm_count * resident ? static_cast<double>(blocks) / sm_count : static_cast<double>(up(blocks, sm_count));
  return launch + std::hypot(rounds * block, stages * stage * static_cast<double>(up(blocks, sm_count * resident)));
}

// No positions: numbers exceed what the kernel counts with.
inline ConvGather conv_gather(int sm_count, const ConvShape& c) {
  constexpr int64_t most = int64_t{1} << 31;
  ConvGather best = {0, 0, 0};
  if (c.largest >= most) return best;
  for (const int positions : {1, 2})
    for (const int across : {1, 2, 4}) {
      ConvGather g = {positions, across, 0};
      if (g.blocks(c) >= most) continue;
      g.cost = conv_gather_cost(sm_count, c, g);
      if (best.positions == 0 || g.cost < best.cost) best = g;
    }
  return best;
}

}  // namespace opscope::cuda
