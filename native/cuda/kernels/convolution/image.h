// A convolution of small images as one product of all of them: a row for each image, with all of its channels and positions, times a matrix that has the filters at each position of the output, zeros
// where a window does not reach (convolution_image.cu writes it). The product reads and writes each tensor once, in whole rows. Pure; see convolution_test.cc.
#pragma once
#include <cmath>
#include <cstdint>

#include "../convolution.h"
#include "../matmul/shape.h"
#include "shape.h"

namespace opscope::cuda {

struct ConvImage {
  int64_t terms = 0, outputs = 0;  // elements of an image, and of its output; none where the matrix is too large
  double cost = 0;                 // microseconds
};

// `plane`: positions of the input.
inline ConvImage conv_image(const ConvSizes& s, const ConvShape& c) {
  constexpr int64_t most_terms = 1 << 16, most_elements = 1 << 22, least_images = 512, short_terms = 256, long_terms = 1024, slim_outputs = 72;
  const int64_t terms = int64_t{s.channels} * s.depth.input * s.height.input * s.width.input, outputs = s.filters * c.plane;
  // One output of an image that meets all of it is a product as it lies.
  if (s.groups > 1 || c.whole || terms > most_terms || outputs * terms > most_elements || s.batch < least_images) return {};
  // Sums in f32 that are neither short nor long, for more outputs than matmul_slim_f32 takes.
  if (c.element_bytes == 4 && terms > short_terms && terms < long_terms && outputs > slim_outputs) return {};
  // Two launches; multiply-adds of f32 units or tensor cores; bytes, in a microsecond of an H100.
  constexpr double launches = 10, f32_rate = 1.7e7, half_rate = 1.3e8, byte_rate = 2.2e6;
  const double products = static_cast<double>(s.batch) * static_cast<double>(outputs * up(terms, 8) * 8);
  return {terms, outputs, launches + std::hypot(products / (c.element_bytes == 4 ? f32_rate : half_rate), static_cast<double>(c.bytes) / byte_rate)};
}

}  // namespace opscope::cuda
