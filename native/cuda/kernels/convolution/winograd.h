// Convolutions in f32 by Winograd's minimal filtering (convolution_winograd.cu): which, in how many launches, and what they take. Pure; see convolution_f32_test.cc.
#pragma once
#include <algorithm>
#include <cstdint>

#include "../convolution.h"
#include "../matmul/runs.h"
#include "shape.h"
#include "winograd_task.h"

namespace opscope::cuda {

// No axes: other kernels take the case.
struct ConvWinogradShape {
  int axes = 0, kernel = 0;                 // that are transformed, and elements of a part of the kernel along each
  int64_t parts_across = 0, parts = 0;      // of the kernel, along an axis and in all
  int64_t terms = 0, points = 0;            // of a product, and products of a group
  int64_t across = 0, down = 0, tiles = 0;  // tiles of a row and of a column, and of all images
  int64_t turn = 0;                         // tiles at a time
  double cost = 0;                          // microseconds
  int step() const { return winograd_points + 1 - kernel; }
  ProductShape product(const ConvSizes& s) const {
    const int64_t batch = points * s.groups;
    return {batch, static_cast<int>(up(s.filters / s.groups, 4) * 4), static_cast<int>(up(turn, 4) * 4), static_cast<int>(terms), true, false, batch};
  }
};

// What tiles of f32 take on Hopper, in microseconds (tile_kernel of matmul/choice.h).
inline double f32_product_cost(int sm_count, const ProductShape& s) {
  constexpr int64_t shared_bytes = 227 << 10;
  return is_runs(sm_count, shared_bytes, s) ? runs_plan(sm_count, s).cost : f32_tiles_cost(sm_count, shared_bytes, s);
}

// Rows of one element are columns that lie as rows do.
inline ConvSizes conv_columns_as_rows(ConvSizes s) {
  const auto single = [](const ConvAxis& a) { return a.input == 1 && a.kernel == 1 && a.padding == 0 && a.output == 1; };
  for (int i = 0; i < 2 && single(s.width); i++) s.width = s.height, s.height = s.depth, s.depth = {1, 1, 0, 1};
  return s;
}

// `s`: without rows of one element.
inline ConvWinogradShape conv_winograd(int sm_count, const ConvSizes& s, const ConvShape& c) {
  constexpr int64_t most = int64_t{1} << 30, most_rows = 65'535, turn_bytes = int64_t{512} << 20;
  constexpr int64_t most_filters = int64_t{1} << 28, least_filters = 17, least_terms = 8, most_kernel = 4;
  ConvWinogradShape w;
  const bool flat = s.height.kernel == 1;
  if (c.element_bytes != 4 || !c.wgmma || (s.stride > 1 && s.dilation > 1) || c.filters < least_filters || (!flat && s.height.kernel != s.width.kernel)) return {};
  w.axes = flat ? 1 : 2, w.points = flat ? winograd_points : winograd_points * winograd_points;
  const int64_t of_phase = up(s.width.kernel, s.stride), runs = up(of_phase, most_kernel);
  w.kernel = static_cast<int>(up(of_phase, runs)), w.parts_across = runs * s.stride, w.parts = flat ? w.parts_across : w.parts_across * w.parts_across, w.terms = c.channels * s.depth.kernel * w.parts;
  if (w.kernel < 2 || w.terms < least_terms) return {};
  const auto along = [&](const ConvAxis& a) { return up(up(a.output, s.dilation), w.step()) * s.dilation; };
  w.across = along(s.width), w.down = flat ? s.height.output : along(s.height);
  w.tiles = w.across * w.down * s.depth.output * s.batch;
  if (w.tiles >= most || w.terms * s.groups > most_rows || s.filters > most_rows || w.points * s.groups > most_rows) return {};
  const int64_t filters = w.points * w.terms * s.filters;  // elements, transformed
  if (filters >= most_filters) return {};
  const int64_t tile_bytes = w.points * (w.terms * s.groups + s.filters) * 4, turns = std::clamp<int64_t>(up(w.tiles * tile_bytes, turn_bytes), 1, w.tiles);
  w.turn = up(w.tiles, turns);
  if (std::max(w.terms * s.groups, int64_t{s.filters}) * w.turn >= most) return {};
  // Microseconds of launches, and of a byte of tiles, sums and filters (7 % root mean square error, 113 convolutions on an H200).
  constexpr double launches = 4.9, tile_byte = 0.37e-6, filter_byte = 0.48e-6;
  const ProductShape product = w.product(s);
  w.cost = static_cast<double>(up(w.tiles, w.turn)) * (launches + f32_product_cost(sm_count, product)) + (static_cast<double>(w.tiles * tile_bytes) * tile_byte + static_cast<double>(filters * 4) * filter_byte) * 132 / sm_count;
  return w;
}

}  // namespace opscope::cuda
