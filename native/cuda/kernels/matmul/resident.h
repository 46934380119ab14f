// Products of a long operand with a short k and up to 128 of the other side, which stays in shared memory (matmul/resident.cuh). Pure; see products_panels_test.cc.
#pragma once
#include <algorithm>

#include "resident_task.h"
#include "shape.h"

namespace opscope::cuda {

struct ResidentPlan {
  ResidentTask task = {};
  int lines = 0;              // of the short operand, as kernels are built; 0 where the kernels do not take the product
  bool columns = false;       // b is long
  bool k_contiguous = false;  // in the long operand
  int box_rows = 0;           // of the copy engine
  int64_t blocks = 0;
  int shared = 0;
};

// Where rows of the long operand start on 16 bytes and it was faster than other kernels on an H200 (NOTES.md).
inline ResidentPlan resident_plan(int sm_count, int64_t shared_bytes, int64_t element_bytes, const ProductShape& s) {
  constexpr int line_bytes = 128, most_slots = 16, least_length = 5'000, least_few = 16, most_few = 128, least_k = 8;
  constexpr int many_columns = 96, length_of_many = 30'000;  // more columns of fewer rows are left to tiles
  constexpr int64_t most_k_bytes = 512;
  ResidentPlan p = {};
  ResidentTask& t = p.task;
  const int lanes = static_cast<int>(16 / element_bytes), line = static_cast<int>(line_bytes / element_bytes), step = line / 4;
  p.columns = s.m < s.n;
  p.k_contiguous = p.columns ? s.trans_b : !s.trans_a;
  t.length = p.columns ? s.n : s.m, t.few = p.columns ? s.m : s.n, t.k = s.k;
  if (s.batch != 1 || t.length < least_length || t.few < least_few || t.few > most_few || s.k < least_k || s.k * element_bytes > most_k_bytes) return p;
  if (!p.columns && t.few > many_columns && t.length < length_of_many) return p;
  if ((p.k_contiguous ? s.k : t.length) % lanes != 0 || (p.columns && t.length % lanes != 0) || (element_bytes == 4 && !p.k_contiguous)) return p;
  const int lines = t.few <= 64 ? 64 : 128;
  t.tiles = static_cast<int>(up(t.length, resident_tile));
  t.chunks = static_cast<int>(up(s.k, line));
  t.slot = p.k_contiguous ? t.chunks * resident_tile * line_bytes : static_cast<int>(up(s.k, step)) * step * line_bytes;
  p.box_rows = p.k_contiguous ? resident_tile : s.k;
  t.bytes = p.k_contiguous ? t.slot : s.k * line_bytes;
  const auto raw = static_cast<int>(up(int64_t{t.few} * t.k * element_bytes, 16) * 16);
  t.staged = p.columns ? static_cast<int>(up(raw, resident_groups * 16) * 16) : resident_tile * t.few * static_cast<int>(element_bytes);
  const int table = t.chunks * lines * line_bytes, fixed = table + resident_groups * t.staged;
  // As many for each warp group, so that it waits for every filling of a slot.
  t.slots = static_cast<int>(std::clamp<int64_t>((shared_bytes - fixed - 16) / (t.slot + 16), 0, most_slots)) / resident_groups * resident_groups;
  if (t.slots == 0) return p;
  t.few_line = p.columns ? (s.trans_a ? 1 : s.k) : s.trans_b ? s.k : 1, t.few_k = p.columns ? (s.trans_a ? s.m : 1) : s.trans_b ? 1 : s.n;
  if (t.few_k == 1 && s.k % lanes == 0 && element_bytes == 2) t.brought = t.chunks * t.few * line_bytes;
  p.shared = fixed + t.slots * (t.slot + 16) + 16;
  p.blocks = std::min<int64_t>(sm_count, t.tiles);
  p.lines = lines;
  return p;
}

// Of products that matmul_tall takes too, those that it keeps: in 16 bits long columns, and long rows of k whose last 128 bytes are mostly empty.
inline bool tall_before_resident(int64_t element_bytes, const ProductShape& s) {
  constexpr int line = 64, mostly_empty = 8;
  return element_bytes == 2 && (s.m < s.n || (!s.trans_a && s.k > line && (s.k - 1) % line < mostly_empty));
}

}  // namespace opscope::cuda
