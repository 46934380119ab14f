// The elements of a kernel that meet the input at all: beside an extent of one, a kernel of three with a padding of one has a single such element. Pure; see plan_test.cc.
#pragma once
#include <algorithm>
#include <cstdint>

#include "../convolution.h"
#include "../matmul/shape.h"

namespace opscope::cuda {

// Elements of an axis of the kernel from the first that some window has inside of the input to the last.
struct ConvTaps {
  int first, count;
};

// All of them where none meets the input, and from the first on where the padding would become negative.
inline ConvTaps conv_taps(const ConvAxis& a, int stride, int dilation) {
  const auto meets = [&](int64_t k) {
    const int64_t before = a.padding - k * dilation, output = before > 0 ? up(before, stride) : 0;
    return output < a.output && output * stride - before < a.input;
  };
  int first = 0, last = a.kernel - 1;
  while (first < a.kernel && !meets(first)) first++;
  if (first == a.kernel) return {0, a.kernel};
  while (!meets(last)) last--;
  first = std::min(first, a.padding / dilation);
  return {first, last - first + 1};
}

struct ConvTrim {
  ConvTaps depth, height, width;
};

inline ConvTrim conv_trim(const ConvSizes& s) { return {conv_taps(s.depth, s.stride, s.dilation), conv_taps(s.height, s.stride, s.dilation), conv_taps(s.width, s.stride, s.dilation)}; }

// The same convolution with those elements alone.
inline ConvSizes conv_trimmed(ConvSizes s, const ConvTrim& trim) {
  const auto axis = [&](ConvAxis& a, const ConvTaps& taps) { a.kernel = taps.count, a.padding -= taps.first * s.dilation; };
  axis(s.depth, trim.depth), axis(s.height, trim.height), axis(s.width, trim.width);
  return s;
}

inline bool conv_is_trimmed(const ConvSizes& s, const ConvTrim& t) { return t.depth.count < s.depth.kernel || t.height.count < s.height.kernel || t.width.count < s.width.kernel; }

// Whether the smaller convolution saves more microseconds than a launch that copies so many elements takes.
inline bool conv_trim_pays(double whole, double trimmed, int64_t elements) { return trimmed + 2.5 + static_cast<double>(elements) / 0.5e6 < whole; }

}  // namespace opscope::cuda
