// Convolutions whose windows are copied out first, where what they then are, a kernel of one element without a stride, has a faster kernel. Pure; see convolution_test.cc.
#pragma once
#include <cstdint>

#include "../common/divide.h"
#include "../convolution.h"

namespace opscope::cuda {

// What convolution_unfold.cu copies: for each channel and each element of the kernel what it meets at each output. The same for host and device.
struct ConvUnfold {
  int elements, taps, stride, dilation;
  ConvAxis depth, height, width;
  Divide by_width, by_height, by_depth, by_taps, by_tap_width, by_tap_height;
};
static_assert(sizeof(ConvUnfold) <= 128, "a launch stores up to 128 bytes per argument");

inline int conv_taps(const ConvSizes& s) { return s.depth.kernel * s.height.kernel * s.width.kernel; }

// Elements of the copy.
inline int64_t conv_unfolded_elements(const ConvSizes& s) { return int64_t{s.batch} * s.channels * conv_taps(s) * s.depth.output * s.height.output * s.width.output; }

// Whether a copy has what the input lacks, and can be counted: kernels of one element without a stride lie as the copy would.
inline bool conv_unfolds(const ConvSizes& s) {
  const auto same = [](const ConvAxis& a) { return a.kernel == 1 && a.padding == 0 && a.output == a.input; };
  return !(same(s.depth) && same(s.height) && same(s.width)) && conv_unfolded_elements(s) < int64_t{1} << 28;
}

// The convolution of what is copied.
inline ConvSizes conv_unfolded(ConvSizes s) {
  s.channels *= conv_taps(s);
  s.stride = s.dilation = 1;
  for (ConvAxis* a : {&s.depth, &s.height, &s.width}) a->input = a->output, a->kernel = 1, a->padding = 0;
  return s;
}

inline ConvUnfold conv_unfold(const ConvSizes& s) {
  return {static_cast<int>(conv_unfolded_elements(s)), conv_taps(s), s.stride, s.dilation, s.depth, s.height, s.width, divide_by(s.width.output), divide_by(s.height.output), divide_by(s.depth.output), divide_by(conv_taps(s)),
          divide_by(s.width.kernel), divide_by(s.height.kernel)};
}

// Whether that saves more microseconds than the copy takes: in 16 bits kernels of one element alone, of many elements. In f32 the product takes longer than its model says by a share for each term
// (91 convolutions of two seeds on an H100).
inline bool conv_unfold_pays(double whole, double unfolded, const ConvSizes& s, int64_t element_bytes) {
  constexpr int64_t least_16 = int64_t{1} << 20, least = int64_t{1} << 18;
  const int64_t elements = conv_unfolded_elements(s), input = int64_t{s.batch} * s.channels * s.depth.input * s.height.input * s.width.input;
  const bool sampled = conv_taps(s) == 1;
  if (element_bytes == 2 ? !sampled || elements < least_16 : elements < least) return false;
  const int64_t read = sampled ? elements * s.stride : input;
  const double terms = element_bytes == 2 ? 0 : static_cast<double>(s.channels) / s.groups * conv_taps(s);
  return (unfolded + 2.5 + static_cast<double>((elements + read) * element_bytes) / 2e6) * (1 + terms / 150) < whole;
}

}  // namespace opscope::cuda
