// Which tiles an f32 product takes on Hopper, into how many shares k is split, and which operands are turned first (matmul_f32.cu). Pure; see
// plan_test.cc for what holds over the range.
#pragma once
#include "f32_task.h"
#include "shape.h"
#include "sizes.h"
#include "slab.h"

namespace opscope::cuda {

struct F32Plan {
  int rows = 0, columns = 0;  // of a tile, as kernels are built; none where matmul_simt or matmul_f32_small is faster
  int64_t splits = 1;
  bool turns_a = false, turns_b = false;  // so that k is not contiguous: those kernels are faster, and rows start on 16 bytes
  bool copied = false;                    // by threads, from any place and turned on their way (matmul_f32_copied.cu)
  bool even = false;                      // so, and blocks take equal runs of the stages of the first `shared` tiles (matmul_f32_even.cu)
  int64_t shared = 0;
  double cost = 0;                        // of the fastest, of these tiles or of those kernels
};

// Costs in steps of 32 multiply-adds of a multiprocessor, 6300 in a microsecond, fitted to 12,000 times of 910 shapes on an H200 (3 % root mean square error; 1 % above
// the best choice of each; NOTES.md).
constexpr double f32_copy_launch = 20'900, f32_copy = 0.0108, f32_turn = 0.0157, f32_join_launch = 11'500, f32_add = 0.0106;  // of a launch, of an element copied or turned, of an element of a share
constexpr double f32_byte = 1.575e-3;  // of a byte of operands and results
constexpr int f32_step = 32;  // of k in a stage
inline double f32_joins(const ProductShape& s, int64_t splits) { return splits > 1 ? f32_join_launch + f32_add * static_cast<double>(splits * s.batch) * s.m * s.n : 0; }

// matmul_simt with the largest of its tiles that gives every multiprocessor one (matmul.plan.cc).
inline double f32_simt_cost(int sm_count, const ProductShape& s) {
  const auto tiles = [&](int rows, int columns) { return s.batch * up(s.m, rows) * up(s.n, columns); };
  const auto cost = [&](int rows, int columns, int resident) {
    const int64_t steps = up(s.k, f32_step), splits = k_splits(sm_count * 2, tiles(rows, columns), steps, 4), blocks = tiles(rows, columns) * splits;
    const double factor = rows > 64 || blocks > sm_count ? 1.522 : 0.7, start = 15'600;
    return static_cast<double>(up(blocks, int64_t{sm_count} * resident) * resident * up(steps, splits) * rows * columns) * factor + start + f32_joins(s, splits);
  };
  if (tiles(256, 128) * 10 >= int64_t{sm_count} * 9) return cost(256, 128, 1);
  return tiles(128, 128) * 10 >= int64_t{sm_count} * 9 ? cost(128, 128, 2) : cost(64, 64, 2);
}

// matmul_f32_small: four times as many blocks. Where these are fewer than multiprocessors, `splits` blocks of a cluster share k.
struct F32Small {
  int64_t splits;
  double cost;
};
inline F32Small f32_small(int sm_count, bool clusters, const ProductShape& s) {
  constexpr double alone = 1.976, several = 1.648, end = 5190, unaligned = 0.387, joined = 11'700;  // beside its pace; of a round of blocks; more for rows that do not start on 16 bytes; of a cluster
  const int64_t tiles = s.batch * up(s.m, f32_small_tile) * up(s.n, f32_small_tile), rounds = up(tiles, sm_count), steps = up(s.k, f32_small_step);
  const auto cost = [&](int64_t each, double pace) {
    return static_cast<double>(rounds) * (static_cast<double>(each * (f32_small_step / f32_step) * f32_small_tile * f32_small_tile) * pace * (1 + unaligned * (!rows_aligned_a(s, 4) + !rows_aligned_b(s, 4))) + end);
  };
  F32Small best = {1, cost(steps, rounds == 1 ? alone : several)};
  // Where all that a block loads is on its way at once.
  constexpr int64_t least_steps = 4, most_each = f32_small_stages - 1;
  for (int64_t splits = 2; clusters && steps >= least_steps && splits <= 8 && splits <= steps && tiles * splits <= sm_count; splits *= 2)
    if (const double shared = cost(up(steps, splits), alone) + joined; up(steps, splits) <= most_each && shared < best.cost) best = {splits, shared};
  return best;
}
inline bool is_f32_small(int sm_count, bool clusters, const ProductShape& s) {
  return s.batch * up(s.m, f32_small_tile) * up(s.n, f32_small_tile) < int64_t{1} << 31 && f32_small(sm_count, clusters, s).cost < f32_simt_cost(sm_count, s);
}

inline F32Plan f32_plan(int sm_count, const ProductShape& s) {
  struct Tile {
    int rows, columns;
    double factor, end;          // of a round of blocks, one of a multiprocessor
    double copied, copied_end;   // the same where threads copy operands
    bool even = false;           // blocks may share tiles evenly
  };
  constexpr Tile tiles[] = {{256, 128, 0.993, 31'400, 1.01, 45'600}, {128, 128, 0.998, 24'400, 1.046, 38'800}, {128, 64, 1.057, 21'400, 1.119, 29'200, true}, {64, 128, 1.052, 20'500, 1.111, 28'800, true}, {256, 32, 1.05, 28'300, 1.188, 33'100},
                            {32, 256, 1.058, 20'600, 1.174, 28'000}};
  constexpr int64_t most_shared = 1 << 24;  // results of which there may be several shares, in f32
  constexpr int least_side = 17, small_side = 64, least_length = 128;  // results of both sides that are short take the smaller tiles of matmul_simt
  const int64_t steps = up(s.k, f32_step);
  double least = std::min(f32_simt_cost(sm_count, s), f32_small(sm_count, true, s).cost);
  F32Plan best;
  best.cost = least;
  const int side = std::min(s.m, s.n), length = std::max(s.m, s.n);
  if (side < least_side || (side < small_side && length < least_length) || s.batch > 65535 || up(s.m, 32) > 65535 || up(s.k, 32) > 65535 || up(s.n, 32) > 65535) return best;

  const double left = static_cast<double>(s.batch_a) * s.m * s.k, right = static_cast<double>(s.batch) * s.k * s.n, moved = (left + right + static_cast<double>(s.batch) * s.m * s.n) * 4 * f32_byte;
  const bool must_a = (s.trans_a ? s.m : s.k) % 4 != 0, must_b = (s.trans_b ? s.k : s.n) % 4 != 0;
  // What an operand takes before: rows of k that must be copied are turned at once, others lie right already.
  const auto copied = [](bool turns, bool must, double elements) { return turns ? f32_copy_launch + f32_turn * elements : must ? f32_copy_launch + f32_copy * elements : 0; };
  const auto consider = [&](const Tile& t, bool turns_a, bool turns_b) {
    const bool rows_a = !s.trans_a && !turns_a, rows_b = s.trans_b && !turns_b;
    const double layout = rows_b ? (rows_a ? 1.165 : 1.125) : rows_a ? 1.065 : 1.0, before = copied(turns_a, must_a, left) + copied(turns_b, must_b, right);
    const int64_t count = s.batch * up(s.m, t.rows) * up(s.n, t.columns), most = k_splits(sm_count, count, steps, 4);
    for (const int64_t wanted : {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{4}, int64_t{6}, int64_t{8}, int64_t{12}, int64_t{16}, most}) {
      // None of them empty, and four steps in each.
      const int64_t splits = up(steps, up(steps, std::clamp<int64_t>(steps / 4, 1, wanted))), rounds = up(count * splits, sm_count);
      if (splits > 1 && s.batch * s.m * s.n > most_shared) continue;
      const double cost = std::max((static_cast<double>(up(steps, splits) * t.rows * t.columns) * t.factor * layout + t.end) * static_cast<double>(rounds), moved) + before + f32_joins(s, splits);
      if (cost < least) least = cost, best = {t.rows, t.columns, splits, turns_a, turns_b, false, false, 0, cost};
    }
  };
  // Copies by threads beside the multiply-adds that use them: of words, of 16 bytes, or turned.
  constexpr double turned = 0.0554, words = 0.0337, copied_start = 3'650, even_factor = 1.0075, even_launch = 17'700, even_piece = 0.0035;
  const auto copies = [&](bool k_contiguous, bool aligned, int other) { return (k_contiguous ? turned : aligned ? 0 : words) * 128 / other; };
  const auto consider_copied = [&](const Tile& t) {
    const double stage = static_cast<double>(t.rows) * t.columns * t.copied * (1 + copies(!s.trans_a, !must_a, t.columns) + copies(s.trans_b, !must_b, t.rows));
    const int64_t count = s.batch * up(s.m, t.rows) * up(s.n, t.columns), most = k_splits(sm_count, count, steps, 4);
    const auto take = [&](double cost, int64_t splits, bool even, int64_t shared) {
      if (const double all = cost + copied_start; all < least) least = all, best = {t.rows, t.columns, splits, false, false, true, even, shared, least};
    };
    for (const int64_t wanted : {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{4}, int64_t{6}, int64_t{8}, int64_t{12}, int64_t{16}, most}) {
      const int64_t splits = up(steps, up(steps, std::clamp<int64_t>(steps / 4, 1, wanted)));
      if (splits == 1 || s.batch * s.m * s.n <= most_shared) take(std::max((static_cast<double>(up(steps, splits)) * stage + t.copied_end) * static_cast<double>(up(count * splits, sm_count)), moved) + f32_joins(s, splits), splits, false, 0);
    }
    // Tiles of whole rounds have a block each, but for one round or two that all blocks share, four stages and more for each. Blocks at different places of k share no reads of memory: operands are to fit L2.
    constexpr int64_t least_stages = 4;
    constexpr double most_even = 1.6e7;  // elements
    for (int64_t rounds = t.even && left + right <= most_even ? std::max<int64_t>(count / sm_count - 1, 0) : count; rounds <= count / sm_count; rounds++) {
      const int64_t shared = count - rounds * sm_count;
      if (shared % sm_count == 0 || shared * steps < least_stages * sm_count) continue;
      const double ends = static_cast<double>(rounds + std::min<int64_t>(up(shared, sm_count) + 1, 2)) * t.copied_end, pieces = 2.0 * sm_count * t.rows * t.columns;
      take(static_cast<double>(rounds * steps + up(shared * steps, sm_count)) * stage * even_factor + ends + even_launch + even_piece * pieces, 1, true, shared);
    }
  };
  for (const Tile& t : tiles) {
    consider_copied(t);
    for (const bool turns_a : {false, true})
      for (const bool turns_b : {false, true}) {
        if (turns_a ? s.trans_a : must_a && !s.trans_a) continue;
        if (turns_b ? !s.trans_b : must_b && s.trans_b) continue;
        consider(t, turns_a, turns_b);
      }
  }
  return best;
}

// Costs above in microseconds: what the launch takes, and steps.
constexpr double f32_start_of_tiles = 4.5, f32_steps_of_us = 6300;

// matmul_slab_f32 in microseconds; 0 where it does not take the product. `pace`: multiply-adds of a multiprocessor in one by the number of its blocks (the first is that of four); sides with k contiguous take
// longer. Fitted to 469 times on an H200 (10 % root mean square error).
inline double slab_cost(int sm_count, int64_t shared_bytes, const ProductShape& s) {
  constexpr double pace[] = {142.3e3, 134.8e3, 143.3e3, 144.2e3}, start = 6.9, turned_b = 1.074, turned_a = 1.095, turned_both = 1.205, bytes_of_us = 4.2e6;
  if (!is_slab(shared_bytes, s)) return 0;
  const SlabPlan p = slab_plan(s);
  const int64_t blocks = up(p.blocks, sm_count);
  const double block = static_cast<double>(p.rows * p.columns) * s.k, turned = s.trans_a ? (s.trans_b ? turned_b : 1) : s.trans_b ? turned_both : turned_a;
  const double moved = (static_cast<double>(s.batch_a) * s.m * s.k + static_cast<double>(s.batch) * (static_cast<double>(s.k) * s.n + static_cast<double>(s.m) * s.n)) * 4 / bytes_of_us;
  const auto work = [&](int64_t together) { return static_cast<double>(together) * block / pace[together % 4]; };
  return start + std::max(turned * (static_cast<double>(blocks / 4) * work(4) + work(blocks % 4)), moved);
}

// Stages of shared memory, and threads of a block, as kernels are built.
inline unsigned f32_stages(const F32Plan& p) { return p.rows * p.columns == 256 * 128 ? 4 : p.rows == 256 || p.columns == 256 ? 5 : 6; }
inline unsigned f32_shared_bytes(const F32Plan& p) { return f32_stages(p) * static_cast<unsigned>(p.rows + p.columns + (p.copied ? 2 * f32_gap : 0)) * f32_step * 4; }
constexpr unsigned f32_threads = 256;

}  // namespace opscope::cuda
