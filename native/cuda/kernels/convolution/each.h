// Convolutions of few products, by a group of lanes for each output (convolution_each.cu). Pure; see plan_test.cc.
#pragma once
#include <cmath>

#include "../convolution.h"
#include "packed.h"
#include "shape.h"

namespace opscope::cuda {

// Lanes of an output, as many as leave each a few terms.
inline int conv_each_group(const ConvShape& c) {
  int group = 1;
  while (group < 32 && c.terms > group * conv_each_terms) group *= 2;
  return group;
}

// Microseconds, fitted to 190 launches on an H200; 0 where numbers exceed what the kernel counts with.
inline double conv_each_cost(int sm_count, const ConvShape& c) {
  constexpr double launch = 3.8, lane = 6.4e-4, term = 2.7e-4, round = 0.68;
  const int group = conv_each_group(c);
  const double rounds = static_cast<double>(up(up(c.terms, group), conv_each_terms)), lanes = static_cast<double>(c.outputs()) * group;
  if (c.largest >= int64_t{1} << 31 || lanes >= static_cast<double>(int64_t{1} << 31)) return 0;
  return launch + std::hypot(lanes * (lane + term * rounds * conv_each_terms) / sm_count, rounds * round);
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
