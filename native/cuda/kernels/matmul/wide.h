// Products of a short k with long rows of results (matmul_wide.cu). Pure; see products_panels_test.cc.
#pragma once
#include <algorithm>

#include "shape.h"
#include "wide_task.h"

namespace opscope::cuda {

struct WidePlan {
  WideTask task = {};
  int words = 0;  // of 4 bytes of k, as kernels are built
  int64_t blocks = 0;
  int shared = 0;
};

// Where it was faster than other kernels on an H200 (NOTES.md): mostly where rows of results start off words, or off 16 bytes and are long.
inline bool wide_suits(int element_bytes, const ProductShape& s) {
  constexpr int64_t most_batch = 65'535, least_results = 1 << 19, most_tiles = 1 << 30;
  const int64_t results = s.batch * s.m * s.n;
  if (s.batch > most_batch || results < least_results || up(s.n, wide_panel / 8) * up(s.m, wide_rows) > most_tiles) return false;
  const bool odd = s.n % 2 == 1;
  if (element_bytes == 4) {
    constexpr int least_rows = 32, least_columns = 15'000, least_k = 8, most_k = 32;
    return odd && s.m >= least_rows && s.n >= least_columns && s.k >= least_k && s.k <= most_k;
  }
  constexpr int least_k = 3, most_k = 64, half_k = 32;
  const bool k_of_b = s.trans_b && !s.trans_a;  // contiguous in both operands: matmul_short reads it once for many rows
  if (s.k > half_k) {
    constexpr int least_rows = 256, least_columns = 4000;
    return odd && !k_of_b && s.k <= most_k && s.m >= least_rows && s.n >= least_columns;
  }
  // matmul_resident has mostly empty lines for eight of k.
  constexpr int lines_k = 8, least_lines = 5000, most_few = 128, least_few = 16;
  if (s.n % 8 == 0) return s.batch == 1 && s.k == lines_k && s.trans_b && s.m >= least_few && s.m <= most_few && s.n >= least_lines;
  constexpr int least_rows = 48, least_columns = 2000, least_even_columns = 40'000, short_k = 16, most_rows = 1000;
  if (s.m < least_rows || s.k < least_k) return false;
  if (!odd) return s.n >= least_even_columns && !s.trans_b;
  return s.n >= least_columns && (!k_of_b || s.m < most_few || (s.k > short_k && s.m <= most_rows));
}

inline WidePlan wide_plan(int sm_count, int64_t element_bytes, const ProductShape& s) {
  constexpr int sector = 32, line = 16;  // bytes; between lines of a panel
  const int bytes = static_cast<int>(element_bytes), space = sector / bytes, width = wide_panel / bytes - space;
  WidePlan p = {};
  WideTask& t = p.task;
  if (!wide_suits(bytes, s)) return p;
  p.words = s.k * bytes <= 64 ? 16 : 32;
  t.m = s.m, t.n = s.n, t.k = s.k, t.batches_a = static_cast<int>(s.batch_a);
  t.tiles = static_cast<int>(up(s.n + space - 1, width));
  t.by_tiles = divide_by(t.tiles);
  const int64_t rows = up(s.m, wide_rows);
  // A block's columns of b are worth several tiles of rows.
  t.each = static_cast<int>(std::clamp<int64_t>(rows * t.tiles * s.batch / (int64_t{sm_count} * (p.words > 16 ? 3 : 8)), 1, 8));
  p.blocks = t.tiles * up(rows, t.each);
  const auto panel = [&](int lines_of_rows, bool k_contiguous) {
    const int across = (k_contiguous ? p.words * 4 : lines_of_rows * bytes) + (bytes == 2 || k_contiguous ? line : 2 * line);
    return across * (k_contiguous ? lines_of_rows : p.words * 4 / bytes);
  };
  p.shared = panel(wide_rows, !s.trans_a) + panel(wide_panel / bytes, s.trans_b) + wide_rows * (wide_panel + line);
  return p;
}

}  // namespace opscope::cuda
