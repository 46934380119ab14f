// Which kernel a convolution takes, its tiles, and into how many shares its sum is split: what a model of the time says. Pure; see plan_test.cc.
#pragma once
#include <cmath>
#include <string_view>

#include "../matmul/f32.h"
#include "../matmul/narrow.h"
#include "../matmul/panels.h"
#include "../matmul/shifted.h"
#include "../matmul/slab.h"
#include "../matmul/small.h"
#include "../matmul/stream.h"
#include "each.h"
#include "f32.h"
#include "filters.h"
#include "gather.h"
#include "narrow.h"
#include "planes.h"
#include "rows.h"
#include "scale.h"
#include "several.h"
#include "shape.h"
#include "slab.h"
#include "spans.h"
#include "terms.h"
#include "thin.h"

namespace opscope::cuda {

enum class ConvKind {
  each,         // a few lanes for each output (convolution_each.cu)
  gather,       // blocks that gather what they need into shared memory (convolution_gather.cu)
  depthwise,    // tiles of planes (convolution_depthwise.cu)
  direct,       // a thread for each output (convolution_direct.cu, convolution_window.cu)
  direct_warp,  // a warp for each output
  narrow,       // few channels in registers, on tensor cores (convolution_narrow.cu)
  filters,      // all filters of a group in a block, in f32 (convolution_filters.cu)
  slab,         // a short sum, all of it in a block, in f32 (convolution_slab.cu)
  group,        // few channels and filters of a group, on tensor cores (convolution_group.cu)
  rows,         // one output of an image and filter, few terms (convolution_rows.cu)
  patches,      // one or two filters whose stride is the width of their kernel (convolution_patches.cu)
  thin,         // few filters of many channels, which the warps of a block share (convolution_thin.cu)
  planes,       // few filters of many channels on small planes, whole images of a block, on tensor cores (convolution_planes.cu)
  spans,        // few channels of a tile of positions in a block (convolution_spans.cu)
  point,        // four filters and 16 bytes of positions of a thread (convolution_direct.cu)
  taps,         // few filters with several elements over many channels, products with each element (convolution_taps.cu)
  few,          // few filters of a kernel of one element, a product of vectors and planes (matmul_narrow.cu)
  product,      // a batched product (matmul.plan.cc)
  mma,          // tiles on tensor cores (convolution_mma.cu)
  wgmma,        // tiles on Hopper's tensor cores, of packed operands (convolution_wgmma.cu)
  f32,          // tiles in f32 on Hopper (convolution_f32.cu)
  tiles,        // tiles in f32 (convolution.cu)
  winograd,     // transformed tiles and filters as products, in f32 on Hopper (convolution_winograd.cu)
  halo,         // few filters by tiles of packed input that windows share, on tensor cores (convolution_halo.cu)
  several,      // tiles in f32 of which a multiprocessor of Hopper has several at a time (convolution_several.cu)
  scale,        // one term of a sum: elements times weights (convolution_scale.cu)
  terms,        // few filters with few outputs, a thread for each position (convolution_terms.cu)
  strips,       // few filters by strips of outputs below each other, in f32 (convolution_strips.cu)
};

// Filters and outputs of a block, elements of the sum in a step, parts of a block that share the sum, warps, and what an H200 gave: multiply-adds of a
// multiprocessor in a microsecond, microseconds of a step when a block has the multiprocessor to itself, steps that beginning and end take, blocks of a multiprocessor.
struct ConvTile {
  const char* name;
  int filters, outputs, depth, slices, warps;
  double rate, latency, ends;
  int resident;
};

inline constexpr ConvTile conv_tiles[] = {
  {"64x128", 64, 128, 16, 1, 4, 146'000, 0.9, 3.0, 4}, {"64x32", 64, 32, 16, 1, 2, 121'000, 0.62, 3.1, 8}, {"32x128", 32, 128, 16, 1, 2, 128'000, 1.15, 3.0, 6},
  {"16x128", 16, 128, 16, 1, 2, 84'400, 0.87, 1.8, 8}, {"16x64x4", 16, 64, 16, 4, 4, 86'600, 0.9, 1.3, 4}, {"32x32x4", 32, 32, 16, 4, 4, 91'300, 0.81, 1.0, 4},
};
// The one that 16-bit types have where tensor cores cannot serve them.
inline constexpr const ConvTile& conv_tile_16bit = conv_tiles[1];
inline constexpr ConvTile conv_mma_64 = {"64", 64, 64, 32, 1, 4, 199'000, 1.34, 2.1, 4}, conv_mma_128 = {"128", 128, 128, 32, 1, 8, 390'000, 4.1, 2.0, 2};

// Of packed operands, with the stages of 64 elements of the sum that are on their way: few where two blocks of a multiprocessor take turns, many where a block has it to itself.
inline constexpr ConvTile conv_wgmma_tiles[] = {
  {"64x128x4", 64, 128, 64, 1, 8, 2'790'000, 0.6, 4.7, 2}, {"64x128x8", 64, 128, 64, 1, 8, 3'600'000, 0.32, 7.6, 1}, {"64x192x3", 64, 192, 64, 1, 8, 2'180'000, 0.93, 3.4, 2},
  {"64x192x6", 64, 192, 64, 1, 8, 3'600'000, 0.45, 6.5, 1}, {"128x128x3", 128, 128, 64, 1, 8, 3'180'000, 0.89, 4.3, 2},
  {"128x256x4", 128, 256, 64, 1, 8, 3'240'000, 0.5, 6.9, 1},
};
// Bytes of shared memory: the stages, whose swizzle repeats every 1024 bytes.
inline unsigned conv_wgmma_shared(const ConvTile& t) {
  const std::string_view name = t.name;
  return static_cast<unsigned>((name.back() - '0') * (t.filters + t.outputs) * 128 + 1024);
}
// Elements of a kernel up to which a mask says which of them lie inside of the input (convolution.cu).
constexpr int64_t most_masked = 32;
constexpr int64_t most_conv_splits = 64;

// Microseconds of a launch, of adding shares up, and elements of shares in one.
struct ConvLaunches {
  double first, join, join_elements;
};
constexpr double conv_launch = 2.2;
constexpr ConvLaunches conv_launches = {conv_launch, 4.1, 2.65e6};
// With that of packing, which reads and writes so many bytes in a microsecond; shares are written in f32, too.
constexpr ConvLaunches conv_packed_launches = {4.0, 3.2, 0.52e6};
constexpr double conv_pack_bytes = 2.3e6;

struct ConvTiling {
  const ConvTile* tile;
  int64_t splits;
  double cost;
};

inline double conv_tile_cost(int sm_count, const ConvShape& c, const ConvTile& t, int64_t splits, const ConvLaunches& launches) {
  const int64_t blocks = up(c.columns, t.outputs) * up(c.filters, t.filters) * c.groups * splits, rounds = up(blocks, sm_count);
  const double steps = static_cast<double>(up(up(c.terms, t.depth), splits * t.slices)) + t.ends, products = static_cast<double>(t.slices * t.filters * t.outputs * t.depth);
  const double work = static_cast<double>(rounds) * steps * products / t.rate, waiting = steps * t.latency * static_cast<double>(up(rounds, t.resident));
  return launches.first + std::hypot(work, waiting) + (splits > 1 ? launches.join + static_cast<double>(splits * c.outputs()) / launches.join_elements : 0);
}

// The best number of shares, none of them empty.
inline ConvTiling conv_splits(int sm_count, const ConvShape& c, const ConvTile& t, const ConvLaunches& launches = conv_launches) {
  ConvTiling best = {&t, 1, conv_tile_cost(sm_count, c, t, 1, launches)};
  const int64_t steps = up(up(c.terms, t.depth), t.slices);
  for (int64_t wanted = 2; wanted <= std::min(most_conv_splits, steps); wanted++) {
    const int64_t splits = up(steps, up(steps, wanted));
    if (const double cost = conv_tile_cost(sm_count, c, t, splits, launches); cost < best.cost) best = {&t, splits, cost};
  }
  return best;
}

// Blocks of 16 filters exceed what a launch can hold where a group has millions of them.
inline ConvTiling conv_tiling(int sm_count, const ConvShape& c) {
  ConvTiling best = conv_splits(sm_count, c, conv_tiles[0]);
  for (const ConvTile& t : conv_tiles)
    if (up(c.filters, t.filters) <= 65'535)
      if (const ConvTiling tiling = conv_splits(sm_count, c, t); tiling.cost < best.cost) best = tiling;
  return best;
}

inline ConvTiling conv_mma_tiling(int sm_count, const ConvShape& c) {
  const bool large = c.filters > 64 && up(c.columns, 128) * up(c.filters, 128) * c.groups * 10 >= int64_t{sm_count} * 9;
  return conv_splits(sm_count, c, large ? conv_mma_128 : conv_mma_64);
}

// By the best of the tiles for packed operands.
inline ConvTiling conv_wgmma_tiling(int sm_count, ConvShape c) {
  c.terms = c.packed_terms;
  ConvTiling best = conv_splits(sm_count, c, conv_wgmma_tiles[0], conv_packed_launches);
  for (const ConvTile& t : conv_wgmma_tiles)
    if (const ConvTiling tiling = conv_splits(sm_count, c, t, conv_packed_launches); tiling.cost < best.cost) best = tiling;
  best.cost += static_cast<double>(c.packed_bytes) / conv_pack_bytes;
  return best;
}

// Of the kernels without tiles: microseconds of a launch, of a thread, of each term of its sum and of each term of each filter beyond what is read for all of them, and
// of a term where nothing else is to be done. Fitted to 442 launches on an H200.
struct ConvThreads {
  double launch, thread, term, product, latency;
};
constexpr ConvThreads conv_window_cost = {5.6, 1.11e-5, 6.5e-7, 7.9e-8, 0.4}, conv_direct_cost = {5, 2.06e-5, 1.14e-6, 1.47e-6, 0.13}, conv_warp_cost = {4.6, 3.04e-5, 1.85e-6, 8.8e-7, 0.22},
                      conv_shared_cost = {5.3, 1.73e-5, 5.5e-7, 2.6e-7, 0.15}, conv_point_wide_cost = {4.2, 1.92e-5, 3.05e-6, 0, 1.07}, conv_point_four_cost = {3.6, 2.05e-5, 8.44e-6, 0, 1.64}, conv_point_one_cost = {3.6, 1e-5, 3e-6, 0, 1.4};

// group: threads of an output, 1 or 32.
inline double conv_threads_cost(int sm_count, const ConvShape& c, int group) {
  const int together = conv_filters_together(sm_count, c, group), shared = conv_filters_together(sm_count, c, 8);
  const auto cost = [&](const ConvThreads& t, int filters, int64_t positions, int64_t lanes, int64_t terms) {
    const double threads = static_cast<double>(up(c.columns, positions) * positions * c.groups * up(c.filters, filters) * lanes) * 132 / sm_count, sum = static_cast<double>(terms);
    return t.launch + std::hypot(threads * (t.thread + sum * (t.term + filters * t.product)), sum * t.latency);
  };
  // More than two groups of eight filters read all of the input again.
  if (group == 1 && conv_takes_window(sm_count, c, together)) return cost(conv_window_cost, together, together == 1 ? 1024 : 512, 1, c.terms) * (c.element_bytes == 2 && c.filters > 16 && c.terms >= 16 ? 1.1 : 1);
  if (group == 1) return cost(conv_direct_cost, together, 1, 1, c.terms);
  constexpr int64_t many_channels = 80;  // of which the warps of a block wait for more than ten each
  if (conv_shares_window(sm_count, c, c.channels, shared)) return cost(conv_shared_cost, shared, 1, 8, up(c.channels, 8) * (c.terms / c.channels)) * (c.sampled && !c.point ? 2 : c.element_bytes == 4 && c.channels > many_channels ? 1.25 : 1);
  return cost(conv_warp_cost, together, 1, 32, up(c.terms, 32));
}

// Positions of a thread with four filters of a kernel of one element: 16 bytes, or a few single ones where enough threads are left.
inline int64_t conv_point_positions(int sm_count, const ConvShape& c) {
  if (const int64_t lanes = 16 / c.element_bytes; c.plane % lanes == 0) return lanes;
  return c.columns * c.groups * up(c.filters, 4) >= int64_t{conv_point_accesses} * 512 * sm_count ? conv_point_accesses : 1;
}

// It reads four terms of its sum at a time, each from another line of memory.
inline double conv_point_cost(int sm_count, const ConvShape& c) {
  const int64_t positions = conv_point_positions(sm_count, c);
  const ConvThreads& t = positions == 1 ? conv_point_one_cost : c.plane % (16 / c.element_bytes) == 0 ? conv_point_wide_cost : conv_point_four_cost;
  const double threads = static_cast<double>(c.columns * c.groups * up(c.filters, 4)) / static_cast<double>(positions) * 132 / sm_count;
  return t.launch + std::hypot(threads * (t.thread + static_cast<double>(c.terms) * t.term), static_cast<double>(up(c.terms, 4)) * t.latency);
}

// By matmul_slab_f32, in tiles of a warp; 0 where it does not take the product.
inline double conv_slab_cost(int sm_count, const ConvShape& c, int64_t batch, int64_t m, int64_t n) {
  constexpr double start = 5.6, rate = 1.7e5, bytes = 2.2e6;
  constexpr int64_t least_terms = 17, most = int64_t{1} << 30, shared_bytes = 99 << 10;  // what every GPU has
  if (c.element_bytes != 4 || m >= most || n >= most || c.terms < least_terms || c.terms >= most || !is_slab(shared_bytes, {batch, static_cast<int>(m), static_cast<int>(n), static_cast<int>(c.terms), false, false})) return 0;
  const double tiles = static_cast<double>(batch * up(m, slab_warp_rows) * up(n, slab_warp_columns));
  return start + std::hypot(tiles * (slab_warp_rows * slab_warp_columns) * static_cast<double>(c.terms) / (rate * sm_count), static_cast<double>(c.bytes) / bytes);
}

// The product of few filters and the planes of all images.
inline ProductShape conv_few_product(const ConvShape& c) { return {c.columns / c.plane, static_cast<int>(c.filters), static_cast<int>(c.plane), static_cast<int>(c.terms), false, false, 1}; }

// By matmul_narrow, with shared memory that every GPU has; 0 where it does not take the product. Costs are from 16 convolutions on an H200.
constexpr int64_t conv_few_shared = 99 << 10;
inline double conv_few_cost(int sm_count, const ConvShape& c) {
  constexpr int64_t most = int64_t{1} << 30, most_16 = 4;  // filters in 16 bits: convolution_narrow is faster for more
  if (!c.point || c.groups > 1 || c.filters > (c.element_bytes == 4 ? most_vectors : most_16) || c.filters >= c.plane || c.plane >= most || c.terms >= most) return 0;
  const NarrowPlan plan = narrow_plan(sm_count, conv_few_shared, c.element_bytes, conv_few_product(c));
  if (plan.parts == 0) return 0;
  constexpr double launch = 6.5, term = 0.05, products = 3e7;
  const double bytes = c.element_bytes == 4 ? 3.6e6 : 2.9e6, across = static_cast<double>(plan.tiles) * narrow_column_threads / plan.parts * (plan.sides.wide ? 16 / static_cast<double>(c.element_bytes) : 1);
  return launch + static_cast<double>(c.terms) * term + (static_cast<double>(c.bytes) / bytes + across * static_cast<double>(c.columns / c.plane * c.terms * plan.sides.vectors) / products) * 132 / sm_count;
}

// By matmul_panels, or by wgmma with the planes copied first, in 16 bits whose planes start off 16 bytes; 0 where neither takes the product. Fitted to 51 convolutions on an H200 (8 and 10 % root mean
// square error), and less for the launches as the models of other kernels have it.
inline double conv_panels_cost(int sm_count, const ConvShape& c) {
  constexpr int64_t most = int64_t{1} << 30;
  if (c.element_bytes != 2 || c.plane % 8 == 0 || c.plane >= most || c.terms >= most || c.filters >= most) return 0;
  const int64_t images = c.columns / c.plane;
  const ProductShape s = {images * c.groups, static_cast<int>(c.filters), static_cast<int>(c.plane), static_cast<int>(c.terms), false, false, c.groups};
  const double results = static_cast<double>(s.batch) * s.m * s.n, planes = static_cast<double>(s.batch) * s.n * s.k, gpus = 132.0 / sm_count;
  if (takes_panels_16(sm_count, s)) {
    constexpr double launch = 4.5, tiles = 9.1e-7, bytes = 4.7e-7;
    const PanelsPlan plan = panels_plan(2, s);
    return launch + (tiles * static_cast<double>(plan.cost * up(s.k, panels_at_once)) + bytes * static_cast<double>(c.bytes)) * gpus;
  }
  if (!c.wgmma || shifted_pays(s, 2) || is_middle(sm_count, s) || is_small(sm_count, s) || is_middle_at_once(sm_count, s) || !wgmma_pays(s, false)) return 0;
  constexpr double launch = 7.6, copied = 4.6e-7, stored = 1.85e-6, tiles = 5.1e-9;
  return launch + (copied * planes + stored * results + tiles * static_cast<double>(s.batch * up(s.m, 64) * up(s.n, 64) * 4096) * static_cast<double>(up(s.k, 64) * 64)) * gpus;
}

// By the kernels of products that read planes off 16 bytes as they lie, in 16 bits: matmul_stream for one image, matmul_shifted; 0 where neither takes the product.
inline double conv_unaligned_cost(int sm_count, const ConvShape& c) {
  constexpr double launches = 8, stream_bytes = 1.7e6, bytes = 2.2e6;
  constexpr int64_t most = int64_t{1} << 30;
  if (c.element_bytes != 2 || c.plane % 8 == 0 || c.plane >= most || c.terms >= most) return 0;
  const int64_t batch = c.columns / c.plane * c.groups;
  const ProductShape s = {batch, static_cast<int>(c.filters), static_cast<int>(c.plane), static_cast<int>(c.terms), false, false, c.groups};
  if (batch == 1 && stream_plan(sm_count, 2, true, s).vectors > 0) return launches + static_cast<double>(c.bytes) / stream_bytes;
  if (!c.wgmma || !shifted_pays(s, 2)) return 0;
  return launches + std::hypot(shifted_plan(sm_count, 2, s).cost / 1000, static_cast<double>(c.bytes) / bytes);
}

// About what a batched product takes, which has a choice of kernels of its own: multiply-adds of whole tiles, or bytes.
inline double conv_product_cost(int sm_count, const ConvShape& c) {
  if (const double cost = conv_slab_cost(sm_count, c, c.columns / c.plane * c.groups, c.filters, c.plane); cost > 0) return cost;
  if (const double cost = conv_panels_cost(sm_count, c); cost > 0) return cost;
  if (const double cost = conv_unaligned_cost(sm_count, c); cost > 0) return cost;
  constexpr int64_t most = int64_t{1} << 30;
  if (c.element_bytes == 4 && c.wgmma && c.plane < most && c.filters < most && c.terms < most) {
    constexpr double start = 4.5, steps_of_us = 6300;
    return start + f32_plan(sm_count, {c.columns / c.plane * c.groups, static_cast<int>(c.filters), static_cast<int>(c.plane), static_cast<int>(c.terms), false, false, c.groups}).cost / steps_of_us;
  }
  const bool wide = c.plane * c.element_bytes % 16 == 0;
  const double rate = (c.element_bytes == 4 ? 1.4e5 : wide ? 1.9e6 : 2e5) * sm_count, bytes = c.element_bytes == 2 && wide ? 3e6 : 1e6;
  const double tiles = static_cast<double>(c.columns / c.plane * c.groups) * static_cast<double>(up(c.filters, 64) * up(c.plane, 64)) * 4096, terms = static_cast<double>(up(c.terms, 16) * 16);
  return 5.6 + std::hypot(tiles * terms / rate, static_cast<double>(c.bytes) / bytes);
}

// The same where all images are one product: a tile takes longer, and operands are copied first, where its rows do not start on 16 bytes.
// 0: not one product, or one of f32 with a long sum of few tiles, which takes longer (H200: 64x513, 240 filters 12.3 and 14.0 us).
inline double conv_dense_cost(int sm_count, const ConvShape& c) {
  if (!c.dense || (c.element_bytes == 4 && c.terms > 448 && up(c.columns, 64) * up(c.filters, 64) < sm_count)) return 0;
  if (const double cost = conv_slab_cost(sm_count, c, 1, c.columns, c.filters); cost > 0) return cost;
  const bool half = c.element_bytes == 2, wide = c.terms % 8 == 0;
  // f32 takes all kernels of products, whose tiles may be slim.
  if (!half) return 6 + std::hypot(static_cast<double>(c.columns * up(c.filters, 16) * 16 * up(c.terms, 4) * 4) / (1.4e5 * sm_count), static_cast<double>(c.bytes) / 2.6e6 * 132 / sm_count);
  const double rate = 2e6 * sm_count, tile = 0.010 * 132 / sm_count, bytes = wide ? 2e6 : 1.5e6;
  const double tiles = static_cast<double>(up(c.columns, 64) * up(c.filters, 64)), terms = static_cast<double>(up(c.terms, 16) * 16);
  return 5.6 + tiles * tile + std::hypot(tiles * 4096 * terms / rate, static_cast<double>(c.bytes) / bytes);
}

struct ConvChoice {
  ConvKind kind;
  double cost;
};

// The kernel that takes the least time by the models. Those of tiles were fitted to launches of a graph, which take less time than single ones.
inline ConvChoice conv_choice(int sm_count, const ConvShape& c) {
  constexpr int64_t narrow = 16, least_plane = 32, most_columns_of_small = 2048, few_columns = 512;
  // Images of up to three positions: gathering blocks meet many lines of memory, which the models do not count, and packing takes ten times as long as a product of few terms.
  constexpr int64_t few_filters = 16, most_scattered = 2, most_packed_scattered = 3, few_gathered = 8, long_terms = 1024;
  const bool short_lines = c.point && c.element_bytes == 2 && c.terms < 16 && c.columns > 1 << 14;  // of long planes and few channels
  constexpr double gather_launch = 3.5, f32_unsure = 1.03, winograd_unsure = 1.05, planes_unsure = 1.05, split_runs = 1.5, narrow_few = 1.15, halo_unsure = 1.25, halo_few = 1.4;
  const double scattered = c.plane <= most_scattered && c.filters > few_gathered && c.groups == 1 ? 1.8 : short_lines ? 1.2 : 1, packed_scattered = c.plane <= most_packed_scattered && c.terms < long_terms ? 1.7 : 1, mma_scattered = c.plane <= most_packed_scattered ? 1.25 : 1;
  // Models of other kernels, which read each element at a time, promise too much.
  if (c.patches_cost > 0) return {ConvKind::patches, c.patches_cost};
  ConvChoice best = {ConvKind::direct, conv_threads_cost(sm_count, c, 1)};
  const ConvRowsShape rows = conv_rows(sm_count, c);
  // Others would write each output of an image to a line of memory of its own, which their models do not count.
  constexpr int64_t many_outputs = int64_t{1} << 18, whole_lines = 32;
  if (rows.terms > 0 && c.groups > 1 && c.filters * c.groups >= whole_lines && c.outputs() >= many_outputs) return {ConvKind::rows, rows.cost};
  if (const double cost = conv_dense_cost(sm_count, c); cost > 0) {
    if (c.filters > few_filters && c.element_bytes == 2) return rows.terms > 0 && rows.cost < cost ? ConvChoice{ConvKind::rows, rows.cost} : ConvChoice{ConvKind::product, cost};
    if (c.filters > few_filters || cost < best.cost) best = {ConvKind::product, cost};
  }
  const auto consider = [&](ConvKind kind, double cost) {
    if (cost > 0 && cost < best.cost) best = {kind, cost};
  };
  if (c.depthwise) best = {ConvKind::depthwise, 5.2 + static_cast<double>(c.bytes) / 2e6};
  consider(ConvKind::each, conv_each_cost(sm_count, c));
  consider(ConvKind::rows, rows.cost);
  if (c.depthwise) return best;
  if (const double cost = conv_gather(sm_count, c).cost; cost > 0) consider(ConvKind::gather, gather_launch + (cost - gather_launch) * scattered);
  consider(ConvKind::direct_warp, conv_threads_cost(sm_count, c, 32));
  if (const ConvNarrowShape narrow = conv_narrow(sm_count, c); narrow.steps > 0) consider(ConvKind::narrow, narrow.cost * (c.columns <= few_columns ? narrow_few : 1));
  if (const ConvF32 f32 = conv_f32(sm_count, c); f32.tile) consider(ConvKind::f32, f32.cost * f32_unsure);
  if (const ConvSeveral several = conv_several(sm_count, c); several.tile) consider(ConvKind::several, several.cost);
  consider(ConvKind::scale, conv_scale_cost(sm_count, c));
  consider(ConvKind::halo, c.halo_cost * (c.group_cost > 0 ? halo_few : halo_unsure));
  if (const ConvTerms terms = conv_terms(sm_count, c); terms.filters > 0) consider(ConvKind::terms, terms.cost);
  consider(ConvKind::group, c.group_cost);
  consider(ConvKind::winograd, c.winograd_cost * winograd_unsure);
  consider(ConvKind::strips, c.strips_cost);
  consider(ConvKind::taps, c.taps_cost);
  if (const ConvFilters filters = conv_filters(sm_count, c); filters.warps > 0) consider(ConvKind::filters, filters.cost);
  if (const ConvSlab slab = conv_slab(sm_count, c); slab.filters > 0) consider(ConvKind::slab, slab.cost);
  if (const ConvPlanesShape planes = conv_planes(sm_count, c); planes.eights > 0) consider(ConvKind::planes, planes.cost * planes_unsure);
  if (const ConvSpansShape spans = conv_spans(sm_count, c); spans.blocks > 0) consider(ConvKind::spans, spans.cost);
  if (const ConvThin thin = conv_thin(sm_count, c); thin.filters > 0) consider(ConvKind::thin, thin.cost);
  if (c.point && c.plane >= least_plane) {
    consider(ConvKind::point, conv_point_cost(sm_count, c));
    consider(ConvKind::few, conv_few_cost(sm_count, c));
    // One image of 16 bits takes every kernel of products, of a few vectors too.
    constexpr double start = 6.3, bytes = 2.2e6;
    if (c.element_bytes == 2 && c.columns == c.plane && c.groups == 1 && c.filters > 1 && c.filters <= narrow && c.terms > 8) consider(ConvKind::product, start + static_cast<double>(c.bytes) / bytes * 132 / sm_count);
    // What lies in memory as the product's kernels read it.
    if (std::min(c.filters, c.terms) > narrow || c.terms > 16 * narrow || (c.element_bytes == 2 && c.filters > narrow / 2 && c.terms > narrow)) consider(ConvKind::product, conv_product_cost(sm_count, c));
  } else if (c.point && c.element_bytes == 2 && c.groups == 1 && c.columns <= most_columns_of_small && std::min(c.filters, c.terms) > narrow) {
    consider(ConvKind::product, conv_product_cost(sm_count, c));
  }
  if (c.tensor_cores && c.terms >= 8) consider(ConvKind::mma, (conv_mma_tiling(sm_count, c).cost + 1.6) * mma_scattered);
  // Tiles in f32 of 16-bit types are for what tensor cores cannot serve.
  // Outputs of small planes, each in a line of memory of its own.
  constexpr double output = 7e-6, whole_plane = 12;
  if (c.element_bytes == 4) consider(ConvKind::tiles, 3.5 + 0.9 * conv_tiling(sm_count, c).cost + output * static_cast<double>(c.outputs()) * std::min(1.0, whole_plane / static_cast<double>(c.plane)) * 132 / sm_count);
  else if (!c.tensor_cores) consider(ConvKind::tiles, 3.5 + 0.9 * conv_splits(sm_count, c, conv_tile_16bit).cost);
  if (c.packed_terms > 0 && !c.dense) consider(ConvKind::wgmma, (conv_wgmma_tiling(sm_count, c).cost + 1.3) * std::max(packed_scattered, c.split_runs ? split_runs : 1));
  return best;
}

// Kernels for which windows are copied out first, instead of the one that takes the `whole`: products of 16 bits, and in the place of tiles those of f32 that have all of a short sum in a block.
inline bool conv_takes_unfolded(ConvKind whole, ConvKind kind, const ConvShape& c) {
  if (c.element_bytes == 2) return kind == ConvKind::product || kind == ConvKind::thin;
  return whole == ConvKind::tiles && kind == ConvKind::product && conv_slab_cost(132, c, c.columns / c.plane * c.groups, c.filters, c.plane) > 0;
}

inline ConvKind conv_kind(int sm_count, const ConvShape& c) { return conv_choice(sm_count, c).kind; }

}  // namespace opscope::cuda
