// A matrix with k not contiguous times a few vectors, where one call waits for memory more than it works (matmul_narrow_split.cu). Pure; see products_test.cc.
#pragma once
#include "narrow_split_task.h"
#include "shape.h"

namespace opscope::cuda {

struct NarrowSplitPlan {
  SkinnyPlan sides;       // but for tiles and shares
  int vectors = 0;        // of a warp, as kernels are built: 6 or 8; none where other kernels are faster
  NarrowSplitTask task = {};
  int64_t blocks = 0;
  int threads = 0, shared = 0;
};

// A small matrix, of whose k more is on its way at a time than of other kernels.
inline bool narrow_split_small(int64_t element_bytes, const ProductShape& s) {
  constexpr int least_few = 2, most_few = 8, least_k = 64, most_k = 768;
  constexpr int64_t least_length = 1024, most_length = 1 << 17;
  constexpr double most_bytes = 1.6e7;
  const int few = std::min(s.m, s.n);
  const int64_t length = std::max(s.m, s.n) * s.batch;
  return few >= least_few && few <= most_few && s.k >= least_k && s.k <= most_k && length >= least_length && length <= most_length && static_cast<double>(length) * s.k * static_cast<double>(element_bytes) <= most_bytes;
}

inline NarrowSplitPlan narrow_split_plan(int sm_count, int64_t shared_bytes, int64_t element_bytes, const ProductShape& s) {
  constexpr int least_few = 5, most_few = 32, least_k = 9, most_k = 512, warps_of_sm = 32;  // that registers leave room for
  constexpr int64_t least_length = 1024;
  // matmul_narrow is as fast for up to 16 vectors with a shorter k, and with rows that are long enough to keep every multiprocessor busy.
  constexpr int least_k_of_narrow = 25;
  constexpr int64_t most_length_of_narrow = 1 << 14;
  NarrowSplitPlan p = {skinny_plan(sm_count, element_bytes, s)};
  const int few = std::min(s.m, s.n);
  const int64_t length = std::max(s.m, s.n);
  // Of a small matrix and up to 8 vectors, also where others would stream it (choice.h).
  const bool small = narrow_split_small(element_bytes, s);
  const int most_rounds = small ? 8 : 3;  // of loads of a thread
  if (p.sides.k_contiguous || few > most_few || (!small && (few < least_few || s.k < least_k || s.k > most_k || length * s.batch < least_length))) return p;
  if (!small && few <= most_vectors && (s.k < least_k_of_narrow || length * s.batch > most_length_of_narrow)) return p;
  // Tensor cores take operands as they lie where rows start on 16 bytes.
  if (element_bytes == 2 && rows_aligned_a(s, 2) && rows_aligned_b(s, 2)) return p;
  NarrowSplitTask& t = p.task;
  t.tiles = static_cast<int>(up(length, narrow_split_columns));
  p.blocks = t.tiles * s.batch;
  t.groups = static_cast<int>(up(few, 8));
  // All blocks are there from the beginning.
  const int64_t warps = warps_of_sm / up(p.blocks, sm_count);
  const int vectors = few <= t.groups * 6 ? 6 : 8;
  t.parts = static_cast<int>(std::min(up(s.k, narrow_split_ahead), warps / t.groups));
  if (t.parts == 0 || up(s.k, t.parts) > most_rounds * narrow_split_ahead) return p;
  const int width = t.groups * vectors;
  t.sums_at = s.k * narrow_split_pitch(width, vectors);
  const bool staged = t.parts > 1 || s.n < s.m;
  p.shared = (t.sums_at + (staged ? t.parts * width * (narrow_split_columns + 1) : 0)) * 4;
  p.threads = t.groups * t.parts * 32;
  if (p.shared <= shared_bytes) p.vectors = vectors;
  return p;
}

}  // namespace opscope::cuda
