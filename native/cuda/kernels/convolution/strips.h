// Few filters of a group in f32, images and volumes with stride 1, by strips of outputs (convolution_strips.cu): which, and how. Pure; see convolution_test.cc.
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
  int filters = 0;     // of a thread
  int64_t down = 0, strips = 0, blocks = 0, chunks = 0;  // as ConvStrips has them
  unsigned shared = 0; // bytes
  double cost = 0;     // microseconds
};

inline ConvStripsShape conv_strips(int sm_count, const ConvSizes& s, const ConvShape& c) {
  constexpr int64_t most_filters = 16, most_shared = 48 << 10, most = int64_t{1} << 31;
  const int side = s.width.kernel;
  if (c.element_bytes != 4 || s.stride != 1 || s.height.kernel != side || (side != 2 && side != 3 && side != 5 && side != 7) || s.height.output < conv_strip_outputs / 2 || c.filters > most_filters) return {};
  ConvStripsShape r;
  r.filters = c.filters > 4 ? 8 : c.filters > 2 ? 4 : static_cast<int>(c.filters);
  r.down = up(up(s.height.output, s.dilation), conv_strip_outputs) * s.dilation;
  r.strips = r.down * s.width.output * s.depth.output * s.batch;
  r.blocks = up(c.filters, r.filters), r.chunks = up(r.strips, conv_strip_threads);
  const int64_t bytes = c.terms * r.filters * 4, blocks = r.blocks * r.chunks * c.groups;
  if (bytes > most_shared || r.strips >= most - conv_strip_threads || blocks >= most || c.largest >= most) return {};
  r.shared = static_cast<unsigned>(bytes);
  // Microseconds of a launch, of a thread, of a multiply-add and an element read by each, and of a channel where nothing hides it.
  constexpr double launch = 5, thread = 1.5e-5, product = 4.5e-8, element = 1.6e-7, waiting = 1.1;
  const double layers = static_cast<double>(c.channels * s.depth.kernel), read = side * (side + conv_strip_outputs - 1), products = side * side * conv_strip_outputs * r.filters;
  const double threads = static_cast<double>(blocks * conv_strip_threads) * 132 / sm_count;
  r.cost = launch + std::hypot(threads * (thread + layers * (read * element + products * product)), layers * waiting);
  return r;
}

}  // namespace opscope::cuda
