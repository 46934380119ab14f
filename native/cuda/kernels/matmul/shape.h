// Which kernel a product takes, its tiles, and into how many shares k is split. Pure; see plan_test.cc for what holds over the range.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "wgmma.h"

namespace opscope::cuda {

struct ProductShape {
  int64_t batch;
  int m, n, k;
  bool trans_a, trans_b;
  int64_t batch_a = batch;  // of different left operands; they repeat after so many
};

constexpr int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Shares of k, each of at least `least` of its `steps`, so that `tiles` tiles give every multiprocessor work.
inline int64_t k_splits(int sm_count, int64_t tiles, int64_t steps, int64_t least) {
  const int64_t wanted = std::clamp<int64_t>(std::min(sm_count / tiles, steps / least), 1, 512);
  return up(steps, up(steps, wanted));
}

// ---- a matrix times a few vectors (matmul_skinny.cu) ----

constexpr int most_vectors = 16;

struct SkinnyPlan {
  bool columns_are_few;  // n is the short side, not m
  bool k_contiguous;     // in the matrix
  int vectors;           // as kernels are built: 1, 2, 4, 8 or 16, at least the short side
  bool wide;             // 16 bytes of the matrix at a time
  int64_t tile, tiles;   // of the long side
  int64_t share, splits; // of k
};

// Whether the short side is short enough (tensor cores take over sooner than f32 units), and k long enough to stream.
inline bool is_skinny(const ProductShape& s, bool f32) { return s.k >= 16 && std::min(s.m, s.n) <= (f32 ? most_vectors : 4); }

inline SkinnyPlan skinny_plan(int sm_count, int64_t element_bytes, const ProductShape& s) {
  const int64_t lanes = 16 / element_bytes;
  SkinnyPlan p = {};
  p.columns_are_few = s.n < s.m;
  const int few = std::min(s.m, s.n);
  const int64_t length = std::max(s.m, s.n);
  p.k_contiguous = p.columns_are_few ? !s.trans_a : s.trans_b;
  p.vectors = 1;
  while (p.vectors < few) p.vectors *= 2;
  int64_t least;  // of k in a share
  if (p.k_contiguous) {
    p.wide = s.k % lanes == 0;
    p.tile = 8 * (p.vectors >= 4 ? 4 : 2);  // eight warps
    least = p.wide ? 32 * lanes * (p.vectors >= 4 ? 2 : 4) : 256;
  } else {
    p.wide = length % lanes == 0 && length >= 16 * lanes;
    p.tile = 32 * (p.wide ? lanes : 1);
    least = 64;
  }
  p.tiles = up(length, p.tile);
  const int64_t wanted = std::clamp<int64_t>(std::min(up(int64_t{sm_count} * 4, p.tiles * s.batch), up(s.k, least)), 1, 512);
  // Whole chunks of k, as they lie in shared memory, or a row for each of eight warps.
  const int64_t chunk = p.k_contiguous ? least : 8;
  p.share = up(up(s.k, wanted), chunk) * chunk;
  // Of one vector and long rows, as many blocks as fill whole waves of several for each multiprocessor.
  constexpr int64_t least_chunks = 64, least_tiles = 16, least_waves = 8, most_waves = 16;
  constexpr double least_bytes = 1e8;
  if (p.k_contiguous && few == 1 && s.k >= least_chunks * chunk && p.tiles * s.batch >= least_tiles && static_cast<double>(s.batch * length * element_bytes) * s.k >= least_bytes) {
    double best = 0;
    for (int64_t waves = least_waves; waves <= most_waves; waves++) {
      const int64_t share = up(up(s.k, std::clamp<int64_t>(waves * sm_count / (p.tiles * s.batch), 1, 512)), chunk) * chunk, blocks = p.tiles * s.batch * up(s.k, share);
      const double filled = static_cast<double>(blocks) / static_cast<double>(up(blocks, sm_count) * sm_count);
      if (share >= 4 * chunk && filled > best * 1.01) best = filled, p.share = share;
    }
  }
  p.splits = up(s.k, p.share);
  return p;
}

// ---- tensor cores by wgmma (matmul/wgmma.cuh) ----

// Rows of an operand start on 16 bytes.
inline bool rows_aligned_a(const ProductShape& s, int64_t element_bytes) { return (s.trans_a ? s.m : s.k) * element_bytes % 16 == 0; }
inline bool rows_aligned_b(const ProductShape& s, int64_t element_bytes) { return (s.trans_b ? s.k : s.n) * element_bytes % 16 == 0; }

// Whether wgmma is faster than mma.sync, copies of operands whose rows do not start on 16 bytes included. Of tf32 that has no operand with k contiguous, one is turned first.
inline bool wgmma_pays(const ProductShape& s, bool tf32) {
  const int64_t bytes = tf32 ? 4 : 2;
  const bool aligned_a = rows_aligned_a(s, bytes), aligned_b = rows_aligned_b(s, bytes);
  // A large operand is not copied for a few uses of each element.
  constexpr double large = 1 << 20;
  constexpr int few_uses = 64;
  const auto wasted = [](bool aligned, double elements, int64_t uses) { return !aligned && elements >= large && uses < few_uses; };
  if (wasted(aligned_a, static_cast<double>(s.batch_a) * s.m * s.k, s.n * s.batch / s.batch_a) || wasted(aligned_b, static_cast<double>(s.batch) * s.k * s.n, s.m)) return false;
  if (!tf32) return true;
  const double results = static_cast<double>(s.batch) * s.m * s.n, products = results * s.k;
  constexpr double many_results = 1.5e6, least_turned = 320.0 * 320 * 320, least_copied = 1e6;
  if (s.trans_a && !s.trans_b) return products >= least_turned && std::min(s.m, s.n) >= 64 && s.batch <= 65535 && up(s.k, 32) <= 65535 && up(s.m, 32) <= 65535;
  if (results >= many_results) return true;
  return aligned_a && aligned_b ? s.k >= 32 : s.k >= 64 && products >= least_copied;
}

// Whether wgmma is faster than mma.sync for operands of one byte with k contiguous, copies of those whose rows do not start on 16 bytes included.
inline bool scaled_wgmma_pays(int64_t m, int64_t n, int64_t k) {
  const double products = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  // Of a short k and a short side most of a tile is empty.
  if (k < 128 && std::min(m, n) <= 64) return k % 16 == 0 && products >= 1 << 24;
  return k % 16 == 0 || products >= 1 << 15;
}

// Rows of X are rows of a tile, those of Y its columns.
struct WgmmaShape {
  int64_t batch;
  int x, y, k;
};

struct WgmmaPlan {
  int rows, columns;  // of a tile, as kernels are built
  int64_t splits;     // of k
  bool joined;        // the blocks of a tile's shares are a cluster
  int64_t whole = 0;  // tiles whose k is not split, so that they fill whole waves; the others have shares
  bool turns = false;  // warp groups have tiles of their own, and take turns (wgmma_turns.cuh)
  double cost = 0;     // ns
};

constexpr unsigned wgmma_stages(const WgmmaPlan& p) { return p.rows == 192 ? 5 : p.rows == 64 || p.columns == 64 ? 8 : p.columns == 256 ? 4 : p.columns == 192 ? 5 : 6; }
// The ring, what each row takes that a warp stores through shared memory, and two barriers of a stage.
constexpr unsigned wgmma_shared_bytes(const WgmmaPlan& p) { return wgmma_stages(p) * static_cast<unsigned>(p.rows + p.columns) * 128 + static_cast<unsigned>(std::min(p.rows, 128) * wgmma_store_row(p.columns)) + wgmma_stages(p) * 16; }
// `step`: elements of k in a stage. `most_columns`: of tiles. `stored_shares`: shares of k may be stored, for a launch that adds them up. Costs in ns, fitted to times of each tile and number of shares on an H100 (54 shapes, bf16 and tf32; NOTES.md).
inline WgmmaPlan wgmma_plan(int sm_count, const WgmmaShape& s, int64_t step, int most_columns = 256, bool stored_shares = true) {
  struct Tile {
    int rows, columns;
    double stage, end;  // of a stage; of filling the ring and storing
  };
  constexpr Tile built[] = {{128, 256, 697, 2284}, {128, 192, 500, 3350}, {128, 128, 393, 1589}, {128, 64, 266, 1111}, {64, 64, 124, 1381}};
  constexpr double start = 6163, join = 987, join_tile = 6342, rejoin = 2481, launch = 1370, traffic = 8.07e-4, part_launch = 4750, part_traffic = 1.86e-3, bytes_per_ns = 5440;
  const int64_t steps = up(s.k, step);
  const double results = static_cast<double>(s.batch) * s.x * s.y, bytes = (results + static_cast<double>(s.batch) * (s.x + s.y) * s.k) * 128 / static_cast<double>(step);
  // Of a very long k, shares read each operand from memory once where one tile has all results.
  constexpr int64_t long_steps = 1024;
  const bool one_tile = s.batch == 1 && s.x <= 128 && s.y <= 128 && steps >= long_steps;
  WgmmaPlan best = {128, 256, 1, false};
  double least = 0;
  const auto consider = [&](const Tile& t, int64_t splits, bool joined) {
    if (up(steps, splits) * (splits - 1) >= steps) return;  // an empty share
    const int64_t tiles = s.batch * up(s.x, t.rows) * up(s.y, t.columns), room = !joined || splits <= 2 ? sm_count : splits == 4 ? sm_count / 11 * 10 : sm_count / 8 * 7;  // clusters of four and more leave some multiprocessors of a GPC out
    if (one_tile && splits > 1 && tiles > 1) return;
    const auto waves = static_cast<double>(up(tiles * splits, room)), share = static_cast<double>(splits);
    const double sent = joined ? join + join_tile * t.rows * t.columns / 32768 * (share - 1) / share : 0;
    double cost = start + std::max(waves * (static_cast<double>(up(steps, splits)) * t.stage + t.end + sent), bytes / bytes_per_ns);
    if (joined) cost += rejoin * (waves - 1);
    else if (splits > 1) cost += launch + traffic * share * results;
    if (least == 0 || cost < least) least = cost, best = {t.rows, t.columns, splits, joined};
  };
  for (const Tile& t : built) {
    if (t.columns > most_columns) continue;
    consider(t, 1, false);
    for (const int64_t splits : {2, 4, 8}) consider(t, splits, true);
    if (!stored_shares) continue;
    const int64_t tiles = s.batch * up(s.x, t.rows) * up(s.y, t.columns), most = k_splits(sm_count, tiles, steps, 4);
    if (most > 1) consider(t, most, false);
    // Whole waves, and the last tiles in shares.
    for (int64_t waves = std::max<int64_t>(tiles / sm_count - 1, 1); waves * sm_count < tiles && waves <= tiles / sm_count; waves++)
      for (const int64_t wanted : {2, 3, 4, 6, 8, 12, 16}) {
        const int64_t whole = waves * sm_count, splits = up(steps, up(steps, std::min(wanted, std::max<int64_t>(steps / 2, 1)))), parts = tiles - whole;
        if (splits == 1) continue;
        const double cost = start + std::max(static_cast<double>(waves) * (static_cast<double>(steps) * t.stage + t.end) + static_cast<double>(up(parts * splits, sm_count)) * (static_cast<double>(up(steps, splits)) * t.stage + t.end), bytes / bytes_per_ns) + part_launch +
                            part_traffic * static_cast<double>(splits * parts) * t.rows * t.columns;
        if (cost < least) least = cost, best = {t.rows, t.columns, splits, false, whole};
      }
  }
  best.cost = least;
  return best;
}

// Columns of tiles of pairs of blocks, and rows of a block (wgmma_pairs.cuh).
constexpr int pairs_columns = 256, pairs_rows = 128;

// 16-bit products of which an operand has rows that start off 32 bytes: pairs of blocks that bring one operand for both, where these take less time than tiles by themselves, which `others` counts as if lines were whole
// (NOTES.md).
inline bool pairs_pay(int sm_count, const WgmmaShape& s, const WgmmaPlan& others) {
  constexpr double start = 6163, stage = 740, end = 2300, off_lines = 1.15;
  const int64_t pairs = s.batch * up(s.x, 2 * pairs_rows) * up(s.y, pairs_columns);
  return start + static_cast<double>(up(pairs, sm_count / 2)) * (static_cast<double>(up(s.k, 64)) * stage + end) < off_lines * others.cost;
}

// 16-bit products of a short k on rows that start on 16 bytes by warp groups that take turns, where these were faster than others on an H200 (NOTES.md): wgmma_turns.cuh. No columns elsewhere.
inline WgmmaPlan turns_plan(int sm_count, const WgmmaShape& s) {
  constexpr int least_k = 64, most_k = 320, least_k_wide = 97, least_waves = 2;
  const int64_t rows = s.batch * up(s.x, 128), tiles = rows * up(s.y, 128);
  // One tile of 192 rows in the place of two of 128 that are less full, also of a longer k and of one wave.
  constexpr int most_rows = 192, most_k_of_rows = 2048;
  if (s.x > 128 && s.x <= most_rows && s.k >= least_k && s.k <= most_k_of_rows && s.y % 8 == 0 && s.batch * up(s.y, 128) * 10 >= int64_t{sm_count} * 9) return {most_rows, 128, 1, false, 0, true};
  if (s.k < least_k || s.k > most_k || s.y % 8 != 0 || tiles < least_waves * sm_count) return {};
  // Columns that a multiprocessor has, with tiles of 192 and 128.
  const double wide = static_cast<double>(up(rows * up(s.y, 192), sm_count)) * 192, narrow = static_cast<double>(up(tiles, sm_count)) * 128;
  return {128, s.k >= least_k_wide && wide <= 1.07 * narrow ? 192 : 128, 1, false, 0, true};
}

}  // namespace opscope::cuda
