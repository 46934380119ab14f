// A long matrix times a short side, whatever the alignment of its rows (matmul_stream.cu, matmul_stream_f32.cu). Pure; see products_test.cc.
#pragma once
#include <numeric>

#include "shape.h"
#include "sizes.h"

namespace opscope::cuda {

struct StreamPlan {
  SkinnyPlan sides;        // but for tiles and shares
  int vectors = 0;         // of the short side, as kernels are built; 0 where other kernels are faster
  int period = 1;          // rows of the matrix so far apart start equally far behind 16 bytes
  int warp_rows = 1;       // warps of a block side by side along the long side, where k is contiguous; the others share k
  int window = 0;          // columns of a block, where k is not
  int64_t tiles = 0, share = 0, splits = 1, results = 0;  // results of a block
  bool counted = false;    // the last block of a tile adds its shares up, else a launch
  int64_t few_words = 0;   // of a product, where a launch before makes the short side what is multiplied
  int64_t blocks = 0;      // of a product and a share
  bool scalar = false;     // in f32 arithmetic (matmul_stream_f32.cu), of tf32 and of one vector in 16 bits, too
};

constexpr int64_t stream_counted = 16 << 10;  // most results and shares of them that the last block of a tile adds up

// Columns of a matrix from which on one vector in 16 bits is multiplied in f32 arithmetic: windows are as wide.
constexpr int stream_wide = 1024;

// Where the matrix pays for what blocks do besides reading it: least bytes of it, k, and long side. Bounds are where it was faster than other kernels on an H200 (NOTES.md).
struct StreamBounds {
  double bytes;  // 0: nowhere
  int k = 0, length = 33;
};

inline StreamBounds stream_bounds(int few, int64_t element_bytes, bool tensor_cores, bool k_contiguous, bool aligned, int k) {
  if (k_contiguous) {
    // A block turns the short side for rows that start alike, of which a short matrix has few.
    if (element_bytes == 2) return aligned ? StreamBounds{0} : few == 1 ? StreamBounds{0} : few <= 16 ? StreamBounds{8e6, 120, 128} : StreamBounds{25e6, 180, 1000};
    if (few <= 8 || (few > 16 && (!tensor_cores || aligned))) return {0};
    return few > 16 ? StreamBounds{50e6, 512, 1000} : tensor_cores ? StreamBounds{4e6, 64, 128} : StreamBounds{20e6, 100, 128};
  }
  if (few == 1 && element_bytes == 4) return {aligned ? 1.2e7 : 1e7, 200, 257};
  if (few == 1) return aligned ? StreamBounds{1.2e7, 256, 1024} : StreamBounds{8e6, k < 256 ? 64 : 256, k < 256 ? stream_wide : 129};
  if (element_bytes == 2) {
    if (aligned) return few <= 4 ? StreamBounds{2.5e6, 256} : StreamBounds{0};
    return few <= 8 ? StreamBounds{k < 256 ? 5e6 : 1e6, 128} : few <= 16 ? StreamBounds{8e6, 200} : StreamBounds{5e6, 512};
  }
  if (!tensor_cores) return few > 16 ? StreamBounds{0} : StreamBounds{k < 513 ? 40e6 : 4e6, 129};
  if (few > 16) return aligned ? StreamBounds{0} : StreamBounds{20e6, 256};
  return {few <= 4 ? 60e6 : 4e6, 200};
}

inline bool stream_suits(const ProductShape& s, int64_t element_bytes, bool tensor_cores, bool k_contiguous, bool aligned) {
  constexpr int most = 32, longest_k = 1 << 24, most_batches = 65'535;
  const int few = std::min(s.m, s.n), length = std::max(s.m, s.n);
  if (few < 1 || few > most || s.k > longest_k || s.batch > most_batches) return false;
  // matmul_narrow is faster for two vectors of a short k and many short matrices.
  constexpr int short_k = 160, short_length = 8192;
  if (element_bytes == 2 && !k_contiguous && !aligned && few == 2 && s.k < short_k && length <= short_length) return false;
  // Of whole vectors in 16 bits matmul_skinny is as fast where columns are not few.
  if (element_bytes == 2 && !k_contiguous && aligned && few == 1 && s.k < 2 * int64_t{length}) return false;
  const StreamBounds b = stream_bounds(few, element_bytes, tensor_cores, k_contiguous, aligned, s.k);
  return b.bytes > 0 && s.k >= b.k && length >= b.length && static_cast<double>(s.batch * length * s.k * element_bytes) >= b.bytes;
}

// Shares of k that take the least time, in ns: waves of blocks, two on a multiprocessor, and what adds shares up. `whole`: of k, in the least that a share grows by; `block_bytes`: of the
// matrix, of a block with all of k; `elements`: of the output. Constants are from times of 1, 2 and 4 blocks for each multiprocessor on an H200 (NOTES.md).
inline int64_t stream_splits(int sm_count, int64_t blocks, int64_t whole, int64_t least, double block_bytes, double elements, int64_t results) {
  constexpr double rate = 3900, alone = 0.7, start = 2500, counted = 1000, joined = 1500, shares_rate = 3000, latency = 700;
  const int64_t slots = int64_t{sm_count} * 2;
  int64_t best = 1;
  double least_time = 0;
  for (int64_t splits = 1; splits <= std::clamp<int64_t>(whole / least, 1, 512); splits++) {
    const int64_t each = up(whole, splits), waves = blocks * splits / slots, rest = blocks * splits % slots;
    if (up(whole, each) != splits) continue;
    const double n = static_cast<double>(splits), bytes = block_bytes * static_cast<double>(each) / static_cast<double>(whole);
    double time = static_cast<double>(waves) * (bytes * static_cast<double>(slots) / rate + start);
    if (rest > 0) time += std::max(bytes / (rate * alone / sm_count), bytes * static_cast<double>(rest) / rate) + start;
    if (splits > 1) {
      if (results * splits <= stream_counted) time += counted + n / 8 * latency / static_cast<double>(std::clamp<int64_t>(1024 / results, 1, 256));
      else time += joined + n * elements * 8 / shares_rate + n / (splits >= join_parts ? 64 : 8) * latency;
    }
    if (least_time == 0 || time < least_time) least_time = time, best = splits;
  }
  return best;
}

inline StreamPlan stream_plan(int sm_count, int64_t element_bytes, bool tensor_cores, const ProductShape& s) {
  // tf32 with up to 4 vectors of a matrix that is too small for tensor cores, or one: these sum eight at a time.
  constexpr int few_scalar = 4;
  const bool rows_first = s.n < s.m ? !s.trans_a : s.trans_b;
  if (element_bytes == 4 && std::min(s.m, s.n) <= few_scalar && !rows_first && (std::min(s.m, s.n) == 1 || !stream_suits(s, 4, tensor_cores, rows_first, false))) tensor_cores = false;
  // One vector in 16 bits, too: there is little to multiply.
  if (element_bytes == 2 && std::min(s.m, s.n) == 1 && std::max(s.m, s.n) >= stream_wide && !rows_first) tensor_cores = false;
  constexpr int64_t unit = 16 * stream_warps;  // rows of the matrix of which each lane of a block has four
  StreamPlan p = {skinny_plan(sm_count, element_bytes, s)};
  const int lanes = static_cast<int>(16 / element_bytes), few = std::min(s.m, s.n), length = std::max(s.m, s.n);
  const bool rows = p.sides.k_contiguous;
  p.period = lanes / std::gcd(rows ? s.k : length, lanes);
  if (!stream_suits(s, element_bytes, tensor_cores, rows, p.period == 1)) return p;
  p.scalar = !tensor_cores;
  p.vectors = tensor_cores ? 8 : few == 1 && !rows ? 1 : 4;
  while (p.vectors < few) p.vectors *= 2;
  int64_t least, whole, grain = 1, across;
  if (rows) {
    const int warp = tensor_cores ? 16 : 32;
    const int64_t groups = up(up(length, p.period), warp);
    // Of a part of k that shared memory has, each warp has a few steps.
    if (tensor_cores && p.vectors == 32) p.warp_rows = 2;
    while (p.warp_rows < stream_warps && p.warp_rows < groups) p.warp_rows *= 2;
    across = int64_t{warp} * p.warp_rows;
    p.tiles = p.period * up(groups, p.warp_rows);
    p.results = across * p.vectors;
    least = std::max(stream_warps / p.warp_rows * (tensor_cores ? 4 : 2), 8);
    whole = up(s.k + (p.period > 1 ? lanes - 1 : 0), 4 * lanes);
  } else {
    const int all = tensor_cores ? 8 * lanes * (p.vectors < 32 || element_bytes == 4 ? 2 : 1) : p.vectors == 1 ? 128 * lanes : 128;
    // Products of a batch may start off 16 bytes although rows do not.
    across = p.window = p.period > 1 || int64_t{length} * s.k % lanes != 0 ? all - lanes : all;
    p.tiles = up(length, p.window);
    p.results = int64_t{all} * p.vectors;
    const bool prepared = tensor_cores && p.vectors > 8;
    if (prepared) p.few_words = up(s.k, unit) * unit * p.vectors * element_bytes / 4;
    grain = prepared ? unit : stream_warps;
    least = prepared ? 1 : 8;
    whole = up(s.k, grain);
  }
  const double block_bytes = static_cast<double>(std::min(across, up(length, rows ? p.period : 1))) * s.k * static_cast<double>(element_bytes);
  const int64_t each = up(whole, stream_splits(sm_count, p.tiles * s.batch, whole, least, block_bytes, static_cast<double>(s.batch) * s.m * s.n, p.results));
  p.share = each * grain;
  p.splits = up(whole, each);
  p.counted = p.results * p.splits <= stream_counted;
  // The short side stays in shared memory where all of k does.
  const int64_t at_once = rows ? stream_few / (64 * p.vectors) : stream_few / (p.vectors * (tensor_cores ? element_bytes : 4));
  p.blocks = p.tiles;
  if (p.splits == 1 && whole * grain <= at_once) p.blocks = std::min(p.tiles, std::max<int64_t>(p.period, 2 * sm_count / s.batch / p.period * p.period));
  return p;
}

}  // namespace opscope::cuda
