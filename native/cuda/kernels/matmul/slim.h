// f32 with one side of up to 72 (matmul_slim_f32.cu). Pure; see products_test.cc.
#pragma once
#include "shape.h"
#include "slim_task.h"

namespace opscope::cuda {

struct SlimPlan {
  SkinnyPlan sides;         // but for shares
  int few = 0;              // of a tile, as kernels are built: 16, 24, 32, 40, 48, 56, 64 or 72; none where other kernels are faster
  bool few_k = false;       // k is contiguous in the short side
  SlimTask task = {};
  int64_t share = 0, splits = 1;  // of k
  double cost = 0;                // in ns
};

// Of more vectors than matmul_skinny takes, k from which on matmul_narrow is slower.
constexpr int slim_before_narrow = 32;

inline SlimPlan slim_plan(int sm_count, int64_t shared_bytes, const ProductShape& s) {
  constexpr int least_few = 5, most_few = 72, least_length = 129, least_k = 16, reserved = 1 << 10;
  SlimPlan p = {skinny_plan(sm_count, 4, s)};
  const int few = std::min(s.m, s.n), length = std::max(s.m, s.n);
  // Rows of k that matmul_skinny would read for many vectors.
  constexpr int many_vectors = 9, long_rows = 200;
  const bool rows = p.sides.k_contiguous && few >= many_vectors && few <= most_vectors && s.k >= long_rows;
  const double least_products = rows ? 4.5e6 : few > 64 && s.k <= 256 ? 1e8 : few > 32 ? 4e7 : few > most_vectors ? 2.5e7 : 1.2e7;
  if (few < least_few || few > most_few || length < least_length || s.k < least_k || static_cast<double>(s.batch) * s.m * s.n * s.k < least_products) return p;
  p.few = few <= 16 ? 16 : few <= 56 ? static_cast<int>(up(few, 8)) * 8 : few <= 64 ? 64 : 72;
  p.few_k = p.sides.columns_are_few ? s.trans_b : !s.trans_a;
  p.task.wide_few = (p.few_k ? s.k : few) % 4 == 0, p.task.wide_long = (p.sides.k_contiguous ? s.k : length) % 4 == 0;
  p.sides.tile = slim_tile, p.sides.tiles = up(length, slim_tile);
  // Costs in ns.
  constexpr double fma = 165, rate = 3900, start = 2500, joined = 1500, shares_rate = 3000;  // of a multiprocessor and ns; bytes of the GPU
  const int64_t resident = shared_bytes / (slim_shared(p.few, p.few_k, p.sides.k_contiguous) + reserved), slots = resident * sm_count, steps = up(s.k, slim_step), blocks = p.sides.tiles * s.batch;
  const double results = static_cast<double>(s.batch) * s.m * s.n;
  int64_t best = 1;
  double least = 0;
  for (int64_t splits = 1; splits <= std::clamp<int64_t>(steps / 2, 1, 512); splits++) {
    const int64_t each = up(steps, splits);
    if (up(steps, each) != splits) continue;
    const double whole = splits == 1 ? static_cast<double>(s.k) / slim_step : static_cast<double>(each);
    const auto wave = [&](int64_t there) {
      // Few warps of a multiprocessor wait for each other.
      const int64_t warps = up(there, sm_count) * (slim_threads / 32);
      const double busy = warps <= 4 ? 0.45 : warps <= 8 ? 0.8 : 1, shared_by = static_cast<double>(up(there, sm_count)) / busy, bytes = static_cast<double>(there) * (slim_tile + few) * slim_step * 4;
      return whole * std::max(shared_by * p.few * slim_tile * slim_step / fma, bytes / rate) + start;
    };
    const int64_t waves = blocks * splits / slots, rest = blocks * splits % slots;
    double time = static_cast<double>(waves) * wave(slots) + (rest > 0 ? wave(rest) : 0);
    if (splits > 1) time += joined + static_cast<double>(splits) * results * 8 / shares_rate;
    if (least == 0 || time < least) least = time, best = splits;
  }
  p.cost = least;
  p.share = up(steps, best) * slim_step;
  p.splits = up(s.k, p.share);
  return p;
}

}  // namespace opscope::cuda
