// Which kernel a convolution takes and how its work is shared (convolution/): a part of opscope_cuda_plan_test.
#include <set>

#include "kernels/convolution/depthwise.h"
#include "kernels/convolution/image.h"
#include "kernels/convolution/packed.h"
#include "kernels/convolution/taps.h"
#include "kernels/convolution/tiles.h"
#include "kernels/convolution/trim.h"
#include "kernels/convolution/unfold.h"
#include "kernels/plan.h"
#include "kernels/test/convolutions.h"
#include "kernels/test/expect.h"

using namespace opscope;
using namespace opscope::cuda;

namespace {

// Every convolution has a kernel that can compute it, and few filters or a long sum of few outputs are not left to nearly empty tiles.
void kinds() {
  bool possible = true;
  for (const int64_t columns : {1, 9, 64, 1000, 1'000'000})
    for (const int64_t filters : {1, 2, 17, 64, 512})
      for (const int64_t groups : {1, 7, 4096})
        for (const int64_t terms : {1, 9, 100, 65'536})
          for (const int64_t plane : {int64_t{1}, int64_t{31}, columns})
            for (const bool point : {false, true})
              for (const bool tensor_cores : {false, true}) {
                ConvShape shape = {columns, filters, groups, terms, plane, point, tensor_cores};
                shape.element_bytes = tensor_cores ? 2 : 4;
                const ConvKind kind = conv_kind(132, shape);
                if (kind == ConvKind::point || kind == ConvKind::product || kind == ConvKind::spans) possible = possible && point;
                if (kind == ConvKind::mma) possible = possible && tensor_cores;
              }
  expect(conv_kind(132, {1469, 3, 1, 1024, 113, true, true, 1024}) == ConvKind::product && conv_kind(132, {163'840, 3, 1, 16, 128, true, true, 16}) == ConvKind::point,
         "long sums of few positions are products, short ones take a thread each");
  const auto point = [](int64_t images, int64_t filters, int64_t terms, int64_t plane) {
    ConvShape c = {images * plane, filters, 1, terms, plane, true, false, terms};
    c.bytes = 4 * images * plane * (filters + terms);
    return conv_kind(132, c);
  };
  expect(point(10'891, 65, 32, 297) == ConvKind::product && point(64, 128, 32, 103) == ConvKind::product && point(10'891, 65, 8, 297) != ConvKind::product, "f32 kernels of one element with a short sum are products, whose tiles have all of it");
  const auto unaligned = [](int64_t images, int64_t filters, int64_t channels, int64_t plane, bool wgmma) {
    ConvShape c = {images * plane, filters, 1, channels, plane, true, true, channels};
    c.element_bytes = 2, c.bytes = 2 * images * plane * (filters + channels), c.wgmma = wgmma;
    return conv_unaligned_cost(132, c);
  };
  expect(unaligned(16, 127, 261, 9597, true) > 0 && unaligned(16, 127, 261, 9597, false) == 0 && unaligned(16, 127, 261, 9600, true) == 0 && unaligned(1, 9, 600, 200'001, false) > 0 && unaligned(2, 8, 600, 200'001, true) == 0,
         "planes off 16 bytes are read as they lie by products that can");
  expect(possible, "kernels for products and for tensor cores get what they can compute");
  expect(conv_kind(132, {11'160'315, 5, 1, 21, 21'755, false, false}) == ConvKind::direct && conv_kind(132, {50'176, 64, 1, 576, 3136, false, false, 64}) == ConvKind::tiles, "few filters are no tile, more of them are");
  expect(conv_kind(132, {340'416, 32, 1, 1, 1728, false, true}) == ConvKind::filters && conv_kind(132, {729, 423, 1, 2, 9, false, true}) == ConvKind::gather, "few terms are no tile, whatever the filters");
  bool covered = true;
  for (const int64_t columns : {1LL, 49LL, 100'003LL, 1LL << 33})
    for (const int64_t filters : {1LL, 11LL, 512LL, 5'000'000LL})
      for (const int64_t groups : {1, 4096})
        for (const int64_t terms : {1LL, 17LL, 4608LL, 1LL << 30}) {
          const ConvShape shape = {columns, filters, groups, terms, 1, false, true, 1};
          for (const ConvTiling& tiling : {conv_tiling(132, shape), conv_mma_tiling(132, shape), conv_splits(132, shape, conv_tile_16bit)}) {
            const int64_t steps = up(up(terms, tiling.tile->depth), tiling.tile->slices), each = up(steps, tiling.splits);
            covered = covered && tiling.splits >= 1 && tiling.splits <= most_conv_splits && each * (tiling.splits - 1) < steps && tiling.cost > 0;
          }
          covered = covered && (filters < 5'000'000 || conv_tiling(132, shape).tile->filters == 64);
        }
  expect(covered, "no share of a sum is empty, and a launch holds the tiles");
  const auto takes = [](const ConvShape& shape, int filters, bool split) { return conv_tiling(132, shape).tile->filters == filters && (conv_tiling(132, shape).splits > 1) == split; };
  expect(takes({50'176, 64, 1, 576, 3136, false, false, 64}, 64, false) && takes({392, 512, 1, 4608, 49, false, false, 512}, 64, true) && takes({30'592, 31, 1, 2058, 239, false, false, 686}, 32, true) &&
             takes({46'395, 11, 47, 27, 45, false, false, 1}, 16, false),
         "tiles have as many filters as there are, and share the sum where outputs are few");
  bool filled = true;
  for (const int64_t columns : {1, 1000, 100'000, 10'000'000})
    for (const int64_t filters : {1, 2, 3, 5, 8, 17})
      for (const int group : {1, 32}) {
        const int together = conv_filters_together(132, {columns, filters, 1, 100, columns, false, false}, group);
        const int64_t threads = columns * ((filters + together - 1) / together) * group;
        filled = filled && together >= 1 && together <= 8 && (together & (together - 1)) == 0 && (together == 1 || (threads >= 132 * 1024 && together < filters * 2));
      }
  expect(filled, "filters are computed together where enough threads are left, and no more of them than there are");
  expect(conv_filters_together(132, {11'160'315, 5, 1, 21, 21'755, false, false}, 1) == 8 && conv_filters_together(132, {27'885, 4, 1, 5000, 2145, false, false}, 32) == 4 && conv_filters_together(132, {600, 4, 1, 21, 600, false, false}, 1) == 1,
         "by a thread, by a warp, and not where outputs are few");
  expect(conv_shares_window(132, {25'312, 2, 1, 165, 791, false, true}, 55, 2) && !conv_shares_window(132, {25'312, 2, 1, 165, 791, false, true}, 5, 2) && !conv_shares_window(132, {600, 2, 1, 165, 600, false, true}, 55, 2) &&
             !conv_shares_window(132, {25'312, 8, 1, 2000, 791, false, true}, 500, 8),
         "warps of a block share many channels of enough outputs");
  expect(conv_shares_window(132, {256, 32, 1, 144, 256, false, false}, 16, 1) && !conv_shares_window(132, {256, 32, 1, 4608, 256, false, false}, 512, 1) && !conv_shares_window(132, {2052, 2, 1, 129, 4, false, false}, 129, 1) &&
             conv_kind(132, {256, 32, 1, 144, 256, false, false, 16}) == ConvKind::direct_warp,
         "fewer outputs are enough where each warp has few channels");
  expect(conv_takes_window(132, {11'160'315, 5, 1, 21, 21'755, false, false}, 8) && conv_takes_window(132, {300'000, 1, 16, 9, 4032, false, false}, 1) && !conv_takes_window(132, {100'000, 1, 1, 9, 4032, false, false}, 1) &&
             !conv_takes_window(132, {11'160'315, 5, 1, 2000, 21'755, false, false}, 8),
         "several positions of a thread where outputs are many and the weights lie in shared memory");
  expect(conv_kind(132, {278'568, 260, 1, 39, 30'952, true, true}) == ConvKind::product, "a kernel of one element is a batched product");
  ConvShape few = {432, 17, 1, 65'536, 24, false, true};
  few.element_bytes = 2;
  expect(conv_kind(132, few) == ConvKind::mma && conv_mma_tiling(132, {432, 17, 1, 65'536, 24, false, true}).splits > 30, "a long sum of few outputs takes tensor cores and the whole GPU");
}

// What a ConvDivisor stands for, as the kernels compute it.
void divisors() {
  bool right = true;
  for (const int64_t by : {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{7}, int64_t{49}, int64_t{56}, int64_t{3136}, int64_t{65'537}, int64_t{1'000'003}, (int64_t{1} << 30) - 1, int64_t{1} << 30, (int64_t{1} << 31) - 1}) {
    const ConvDivisor d = conv_divisor(static_cast<int>(by));
    for (int64_t k = 0; k < 2000; k++)
      for (const int64_t n : {k, k * by, k * by + by - 1, (int64_t{1} << 31) - 1 - k})
        if (n < int64_t{1} << 31) right = right && static_cast<int64_t>(static_cast<uint64_t>(n) * d.factor >> d.shift) == n / by;
  }
  expect(right, "a product and a shift give the quotient of all numbers below 2^31");
}

// Lanes of an output have few terms each, and small convolutions alone are computed so.
void each() {
  bool right = true;
  for (const int64_t terms : {1, 3, 17, 50, 128, 500, 513}) {
    const int group = conv_each_group({80, 19, 1, terms, 80, false, true});
    right = right && group >= 1 && group <= 32 && (group & (group - 1)) == 0 && (group == 32 || terms <= group * conv_each_terms) && (group == 1 || terms * 2 > group * conv_each_terms);
  }
  expect(right, "as many lanes of an output as leave each a few terms");
  ConvShape large = {12, 167, 1, 17, 3, true, true, 17};
  large.largest = int64_t{1} << 31;
  expect(conv_kind(132, {12, 167, 1, 17, 3, true, true, 17}) == ConvKind::each && conv_kind(132, {44'847, 32, 1, 5, 1359, true, true, 5}) != ConvKind::each && conv_each_cost(132, large) == 0 && conv_gather(132, large).positions == 0,
         "a group of lanes for each output where there is little to do, and numbers are below 2^31");
}

// Blocks that gather cover the outputs, and are as small as fills the GPU.
void gather() {
  bool covers = true;
  for (const int64_t columns : {1, 33, 1000, 100'000, 10'000'000})
    for (const int64_t filters : {1, 8, 9, 33, 1000})
      for (const int64_t groups : {1, 7})
        for (const int64_t terms : {1, 63, 65, 1000}) {
          const ConvShape c = {columns, filters, groups, terms, columns, false, false, terms};
          const ConvGather g = conv_gather(132, c);
          covers = covers && (g.positions == 1 || g.positions == 2) && conv_gather_warps % g.across == 0 && g.column_blocks(c) * g.positions * 32 >= columns && g.filter_blocks(c) * g.across * conv_gather_filters >= filters && g.cost > 0;
        }
  expect(covers, "blocks that gather cover the outputs");
  const auto choice = [](int64_t columns, int64_t filters) { return conv_gather(132, {columns, filters, 1, 50, columns, false, false, 50}); };
  expect(choice(187, 191).positions == 1 && choice(187, 191).across == 2 && choice(100'000, 191).positions == 2 && choice(100'000, 191).across == 4 && choice(100'000, 6).across == 1, "they are small where outputs are few, and have no more filters than there are");
  expect(conv_kind(132, {6245, 13, 1, 20, 5, false, false, 4}) == ConvKind::gather && conv_kind(132, {6804, 247, 1, 19, 1701, false, false, 19}) == ConvKind::gather && conv_kind(132, {50'176, 64, 1, 576, 3136, false, false, 64}) == ConvKind::tiles,
         "they take what is too much for a few lanes each and too little for tiles");
}

// Every element of a kernel that some window has inside of the input is kept.
void trims() {
  bool kept = true, tight = true;
  for (const int input : {1, 2, 5, 9, 40})
    for (const int kernel : {1, 2, 3, 7, 11})
      for (const int padding : {0, 1, 3, 12})
        for (const int stride : {1, 2, 5})
          for (const int dilation : {1, 3}) {
            if (input + 2 * padding < dilation * (kernel - 1) + 1) continue;
            const ConvAxis a = axis(input, kernel, padding, stride, dilation);
            const ConvTaps taps = conv_taps(a, stride, dilation);
            int used = 0;
            for (int k = 0; k < kernel; k++) {
              bool meets = false;
              for (int o = 0; o < a.output; o++) meets = meets || (o * stride + k * dilation >= padding && o * stride + k * dilation < padding + input);
              used += meets;
              kept = kept && (!meets || (k >= taps.first && k < taps.first + taps.count));
            }
            kept = kept && taps.count >= 1 && taps.first >= 0 && taps.first + taps.count <= kernel && padding - taps.first * dilation >= 0;
            tight = tight && (stride > 1 || dilation > 1 || used == 0 || taps.count == used);
          }
  expect(kept && tight, "elements of a kernel that meet the input are kept, the others are not");
  const ConvSizes s = {8, 45, 2, 1, 1, 1, axis(1, 7, 3, 1, 1), axis(2, 7, 3, 1, 1), axis(5017, 7, 3, 1, 1)};
  const ConvSizes t = conv_trimmed(s, conv_trim(s));
  expect(conv_is_trimmed(s, conv_trim(s)) && t.depth.kernel == 1 && t.depth.padding == 0 && t.height.kernel == 3 && t.height.padding == 1 && t.width.kernel == 7 && t.width.padding == 3 && t.height.output == s.height.output,
         "planes of one or two lines have a smaller kernel");
  expect(conv_trim_pays(5000, 500, 1 << 20) && !conv_trim_pays(8, 6, 1000), "a copy of the filters pays where it saves more than a launch");
}

// Packed operands hold every window, blocks cover them, and what a block keeps fits its shared memory.
void packed() {
  bool runs = true, windows = true, tiles = true, filters = true;
  int64_t taken = 0, left = 0;
  each_convolution([&](const ConvSizes& s) {
    const ConvPacked p = conv_packed(s);
    if (p.grain == 0) {
      left++;
      return;
    }
    taken++;
    const PackedConv& c = p.conv;
    const ConvPacking& k = p.packing;
    const int64_t channels = s.channels / s.groups, least = up(channels, p.grain), padded = int64_t{k.padded_depth} * k.padded_height * k.padded_width;
    runs = runs && (p.grain == 8 ? channels > 4 : channels <= 4) && c.pieces >= least && c.pieces * 8 <= least * 9 + 7 && c.pieces % c.run == 0 && c.run * p.grain <= 64 && (c.run == c.pieces || c.run >= 4) && c.terms == c.pieces * k.taps &&
           c.pitch >= c.terms && c.pitch * p.grain % 8 == 0;
    const int64_t at = int64_t{s.depth.output - 1} * c.stride_depth * c.slab + int64_t{s.height.output - 1} * c.stride_height * c.line + int64_t{s.width.output - 1} * c.stride_width * c.pieces + int64_t{s.depth.kernel - 1} * c.tap_depth +
                       int64_t{s.height.kernel - 1} * c.tap_height + int64_t{s.width.kernel - 1} * c.tap_width + c.pieces - 1;
    // Packed positions are elements of the input `step` apart: where a window begins, and from one element of it to the next.
    const auto steps = [&](const ConvAxis& a, int step, int stride) { return step * stride == s.stride && (a.kernel == 1 || s.dilation % step == 0); };
    windows = windows && steps(s.depth, k.step_depth, c.stride_depth) && steps(s.height, k.step_height, c.stride_height) && steps(s.width, k.step_width, c.stride_width) && (s.width.kernel == 1 || int64_t{c.tap_width} * k.step_width == int64_t{s.dilation} * c.pieces);
    windows = windows && at == int64_t{c.image} - 1 && int64_t{c.image} == padded * c.pieces && p.input_elements <= int64_t{1} << 31 && p.input_elements == int64_t{c.image} * s.batch * s.groups * p.grain;
    tiles = tiles && (p.grain == 4 ? k.tiles_channels == 1 && k.position_bits == 10 : (conv_pack_pitch(k.tile_channels / 8) * 8) << k.position_bits <= conv_pack_elements && k.position_bits <= 8) && k.tiles_positions << k.position_bits >= padded * k.images && (k.tiles_positions - 1) << k.position_bits < padded * k.images && s.batch % k.images == 0 && k.input_blocks == int64_t{s.groups} * s.batch / k.images * k.tiles_channels * k.tiles_positions &&
            k.tile_channels % p.grain == 0 && int64_t{k.tiles_channels} * k.tile_channels >= int64_t{c.pieces} * p.grain && int64_t{k.tiles_channels - 1} * k.tile_channels < int64_t{c.pieces} * p.grain && p.blocks <= Launch::max_blocks_x;
    filters = filters && int64_t{k.block_filters} * k.block_channels * k.taps <= 8192 && int64_t{k.filter_parts} * k.block_channels >= channels && int64_t{k.filter_parts - 1} * k.block_channels < channels &&
              (k.filter_parts == 1 || (k.block_filters == 1 && k.block_channels % p.grain == 0)) && p.blocks - k.input_blocks == up(s.filters, k.block_filters) * k.filter_parts;
  });
  expect(runs, "pieces of a position come in runs that a stage holds");
  expect(windows, "the last window ends where a packed image does");
  expect(tiles, "tiles of positions and channels cover the input");
  expect(filters, "parts of filters cover them");
  expect(taken > 10'000 && left > 100, "convolutions of many kinds are packed, the largest are left to others");
  bool covered = true;
  for (const int64_t columns : {1LL, 49LL, 100'003LL, 1LL << 30})
    for (const int64_t count : {1LL, 65LL, 512LL})
      for (const int64_t terms : {8LL, 72LL, 4608LL, 1LL << 26}) {
        ConvShape shape = {columns, count, 1, terms, 1, false, true, 8};
        shape.packed_terms = terms;
        const ConvTiling tiling = conv_wgmma_tiling(132, shape);
        const int64_t steps = up(terms, tiling.tile->depth), each = up(steps, tiling.splits);
        covered = covered && tiling.splits >= 1 && each * (tiling.splits - 1) < steps && conv_wgmma_shared(*tiling.tile) <= 227 * 1024;
      }
  expect(covered, "no share of a packed sum is empty, and stages fit shared memory");
  const auto choice = [](const ConvSizes& s) {
    const ConvPacked p = conv_packed(s);
    const int64_t plane = int64_t{s.height.output} * s.width.output, terms = int64_t{s.channels} / s.groups * s.height.kernel * s.width.kernel, input = int64_t{s.batch} * s.channels * s.height.input * s.width.input;
    ConvShape c = {s.batch * plane, s.filters / s.groups, s.groups, terms, plane, false, true, s.channels / s.groups};
    c.packed_terms = int64_t{p.conv.terms} * p.grain;
    c.element_bytes = 2, c.largest = std::max<int64_t>(c.outputs(), input);
    c.packed_bytes = 2 * (p.input_elements + p.filter_elements + input + s.filters * terms);
    return std::pair{conv_kind(132, c), conv_wgmma_tiling(132, c)};
  };
  // Batch, channels, filters, groups, stride, then height and width each of: input, kernel, padding.
  const auto kind = [&](int batch, int channels, int filters, int groups, int stride, ConvAxis height, ConvAxis width) { return choice({batch, channels, filters, groups, stride, 1, {1, 1, 0, 1}, height, width}); };
  const auto takes = [&](const auto& choice, const std::string& tile, bool split) { return choice.first == ConvKind::wgmma && choice.second.tile->name == tile && (choice.second.splits > 1) == split; };
  const auto three = [](int input) { return axis(input, 3, 1, 1, 1); };
  expect(takes(kind(16, 64, 64, 1, 1, three(56), three(56)), "64x192x3", false) && takes(kind(64, 256, 256, 1, 1, three(28), three(28)), "128x256x4", false) && takes(kind(32, 512, 512, 1, 1, three(7), three(7)), "64x128x8", false) &&
             takes(kind(1, 256, 256, 1, 1, three(14), three(14)), "64x128x8", true) && takes(kind(8, 3, 64, 1, 2, axis(224, 7, 3, 2, 1), axis(224, 7, 3, 2, 1)), "64x192x3", false),
         "tiles are as wide as the GPU stays filled, and have many stages where a block is alone");
  expect(kind(1, 3, 32, 1, 1, three(16), three(16)).first != ConvKind::wgmma && kind(32, 128, 128, 32, 1, three(28), three(28)).first == ConvKind::terms && kind(8, 8, 8, 1, 1, three(256), three(256)).first == ConvKind::terms,
         "small convolutions, small groups and few filters of few channels are not packed");
  expect(choice({127, 262'144, 299, 1, 1, 2, {1, 1, 0, 1}, {1, 1, 0, 1}, axis(5, 3, 0, 1, 2)}).first == ConvKind::wgmma, "images of few positions are packed where the sum is long");
}

// Planes that tiles take have a kernel, and tiles meet every output once.
void depthwise() {
  std::set<std::string> kernels;
  bool own = true, whole = true;
  for (const int64_t size : {2, 4})
    for (const int channels : {1, 3, 512})
      for (const auto& [height, width] : {std::pair{1, 1}, {1, 5000}, {7, 7}, {57, 112}, {512, 512}, {20, 5000}})
        for (const int kernel : {1, 2, 3, 4, 5, 6, 7, 9})
          for (const int stride : {1, 2, 3})
            for (const int padding : {0, 1, kernel / 2, kernel}) {
              if (width + 2 * padding < kernel || (height > 1 && height + 2 * padding < kernel)) continue;
              ConvSizes s = {2, channels, channels, channels, stride, 1, {1, 1, 0, 1}, {1, 1, 0, 1}, axis(width, kernel, padding, stride, 1)};
              if (height > 1) s.height = axis(height, kernel, padding, stride, 1);
              const PoolTiling t = conv_depthwise(size, s);
              if (t.blocks == 0) continue;
              kernels.insert(conv_depthwise_kernel(t.tile));
              own = own && padding < kernel;
              whole = whole && up(t.tile.planes, t.tile.together) * t.tile.bands * t.tile.splits == t.blocks && t.tile.rows * t.tile.bands >= t.tile.out_height && t.tile.cols * t.tile.splits >= t.tile.out_width && t.shared <= 48 << 10;
            }
  expect(own && kernels == std::set<std::string>{"1_3_1", "1_4_1", "1_5_1", "1_7_1", "3_3_1", "3_3_2", "5_5_1", "5_5_2", "7_7_1"}, "planes of a kernel's windows take it, and every kernel has some");
  expect(whole, "tiles of planes cover the outputs");
  ConvSizes s = {1, 8, 16, 8, 1, 1, {1, 1, 0, 1}, axis(9, 3, 1, 1, 1), axis(9, 3, 1, 1, 1)};
  const bool more_filters = conv_depthwise(4, s).blocks > 0;
  s.filters = 8, s.dilation = 2;
  expect(!more_filters && conv_depthwise(4, s).blocks == 0, "several filters of a plane, and windows with gaps, are left to others");
}

// Blocks of few filters cover the outputs, and those that share the channels have some each.
void thin() {
  bool covers = true, shared = true;
  for (const int64_t columns : {1, 65, 1000, 100'000, 10'000'000})
    for (const int64_t filters : {1, 3, 8, 17, 24, 25})
      for (const int64_t groups : {1, 7})
        for (const int64_t channels : {1, 31, 32, 1000, 65'536})
          for (const bool clusters : {false, true}) {
            ConvShape c = {columns, filters, groups, channels, columns, true, false, channels};
            c.clusters = clusters;
            const ConvThin t = conv_thin(132, c);
            if (t.filters == 0) continue;
            covers = covers && t.filters >= filters && t.columns * conv_thin_columns >= columns && (t.columns - 1) * conv_thin_columns < columns && t.cost > 0;
            shared = shared && (t.shares == 1 || (clusters && t.shares <= 8 && (t.shares & (t.shares - 1)) == 0 && channels >= t.shares * conv_thin_warps * conv_thin_channels));
          }
  expect(covers && shared, "blocks of few filters cover the outputs, and blocks of a cluster have channels each");
}

// Rows of sums of a few filters cover each element of each filter, and stages all channels.
void taps() {
  bool covers = true;
  each_convolution([&](const ConvSizes& s) {
    const ConvTapsShape t = conv_taps_shape(132, s, 2);
    if (t.sixteens == 0) return;
    const int64_t plane = int64_t{s.depth.input} * s.height.input * s.width.input, rows = int64_t{s.filters} * s.depth.kernel * s.height.kernel * s.width.kernel;
    covers = covers && s.groups == 1 && t.task.rows == rows && t.passes * t.sixteens * 16 >= rows && t.task.padded >= s.channels && t.task.padded % conv_taps_channels == 0 && t.task.pitch >= plane && t.task.pitch % 4 == 0 &&
             int64_t{t.task.tiles} * conv_taps_positions >= plane && t.shares * t.task.stages * conv_taps_channels >= s.channels && (t.shares - 1) * t.task.stages * conv_taps_channels < s.channels && t.task.share == s.batch * rows * t.task.pitch && t.blocks == int64_t{s.batch} * t.task.tiles && t.shared <= 99 << 10 && t.cost > 0;
  });
  expect(covers, "rows and stages of a few filters cover all elements of the kernel and all channels");
  const auto one = [](int channels, int filters, int groups, int kernel, int stride = 1) {
    return ConvSizes{8, channels, filters, groups, stride, 1, {1, 1, 0, 1}, axis(56, kernel, kernel / 2, stride, 1), axis(56, kernel, kernel / 2, stride, 1)};
  };
  expect(conv_taps_shape(132, one(128, 2, 1, 3), 2).sixteens == 2 && conv_taps_shape(132, one(128, 8, 1, 5), 2).passes == 2 && conv_taps_shape(132, one(128, 2, 1, 3), 4).sixteens == 0 && conv_taps_shape(132, one(128, 2, 1, 1), 2).sixteens == 0 &&
             conv_taps_shape(132, one(128, 64, 1, 3), 2).sixteens == 0 && conv_taps_shape(132, one(128, 2, 2, 3), 2).sixteens == 0 && conv_taps_shape(132, one(8, 2, 1, 3), 2).sixteens == 0,
         "f32, kernels of one element without a stride, many filters, groups and few channels take other kernels");
  expect(conv_taps_shape(132, one(521, 2, 1, 1, 2), 2).sixteens == 1, "kernels of one element with a stride read the input once");
  const ConvSizes small = {64, 2557, 2, 1, 1, 1, {1, 1, 0, 1}, axis(2, 3, 1, 1, 1), axis(16, 3, 1, 1, 1)};
  expect(conv_taps_shape(132, small, 2).shares > 1 && conv_taps_shape(132, one(128, 2, 1, 3), 2).shares == 1, "blocks share the channels where they are few");
}

// What windows meet is the input of a convolution by kernels of one element.
void unfolded() {
  const ConvSizes s = {2, 513, 129, 1, 2, 1, {1, 1, 0, 1}, {1, 1, 0, 1}, axis(4523, 1, 0, 2, 1)}, few = conv_unfolded(s);
  expect(conv_unfolds(s) && !conv_unfolds(few) && few.width.input == 2262 && few.width.output == 2262 && few.stride == 1, "kernels of one element with a stride are those without one of a part of the input");
  const ConvSizes three = {46'032, 13, 64, 1, 2, 1, {1, 1, 0, 1}, {1, 1, 0, 1}, axis(141, 3, 0, 2, 1)}, of_one = conv_unfolded(three);
  expect(conv_unfolds(three) && of_one.channels == 39 && of_one.width.kernel == 1 && of_one.width.input == 70 && conv_unfolded_elements(three) == int64_t{46'032} * 39 * 70, "larger kernels have a channel for each of their elements");
  expect(conv_unfold_pays(50, 30, s, 2) && !conv_unfold_pays(32, 30, s, 2) && !conv_unfold_pays(5000, 1000, three, 2) && conv_unfold_pays(5000, 1000, three, 4), "a copy must pay, and 16 bits have other kernels for larger kernels");
}

// A convolution of many small images is a product of an image's elements and its outputs.
void images() {
  const auto image = [](int batch, int channels, int filters, int groups, const ConvAxis& width) {
    const ConvSizes s = {batch, channels, filters, groups, 1, 1, {1, 1, 0, 1}, {1, 1, 0, 1}, width};
    ConvShape c = {int64_t{batch} * width.output, filters / groups, groups, int64_t{channels} / groups * width.kernel, width.output, false, false, channels / groups};
    c.bytes = 4 * (int64_t{batch} * channels * width.input + int64_t{batch} * filters * width.output);
    c.whole = width.padding == 0 && width.kernel == width.input;
    return conv_image(s, c);
  };
  const ConvImage two = image(3'093'373, 1, 37, 1, axis(2, 7, 3, 1, 1));
  expect(two.terms == 2 && two.outputs == 74 && two.cost > 300 && two.cost < 600, "a small image is a row of a product, which its bytes bound");
  expect(image(3'093'373, 2, 36, 2, axis(2, 7, 3, 1, 1)).terms == 0 && image(100, 1, 37, 1, axis(2, 7, 3, 1, 1)).terms == 0 && image(4096, 64, 37, 1, axis(5, 3, 1, 1, 1)).terms == 0 && image(4096, 9, 17, 1, axis(5, 5, 0, 1, 1)).terms == 0,
         "groups, few images, rows of some length and single outputs that meet all of an image are not");
  expect(image(5237, 8193, 9, 1, axis(5, 3, 1, 2, 1)).terms == 40'965 && image(2000, 1000, 16, 1, axis(4, 3, 1, 1, 1)).outputs == 64 && image(4096, 9, 17, 1, axis(6, 5, 0, 2, 1)).outputs == 17 && image(4096, 40'000, 17, 1, axis(5, 5, 1, 1, 1)).terms == 0,
         "long rows with few outputs are, and single outputs that meet part of an image");
}

}  // namespace

void convolution_shapes() {
  kinds();
  divisors();
  each();
  gather();
  trims();
  packed();
  depthwise();
  thin();
  taps();
  unfolded();
  images();
}
