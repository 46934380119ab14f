// Products where one operand is long, k short and the other side a few dozen (matmul/tall.h says when). Bytes bound such a call: a warp reads k of a tile of the long operand straight into registers as mma.sync takes them, in
// 16-byte pieces, 128 bytes of each line, while other warps multiply and store. The short operand is in shared memory, in the order of mma.sync. The order of k is that of the pieces that a lane has, the same for both
// operands. Rows of a long result are a run of memory and go through shared memory; columns of a long b are whole pieces of a thread.
#pragma once
#include "../common/mma.cuh"
#include "tall_task.h"

namespace tall {

using opscope::cuda::TallTask;
constexpr int THREADS = opscope::cuda::tall_threads, WARPS = THREADS / 32;

template <class T>
__device__ __forceinline__ uint32_t bits_of(const T* p) {
  if constexpr (sizeof(T) == 4) return *reinterpret_cast<const uint32_t*>(p);
  else return *reinterpret_cast<const uint16_t*>(p);
}

// 8 bytes of k of a line, from element `l` on.
template <class T>
__device__ __forceinline__ uint2 quarter(const T* line, int step, int l, int k) {
  constexpr int PAIR = 4 / sizeof(T);
  uint32_t w[2] = {};
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const int at = l + i * PAIR;
    if (at < k) w[i] = bits_of(line + at * step);
    if constexpr (PAIR == 2)
      if (at + 1 < k) w[i] |= bits_of(line + (at + 1) * step) << 16;
    if constexpr (PAIR == 1) w[i] = round_tf32(w[i]);
  }
  return make_uint2(w[0], w[1]);
}

// The short operand as it lies, behind the table.
template <class T>
__device__ __forceinline__ void copy_few(char* to, const T* few, const TallTask& t) {
  const int bytes = t.few * t.k * static_cast<int>(sizeof(T));
  for (int at = threadIdx.x * 16; at < bytes; at += THREADS * 16) copy_async_16(shared_address(to + at), reinterpret_cast<const char*>(few) + at, min(16, bytes - at));
  copy_commit();
}
// [eight of the other side][step][lane], zeros behind both.
template <int V, class T>
__device__ __forceinline__ void make_table(uint2* table, const T* few, const TallTask& t, int steps) {
  const int lane = threadIdx.x % 32;
  for (int tile = 0; tile < t.few_tiles; tile++) {
    const int line = tile * 8 + lane / 4;
    for (int step = threadIdx.x / 32; step < steps; step += WARPS)
      table[(tile * steps + step) * 32 + lane] = line < t.few ? quarter(few + line * t.few_line, t.few_k, step / 2 * 4 * V + lane % 4 * V + step % 2 * (V / 2), t.k) : make_uint2(0, 0);
  }
}

// A lane's pieces of a round of k, of the lines from `first` on.
template <class T, int CHUNKS, bool K>
__device__ __forceinline__ void load(uint4 (&raw)[CHUNKS][LANES<T>], const T* x, const TallTask& t, int first, int round) {
  constexpr int V = LANES<T>;
  const int k = t.k - round * CHUNKS * 4 * V, mine = threadIdx.x & 3;
  if constexpr (K) {
    const T* from = x + static_cast<long long>(first) * t.k + (round * CHUNKS * 4 + mine) * V;
#pragma unroll
    for (int i = 0; i < V; i++, from += t.k)
#pragma unroll
      for (int s = 0; s < CHUNKS; s++) raw[s][i] = first + i < t.length && (s * 4 + mine) * V < k ? load16(from + s * 4 * V) : make_uint4(0, 0, 0, 0);
  } else {
    // Opaque, or the compiler keeps the place of every line in registers.
    long long pitch = t.length * static_cast<long long>(sizeof(T));
    asm volatile("" : "+l"(pitch));
    const char* from = reinterpret_cast<const char*>(x + first) + (round * CHUNKS * 4 + mine) * V * pitch;
#pragma unroll
    for (int s = 0; s < CHUNKS; s++, from += 3 * V * pitch)
#pragma unroll
      for (int i = 0; i < V; i++, from += pitch) raw[s][i] = first < t.length && (s * 4 + mine) * V + i < k ? load16(from) : make_uint4(0, 0, 0, 0);
  }
}
template <class T, int CHUNKS>
__device__ __forceinline__ void round_all(uint4 (&raw)[CHUNKS][LANES<T>]) {
  if constexpr (sizeof(T) == 4) {
#pragma unroll
    for (int s = 0; s < CHUNKS; s++)
#pragma unroll
      for (int i = 0; i < LANES<T>; i++) raw[s][i] = make_uint4(round_tf32(raw[s][i].x), round_tf32(raw[s][i].y), round_tf32(raw[s][i].z), round_tf32(raw[s][i].w));
  }
}
// Word j of k of line i of the long operand in a step.
template <class T, int CHUNKS, bool K>
__device__ __forceinline__ uint32_t word(const uint4 (&raw)[CHUNKS][LANES<T>], int step, int i, int j) {
  const auto of = [](const uint4& v, int at) { return at == 0 ? v.x : at == 1 ? v.y : at == 2 ? v.z : v.w; };
  const auto& r = raw[step / 2];
  const int half = step % 2;
  if constexpr (K) return of(r[i], half * 2 + j);
  else if constexpr (sizeof(T) == 4) return of(r[half * 2 + j], i);
  else return __byte_perm(of(r[half * 4 + j * 2], i / 2), of(r[half * 4 + j * 2 + 1], i / 2), i % 2 ? 0x7632 : 0x5410);
}

// Sums of 16 rows of a result with long columns.
template <class T>
__device__ __forceinline__ void store_columns(T* c, const TallTask& t, int first, int row, const float (&sums)[LANES<T>][4]) {
  constexpr int V = LANES<T>;
  const int quad = threadIdx.x % 32 >> 2, mine = threadIdx.x & 3;
#pragma unroll
  for (int half = 0; half < 2; half++) {
    if (row + half * 8 + quad >= t.few) continue;
#pragma unroll
    for (int e = 0; e < 2; e++) {
      const int column = first + (mine + e * 4) * V;
      float values[V];
#pragma unroll
      for (int j = 0; j < V; j++) values[j] = sums[j][half * 2 + e];
      if (column < t.length) store16(c + static_cast<long long>(row + half * 8 + quad) * t.length + column, pack<T>(values));
    }
  }
}
// Pieces of the rows that a quad has lie together in shared memory; lanes of different quads meet different banks.
template <class T>
__device__ __forceinline__ int spread(int quad) { return sizeof(T) == 4 ? quad * 2 & 7 : quad; }
// Sums of 16 columns of a long result.
template <class T>
__device__ __forceinline__ void stage(char* staged, const TallTask& t, int column, const float (&sums)[LANES<T>][4]) {
  constexpr int V = LANES<T>;
  const int quad = threadIdx.x % 32 >> 2, mine = threadIdx.x & 3, pieces = t.few / V;
#pragma unroll
  for (int half = 0; half < 2; half++) {
    if (column + half * 8 >= t.few) break;
#pragma unroll
    for (int j = 0; j < V; j++) {
      const float u = sums[half * (V / 2) + j / 2][j % 2 * 2], v = sums[half * (V / 2) + j / 2][j % 2 * 2 + 1];
      const int at = j * pieces + (column + half * 8) / V + (sizeof(T) == 4 ? mine / 2 : 0);
      char* to = staged + (quad * t.few + (at ^ spread<T>(quad))) * 16;
      if constexpr (sizeof(T) == 4) *reinterpret_cast<float2*>(to + mine % 2 * 8) = make_float2(u, v);
      else *reinterpret_cast<uint32_t*>(to + mine * 4) = pack_pair(u, v, T());
    }
  }
}
template <class T>
__device__ __forceinline__ void store_rows(T* c, const char* staged, const TallTask& t, int first) {
  constexpr int V = LANES<T>;
  T* to = c + static_cast<long long>(first) * t.few;
  const int end = min(8 * V, t.length - first) * (t.few / V);
#pragma unroll 4
  for (int at = threadIdx.x % 32; at < end; at += 32) {
    const int group = divided(at, t.by_few);
    store16(to + at * V, load16(staged + (group * t.few + (at - group * t.few ^ spread<T>(group))) * 16));
  }
}

// `low`, `high`: what a lane has of 16 of the other side in a step.
template <class T, int CHUNKS, bool COLUMNS, bool K>
__device__ __forceinline__ void multiply(float (&sums)[LANES<T>][4], const uint4 (&raw)[CHUNKS][LANES<T>], int s, uint2 low, uint2 high) {
  constexpr int V = LANES<T>;
  if constexpr (COLUMNS) {
    const uint32_t a[4] = {low.x, high.x, low.y, high.y};
#pragma unroll
    for (int j = 0; j < V; j++) mma(sums[j], a, word<T, CHUNKS, K>(raw, s, j, 0), word<T, CHUNKS, K>(raw, s, j, 1), T());
  } else {
#pragma unroll
    for (int j = 0; j < V / 2; j++) {
      const uint32_t a[4] = {word<T, CHUNKS, K>(raw, s, j * 2, 0), word<T, CHUNKS, K>(raw, s, j * 2 + 1, 0), word<T, CHUNKS, K>(raw, s, j * 2, 1), word<T, CHUNKS, K>(raw, s, j * 2 + 1, 1)};
      mma(sums[j], a, low.x, low.y, T());
      mma(sums[V / 2 + j], a, high.x, high.y, T());
    }
  }
}

// PAIRS: of eight of the other side, whose sums a lane keeps over several rounds of k; 0: any number, and one round.
template <class T, int PAIRS, int CHUNKS, bool COLUMNS, bool K>
__device__ __forceinline__ void product(const T* x, const T* few, T* c, const TallTask& t) {
  constexpr int V = LANES<T>, STEPS = CHUNKS * 2, TILE = 8 * V;
  extern __shared__ __align__(16) char shared[];
  uint2* table = reinterpret_cast<uint2*>(shared);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, quad = lane >> 2;
  // The piece of the tile that a quad has: neighbouring columns of mma.sync lie 64 bytes apart, so that lanes of a store lie together.
  const int piece = (COLUMNS ? (quad >> 1) + 4 * (quad & 1) : quad) * V;
  uint4 raw[CHUNKS][V];
  copy_few(shared + t.table, few, t);
  int tile = warp + blockIdx.x * WARPS;
  if (tile < t.tiles) load<T, CHUNKS, K>(raw, x, t, tile * TILE + piece, 0);
  copy_wait<0>();
  __syncthreads();
  make_table<V>(table, reinterpret_cast<const T*>(shared + t.table), t, PAIRS > 0 ? t.rounds * STEPS : STEPS);
  __syncthreads();
  char* staged = shared + t.table + warp * t.staged;
  for (int next; tile < t.tiles; tile = next) {
    const int first = tile * TILE;
    next = tile + WARPS * gridDim.x;
    const auto fetch = [&] {
      asm volatile("" ::: "memory");
      if (next < t.tiles) load<T, CHUNKS, K>(raw, x, t, next * TILE + piece, 0);
    };
    if constexpr (PAIRS > 0) {
      float sums[PAIRS][V][4] = {};
      const int steps = t.rounds * STEPS;
      for (int round = 0; round < t.rounds; round++) {
        round_all<T, CHUNKS>(raw);
        const uint2* at = table + round * STEPS * 32 + lane;
#pragma unroll
        for (int s = 0; s < STEPS; s++)
#pragma unroll
          for (int p = 0; p < PAIRS; p++) multiply<T, CHUNKS, COLUMNS, K>(sums[p], raw, s, at[(p * 2 * steps + s) * 32], at[((p * 2 + 1) * steps + s) * 32]);
        asm volatile("" ::: "memory");
        if (round + 1 < t.rounds) load<T, CHUNKS, K>(raw, x, t, first + piece, round + 1);
        else fetch();
      }
#pragma unroll
      for (int p = 0; p < PAIRS; p++) {
        if constexpr (COLUMNS) store_columns(c, t, first, p * 16, sums[p]);
        else stage<T>(staged, t, p * 16, sums[p]);
      }
      if constexpr (!COLUMNS) __syncwarp();
    } else {
      round_all<T, CHUNKS>(raw);
      for (int i = 0; i < t.few_tiles; i += 2) {
        // Words that are made of two are made again each time: there are no registers for both kinds.
        if constexpr (!K && sizeof(T) == 2) {
#pragma unroll
          for (int s = 0; s < CHUNKS; s++)
#pragma unroll
            for (int j = 0; j < V; j++) asm volatile("" : "+r"(raw[s][j].x), "+r"(raw[s][j].y), "+r"(raw[s][j].z), "+r"(raw[s][j].w));
        }
        float sums[V][4] = {};
        const uint2* at = table + i * STEPS * 32 + lane;
#pragma unroll
        for (int s = 0; s < STEPS; s++) multiply<T, CHUNKS, COLUMNS, K>(sums, raw, s, at[s * 32], at[(STEPS + s) * 32]);
        if constexpr (COLUMNS) store_columns(c, t, first, i * 8, sums);
        else stage<T>(staged, t, i * 8, sums);
      }
      if constexpr (!COLUMNS) __syncwarp();
      fetch();
    }
    if constexpr (!COLUMNS) {
      store_rows(c, staged, t, first);
      __syncwarp();
    }
  }
}

}  // namespace tall

// The kernels of a type, by pairs of eight of the other side (0: any), 64 bytes of k in a round, and blocks of a multiprocessor.
#define TALL_KERNEL(T, NAME, PAIRS, CHUNKS, BLOCKS, SIDE, IS_COLUMNS, ORDER, IS_K)                                                                                                                  \
  extern "C" __global__ void __launch_bounds__(tall::THREADS, BLOCKS) matmul_tall_##T##_##NAME##_##SIDE##_##ORDER(const T* x, const T* few, T* c, const opscope::cuda::TallTask t) {                 \
    tall::product<T, PAIRS, CHUNKS, IS_COLUMNS, IS_K>(x, few, c, t);                                                                                                                                \
  }
#define TALL_ROWS(T, NAME, PAIRS, CHUNKS, BLOCKS) TALL_KERNEL(T, NAME, PAIRS, CHUNKS, BLOCKS, m, false, k, true) TALL_KERNEL(T, NAME, PAIRS, CHUNKS, BLOCKS, m, false, l, false)
#define TALL_COLUMNS(T, NAME, PAIRS, CHUNKS, BLOCKS) TALL_KERNEL(T, NAME, PAIRS, CHUNKS, BLOCKS, n, true, k, true) TALL_KERNEL(T, NAME, PAIRS, CHUNKS, BLOCKS, n, true, l, false)
