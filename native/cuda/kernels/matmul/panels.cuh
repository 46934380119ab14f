// Products on tensor cores with a short k, whatever the alignment of rows (matmul/panels.h says when). Such a call waits for memory more than it works: a block loads both panels of its tile at once,
// a word of k or of rows by each lane, shifted where rows start off words, a multiprocessor has three blocks and more, so that some store while others load, and results of 16 bits go through
// shared memory so that a warp stores runs of a row. A longer k comes in rounds. f32 accumulation, in the order of k.
#pragma once
#include "../common/mma.cuh"
#include "../common/product.cuh"
#include "panels_task.h"

namespace panels {

constexpr int THREADS = opscope::cuda::panels_threads, WARPS = THREADS / 32;

// ROWS rows of an operand by WORDS words of k, as tensor cores take them: lines of k where it is contiguous (K), else lines of rows, spaced so that eight of them meet different banks.
template <class T, int ROWS, int WORDS, bool K>
struct Panel {
  static constexpr int PAIR = 4 / sizeof(T), DEPTH = WORDS * PAIR, ACROSS = K ? WORDS : ROWS / PAIR, LINES = K ? ROWS : DEPTH;
  static constexpr int PITCH = ACROSS * 4 + (sizeof(T) == 2 || K ? 16 : 32), BYTES = PITCH * LINES;
  // Lines of all threads at a time: an even number, so that those of a thread start equally far behind a word.
  static constexpr int DOWN = THREADS / ACROSS / 2 * 2, EACH = (LINES + DOWN - 1) / DOWN;

  int line, column;
  bool odd, pair;                       // elements lie in two words; both are there
  uint32_t w[EACH][sizeof(T) == 2 ? 2 : 1];  // the words that hold them

  // `rows`, `k`: what the operand has from this panel's first on; `pitch`: elements between lines.
  __device__ __forceinline__ void load(const T* from, long long pitch, int rows, int k) {
    const int lines = min(K ? rows : k, LINES), columns = K ? k : rows;
    line = static_cast<int>(threadIdx.x) / ACROSS, column = static_cast<int>(threadIdx.x) % ACROSS * PAIR;
    const unsigned long long at = reinterpret_cast<unsigned long long>(from + line * pitch + column);
    const uint32_t* words = reinterpret_cast<const uint32_t*>(at & ~3ull);
    odd = at & 2, pair = column + 1 < columns;
    const bool mine = line < DOWN && column < columns;
#pragma unroll
    for (int i = 0; i < EACH; i++, words += DOWN / PAIR * pitch) {
      const bool there = mine && line + i * DOWN < lines;
      w[i][0] = there ? words[0] : 0;
      if constexpr (sizeof(T) == 2) w[i][1] = there && odd && pair ? words[1] : 0;
    }
  }
  __device__ __forceinline__ void store(char* to) const {
    if (line >= DOWN) return;
    to += line * PITCH + column * static_cast<int>(sizeof(T));
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      if (LINES % DOWN != 0 && line + i * DOWN >= LINES) break;
      uint32_t elements;
      if constexpr (sizeof(T) == 2) {
        elements = odd ? __funnelshift_r(w[i][0], w[i][1], 16) : w[i][0];
        if (!pair) elements &= 0xffff;
      } else {
        elements = round_tf32(w[i][0]);
      }
      *reinterpret_cast<uint32_t*>(to + i * DOWN * PITCH) = elements;
    }
  }

  // 16 rows from `mn` on by 32 bytes of k: of A rows first, of B k first.
  template <bool IS_A>
  static __device__ __forceinline__ void fragment(uint32_t (&r)[4], const char* panel, int mn, int step, int lane) {
    const int part = lane >> 3, high_mn = IS_A ? part & 1 : part >> 1, high_k = IS_A ? part >> 1 : part & 1;
    if constexpr (K) {
      ldmatrix(r, shared_address(panel + (mn + high_mn * 8 + (lane & 7)) * PITCH + step * 32 + high_k * 16));
    } else if constexpr (sizeof(T) == 2) {
      ldmatrix_trans(r, shared_address(panel + (step * 16 + high_k * 8 + (lane & 7)) * PITCH + (mn + high_mn * 8) * 2));
    } else {
#pragma unroll
      for (int i = 0; i < 4; i++) r[i] = *reinterpret_cast<const uint32_t*>(panel + (step * 8 + (lane & 3) + (IS_A ? i >> 1 : i & 1) * 4) * PITCH + (mn + (lane >> 2) + (IS_A ? i & 1 : i >> 1) * 8) * 4);
    }
  }
};

// Rows of `columns` elements of a tile, each as far behind a word in shared memory as in memory, `pitch` elements between them, to rows of memory `n` apart: a row by a warp, in words.
template <class T, int COLUMNS>
__device__ __forceinline__ void store_rows(T* c, long long n, const T* staged, int pitch, int rows, int columns) {
  const int lane = threadIdx.x % 32;
#pragma unroll 2
  for (int row = threadIdx.x / 32; row < rows; row += WARPS) {
    T* to = c + row * n;
    const T* from = staged + row * pitch;
    const int odd = reinterpret_cast<unsigned long long>(to) >> 1 & 1;
#pragma unroll
    for (int i = 0; i < (COLUMNS + 63) / 64; i++) {
      const int word = i * 32 + lane, first = word * 2 - odd;
      if (first >= columns) continue;
      if (first < 0) {
        to[0] = from[odd];
        if (columns == (COLUMNS + 63) / 64 * 64) to[columns - 1] = from[odd + columns - 1];  // for which no lane is left
      } else if (first + 1 < columns) {
        *reinterpret_cast<uint32_t*>(to + first) = *reinterpret_cast<const uint32_t*>(from + odd + first);
      } else {
        to[first] = from[odd + first];
      }
    }
  }
}

// WM x WN warps, each computing (BM / WM) x (BN / WN) results of a tile BM x BN.
template <class T, int BM, int BN, int WORDS, int WM, int WN, bool TRANS_A, bool TRANS_B>
__device__ __forceinline__ void product(const T* a, const T* b, T* c, const opscope::cuda::PanelsTask& t) {
  using A = Panel<T, BM, WORDS, !TRANS_A>;
  using B = Panel<T, BN, WORDS, TRANS_B>;
  constexpr bool ROUNDS = WORDS > 16;
  constexpr int DEPTH = A::DEPTH, STEP = 32 / sizeof(T), MT = BM / WM / 16, NT = BN / WN / 8, L = LANES<T>, PITCH = BN + 8;
  static_assert(WM * WN == WARPS && MT * WM * 16 == BM && NT * WN * 8 == BN && NT % 2 == 0);
  constexpr int STAGED = sizeof(T) == 2 ? BM * PITCH * 2 : 0, BOTH = A::BYTES + B::BYTES;
  __shared__ __align__(16) char shared[BOTH > STAGED ? BOTH : STAGED];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warp_m = warp % WM * (BM / WM), warp_n = warp / WM * (BN / WN);
  const int down = divided(static_cast<int>(blockIdx.x), t.by_tiles_n), batch = divided(down, t.by_tiles_m);
  const int m0 = (down - batch * t.tiles_m) * BM, n0 = (static_cast<int>(blockIdx.x) - down * t.tiles_n) * BN;
  a += static_cast<long long>(batch < t.batches_a ? batch : batch % t.batches_a) * t.m * t.k;
  b += static_cast<long long>(batch) * t.n * t.k;
  const long long pitch_a = TRANS_A ? t.m : t.k, pitch_b = TRANS_B ? t.k : t.n;
  float sums[MT][NT][4] = {};
  A panel_a;
  B panel_b;
  const auto load = [&](int k0) {
    panel_a.load(TRANS_A ? a + k0 * pitch_a + m0 : a + m0 * pitch_a + k0, pitch_a, t.m - m0, t.k - k0);
    panel_b.load(TRANS_B ? b + n0 * pitch_b + k0 : b + k0 * pitch_b + n0, pitch_b, t.n - n0, t.k - k0);
  };
  load(0);
  for (int k0 = 0; k0 < t.k; k0 += DEPTH) {
    if (ROUNDS && k0 > 0) __syncthreads();
    panel_a.store(shared);
    panel_b.store(shared + A::BYTES);
    __syncthreads();
    // The next round is on its way while this one is multiplied.
    if (ROUNDS && k0 + DEPTH < t.k) load(k0 + DEPTH);
#pragma unroll
    for (int step = 0; step < DEPTH / STEP; step++) {
      if (k0 + step * STEP >= t.k) break;
      uint32_t fa[MT][4], fb[NT / 2][4];
#pragma unroll
      for (int i = 0; i < MT; i++) A::template fragment<true>(fa[i], shared, warp_m + i * 16, step, lane);
#pragma unroll
      for (int j = 0; j < NT / 2; j++) B::template fragment<false>(fb[j], shared + A::BYTES, warp_n + j * 16, step, lane);
#pragma unroll
      for (int i = 0; i < MT; i++)
#pragma unroll
        for (int j = 0; j < NT; j++) mma(sums[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1], T());
    }
    if (!ROUNDS) break;
  }
  const int rows = min(BM, t.m - m0), columns = min(BN, t.n - n0);
  c += (static_cast<long long>(batch) * t.m + m0) * t.n + n0;
  // f(row, column, x, y): neighbouring results of this thread.
  const auto each_pair = [&](auto f) {
#pragma unroll
    for (int i = 0; i < MT; i++)
#pragma unroll
      for (int half = 0; half < 2; half++)
#pragma unroll
        for (int j = 0; j < NT; j++) f(warp_m + i * 16 + half * 8 + lane / 4, warp_n + j * 8 + lane % 4 * 2, sums[i][j][half * 2], sums[i][j][half * 2 + 1]);
  };
  if constexpr (sizeof(T) == 4) {
    const bool even = t.n % 2 == 0;
    each_pair([&](int row, int column, float x, float y) {
      if (row < rows && column < columns) store_pair(c + static_cast<long long>(row) * t.n + column, x, y, even, column + 1 < columns);
    });
  } else {
    __syncthreads();
    T* staged = reinterpret_cast<T*>(shared);
    const auto put = [&](int at, float x, float y, bool both) {
      if (at % 2 == 0 && both) {
        *reinterpret_cast<uint32_t*>(staged + at) = pack_pair(x, y, T());
      } else {
        staged[at] = from_float<T>(x);
        if (both) staged[at + 1] = from_float<T>(y);
      }
    };
    if (t.tiles_n == 1) {
      // The tile is one run of memory.
      const int behind = static_cast<int>(reinterpret_cast<unsigned long long>(c) / sizeof(T)) & (L - 1);
      each_pair([&](int row, int column, float x, float y) {
        if (row < rows && column < columns) put(behind + row * t.n + column, x, y, column + 1 < columns);
      });
      __syncthreads();
      T* to = c - behind;
      const int end = behind + rows * t.n;
      for (int e = threadIdx.x * L; e < end; e += THREADS * L) {
        if (e >= behind && e + L <= end) {
          store16(to + e, load16(staged + e));
        } else {
#pragma unroll
          for (int j = 0; j < L; j++)
            if (e + j >= behind && e + j < end) to[e + j] = staged[e + j];
        }
      }
    } else if (t.n % L == 0) {
      each_pair([&](int row, int column, float x, float y) { put(row * PITCH + column, x, y, true); });
      __syncthreads();
      constexpr int ACROSS = BN / L;
      for (int piece = threadIdx.x; piece < rows * ACROSS; piece += THREADS) {
        const int row = piece / ACROSS, column = piece % ACROSS * L;
        if (column < columns) store16(c + static_cast<long long>(row) * t.n + column, load16(staged + row * PITCH + column));
      }
    } else {
      const int first = static_cast<int>(reinterpret_cast<unsigned long long>(c) >> 1 & 1), turns = t.n & 1;
      each_pair([&](int row, int column, float x, float y) { put(row * PITCH + (first + row * turns & 1) + column, x, y, true); });
      __syncthreads();
      store_rows<T, BN>(c, t.n, staged, PITCH, rows, columns);
    }
  }
}

}  // namespace panels

#define PANELS(T, BM, BN, WORDS, WM, WN, BLOCKS, LAYOUT, TA, TB)                                                                                                                                \
  extern "C" __global__ void __launch_bounds__(panels::THREADS, BLOCKS) matmul_panels_##T##_##BM##_##BN##_##WORDS##_##LAYOUT(const T* a, const T* b, T* c, const opscope::cuda::PanelsTask t) { \
    panels::product<T, BM, BN, WORDS, WM, WN, TA, TB>(a, b, c, t);                                                                                                                              \
  }
#define PANELS_LAYOUTS(T, BM, BN, WORDS, WM, WN, BLOCKS)     \
  PANELS(T, BM, BN, WORDS, WM, WN, BLOCKS, nn, false, false) \
  PANELS(T, BM, BN, WORDS, WM, WN, BLOCKS, nt, false, true)  \
  PANELS(T, BM, BN, WORDS, WM, WN, BLOCKS, tn, true, false)  \
  PANELS(T, BM, BN, WORDS, WM, WN, BLOCKS, tt, true, true)
// Those that panels_plan asks for.
#define PANELS_TILES(T, WORDS, MANY, FEW)        \
  PANELS_LAYOUTS(T, 64, 64, WORDS, 4, 2, MANY)   \
  PANELS_LAYOUTS(T, 128, 80, WORDS, 8, 1, FEW)   \
  PANELS_LAYOUTS(T, 80, 128, WORDS, 1, 8, FEW)   \
  PANELS_LAYOUTS(T, 128, 48, WORDS, 8, 1, FEW)   \
  PANELS_LAYOUTS(T, 48, 128, WORDS, 1, 8, FEW) 
