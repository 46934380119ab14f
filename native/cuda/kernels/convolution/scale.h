// Kernels of one element with one channel of a group, without padding (convolution_scale.cu): which. Pure; see convolution_test.cc.
#pragma once
#include <algorithm>
#include <cstdint>

#include "../convolution.h"
#include "scale_task.h"
#include "shape.h"

namespace opscope::cuda {

// Microseconds; 0 where other kernels take the case.
inline double conv_scale_cost(int sm_count, const ConvShape& c) {
  constexpr int64_t most = (int64_t{1} << 31) - 8192;
  constexpr double launch = 4.5, bytes = 3.4e6, both = 0.2;  // in a microsecond; of the less of bytes and outputs what is not hidden
  const double outputs = c.point ? 1.1e6 : 6e5;
  if (c.terms != 1 || !c.sampled || c.largest >= most) return 0;
  const double moved = static_cast<double>(c.bytes) / bytes, written = static_cast<double>(c.outputs()) / outputs;
  return launch + (std::max(moved, written) + both * std::min(moved, written)) * 132 / sm_count;
}

inline ConvScale conv_scale(const ConvSizes& s) {
  const int plane = s.depth.output * s.height.output * s.width.output, in_plane = s.depth.input * s.height.input * s.width.input;
  // Without a stride a plane is one row.
  const bool one = s.stride == 1;
  const int width = one ? plane : s.width.output, height = one ? 1 : s.height.output;
  return {s.batch * s.filters * plane, plane, s.filters, s.filters / s.groups, in_plane, width, height, s.stride, s.stride * s.width.input, s.stride * s.height.input * s.width.input,
          divide_by(plane), divide_by(s.filters / s.groups), divide_by(s.filters), divide_by(width), divide_by(height)};
}

}  // namespace opscope::cuda
