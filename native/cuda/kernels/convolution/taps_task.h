// A convolution as products of its channels with each element of its kernel (convolution_taps.cu), the same for host and device. Without headers of the standard library, which NVRTC does not have.
#pragma once

namespace opscope::cuda {

// convolution_taps_<t>_<S>: threads of a block, positions of its tile, channels of a stage, stages of its ring.
constexpr int conv_taps_threads = 256, conv_taps_positions = 128, conv_taps_channels = 32, conv_taps_stages = 4;
// Bytes between lines of a stage: of a channel's positions with the piece that an odd start adds, and of a row's channels.
constexpr int conv_taps_line = conv_taps_positions * 2 + 16, conv_taps_row = conv_taps_channels * 2 + 16;

}  // namespace opscope::cuda

struct ConvTapsTask {
  int channels, plane;  // of an image; positions of a channel
  int rows, padded;     // filters by elements of the kernel; channels of a row of the weights, whole stages
  int tiles, pitch;     // of an image; elements between rows of the sums
  int stages;           // of channels, of a share
  long long share;      // sums from a share of the channels to the next
  long long elements;   // of the input
};
