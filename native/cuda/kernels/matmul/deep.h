// A long sum for few results: m and n are small, k is long (matmul_deep.cu). Pure; see products_test.cc.
#pragma once
#include "deep_task.h"
#include "shape.h"
#include "stream.h"

namespace opscope::cuda {

struct DeepPlan {
  SkinnyPlan sides;    // but for tiles and shares
  DeepTask task = {};
  int x = 0, y = 0;    // results of a thread along the short and the long side, as kernels are built; none where other kernels are faster
  bool wide_x = false, wide_y = false;      // these lie together in memory, and are read as one
  int64_t share = 0, splits = 1, results = 0;  // of k; results of a block
  bool counted = false;  // the last block adds shares up, else a launch
  int shared = 0;
};

// Where it was faster than other kernels on an H200 (NOTES.md). `streams`: whether matmul_stream takes the product; `reads`: what threads read from shared memory for each byte of the operands.
inline bool deep_suits(int64_t element_bytes, bool tensor_cores, bool k_contiguous, bool streams, int few, int length, double reads, const ProductShape& s) {
  constexpr int least_k = 1024, very_long_k = 1 << 18, most_streamed = 64, most_prepared = 128;  // of the long side; where matmul_stream has the short one turned by a launch before
  if (s.k < least_k || (streams && (length > (element_bytes == 4 && few > 8 ? most_prepared : most_streamed) || s.k < very_long_k))) return false;
  if (k_contiguous) {
    // matmul_skinny reads whole rows as fast, where it has enough of them.
    constexpr int vector_k = 20'000, few_k = 20'000, many_k = 8192;
    if (few == 1) return s.k >= vector_k && length <= 16 && s.batch == 1;
    if (few < 5 && (s.k < few_k || length > (few == 2 ? 16 : 64))) return false;
    if (s.k < many_k) return false;
  }
  if (element_bytes == 4) return !tensor_cores || reads < 1.75;
  // Tensor cores take operands as they lie where rows start on 16 bytes, and a short side is soon copied.
  constexpr int least_rows = 64;
  if (few >= 5 && k_contiguous && length >= least_rows && (s.n < s.m ? rows_aligned_a(s, 2) : rows_aligned_b(s, 2))) return false;
  return few < 5 || (!(rows_aligned_a(s, 2) && rows_aligned_b(s, 2)) && s.k >= 8192 && reads <= (s.k < very_long_k ? 2.2 : 3.5));
}

inline DeepPlan deep_plan(int sm_count, int64_t shared_bytes, int64_t element_bytes, bool tensor_cores, bool streams, const ProductShape& s) {
  constexpr int most_few = 32, most_length = 256;
  constexpr int stage_bytes = 12 << 10, line_bytes = 128, least_shared = 8 << 10, reserved = 1 << 10, most_resident = 4;
  DeepPlan p = {skinny_plan(sm_count, element_bytes, s)};
  const int few = std::min(s.m, s.n), length = std::max(s.m, s.n), bytes = static_cast<int>(element_bytes), lanes = 16 / bytes;
  if (few > most_few || length > most_length) return p;
  const bool many = !tensor_cores && few >= 9 && length >= 64;
  DeepTask& t = p.task;
  const auto built = [](int side) { return side < 3 ? side : 4; };
  const int x = built(few), y = many && (p.sides.k_contiguous || length % 4 != 0) ? 8 : built(length), groups_x = static_cast<int>(up(few, x)), groups = groups_x * static_cast<int>(up(length, y));
  const double reads = static_cast<double>(groups) * (x + y) / ((few + length) * bytes);
  if (groups > deep_threads || !deep_suits(element_bytes, tensor_cores, p.sides.k_contiguous, streams, few, length, reads, s)) return p;
  t.groups_x = groups_x, t.groups = groups;
  t.x.along_k = few > 1 && (p.sides.columns_are_few ? s.trans_b : !s.trans_a);
  t.y.along_k = length > 1 && p.sides.k_contiguous;
  p.wide_x = x == 4 && few % 4 == 0 && !t.x.along_k;
  p.wide_y = y == 4 && length % 4 == 0 && !t.y.along_k;
  // Whole vectors of k, as many as keep most ways busy to the end of a stage.
  const int ways = deep_threads / groups, target = static_cast<int>(up(std::max(stage_bytes / ((few + length) * bytes), line_bytes / bytes), lanes)) * lanes;
  double busiest = 0;
  for (int chunk = target; chunk * 4 >= target * 3; chunk -= lanes) {
    const double busy = static_cast<double>(chunk) / static_cast<double>(up(chunk, ways) * ways);
    if (busy > busiest * 1.02) busiest = busy, t.chunk = chunk;
  }
  const auto place = [&](DeepOperand& o, int count, int at) {
    const int lines = o.along_k ? count : 1, length_bytes = t.chunk * bytes * (o.along_k ? 1 : count) + 16;
    o.at = at;
    // Lines start four banks apart.
    o.pitch = static_cast<int>(up(length_bytes - 16, 128) * 128 + 16);
    while ((deep_threads >> o.log2_threads) > lines) o.log2_threads++;
    return at + static_cast<int>(lines == 1 ? up(length_bytes, 16) * 16 : lines * o.pitch);
  };
  t.stage = place(t.y, length, place(t.x, few, 0));
  // Sums of threads lie where stages were.
  const int sums = std::max((x * y + 1) * deep_threads * 4, least_shared), ring = std::max(t.stage * deep_stages, sums);
  if (ring + reserved > shared_bytes) return p;
  // What a block may have is about what a multiprocessor has.
  // Of a few MB, shares are soon read, and fewer are sooner added up.
  constexpr double few_bytes = 1.6e7;
  const bool soon = static_cast<double>(s.batch) * (few + length) * s.k * bytes < few_bytes;
  const int64_t resident = std::min<int64_t>(soon ? 2 : most_resident, shared_bytes / (ring + reserved)), most = std::clamp<int64_t>(resident * sm_count / s.batch, 1, 1024);
  p.share = up(up(s.k, most), t.chunk) * t.chunk;
  p.splits = up(s.k, p.share);
  p.shared = std::max(t.stage * static_cast<int>(std::min<int64_t>(p.share / t.chunk, deep_stages)), sums);
  p.results = up(int64_t{groups} * x * y, 4) * 4;
  p.counted = p.results * p.splits <= stream_counted;
  p.x = x, p.y = y;
  return p;
}

}  // namespace opscope::cuda
