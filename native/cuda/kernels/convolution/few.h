// Convolutions of few multiplications (convolution_few.cu): lanes of a warp have an output. Pure; few_test.cc has what holds over the whole range.
#pragma once
#include <cstdint>

#include "../common/divide.h"

namespace opscope::cuda {

// The same for host and device.
struct FewConvolution {
  unsigned long long x, weight, out;  // addresses
  int outputs, terms, log2;           // 1 << log2 lanes of an output, which is a sum of `terms`
  int channels, in_group, filters;    // of an image; of a group; of an image
  int stride, dilation;
  int input[3], padding[3], output[3], kernel[3];  // depth, height, width
  int plane, volume, face;                         // outputs of a filter and image; elements of a kernel, and of one depth of it
};
static_assert(sizeof(FewConvolution) <= 128, "a launch stores up to 128 bytes per argument");

// By the filters of an image and of a group, the outputs of a filter and image, of a depth and of a row, and the elements of a kernel, of a depth and of a row of it.
struct FewConvolutionDivides {
  Divide filters, group_filters, plane, area, width, volume, face, kernel;
};

// Terms of a lane on their way together, and how many times as many a lane meets at most.
constexpr int few_conv_terms = 8, few_conv_rounds = 2;
// Multiplications, and outputs times lanes, up to which a call is a wait for memory and for instructions.
constexpr int64_t few_conv_multiplications = int64_t{1} << 21, few_conv_threads = int64_t{1} << 17, few_conv_elements = int64_t{1} << 24;

struct FewConvolutionShape {
  bool taken = false;
  int log2 = 0;
  unsigned threads = 0;
  int64_t blocks = 0;
};

// `elements` of the input and the filters.
inline FewConvolutionShape few_convolution(int64_t outputs, int64_t terms, int64_t elements) {
  if (outputs < 1 || elements > few_conv_elements || outputs > few_conv_threads || terms > 32 * few_conv_terms * few_conv_rounds || outputs * terms > few_conv_multiplications) return {};
  int log2 = 0;
  while (log2 < 5 && (few_conv_terms << log2) < terms) log2++;
  const int64_t in_all = outputs << log2;
  if (in_all > few_conv_threads) return {};
  const unsigned threads = in_all > 32 * 256 ? 128 : in_all > 32 ? 64 : 32;
  return {true, log2, threads, (in_all + threads - 1) / threads};
}

}  // namespace opscope::cuda
