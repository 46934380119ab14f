// matmul of tf32, f16 and bf16 where m or n is at most 4: the long matrix streams from memory once, in pieces of 16 bytes whatever the alignment of its rows (matmul/vectors.h says when). Pieces of a thread start equally far behind
// 16 bytes, so nothing is shifted: sums, or the short side in shared memory, lie that much further on. All of the k of a tile is read by one block, or by a cluster, whose blocks send each other their sums. tf32 takes f32.
//   matmul_vectors_columns_<t>_<S>_<lanes>   k is not contiguous in the matrix: so many lanes have a row of a tile, the others of the block other rows
//   matmul_vectors_rows_<t>_<S>_<C>          k is contiguous: a warp has C of its rows
// S: elements of the short side. How to build and run: scripts/gpu/kernels.sh.
#include "common/cluster_send.cuh"
#include "common/reduce.cuh"
#include "common/start_early.cuh"
#include "common/vec.cuh"
#include "matmul/vectors_task.h"

namespace {

constexpr int THREADS = vectors_threads;

// Where a block is: which share of k of which tile, and what it has of k.
struct Place {
  int rank, tile, batch, from, count;
  __device__ __forceinline__ explicit Place(const VectorsTask& t)
      : rank(t.blocks > 1 ? static_cast<int>(cluster_rank()) : 0), tile(static_cast<int>(blockIdx.x) / t.blocks), batch(static_cast<int>(blockIdx.y)), from(rank * t.share), count(min(t.k, from + t.share) - from) {}
};

template <class T>
__device__ __forceinline__ const T* vectors_of(const VectorsTask& t, const Place& at) { return reinterpret_cast<const T*>(t.vectors) + at.batch * t.vectors_batch + at.from * t.vectors_k; }

template <class T>
__device__ __forceinline__ void store(const VectorsTask& t, const Place& at, int row, int s, float sum) {
  if (row < t.length && s < t.few) reinterpret_cast<T*>(t.out)[at.batch * t.out_batch + row * t.out_length + s * t.out_few] = from_float<T>(sum);
}

// Elements that `from` lies behind 16 bytes.
template <class T>
__device__ __forceinline__ int behind_16(const T* from) { return static_cast<int>(reinterpret_cast<unsigned long long>(from) / sizeof(T)) & (LANES<T> - 1); }

// The matrix is [k, length]; U rows of a thread are on their way at a time.
template <class T, int S, int TX>
__device__ __forceinline__ void columns(const VectorsTask& t) {
  constexpr int L = LANES<T>, U = vectors_column_pieces<S>, TY = THREADS / TX, PITCH = L * (TX + 1), ALL = TX * L, GROUPS = THREADS / ALL;
  static_assert(TY % L == 0 && GROUPS > 0);
  extern __shared__ __align__(16) float shared[];  // the short side [chunk][S]; sums [TY][L][TX + 1] of one vector; [GROUPS][ALL]; what other blocks sent [S][blocks][each]
  float *const few = shared, *const parts = few + ((t.chunk * S + 3) & ~3), *const groups = parts + TY * PITCH, *const received = groups + GROUPS * ALL;
  start_early();
  if (t.blocks > 1) cluster_arrive();
  const Place place(t);
  const int tx = threadIdx.x % TX, ty = threadIdx.x / TX, first = place.tile * t.width, width = min(t.width, t.length - first);
  const T* const row = reinterpret_cast<const T*>(t.matrix) + place.batch * t.matrix_batch + static_cast<long long>(place.from + ty) * t.length + first;
  const int behind = behind_16(row), at = tx * L - behind;
  const T* piece = row + at;
  const T* const vectors = vectors_of<T>(t, place);
  const long long step = static_cast<long long>(TY) * t.length;
  const bool there = at < width;
  float sum[S][L] = {};
  for (int c0 = 0; c0 < place.count; c0 += t.chunk) {
    const int end = min(place.count, c0 + t.chunk);
    for (int base = c0 + ty; base < end + ty; base += U * TY) {
      uint4 w[U];
#pragma unroll
      for (int u = 0; u < U; u++) w[u] = there && base + u * TY < end ? load16_once(piece + u * step) : make_uint4(0, 0, 0, 0);
      piece += U * step;
      if (base == c0 + ty) {
        // Behind the first loads of the matrix, whose way is the longest.
        if (c0 > 0) __syncthreads();
        const int ks = end - c0;
        for (int e = threadIdx.x; e < ks * S; e += THREADS) {
          // Neighbouring threads read what lies together.
          const int s = S == 1 ? 0 : t.vectors_k == 1 ? e / ks : e % S, k = S == 1 ? e : t.vectors_k == 1 ? e % ks : e / S;
          few[k * S + s] = s < t.few ? to_float(vectors[(c0 + k) * t.vectors_k + s * t.vectors_few]) : 0.0f;
        }
        __syncthreads();
      }
#pragma unroll
      for (int u = 0; u < U; u++) {
        if (base + u * TY >= end) break;
        float x[L];
        unpack<T>(w[u], x);
        const float* y = few + (base - c0 + u * TY) * S;
#pragma unroll
        for (int s = 0; s < S; s++)
#pragma unroll
          for (int j = 0; j < L; j++) sum[s][j] = fmaf(x[j], y[s], sum[s][j]);
      }
    }
  }
  const int each = (t.width + t.blocks - 1) / t.blocks;
#pragma unroll
  for (int s = 0; s < S; s++) {
    if (s > 0) __syncthreads();
    // Column e of the tile lies at e + L, so that lanes meet different banks.
#pragma unroll
    for (int j = 0; j < L; j++) {
      const int e = at + j + L;
      parts[ty * PITCH + e % L * (TX + 1) + e / L] = sum[s][j];
    }
    __syncthreads();
    const int e = threadIdx.x % ALL, group = threadIdx.x / ALL;
    float total = 0;
    if (e < width) {
#pragma unroll 8
      for (int y = group; y < TY; y += GROUPS) total += parts[y * PITCH + e % L * (TX + 1) + e / L + 1];
    }
    if constexpr (GROUPS > 1) {
      groups[threadIdx.x] = total;
      __syncthreads();
      total = 0;
#pragma unroll
      for (int g = 0; g < GROUPS; g++) total += groups[g * ALL + e];
    }
    if (t.blocks > 1 && s == 0) cluster_wait();
    if (group > 0 || e >= width) continue;
    if (t.blocks > 1) store_to_block(received[(s * t.blocks + place.rank) * each + e % each], e / each, total);
    else store<T>(t, place, first + e, s, total);
  }
  if (t.blocks == 1) return;
  cluster_arrive();
  cluster_wait();
  for (int i = threadIdx.x; i < each * S; i += THREADS) {
    const int s = i / each, e = place.rank * each + i % each;
    float total = 0;
    for (int r = 0; r < t.blocks; r++) total += received[(s * t.blocks + r) * each + i % each];
    if (e < width) store<T>(t, place, first + e, s, total);
  }
}

// The matrix is [length, k]: a warp has C rows that lie as many apart as the block has warps, U pieces of each by a lane at a time.
template <class T, int S, int C>
__device__ __forceinline__ void rows(const VectorsTask& t) {
  constexpr int L = LANES<T>, WARPS = THREADS / 32, U = vectors_row_pieces<S, C>;
  static_assert(WARPS % L == 0);
  extern __shared__ __align__(16) float shared[];  // the short side, of which lanes read every L-th element [S][L][pitch], zeros around it; what other blocks sent [blocks][WARPS][each]
  const int pitch = (t.chunk / L + 3) | 1;
  float *const few = shared, *const received = shared + S * L * pitch;
  start_early();
  if (t.blocks > 1) cluster_arrive();
  const Place place(t);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = place.tile * WARPS * C + warp;
  const T* row = reinterpret_cast<const T*>(t.matrix) + place.batch * t.matrix_batch + static_cast<long long>(first) * t.k + place.from;
  const int behind = behind_16(row), pieces = (place.count + behind + L - 1) / L, most = (t.share + 2 * L - 2) / L;  // of this row; of any
  row -= behind;
  const T* const vectors = vectors_of<T>(t, place);
  const long long step = static_cast<long long>(WARPS) * t.k;
  float sum[C][S] = {};
  int p0 = 0;  // the first piece whose part of the short side is in shared memory
  for (int base = 0; base < most; base += 32 * U) {
    uint4 w[C][U];
#pragma unroll
    for (int c = 0; c < C; c++)
#pragma unroll
      for (int u = 0; u < U; u++) {
        const int p = base + u * 32 + lane;
        w[c][u] = p < pieces && first + c * WARPS < t.length ? load16_once(row + c * step + p * L) : make_uint4(0, 0, 0, 0);
      }
    if (base == 0 || base - p0 == t.chunk / L) {
      if (base > 0) __syncthreads();
      p0 = base;
      for (int e = threadIdx.x; e < S * pitch * L; e += THREADS) {
        const int s = S == 1 ? 0 : e / (pitch * L), i = S == 1 ? e : e % (pitch * L), k = p0 * L + i - L;
        few[(s * L + i % L) * pitch + i / L] = s < t.few && k >= 0 && k < place.count ? to_float(vectors[k * t.vectors_k + s * t.vectors_few]) : 0.0f;
      }
      __syncthreads();
    }
#pragma unroll
    for (int u = 0; u < U; u++) {
      if (base + u * 32 >= pieces) break;
      const int p = base + u * 32 + lane, q = min(p, pieces - 1) - p0;
      float x[C][L];
#pragma unroll
      for (int c = 0; c < C; c++) unpack<T>(w[c][u], x[c]);
      // Elements of other rows, which may be anything.
      if (p == 0 || p >= pieces - 1) {
#pragma unroll
        for (int j = 0; j < L; j++) {
          const int k = p * L + j - behind;
          if (k >= 0 && k < place.count) continue;
#pragma unroll
          for (int c = 0; c < C; c++) x[c][j] = 0;
        }
      }
#pragma unroll
      for (int j = 0; j < L; j++) {
        const float* y = few + ((j - behind) & (L - 1)) * pitch + q + (j >= behind ? 1 : 0);
#pragma unroll
        for (int s = 0; s < S; s++)
#pragma unroll
          for (int c = 0; c < C; c++) sum[c][s] = fmaf(x[c][j], y[s * L * pitch], sum[c][s]);
      }
    }
  }
  float own = 0;  // lane i: of row i / S and vector i % S
#pragma unroll
  for (int c = 0; c < C; c++)
#pragma unroll
    for (int s = 0; s < S; s++) {
      const float total = warp_reduce(sum[c][s], AddOp());
      if (lane == c * S + s) own = total;
    }
  if (t.blocks == 1) {
    if (lane < C * S) store<T>(t, place, first + lane / S * WARPS, lane % S, own);
    return;
  }
  const int each = (C * S + t.blocks - 1) / t.blocks;
  cluster_wait();
  if (lane < C * S) store_to_block(received[(place.rank * WARPS + warp) * each + lane % each], lane / each, own);
  cluster_arrive();
  cluster_wait();
  const int i = place.rank * each + lane;
  if (lane >= each || i >= C * S) return;
  float total = 0;
  for (int r = 0; r < t.blocks; r++) total += received[(r * WARPS + warp) * each + lane];
  store<T>(t, place, first + i / S * WARPS, i % S, total);
}

}  // namespace

#define KERNEL(KIND, T, S, LAST) \
  extern "C" __global__ void __launch_bounds__(THREADS) matmul_vectors_##KIND##_##T##_##S##_##LAST(const __grid_constant__ VectorsTask t) { KIND<T, S, LAST>(t); }
#define COLUMNS(T, S) KERNEL(columns, T, S, 8) KERNEL(columns, T, S, 16) KERNEL(columns, T, S, 32)
#define KERNELS(T) COLUMNS(T, 1) COLUMNS(T, 2) KERNEL(rows, T, 1, 1) KERNEL(rows, T, 1, 2) KERNEL(rows, T, 1, 4)
KERNELS(f32)
KERNELS(f16)
KERNELS(bf16)
KERNEL(rows, f16, 4, 4)
KERNEL(rows, bf16, 4, 4)
