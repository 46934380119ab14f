// Kernels of one element with a stride, which meet a part of the input: copied first, where what they then are has a faster kernel. Pure; see convolution_test.cc.
#pragma once
#include <cstdint>

#include "../common/divide.h"
#include "../convolution.h"

namespace opscope::cuda {

// What convolution_sample.cu copies: elements `stride` apart. The same for host and device.
struct ConvSample {
  int elements, stride;
  int depth, height, width;              // of the input
  int out_depth, out_height, out_width;  // of what is copied
  Divide by_width, by_height, by_depth;  // by the extents of what is copied
};

inline bool conv_is_sampled(const ConvSizes& s) {
  const auto one = [](const ConvAxis& a) { return a.kernel == 1 && a.padding == 0; };
  const int64_t elements = int64_t{s.batch} * s.channels * s.depth.output * s.height.output * s.width.output;
  return s.stride > 1 && one(s.depth) && one(s.height) && one(s.width) && (s.depth.output < s.depth.input || s.height.output < s.height.input || s.width.output < s.width.input) && elements < int64_t{1} << 31;
}

// The convolution of what is copied.
inline ConvSizes conv_sampled(ConvSizes s) {
  s.stride = s.dilation = 1;
  for (ConvAxis* a : {&s.depth, &s.height, &s.width}) a->input = a->output;
  return s;
}

// Whether that saves more microseconds than the copy takes, which reads whole lines of memory: of many elements of 16 bits, where a product or `convolution_thin` comes after it.
inline bool conv_sample_pays(double whole, double sampled, int64_t elements, int stride, int64_t element_bytes) {
  constexpr int64_t least = int64_t{1} << 20;
  return element_bytes == 2 && elements >= least && sampled + 2.5 + static_cast<double>(elements * element_bytes * (stride + 1)) / 2e6 < whole;
}

}  // namespace opscope::cuda
