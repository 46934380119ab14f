// How a reduction is spread over the GPU. Pure.
#pragma once
#include <algorithm>
#include <cstdint>

namespace opscope::cuda {

// Rows in one piece. `warp`: a warp for each; else `splits` blocks for each, of `chunk` elements.
struct RowSplit {
  bool warp;
  unsigned threads;  // per block
  int64_t chunk, splits;
};

// `blocks` of 512 threads fit on a multiprocessor.
inline RowSplit row_split(int sm_count, int64_t element_bytes, int64_t rows, int64_t cols, int blocks = 4) {
  const auto up = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t width = 16 / element_bytes;
  if (cols <= 128 * width && rows > 1) return {true, 256, cols, 1};
  const int64_t vectors = up(cols, width);
  const auto threads = static_cast<unsigned>(std::clamp<int64_t>(up(vectors, 4 * 32) * 32, 32, 512));
  // No more blocks in all than fit at once, each with at least four vectors per thread.
  const int64_t wanted = std::max<int64_t>(1, sm_count * blocks / rows);
  const int64_t splits = std::clamp<int64_t>(std::min(wanted, up(vectors, static_cast<int64_t>(threads) * 4)), 1, 65535);
  const int64_t chunk = up(vectors, splits) * width;
  return {false, threads, chunk, up(cols, chunk)};
}

// Columns: tiles of 32 threads' columns, `wide` with a vector for each thread, and `splits` shares of `rows` rows.
struct ColumnSplit {
  bool wide;
  int64_t tile, tiles, rows, splits;
};

inline ColumnSplit column_split(int sm_count, int64_t element_bytes, int64_t outer, int64_t reduce, int64_t inner) {
  const auto up = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t lanes = 16 / element_bytes;
  const bool wide = inner % lanes == 0;
  const int64_t tile = 32 * (wide ? lanes : 1), tiles = up(inner, tile);
  // Eight blocks of 256 threads fill a multiprocessor; a split has at least four rows for each of its eight groups.
  const int64_t wanted = up(sm_count * 8, tiles * outer);
  const int64_t most = std::max<int64_t>(1, reduce / 32);
  const int64_t rows = up(reduce, std::clamp<int64_t>(std::min(wanted, most), 1, 256));
  return {wide, tile, tiles, rows, up(reduce, rows)};
}

}  // namespace opscope::cuda
