// Few filters of a group in f32, images and volumes with stride 1, by strips of outputs (convolution_strips.cu): which, and how. Pure; see convolution_f32_test.cc.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../convolution.h"
#include "../matmul/shape.h"
#include "shape.h"
#include "strips_task.h"

namespace opscope::cuda {

// No filters: other kernels take the case.
struct ConvStripsShape {
  int filters = 0, threads = 0, sharing = 0;  // of a thread; of a block; warps that share channels
  int64_t down = 0, strips = 0, blocks = 0, chunks = 0;  // as ConvStrips has them
  unsigned shared = 0; // bytes
  double cost = 0;     // microseconds
};

inline ConvStripsShape conv_strips(int sm_count, const ConvSizes& s, const ConvShape& c) {
  constexpr int64_t most_filters = 16, most_shared = 96 << 10, most = int64_t{1} << 31;
  const int side = s.width.kernel;
  if (c.element_bytes != 4 || s.stride != 1 || s.height.kernel != side || (side != 2 && side != 3 && side != 5 && side != 7) || s.height.output < conv_strip_outputs / 2 || c.filters > most_filters) return {};
  ConvStripsShape r;
  r.filters = c.filters > 4 ? 8 : c.filters > 2 ? 4 : static_cast<int>(c.filters);
  r.down = up(up(s.height.output, s.dilation), conv_strip_outputs) * s.dilation;
  r.strips = r.down * s.width.output * s.depth.output * s.batch;
  r.blocks = up(c.filters, r.filters);
  if (c.terms * r.filters * 4 > most_shared || r.strips * r.blocks * c.groups >= most / 32 || c.largest >= most) return {};
  // Microseconds of a launch, of a thread, of a multiply-add and an element read by each, of a layer and an element of it where nothing hides them, and of adding a share up.
  constexpr double launch = 5, thread = 2e-5, product = 5.6e-8, element = 2e-7, layer = 0.33, waiting = 0.016, join = 0.15, unsure = 1.15;
  const int64_t layers = c.channels * s.depth.kernel;
  const double read = side * (side + conv_strip_outputs - 1), products = side * side * conv_strip_outputs * r.filters;
  for (int sharing = 1; sharing <= conv_strip_most_threads / 32 && (sharing == 1 || layers >= 2 * sharing); sharing *= 2) {
    const int threads = std::max(conv_strip_threads, sharing * 32);
    const int64_t sums = int64_t{sharing - 1} * (threads / sharing) * r.filters * conv_strip_outputs * 4, chunks = up(r.strips, threads / sharing);
    if (sums > most_shared) break;
    const double all = static_cast<double>(r.blocks * chunks * c.groups * threads) * 132 / sm_count, of_thread = static_cast<double>(up(layers, sharing));
    const double cost = (sharing > 1 ? unsure : 1) * (launch + std::hypot(all * (thread + of_thread * (read * element + products * product)), of_thread * (layer + read * waiting)) + (sharing - 1) * join);
    if (r.cost == 0 || cost < r.cost) r.cost = cost, r.sharing = sharing, r.threads = threads, r.chunks = chunks, r.shared = static_cast<unsigned>(std::max(c.terms * r.filters * 4, sums));
  }
  return r;
}

}  // namespace opscope::cuda
