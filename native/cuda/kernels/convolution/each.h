// Convolutions of few products, by a group of lanes for each output (convolution_each.cu). Pure; see plan_test.cc.
#pragma once
#include "../convolution.h"
#include "packed.h"
#include "shape.h"

// What a launch takes beside the sizes, the same for host and device. `channels` of a group; `kernel`: its elements.
struct ConvEach {
  int group_bits, outputs, terms, channels, kernel, in_plane, out_plane;
  ConvDivisor plane, filters, of_group, area, width, taps, kernel_width, kernel_height;
};
static_assert(sizeof(ConvEach) <= 128, "a launch stores up to 128 bytes per argument");

namespace opscope::cuda {

constexpr int conv_each_terms = 4;  // of a lane, whose loads are on their way together

// Lanes of an output; 0 where the instructions of all lanes take more than about 1 us of an H100, and other kernels are as fast.
inline int conv_each_group(int sm_count, const ConvShape& c) {
  constexpr int64_t start = 60, term = 22, most = 150'000;  // instructions of a lane, of a term; of a multiprocessor
  int group = 1;
  while (group < 32 && c.terms > group * conv_each_terms) group *= 2;
  const double instructions = static_cast<double>(c.outputs()) * group * static_cast<double>(start + term * up(up(c.terms, group), conv_each_terms) * conv_each_terms);
  return c.largest < int64_t{1} << 31 && c.terms <= 32 * 4 * conv_each_terms && instructions <= static_cast<double>(most * sm_count) ? group : 0;
}

inline ConvEach conv_each(const ConvSizes& s, int group) {
  ConvEach e = {};
  while (1 << e.group_bits < group) e.group_bits++;
  e.channels = s.channels / s.groups;
  e.kernel = s.depth.kernel * s.height.kernel * s.width.kernel;
  e.terms = e.channels * e.kernel;
  e.in_plane = s.depth.input * s.height.input * s.width.input;
  e.out_plane = s.depth.output * s.height.output * s.width.output;
  e.outputs = s.batch * s.filters * e.out_plane;
  e.plane = conv_divisor(e.out_plane), e.filters = conv_divisor(s.filters), e.of_group = conv_divisor(s.filters / s.groups);
  e.area = conv_divisor(s.height.output * s.width.output), e.width = conv_divisor(s.width.output);
  e.taps = conv_divisor(e.kernel), e.kernel_width = conv_divisor(s.width.kernel), e.kernel_height = conv_divisor(s.height.kernel);
  return e;
}
}  // namespace opscope::cuda
