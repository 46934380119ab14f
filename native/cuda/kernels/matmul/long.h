// Products with one long side whose rows do not start on 16 bytes (matmul_long.cu). Pure; see products_test.cc.
#pragma once
#include "long_task.h"
#include "shape.h"

namespace opscope::cuda {

struct LongPlan {
  LongTask task;
  bool long_m;        // else n is long
  bool k_contiguous;  // in x
  int row_groups;     // of 16 rows that a warp sums at a time; 0 where other kernels are faster
  int64_t blocks;
  int shared;
};

// Of 16 bits, k up to which matmul_shifted is slower.
constexpr int long_before_shifted = 80;

// Bounds are where it was faster than other kernels on an H200 (NOTES.md).
inline LongPlan long_plan(int sm_count, int64_t shared_bytes, int64_t element_bytes, const ProductShape& s) {
  constexpr int least_length = 8 << 10, long_enough = 32 << 10;  // of any product; of tf32 and of a longer k
  constexpr int least_few = 33, most_few_rows = 96, most_few = 384;  // of the short side; at most where it is m, and where it is n
  constexpr int least_k = 9, short_k = 96, most_k = 384, most_weights = 72 << 10;
  constexpr int reserved = 1 << 10;  // bytes of shared memory that a block takes beside its own
  LongPlan p = {};
  LongTask& t = p.task;
  p.long_m = s.m > s.n;
  t.length = std::max(s.m, s.n), t.few = std::min(s.m, s.n), t.k = s.k;
  p.k_contiguous = p.long_m ? !s.trans_a : s.trans_b;
  const auto bytes = static_cast<int>(element_bytes);
  // Rows that start on 16 bytes are those of other kernels.
  const bool aligned = (p.k_contiguous ? s.k : t.length) * element_bytes % 16 == 0 || s.n * element_bytes % 16 == 0;
  const bool wide = bytes == 4;
  // What else would be copied for wgmma, or in 16 bits taken by matmul_shifted or by tiles of mma.sync.
  if (s.batch != 1 || aligned || !(wgmma_pays(s, wide) || (!wide && s.k <= long_before_shifted)) || (wide && !p.long_m) || t.length < (wide || s.k > short_k ? long_enough : least_length) || t.few < least_few || t.few > (p.long_m ? most_few : most_few_rows) || s.k < least_k || s.k > most_k ||
      int64_t{t.few} * s.k * bytes > most_weights)
    return p;
  const bool k_first = p.long_m ? !s.trans_b : s.trans_a;  // in w
  t.w_k = k_first ? t.few : 1, t.w_few = k_first ? 1 : s.k;
  t.rows = p.long_m;
  t.steps = static_cast<int>(up(s.k * bytes, 32));
  t.pitch_w = t.steps * 32 + 16;
  const auto whole = [](int64_t n) { return static_cast<int>(up(n, 128) * 128); };
  t.x_at = whole(up(t.few, 16) * 16 * t.pitch_w);
  // The largest tile that leaves room for four blocks on a multiprocessor, or for two, or for one.
  for (const int blocks : {4, 2, 1})
    for (const int tile : {128, 64, 32}) {
      t.tile = tile, t.tiles = static_cast<int>(up(t.length, tile));
      t.pitch_x = p.k_contiguous ? t.pitch_w : tile * bytes + (wide ? 32 : 16);
      t.pitch_stage = t.pitch_out = tile * bytes + 16;
      t.out_at = t.x_at + whole(p.k_contiguous ? tile * t.pitch_x : t.steps * 32 / bytes * t.pitch_x);
      t.stage_at = t.out_at + whole(t.rows ? tile * t.few * bytes + 16 : t.few * t.pitch_out);
      // w as it lies in memory comes to where tiles are later.
      p.shared = std::max(t.stage_at + whole(p.k_contiguous ? tile * s.k * bytes + 32 : s.k * t.pitch_stage), t.x_at + whole(t.few * s.k * bytes));
      if ((p.shared + reserved) * blocks > shared_bytes || (t.tiles < sm_count && tile > 32)) continue;
      const int groups = t.few > 64 ? 2 : 1;
      const int64_t resident = std::min<int64_t>(shared_bytes / (p.shared + reserved), groups == 2 ? 2 : 4), rounds = up(t.tiles, resident * sm_count);
      // A block that is alone on a multiprocessor waits for memory between its tiles.
      if (resident == 1 && (wide || !p.long_m || rounds < 5)) return p;
      p.row_groups = groups;
      p.blocks = up(t.tiles, rounds);
      return p;
    }
  return p;
}

}  // namespace opscope::cuda
