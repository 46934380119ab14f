// The terms of a convolution's sum, channel by channel and within it place by place of the kernel.
#pragma once
#include "../convolution.h"

struct Term {
  int index, channel, d, h, w;

  Term() = default;
  __device__ __forceinline__ Term(const ConvSizes& s, int l) : index(l) {
    const int area = s.height.kernel * s.width.kernel, volume = s.depth.kernel * area;
    channel = l / volume;
    const int k = l - channel * volume;
    d = k / area;
    h = k / s.width.kernel % s.height.kernel;
    w = k % s.width.kernel;
  }

  // By as many terms as `step` is the number of, without the divisions.
  __device__ __forceinline__ void advance(const ConvSizes& s, const Term& step) {
    index += step.index;
    channel += step.channel;
    d += step.d;
    h += step.h;
    w += step.w;
    if (w >= s.width.kernel) w -= s.width.kernel, h++;
    if (h >= s.height.kernel) h -= s.height.kernel, d++;
    if (d >= s.depth.kernel) d -= s.depth.kernel, channel++;
  }
};
