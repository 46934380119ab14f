// matmul of f16, bf16 and tf32 with a short k, bound by the bytes of the result (matmul/short.h says when it is used). A warp keeps the columns of b of a tile as mma.sync takes them, in
// registers, and goes down rows of a, without a barrier. Its rows are so many apart that all lie equally far behind a sector of memory, and its columns start that much sooner: what a thread has,
// with the columns of mma.sync in an order of their own, is a whole 16-byte piece of the result. Narrow results, whose rows are such pieces only in part, are sixteen rows
// together a run of memory, which goes through shared memory.
// In 16 bits, a transposed a whose columns start on 16 bytes is read in pieces of eight neighbouring rows, which are those of a thread in four tiles.
//   matmul_short_<dtype>_<columns / 8>_<k / 32 bytes>_<pieces|run>[_columns]
// How to build and run: scripts/gpu/kernels.sh.
#include "common/mma.cuh"
#include "matmul/short_task.h"

namespace {

using opscope::cuda::ShortTask;
constexpr int THREADS = opscope::cuda::short_threads, WARPS = THREADS / 32;

template <class T>
__device__ __forceinline__ uint32_t bits_of(const T* p) {
  if constexpr (sizeof(T) == 4) return *reinterpret_cast<const uint32_t*>(p);
  else return *reinterpret_cast<const uint16_t*>(p);
}

// What a thread has of k of a line in a step of 32 bytes: 8 bytes of k, from element `l` on, as two words. EACH: bytes that lie together as one load takes them, 8 or 4, or 0 for single
// elements. `step`: from one element of k to the next.
template <int EACH, class T>
__device__ __forceinline__ void load_words(uint32_t (&w)[2], const T* line, long long step, int l, int k) {
  constexpr int PAIR = 4 / sizeof(T);
  w[0] = w[1] = 0;
  if constexpr (EACH == 8) {
    if (l < k) {
      const uint2 v = *reinterpret_cast<const uint2*>(line + l);
      w[0] = v.x, w[1] = v.y;
    }
  } else {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const int at = l + i * PAIR;
      if (at >= k) continue;
      if constexpr (EACH == 4) {
        w[i] = *reinterpret_cast<const uint32_t*>(line + at);
      } else {
        w[i] = bits_of(line + at * step);
        if constexpr (PAIR == 2)
          if (at + 1 < k) w[i] |= bits_of(line + (at + 1) * step) << 16;
      }
    }
  }
  if constexpr (PAIR == 1) w[0] = round_tf32(w[0]), w[1] = round_tf32(w[1]);
}

// All of k of LINES lines, whose first elements `line(i)` gives.
template <int LINES, int STEPS, class T, class Line>
__device__ __forceinline__ void load_lines(uint32_t (&w)[LINES][STEPS][2], Line line, long long step, int k, int mine) {
  constexpr int QUARTER = 8 / sizeof(T);
  const auto all = [&](auto load) {
#pragma unroll
    for (int i = 0; i < LINES; i++) {
      const T* p = line(i);
#pragma unroll
      for (int s = 0; s < STEPS; s++) load(w[i][s], p, (s * 4 + mine) * QUARTER);
    }
  };
  if (step == 1 && k % QUARTER == 0) all([&](uint32_t(&to)[2], const T* p, int l) { load_words<8>(to, p, step, l, k); });
  else if (sizeof(T) == 2 && step == 1 && k % 2 == 0) all([&](uint32_t(&to)[2], const T* p, int l) { load_words<4>(to, p, step, l, k); });
  else all([&](uint32_t(&to)[2], const T* p, int l) { load_words<0>(to, p, step, l, k); });
}

// The operands of V / 2 tiles of 16 rows, from the rows of a thread on at `rows`, V that lie together, `step` from one of k to the next: row 2 i + h of them is one of tile i.
template <int STEPS, class T>
__device__ __forceinline__ void load_columns(uint32_t (&w)[LANES<T> / 2][2][STEPS][2], const T* rows, long long step, int k, int mine) {
  constexpr int QUARTER = 8 / sizeof(T);
#pragma unroll
  for (int s = 0; s < STEPS; s++) {
    uint32_t raw[QUARTER][4];
#pragma unroll
    for (int i = 0; i < QUARTER; i++) {
      const int l = (s * 4 + mine) * QUARTER + i;
      const uint4 v = l < k ? load16(rows + l * step) : make_uint4(0, 0, 0, 0);
      raw[i][0] = v.x, raw[i][1] = v.y, raw[i][2] = v.z, raw[i][3] = v.w;
    }
#pragma unroll
    for (int tile = 0; tile < LANES<T> / 2; tile++)
#pragma unroll
      for (int half = 0; half < 2; half++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
          w[tile][half][s][i] = __byte_perm(raw[i * 2][tile], raw[i * 2 + 1][tile], half ? 0x7632 : 0x5410);
        }
  }
}

template <class T, int BLOCKS, int STEPS, bool RUN, bool COLUMNS>
__device__ __forceinline__ void product(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, const ShortTask& t) {
  // EACH blocks of 8 columns give V columns of a thread; so many blocks are summed at a time.
  constexpr int V = LANES<T>, EACH = V / 2, TOGETHER = BLOCKS < 8 ? BLOCKS : 8;
  constexpr int TILES = COLUMNS ? V / 2 : 1, ROWS = 16 * TILES;
  extern __shared__ __align__(16) char shared[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, quad = lane >> 2, mine = lane & 3;
  const int unit = blockIdx.x * WARPS + warp;
  if (unit >= t.units) return;
  const int row_class = unit & (t.period - 1), tile = unit >> t.log2_period, down = divided(tile, t.by_across), batch = divided(down, t.by_splits);
  a += static_cast<long long>(batch) * t.m * t.k;
  b += static_cast<long long>(batch) * t.n * t.k;
  c += static_cast<long long>(batch) * t.m * t.n;
  // Elements that this product, and with them rows of this class, lie behind where pieces start.
  const unsigned start = static_cast<unsigned>(batch) * static_cast<unsigned>(t.m) * static_cast<unsigned>(t.n);
  const int behind = static_cast<int>(start & (V - 1)), shift = RUN ? 0 : static_cast<int>((start + static_cast<unsigned>(row_class) * static_cast<unsigned>(t.n)) & (t.align - 1));
  const int c0 = (tile - down * t.across) * BLOCKS * 8 - shift;
  uint32_t fb[BLOCKS][STEPS][2];
  load_lines<BLOCKS, STEPS, T>(
      fb,
      [&](int i) {
        const int column = c0 + i / EACH * 4 * V + i % EACH * 2 + V * (quad >> 1) + (quad & 1);
        return b + max(0, min(column, t.n - 1)) * t.b_column;
      },
      t.b_k, t.k, mine);
  T* staged = reinterpret_cast<T*>(shared + warp * t.staged);
  for (int at = down - batch * t.splits; at < t.tiles; at += t.splits) {
    const int first = at * ROWS * t.period + row_class;
    uint32_t fa[TILES][2][STEPS][2];
    if constexpr (COLUMNS) load_columns<STEPS>(fa, a + min(first + quad * V, t.m - V), t.a_k, t.k, mine);
    else load_lines<2, STEPS, T>(fa[0], [&](int i) { return a + min(first + (quad + i * 8) * t.period, t.m - 1) * t.a_row; }, t.a_k, t.k, mine);
#pragma unroll
    for (int part = 0; part < TILES * (BLOCKS / TOGETHER); part++) {
      const int sixteen = part / (BLOCKS / TOGETHER), i0 = part % (BLOCKS / TOGETHER) * TOGETHER;
      float sums[TOGETHER][4] = {};
#pragma unroll
      for (int s = 0; s < STEPS; s++) {
        const uint32_t f[4] = {fa[sixteen][0][s][0], fa[sixteen][1][s][0], fa[sixteen][0][s][1], fa[sixteen][1][s][1]};
#pragma unroll
        for (int i = 0; i < TOGETHER; i++) mma(sums[i], f, fb[i0 + i][s][0], fb[i0 + i][s][1], T());
      }
#pragma unroll
      for (int half = 0; half < 2; half++) {
        const int local = COLUMNS ? quad * V + sixteen * 2 + half : (quad + half * 8) * t.period, row = first + local;
        if (!RUN && row >= t.m) continue;
        T* line = c + static_cast<long long>(row) * t.n;
#pragma unroll
        for (int group = 0; group < TOGETHER / EACH; group++) {
          const int column = c0 + (i0 / EACH + group) * 4 * V + mine * V;
          float piece[V];
#pragma unroll
          for (int j = 0; j < V; j++) piece[j] = sums[group * EACH + j / 2][half * 2 + j % 2];
          if constexpr (RUN) {
            T* to = staged + behind + local * t.n + column;
            if (sizeof(T) == 2 && t.n % 2 == 0) {
              if constexpr (sizeof(T) == 2)
#pragma unroll
                for (int j = 0; j < V; j += 2)
                  if (column + j < t.n) *reinterpret_cast<uint32_t*>(to + j) = pack_pair(piece[j], piece[j + 1], T());
            } else {
#pragma unroll
              for (int j = 0; j < V; j++)
                if (column + j < t.n) to[j] = from_float<T>(piece[j]);
            }
          } else if (column >= 0 && column + V <= t.n) {
            store16(line + column, pack<T>(piece));
          } else {
#pragma unroll
            for (int j = 0; j < V; j++)
              if (column + j >= 0 && column + j < t.n) line[column + j] = from_float<T>(piece[j]);
          }
        }
      }
    }
    if constexpr (RUN) {
      __syncwarp();
      T* to = c + static_cast<long long>(first) * t.n - behind;
      const int end = behind + min(ROWS, t.m - first) * t.n;
      for (int e = lane * V; e < end; e += 32 * V) {
        if (e >= behind && e + V <= end) {
          store16(to + e, load16(staged + e));
        } else {
#pragma unroll
          for (int j = 0; j < V; j++)
            if (e + j >= behind && e + j < end) to[e + j] = staged[e + j];
        }
      }
      __syncwarp();
    }
  }
}

}  // namespace

#define KERNEL(T, BLOCKS, STEPS, NAME, IS_RUN, IS_COLUMNS)                                                                                                           \
  extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS * STEPS <= 4 ? (IS_COLUMNS ? 6 : 8) : BLOCKS * STEPS <= 8 ? (IS_COLUMNS ? 5 : 6) : BLOCKS * STEPS <= 24 ? (IS_COLUMNS ? 3 : 4) : 3) \
      matmul_short_##T##_##BLOCKS##_##STEPS##_##NAME(const T* a, const T* b, T* c, const ShortTask t) {                                                               \
    product<T, BLOCKS, STEPS, IS_RUN, IS_COLUMNS>(a, b, c, t);                                                                                                        \
  }
#define PIECES(T, BLOCKS, STEPS) KERNEL(T, BLOCKS, STEPS, pieces, false, false)
#define RUN(T, BLOCKS, STEPS) KERNEL(T, BLOCKS, STEPS, run, true, false)
#define BOTH(T, BLOCKS, STEPS) PIECES(T, BLOCKS, STEPS) RUN(T, BLOCKS, STEPS)
// Those that short_plan asks for where is_short holds.
#define COLUMNS(T, BLOCKS, STEPS) KERNEL(T, BLOCKS, STEPS, run_columns, true, true) KERNEL(T, BLOCKS, STEPS, pieces_columns, false, true)
#define SHORT_16(T)                                                          \
  BOTH(T, 4, 1) BOTH(T, 4, 3) BOTH(T, 8, 1) BOTH(T, 8, 3) RUN(T, 16, 1)      \
  COLUMNS(T, 4, 1) COLUMNS(T, 4, 3) COLUMNS(T, 8, 1) COLUMNS(T, 8, 3)
SHORT_16(f16)
SHORT_16(bf16)
BOTH(tf32, 4, 1) BOTH(tf32, 4, 3) RUN(tf32, 8, 1) BOTH(tf32, 8, 2) BOTH(tf32, 8, 3) BOTH(tf32, 8, 5) BOTH(tf32, 16, 1) RUN(tf32, 16, 3)
