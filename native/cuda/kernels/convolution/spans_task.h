// What convolution_spans.cu takes, the same for host and device.
#pragma once
#include "../common/divide.h"

namespace opscope::cuda {

// Threads of a block, and filters of a thread at a time.
constexpr int conv_spans_threads = 128, conv_spans_filters = 4;

// `channels` and `filters` of a group; positions of a tile, and vectors of 16 bytes that they lie in at most.
struct ConvSpans {
  int plane, channels, filters, tile, tiles, vectors;
  Divide by_tiles, by_vectors;
};

}  // namespace opscope::cuda
