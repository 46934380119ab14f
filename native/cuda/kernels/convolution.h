// The geometry of a convolution, for host and device: core/ops/convolution/table.ts has the formula.
#pragma once

// Positions of a thread of convolution_point_<t>_four.
constexpr int conv_point_accesses = 4;

struct ConvAxis {
  int input, kernel, padding, output;
};

struct ConvSizes {
  int batch, channels, filters, groups, stride, dilation;
  ConvAxis depth, height, width;
};

// What convolution_pack.cu writes: for each image and group the positions that windows reach, padding among them but not what lies between those that stride and dilation step over, and for
// each position its channels. A piece is 8 or 4
// channels of one position, the last ones filled up with zeros. `filters` and `pieces` are those of a group.
struct PackedConv {
  int groups, filters, columns;  // columns: outputs of a filter, over all images
  int pieces, run;               // of a position; those of them that follow each other in the sum
  int kernel_depth, kernel_height, kernel_width;
  int terms;          // pieces of a filter
  int pitch;          // pieces from one filter to the next
  int plane, area, width;  // outputs of an image, of one depth, of a row
  int stride_depth, stride_height, stride_width;  // in positions
  unsigned image, slab, line;                     // pieces of an image, of one depth, of a row
  unsigned tap_depth, tap_height, tap_width;      // pieces from one element of the kernel to the next
};

// A number that others, less than 2^31, are divided by: a product and a shift instead of the 20 instructions of a division.
struct ConvDivisor {
  unsigned factor, shift;

#ifdef __CUDACC__
  __device__ __forceinline__ int quotient(int n) const { return static_cast<int>(static_cast<unsigned long long>(n) * factor >> shift); }
#endif
};
struct ConvDivisors {
  ConvDivisor plane, area, width, run, kernel_width, kernel_height, kernel_depth;
};

// How its blocks share the work: `input_blocks` take tiles of `tile_channels` by 2^position_bits positions of so many `images`, the others `block_filters` filters or
// `block_channels` channels of one.
struct ConvPacking {
  int channels, taps;  // of a group; of a filter
  int images, tile_channels, position_bits, tiles_channels, block_channels, block_filters, filter_parts;
  int padded_depth, padded_height, padded_width;
  int step_depth, step_height, step_width;  // from a packed position to the next, in elements of the input
  long long tiles_positions, input_blocks;
};

// A part of each kernel: its extents, those of the whole, and where it begins. `elements`: of the parts of all filters.
struct ConvKernelPart {
  long long elements;
  int depth, height, width, of_depth, of_height, of_width, first_depth, first_height, first_width;
};

// convolution_each.cu: terms of a lane whose loads are on their way together.
constexpr int conv_each_terms = 4;
// convolution_gather.cu: terms of the sum in shared memory, warps of a block, filters of a lane.
constexpr int conv_gather_terms = 64, conv_gather_warps = 4, conv_gather_filters = 8;

// What a launch of both takes beside the sizes. `channels` of a group; `kernel`: its elements.
struct ConvEach {
  int group_bits, outputs, terms, channels, kernel, in_plane, out_plane;
  ConvDivisor plane, filters, of_group, area, width, taps, kernel_width, kernel_height;
};
static_assert(sizeof(ConvEach) <= 128, "a launch stores up to 128 bytes per argument");

// convolution_narrow.cu: threads of a block, positions of a warp.
constexpr int conv_narrow_threads = 128, conv_narrow_positions = 64;

// `channels` and `filters` of a group, `kernel`: its elements, outputs of an image and of a depth, elements of an image's channel.
struct ConvNarrow {
  int columns, channels, filters, terms, kernel, plane, area, in_plane;
  ConvDivisor by_plane, by_area, by_width;
};
static_assert(sizeof(ConvNarrow) <= 128, "a launch stores up to 128 bytes per argument");

// convolution_group.cu: threads of a block; of one that adds layers up, and places of a thread.
constexpr int conv_group_threads = 128, conv_layers_threads = 256, conv_layers_places = 4;

// `channels` and `filters` of a group, of volumes the layers of filters; pairs of channels, and steps of eight pairs of channels and elements of the kernel. Of a tile: rows and columns of
// outputs, lines of the input and words of each, words from a pair of channels to the next.
struct ConvGroup {
  int channels, filters, pairs, steps;
  int rows, cols, lines, line, pitch;
  int tiles, tiles_down, tiles_across;
  int vector;  // elements of a row of the input that are read together; 1: single ones, or parts of rows
  ConvDivisor by_pairs, by_line, by_lines, by_vectors, by_cols, by_across, by_down;
};
static_assert(sizeof(ConvGroup) <= 128, "a launch stores up to 128 bytes per argument");

// convolution_filters.cu: filters of a warp, positions of a block.
constexpr int conv_filters_of_warp = 8, conv_filters_positions = 256;

// convolution_rows.cu: threads of a block.
constexpr int conv_rows_threads = 256;

// `filters` and images `together` of a block, filters of all groups and of one, `terms` of an output, elements from an image to the next. Of the weights: elements from a filter to the next, from a term to the next, and before the
// first.
struct ConvRows {
  int images, filters, all, of_group, together, terms, pitch, of_filter, of_term, first;
};
