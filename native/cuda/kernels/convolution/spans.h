// Kernels of one element with few channels on planes that are no whole vectors (convolution_spans.cu): which, and how. Pure; see convolution_test.cc.
#pragma once
#include <algorithm>
#include <cmath>

#include "shape.h"
#include "spans_task.h"

namespace opscope::cuda {

// No blocks: other kernels take the case.
struct ConvSpansShape {
  ConvSpans spans = {};
  int64_t blocks = 0;   // of a group
  unsigned shared = 0;  // bytes
  double cost = 0;      // microseconds
};

inline ConvSpansShape conv_spans(int sm_count, const ConvShape& c) {
  constexpr int64_t least_plane = 64, most_channels = 2, most_filters = 32, least_outputs = int64_t{1} << 22, most_groups = 65'535, most = int64_t{1} << 31, tile_bytes = 8 << 10;
  const int64_t lanes = 16 / c.element_bytes;
  if (c.element_bytes != 2 || !c.point || c.plane % lanes == 0 || c.plane < least_plane || c.channels > most_channels || c.filters > most_filters || c.outputs() < least_outputs || c.groups > most_groups) return {};
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t tiles = over(c.plane, std::max(least_plane, tile_bytes / (c.channels * c.element_bytes))), tile = over(c.plane, tiles), images = c.columns / c.plane, vectors = (tile + 2 * (lanes - 1)) / lanes;
  ConvSpansShape s;
  s.blocks = images * over(c.plane, tile);
  if (c.plane >= most || s.blocks >= most) return {};
  s.spans = {static_cast<int>(c.plane), static_cast<int>(c.channels), static_cast<int>(c.filters), static_cast<int>(tile), static_cast<int>(over(c.plane, tile)), static_cast<int>(vectors), divide_by(over(c.plane, tile)), divide_by(vectors)};
  s.shared = static_cast<unsigned>(c.channels * (vectors + 2) * 16 + c.filters * c.channels * 4);
  // Bytes, and instructions of a vector of the result, in a microsecond: those that a channel takes are shared by the filters of a thread.
  constexpr double start = 5.5, bytes = 2.6e6, instructions = 1.7e7, of_channel = 22, of_product = 9, of_vector = 20;
  const double together = static_cast<double>(std::min<int64_t>(conv_spans_filters, over(c.filters, lanes)));
  const double of_result = static_cast<double>(c.channels) * (of_channel / together + of_product) + of_vector;
  s.cost = start + std::hypot(static_cast<double>(c.bytes) / bytes, static_cast<double>(c.outputs()) / static_cast<double>(lanes) * of_result / instructions) * 132 / sm_count;
  return s;
}

}  // namespace opscope::cuda
