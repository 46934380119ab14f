// What a launch of convolution_strips.cu takes beside the sizes, the same for host and device.
#pragma once
#include "../common/divide.h"

namespace opscope::cuda {

// Outputs of a strip, one below the other; threads of a block, at least and at most.
constexpr int conv_strip_outputs = 4, conv_strip_threads = 128, conv_strip_most_threads = 512;

// Filters of a group, blocks of them, blocks of strips; `strips` of a filter over all images, and those of a column of an image; warps that share the channels of their strips.
struct ConvStrips {
  int filters, blocks, chunks, strips, down, sharing;
  Divide by_chunks, by_blocks, by_width, by_down, by_depth, by_dilation;
};
static_assert(sizeof(ConvStrips) <= 128, "a launch stores up to 128 bytes per argument");

}  // namespace opscope::cuda
