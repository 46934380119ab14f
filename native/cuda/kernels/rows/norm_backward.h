// Which kernels the gradients of a norm take. Pure; see test/rows_test.cc.
#pragma once
#include "../norm_backward_short.h"
#include "../norm_backward_wide.h"
#include "norm_long.h"
#include "shape.h"

namespace opscope::cuda {

enum class NormBackward {
  small,    // one block does all
  long_rows,  // few long rows, in two launches
  few,      // one launch, where elements are few
  once,     // each tensor is read once, and a second launch joins the gradients of weights
  wide,   // the same of rows that a cluster has
  short_rows,  // many short rows in tiles, each tensor read once; a second launch as above
  apart,    // rows and columns by launches of their own
};

// Tiles of short rows (norm_backward_short.cu).
struct NormShortShape {
  unsigned threads = 0;
  int rows = 0, lanes = 0;  // of a tile; of a warp for a row
  int64_t blocks = 0, shared = 0;
};

// `dim`: at most as many as a block has threads.
inline NormShortShape norm_short_shape(int sm_count, int64_t most_shared, int64_t element_bytes, int64_t tokens, int64_t dim) {
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  constexpr int64_t least_rows = 8;  // such that a tile starts on 16 bytes
  NormShortShape t;
  t.threads = dim <= norm_short_threads / 4 ? norm_short_threads / 2 : norm_short_threads;
  t.rows = least_rows;
  while (t.rows < norm_short_rows && t.rows * 2 * dim * element_bytes <= norm_short_bytes) t.rows *= 2;
  t.lanes = std::clamp<int>(static_cast<int>(t.threads) / t.rows, 1, 32);
  t.shared = 2 * (2 * t.rows * dim * element_bytes + 2 * t.rows * 4) + t.rows * 8 + over(dim, 4) * 16;
  // A multiprocessor has 1 KiB more than a block can have, and each block takes as much beside its own.
  const int64_t tiles = over(tokens, t.rows), fit = sm_count * std::min<int64_t>(3 * norm_short_threads / t.threads, (most_shared + 1024) / (t.shared + 1024));
  t.blocks = over(tiles, over(tiles, fit));
  return t;
}

// Rows of clusters (norm_backward_wide.cu). slices 0: other kernels take the case.
struct NormWideShape {
  int slices = 0;  // blocks of a cluster
  unsigned threads = 0;
  int64_t clusters = 0, shared = 0;
};

inline NormWideShape norm_wide_shape(int sm_count, int64_t most_shared, int64_t lanes, int64_t tokens, int64_t dim) {
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  constexpr int64_t most_vectors = norm_wide_threads * norm_wide_vectors, least_rows = 4, own = 3 << 10;  // own: bytes that the kernel has beside its rows
  const int64_t vectors = dim / lanes;
  if (dim % lanes != 0 || vectors <= most_vectors || vectors > most_vectors * norm_wide_blocks) return {};
  NormWideShape s;
  s.slices = 2;
  while (over(vectors, s.slices) > most_vectors) s.slices *= 2;
  s.threads = static_cast<unsigned>(over(over(over(vectors, s.slices), norm_wide_vectors), 32) * 32);
  s.shared = int64_t{norm_wide_stages} * 2 * norm_wide_vectors * s.threads * 16;
  // As many clusters as fit where groups of 16 and of 18 multiprocessors share a GPU.
  s.clusters = sm_count / (s.slices * 2) * 2;
  return tokens >= s.clusters * least_rows && s.shared + own <= most_shared ? s : NormWideShape{};
}

struct NormBackwardShape {
  NormBackward kind;
  int group = 1;  // small: threads of a row
  NormLongShape long_rows = {};
  NormFewShape few = {};
  NormShape once = {};
  NormWideShape wide = {};
  NormShortShape tiles = {};
  int64_t splits = 1;  // apart: of the tokens
};

inline NormBackwardShape norm_backward_shape(int sm_count, int64_t most_shared, int64_t element_bytes, int64_t tokens, int64_t dim, bool centered, bool clusters = true) {
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t lanes = 16 / element_bytes, bytes = tokens * dim * element_bytes;
  NormBackwardShape s = {NormBackward::small};
  if (tokens * dim <= norm_small) {
    // Four elements of a row a thread.
    while (s.group < 32 && s.group * 4 < dim) s.group *= 2;
    return s;
  }
  s.long_rows = norm_long_shape(sm_count, tokens, dim);
  s.kind = NormBackward::long_rows;
  if (s.long_rows.blocks > 0) return s;
  if (clusters) s.wide = norm_wide_shape(sm_count, most_shared, lanes, tokens, dim);
  s.kind = NormBackward::wide;
  if (s.wide.slices > 0) return s;
  s.once = norm_shape(sm_count, most_shared, lanes, tokens, dim, centered);
  // Between these sizes one launch takes less than two (bf16 512x512 in graphs on an H200: 5.8 us, by one pass 7.2).
  const bool once = s.once.vectors > 0 && (dim % lanes == 0 ? bytes <= int64_t{1} << 18 || bytes >= int64_t{1} << 22 : tokens * dim > norm_few_most);
  s.few = norm_few_shape(sm_count, tokens, dim);
  s.kind = once ? NormBackward::once : s.few.tiles > 0 ? NormBackward::few : dim < norm_short_threads / 2 ? NormBackward::short_rows : NormBackward::apart;
  if (s.kind == NormBackward::short_rows) s.tiles = norm_short_shape(sm_count, most_shared, element_bytes, tokens, dim);
  // Enough blocks to fill the GPU, each with some work.
  s.splits = std::clamp<int64_t>(std::min(over(int64_t{sm_count} * 8, over(dim, 32)), over(tokens, 64)), 1, 1024);
  return s;
}

}  // namespace opscope::cuda
