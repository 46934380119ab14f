// What convolution_halo.cu takes beside the packed operands, the same for host and device.
#pragma once
#include "../common/divide.h"

namespace opscope::cuda {

// Threads of a block, its outputs, elements of a layer of the kernel times pairs of pieces that a block counts.
constexpr int conv_halo_threads = 128, conv_halo_outputs = 256, conv_halo_most_steps = 256;

// A tile of a block: layers of outputs (depths of all images, one after the other), rows and columns; what its windows meet of each layer: lines of positions. Pieces of a stage as a power of two, stages of a run of pieces,
// bytes from a position to the next in shared memory. Tiles along a row, along a column, of filters; layers in all and of an image.
struct ConvHalo {
  int layers, rows, cols, lines, line;
  int piece_bits, parts, pitch;
  int across, down, filter_tiles, all_layers, depth, height;
  int tap_height, tap_width, tap_depth;  // positions from an element of the kernel to the next
  int in_height, in_width, batch;        // of the packed input
  Divide by_plane, by_cols, by_depth, by_line, by_lines;  // outputs of a tile's layer, its columns, layers of an image, positions of a line, lines of a layer
};
static_assert(sizeof(ConvHalo) <= 128, "a launch stores up to 128 bytes per argument");

}  // namespace opscope::cuda
