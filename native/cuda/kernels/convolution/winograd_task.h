// What the transforms of a Winograd convolution take, the same for host and device (convolution_winograd.cu).
#pragma once
#include "../common/divide.h"

namespace opscope::cuda {

// Points of a transform along an axis; outputs of a tile along it are that many less the elements of the kernel, and one more.
constexpr int winograd_points = 6, winograd_threads = 256;

// `terms` and `filters` of a group. Terms are channels times layers and parts of the kernel: along each axis that is transformed, runs of up to four elements of each phase of the stride. Of a launch: `tiles`
// from tile `first` on, `pitch` from a row of transformed tiles to the next, and the elements of a point before and after the product.
struct ConvWinograd {
  int terms, filters, filters_pitch, parts, parts_across, pitch, first, tiles, step, inputs, outputs;
  Divide by_pitch, by_terms, by_parts, by_taps, by_filters, by_across, by_down, by_depth, by_dilation;
};
static_assert(sizeof(ConvWinograd) <= 128, "a launch stores up to 128 bytes per argument");

}  // namespace opscope::cuda
