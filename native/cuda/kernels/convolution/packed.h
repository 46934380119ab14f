// How a convolution's input and filters are packed for tensor cores (convolution_pack.cu, convolution_wgmma.cu), and what cannot be. Pure; see plan_test.cc.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "../matmul/shape.h"
#include "packing.h"

namespace opscope::cuda {

// How many axes the kernels on tensor cores see, 0 where coordinates or elements exceed what they pack (convolution_mma.cu).
inline int conv_axes(const ConvSizes& s) {
  const auto reach = [&](const ConvAxis& axis) { return int64_t{axis.output} * s.stride; };
  const int64_t elements = int64_t{s.batch} * s.channels * s.depth.input * s.height.input * s.width.input, outputs = s.batch * reach(s.depth) * reach(s.height) * reach(s.width);
  constexpr int64_t most = int64_t{1} << 30, most_blocks = 65'535;
  if (elements >= most || outputs >= most || s.groups > most_blocks || up(s.filters / s.groups, 64) > most_blocks) return 0;
  const auto absent = [](const ConvAxis& axis) { return axis.input == 1 && axis.kernel == 1 && axis.padding == 0; };
  if (absent(s.depth) && absent(s.height)) return 1;
  if (absent(s.depth)) return reach(s.height) < 1 << 16 && reach(s.width) < 1 << 16 ? 2 : 0;
  return reach(s.depth) < 1 << 10 && reach(s.height) < 1 << 11 && reach(s.width) < 1 << 11 ? 3 : 0;
}

// Elements of a kernel, as many as of which a block of convolution_pack.cu has 8 channels in shared memory.
constexpr int64_t most_packed_taps = 1024;

struct ConvPacked {
  int grain = 0;  // channels of a piece; 0 where kernels cannot take the convolution packed
  PackedConv conv = {};
  ConvPacking packing = {};
  ConvPackDivisors pack_divisors = {};
  ConvDivisors divisors = {};
  int64_t input_elements = 0, filter_elements = 0, blocks = 0;  // of the copies, and what writes them
  int64_t lines_apart = 1;                                      // rows of the input for each that is read
};

inline ConvDivisor conv_divisor(int by) {
  unsigned bits = 0;
  while (int64_t{1} << bits < by) bits++;
  return {static_cast<unsigned>(up(int64_t{1} << (31 + bits), by)), 31 + bits};
}

// Pieces of a position, in runs of at most as many as a stage of the sum has; up to a ninth of them are added where that makes runs longer.
inline void conv_runs(PackedConv& c, int64_t pieces, int64_t stage) {
  c.run = static_cast<int>(pieces);
  if (pieces > stage) {
    c.run = 8;
    for (const int run : {7, 6, 5, 4})
      if (up(pieces, run) * run < up(pieces, c.run) * c.run) c.run = run;
  }
  c.pieces = static_cast<int>(up(pieces, c.run) * c.run);
}

// Positions of a block's tile, as a power of two, so that few of them lie behind the last one.
inline int conv_position_bits(int64_t positions, int64_t channels) {
  int best = 3;
  int64_t least = 0;
  for (int bits = 3; bits <= 8 && (int64_t{conv_pack_pitch(static_cast<int>(channels / 8))} * 8) << bits <= conv_pack_elements; bits++) {
    constexpr int64_t overhead = 1024;
    const int64_t cost = up(positions, int64_t{1} << bits) * ((channels << bits) + overhead);
    if (least == 0 || cost <= least) least = cost, best = bits;
  }
  return best;
}

inline ConvPacked conv_packed(const ConvSizes& s) {
  ConvPacked p;
  PackedConv& c = p.conv;
  const int64_t channels = s.channels / s.groups, taps = int64_t{s.depth.kernel} * s.height.kernel * s.width.kernel, images = int64_t{s.batch} * s.groups, grain = channels <= 4 ? 4 : 8;
  const auto step = [&](const ConvAxis& axis) { return axis.kernel == 1 ? s.stride : std::gcd(s.stride, s.dilation); };
  const auto extent = [&](const ConvAxis& axis) { return (int64_t{axis.output - 1} * s.stride + int64_t{s.dilation} * (axis.kernel - 1)) / step(axis) + 1; };
  const int64_t depth = extent(s.depth), height = extent(s.height), width = extent(s.width), plane = int64_t{s.depth.output} * s.height.output * s.width.output, columns = s.batch * plane;
  conv_runs(c, up(channels, grain), 64 / grain);
  // What the kernels count with 32 bits, and 4 GiB of packed input.
  constexpr int64_t most = int64_t{1} << 31;
  constexpr double most_elements_packed = 2147483648.0;
  const int64_t terms = c.pieces * taps, pitch = up(terms, 8 / grain) * (8 / grain);
  const double positions = static_cast<double>(depth) * static_cast<double>(height) * static_cast<double>(width), input = static_cast<double>(s.batch) * s.channels * s.depth.input * s.height.input * s.width.input;
  constexpr double most_growth = 16;
  if (taps > most_packed_taps || terms >= int64_t{1} << 26 || columns >= most - 512 || s.groups > 65'535 || positions * static_cast<double>(images * c.pieces * grain) > std::min(most_elements_packed, most_growth * input + (1 << 20)))
    return p;
  const int64_t padded = depth * height * width;
  c.groups = s.groups;
  c.filters = s.filters / s.groups;
  c.columns = static_cast<int>(columns);
  c.kernel_depth = s.depth.kernel, c.kernel_height = s.height.kernel, c.kernel_width = s.width.kernel;
  c.terms = static_cast<int>(terms);
  c.pitch = static_cast<int>(pitch);
  c.plane = static_cast<int>(plane);
  c.area = s.height.output * s.width.output;
  c.width = s.width.output;
  c.stride_depth = s.stride / step(s.depth), c.stride_height = s.stride / step(s.height), c.stride_width = s.stride / step(s.width);
  c.line = static_cast<unsigned>(width * c.pieces);
  c.slab = static_cast<unsigned>(height) * c.line;
  c.image = static_cast<unsigned>(depth) * c.slab;
  c.tap_width = static_cast<unsigned>(s.dilation / step(s.width) * c.pieces);
  c.tap_height = static_cast<unsigned>(s.dilation / step(s.height)) * c.line;
  c.tap_depth = static_cast<unsigned>(s.dilation / step(s.depth)) * c.slab;

  p.divisors = {conv_divisor(c.plane), conv_divisor(c.area), conv_divisor(c.width), conv_divisor(c.run), conv_divisor(c.kernel_width), conv_divisor(c.kernel_height), conv_divisor(c.kernel_depth)};

  ConvPacking& k = p.packing;
  k.channels = static_cast<int>(channels);
  k.taps = static_cast<int>(taps);
  k.step_depth = step(s.depth), k.step_height = step(s.height), k.step_width = step(s.width);
  p.lines_apart = int64_t{k.step_depth} * k.step_height;
  k.padded_depth = static_cast<int>(depth), k.padded_height = static_cast<int>(height), k.padded_width = static_cast<int>(width);
  // A tile has all pieces of a position where these are few, so that what it writes lies together.
  constexpr int64_t few_pieces = 16, tile_pieces = 8;
  k.tiles_channels = static_cast<int>(c.pieces <= few_pieces ? 1 : up(c.pieces, tile_pieces));
  k.tile_channels = static_cast<int>(up(c.pieces, k.tiles_channels) * grain);
  // Small images share tiles. Others have their own, which then start on a line of memory where rows do.
  constexpr int64_t small = 1 << 14;
  k.images = padded < small ? s.batch : 1;
  // Few channels need no shared memory.
  k.position_bits = grain == 4 ? 10 : conv_position_bits(padded * k.images, k.tile_channels);
  k.tiles_positions = up(padded * k.images, int64_t{1} << k.position_bits);
  k.input_blocks = images / k.images * k.tiles_channels * k.tiles_positions;
  // Several small filters of a block, or some channels of one.
  constexpr int64_t most_elements = 8192, few_elements = 2048;
  const bool whole = channels * taps <= most_elements;
  k.block_channels = static_cast<int>(whole ? channels : most_elements / taps / grain * grain);
  k.block_filters = static_cast<int>(whole ? std::clamp<int64_t>(few_elements / (channels * taps), 1, s.filters) : 1);
  k.filter_parts = static_cast<int>(up(channels, k.block_channels));
  p.input_elements = images * padded * c.pieces * grain;
  p.filter_elements = s.filters * pitch * grain;
  p.blocks = k.input_blocks + up(s.filters, k.block_filters) * k.filter_parts;
  if (p.blocks >= most || up(columns, 128) * up(c.filters, 64) >= most) return p;
  const auto by = [](int64_t n) { return conv_divisor(static_cast<int>(n)); };
  p.pack_divisors = {by(padded), by(height), by(width), by(k.tiles_positions), by(k.tiles_channels), by(s.batch / k.images), by(k.tile_channels / grain)};
  p.grain = static_cast<int>(grain);
  return p;
}

}  // namespace opscope::cuda
