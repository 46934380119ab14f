// matmul where m or n is at most 16: the long matrix streams from memory once, each element meets all of the short side. k may be split
// over blocks; the last one of a tile adds the shares up in order. matmul/shape.h says when.
//   matmul_rows_<t>_<S>_<wide|one>      k is contiguous in the long matrix: a warp has a few of its rows
//   matmul_columns_<t>_<S>_<wide|one>   k is not: a thread has a few of its columns
// S: elements of the short side.
#include "common/reduce.cuh"
#include "common/start_early.cuh"
#include "common/vec.cuh"
#include "matmul/skinny.h"

namespace {

// The block's sums, results [TILE][S] in shared memory, to the output, over the shares of k where there are several.
template <int TILE, int S, class T>
__device__ __forceinline__ void put(const float (&sums)[TILE][S], const SkinnyArguments& a, long long tile, int batch) {
  const int splits = gridDim.y;
  const long long cell = blockIdx.x;
  float* shares = reinterpret_cast<float*>(a.shares) + cell * splits * (TILE * S);
  T* out = reinterpret_cast<T*>(a.out) + batch * a.out_batch;
  const auto store = [&](int e, float value) {
    const long long j = tile * TILE + e / S;
    if (j < a.length && e % S < a.few) out[j * a.out_length + e % S * a.out_few] = from_float<T>(value);
  };
  if (splits == 1) {
    for (int e = threadIdx.x; e < TILE * S; e += 256) store(e, sums[e / S][e % S]);
    return;
  }
  for (int e = threadIdx.x; e < TILE * S; e += 256) shares[blockIdx.y * (TILE * S) + e] = sums[e / S][e % S];
  if (!last_to_arrive(reinterpret_cast<unsigned*>(a.counters) + cell, splits)) return;
  for (int e = threadIdx.x; e < TILE * S; e += 256) {
    float total = 0;
#pragma unroll 8
    for (int s = 0; s < splits; s++) total += __ldcg(shares + s * (TILE * S) + e);
    store(e, total);
  }
}

// 256 threads. A warp has C rows of the matrix [length, k]; the short side lies in shared memory, KC of k at a time.
template <class T, int S, bool WIDE>
__device__ __forceinline__ void rows(const SkinnyArguments& a) {
  // Eight loads of a thread are on their way at a time.
  constexpr int C = S >= 4 ? 4 : 2, L = WIDE ? LANES<T> : 1, KC = WIDE ? 32 * L * (8 / C) : 256, TILE = 8 * C;
  __shared__ __align__(16) T few[S][KC];
  __shared__ float sums[TILE][S];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, batch = static_cast<int>(blockIdx.x / a.tiles);
  const long long tile = blockIdx.x % a.tiles, first = tile * TILE + warp * C;
  const T* matrix = reinterpret_cast<const T*>(a.matrix) + batch * a.matrix_batch;
  const T* vectors = reinterpret_cast<const T*>(a.vectors) + batch * a.vectors_batch;
  const long long from = blockIdx.y * a.share, to = min(a.k, from + a.share);
  float sum[C][S] = {};
  const T* row[C];
#pragma unroll
  for (int c = 0; c < C; c++) row[c] = matrix + min(first + c, a.length - 1) * a.k;
  for (long long base = from; base < to; base += KC) {
    constexpr int U = KC / (32 * L);
    // The matrix first: its way is the longest.
    uint4 wide[WIDE ? U : 1][C];
    T one[WIDE ? 1 : U][C];
#pragma unroll
    for (int u = 0; u < U; u++) {
      const long long k = base + (u * 32 + lane) * L;
#pragma unroll
      for (int c = 0; c < C; c++) {
        if constexpr (WIDE) wide[u][c] = k < to ? load16_once(row[c] + k) : uint4();
        else one[u][c] = k < to ? row[c][k] : from_float<T>(0.0f);
      }
    }
    __syncthreads();
    for (int e = threadIdx.x; e < S * KC; e += 256) {
      const int s = e / KC, k = e % KC;
      few[s][k] = s < a.few && base + k < to ? vectors[(base + k) * a.vectors_k + s * a.vectors_few] : from_float<T>(0.0f);
    }
    __syncthreads();
#pragma unroll
    for (int u = 0; u < U; u++) {
      const int k = (u * 32 + lane) * L;
      float x[C][L];
#pragma unroll
      for (int c = 0; c < C; c++) {
        if constexpr (WIDE) unpack<T>(wide[u][c], x[c]);
        else x[c][0] = to_float(one[u][c]);
      }
#pragma unroll
      for (int s = 0; s < S; s++) {
        float y[L];
        if constexpr (WIDE) unpack<T>(*reinterpret_cast<const uint4*>(&few[s][k]), y);
        else y[0] = to_float(few[s][k]);
#pragma unroll
        for (int c = 0; c < C; c++)
#pragma unroll
          for (int j = 0; j < L; j++) sum[c][s] = fmaf(x[c][j], y[j], sum[c][s]);
      }
    }
  }
#pragma unroll
  for (int c = 0; c < C; c++)
#pragma unroll
    for (int s = 0; s < S; s++) {
      const float total = warp_reduce(sum[c][s], AddOp());
      if (lane == 0) sums[warp * C + c][s] = total;
    }
  __syncthreads();
  put<TILE, S, T>(sums, a, tile, batch);
}

// 256 threads = 32 times L columns of the matrix [k, length] by eight rows.
template <class T, int S, bool WIDE>
__device__ __forceinline__ void columns(const SkinnyArguments& a) {
  constexpr int L = WIDE ? LANES<T> : 1, KC = 128, TILE = 32 * L, U = S * L >= 64 ? 2 : 4;
  __shared__ __align__(16) float few[KC][S];
  __shared__ float sums[TILE][S];
  __shared__ float parts[8][TILE];
  const int group = threadIdx.x / 32, lane = threadIdx.x % 32, batch = static_cast<int>(blockIdx.x / a.tiles);
  const long long tile = blockIdx.x % a.tiles, column = tile * TILE + lane * L;
  const T* matrix = reinterpret_cast<const T*>(a.matrix) + batch * a.matrix_batch + min(column, a.length - L);
  const T* vectors = reinterpret_cast<const T*>(a.vectors) + batch * a.vectors_batch;
  const long long from = blockIdx.y * a.share, to = min(a.k, from + a.share);
  float sum[S][L] = {};
  for (long long base = from; base < to; base += KC) {
    const int count = static_cast<int>(min(static_cast<long long>(KC), to - base));
    __syncthreads();
    for (int e = threadIdx.x; e < S * KC; e += 256) {
      // Neighbouring threads read what lies together.
      const int s = a.vectors_k == 1 ? e / KC : e % S, k = a.vectors_k == 1 ? e % KC : e / S;
      few[k][s] = s < a.few && k < count ? to_float(vectors[(base + k) * a.vectors_k + s * a.vectors_few]) : 0.0f;
    }
    __syncthreads();
    for (int k0 = group; k0 < count; k0 += 8 * U) {
      uint4 wide[WIDE ? U : 1];
      T one[WIDE ? 1 : U];
#pragma unroll
      for (int u = 0; u < U; u++) {
        const int k = min(k0 + 8 * u, count - 1);  // past the end: an element that meets a zero
        if constexpr (WIDE) wide[u] = load16_once(matrix + (base + k) * a.length);
        else one[u] = matrix[(base + k) * a.length];
      }
#pragma unroll
      for (int u = 0; u < U; u++) {
        const int k = k0 + 8 * u;
        float x[L];
        if constexpr (WIDE) unpack<T>(wide[u], x);
        else x[0] = to_float(one[u]);
        if (k < count) {
#pragma unroll
          for (int s = 0; s < S; s++)
#pragma unroll
            for (int j = 0; j < L; j++) sum[s][j] = fmaf(x[j], few[k][s], sum[s][j]);
        }
      }
    }
  }
#pragma unroll
  for (int s = 0; s < S; s++) {
    __syncthreads();
#pragma unroll
    for (int j = 0; j < L; j++) parts[group][j * 32 + lane] = sum[s][j];
    __syncthreads();
    for (int c = threadIdx.x; c < TILE; c += 256) {
      float total = 0;
#pragma unroll
      for (int g = 0; g < 8; g++) total += parts[g][c % L * 32 + c / L];
      sums[c][s] = total;
    }
  }
  __syncthreads();
  put<TILE, S, T>(sums, a, tile, batch);
}

}  // namespace

#define SKINNY(T, S)                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(256) matmul_rows_##T##_##S##_wide(const SkinnyArguments a) { start_early(); rows<T, S, true>(a); }       \
  extern "C" __global__ void __launch_bounds__(256) matmul_rows_##T##_##S##_one(const SkinnyArguments a) { start_early(); rows<T, S, false>(a); }       \
  extern "C" __global__ void __launch_bounds__(256) matmul_columns_##T##_##S##_wide(const SkinnyArguments a) { start_early(); columns<T, S, true>(a); } \
  extern "C" __global__ void __launch_bounds__(256) matmul_columns_##T##_##S##_one(const SkinnyArguments a) { start_early(); columns<T, S, false>(a); }
#define SKINNY_TO_4(T) SKINNY(T, 1) SKINNY(T, 2) SKINNY(T, 4)
SKINNY_TO_4(f32)
SKINNY(f32, 8)
SKINNY(f32, 16)
SKINNY_TO_4(f16)
SKINNY_TO_4(bf16)
