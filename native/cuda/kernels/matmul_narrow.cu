// matmul where m or n is at most 32 and k is short (matmul/narrow.h says when): a thread has a row or the columns of one access of the long matrix, and all
// of the short side. The threads of a block share its rows or columns, and where they are few, k in `parts`, added up in order.
//   matmul_narrow_rows_<t>_<S>_<wide|one>      k is contiguous in the long matrix: whole rows lie together, so a block copies them to shared memory
//   matmul_narrow_columns_<t>_<S>_<wide|one>   k is not
// S: elements of the short side.
// How to build and run: scripts/gpu/kernels.sh.
#include "common/mma.cuh"
#include "common/vec.cuh"
#include "matmul/sizes.h"
#include "matmul/skinny.h"

namespace {

// The short side of this product, [k][S] in f32, zero behind its end.
template <int S, int THREADS, class T>
__device__ __forceinline__ void load_few(float* few, const T* vectors, const SkinnyArguments& a) {
  const int k = static_cast<int>(a.k);
  constexpr int AHEAD = S >= 8 ? 4 : S >= 4 ? 2 : 1;  // loads of a thread on their way
  for (int first = threadIdx.x; first < S * k; first += THREADS * AHEAD) {
    float v[AHEAD];
    int to[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
      // Neighbouring threads read what lies together.
      const int e = first + i * THREADS, s = a.vectors_k == 1 ? e / k : e % S, l = a.vectors_k == 1 ? e - s * k : e / S;
      to[i] = e < S * k ? l * S + s : -1;
      v[i] = to[i] >= 0 && s < a.few ? to_float(vectors[l * a.vectors_k + s * a.vectors_few]) : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < AHEAD; i++)
      if (to[i] >= 0) few[to[i]] = v[i];
  }
}

template <int S>
__device__ __forceinline__ void load_row(float (&y)[S], const float* few) {
  if constexpr (S >= 4) {
#pragma unroll
    for (int s = 0; s < S; s += 4) *reinterpret_cast<float4*>(y + s) = *reinterpret_cast<const float4*>(few + s);
  } else {
#pragma unroll
    for (int s = 0; s < S; s++) y[s] = few[s];
  }
}

// Results of `count` rows or columns of the long side, from `first` on, by threads that call give(put) for each that they have with put(number, s, sum): each thread for EACH that lie together. Where the short
// side is that of columns, results lie together, and go through `staged` so that neighbouring threads write neighbours; what a thread has of several is spaced so that lanes meet different banks. All threads of the block call it.
template <int THREADS, int EACH, class T, class Give>
__device__ __forceinline__ void store(const SkinnyArguments& a, int batch, long long first, int count, T* staged, Give give) {
  T* out = reinterpret_cast<T*>(a.out) + batch * a.out_batch + first * a.out_length;
  if (a.out_few != 1 || a.few == 1) {
    give([&](int number, int s, float sum) { out[static_cast<long long>(number) * a.out_length + static_cast<long long>(s) * a.out_few] = from_float<T>(sum); });
    return;
  }
  const int few = static_cast<int>(a.few), run = EACH * few, pitch = run + (EACH > 1 ? opscope::cuda::narrow_space(run, sizeof(T)) : 0);
  __syncthreads();
  give([&](int number, int s, float sum) { staged[number / EACH * pitch + number % EACH * few + s] = from_float<T>(sum); });
  __syncthreads();
  if constexpr (EACH == 1) {
    for (int e = threadIdx.x; e < count * few; e += THREADS) out[e] = staged[e];
    return;
  }
  int owner = static_cast<int>(threadIdx.x) / run, at = static_cast<int>(threadIdx.x) - owner * run;
  const int owners = THREADS / run, rest = THREADS - owners * run;
  for (int e = threadIdx.x; e < count * few; e += THREADS) {
    out[e] = staged[owner * pitch + at];
    owner += owners, at += rest;
    if (at >= run) at -= run, owner++;
  }
}

// Shared memory: the short side, from byte `tile_at` on the rows, and from `sums_at` on what parts of k other than the first have. WIDE: rows are whole vectors, read
// as such, and spaced by one more, so that lanes meet different banks. Others are copied as they lie, from the vector on that the first one starts in.
template <class T, int S, bool WIDE>
__device__ __forceinline__ void rows(const SkinnyArguments& a, int tile_at, int sums_at) {
  constexpr int THREADS = opscope::cuda::narrow_row_threads, L = WIDE ? LANES<T> : 1;
  extern __shared__ __align__(16) float shared[];
  const int k = static_cast<int>(a.k), across = THREADS / a.parts, batch = static_cast<int>(blockIdx.x / a.tiles);
  const long long first = (blockIdx.x - batch * a.tiles) * across;
  const int count = static_cast<int>(min(static_cast<long long>(across), a.length - first)), size = k * static_cast<int>(sizeof(T));
  const unsigned long long from = a.matrix + (batch * a.matrix_batch + first * k) * sizeof(T);
  const int shift = WIDE ? 0 : static_cast<int>(from & 15), bytes = shift + count * size, pitch = WIDE ? k + L : k;
  char* tile = reinterpret_cast<char*>(shared) + tile_at;
  for (int at = threadIdx.x * 16; at < bytes; at += THREADS * 16)
    copy_async_16(shared_address(tile + at + (WIDE ? at / size * 16 : 0)), reinterpret_cast<const void*>(from - shift + at), min(16, bytes - at));
  copy_commit();
  load_few<S, THREADS>(shared, reinterpret_cast<const T*>(a.vectors) + batch * a.vectors_batch, a);
  copy_wait<0>();
  __syncthreads();
  const int part = threadIdx.x / across, mine = threadIdx.x % across, each = (k / L + a.parts - 1) / a.parts * L, begin = min(k, part * each), end = min(k, begin + each);
  const T* row = reinterpret_cast<const T*>(tile + shift) + min(mine, count - 1) * pitch;
  float sum[S] = {};
#pragma unroll(WIDE ? 1 : 4)
  for (int l = begin; l < end; l += L) {
    float x[L];
    if constexpr (WIDE) unpack<T>(load16(row + l), x);
    else x[0] = to_float(row[l]);
#pragma unroll
    for (int j = 0; j < L; j++) {
      float y[S];
      load_row(y, shared + (l + j) * S);
#pragma unroll
      for (int s = 0; s < S; s++) sum[s] = fmaf(x[j], y[s], sum[s]);
    }
  }
  if (a.parts > 1) {
    float* sums = shared + sums_at / 4;
#pragma unroll
    for (int s = 0; s < S; s++)
      if (part > 0) sums[((part - 1) * S + s) * across + mine] = sum[s];
    __syncthreads();
    for (int p = 1; p < a.parts && part == 0; p++)
#pragma unroll
      for (int s = 0; s < S; s++) sum[s] += sums[((p - 1) * S + s) * across + mine];
  }
  store<THREADS, 1>(a, batch, first, count, reinterpret_cast<T*>(tile), [&](auto put) {
    if (part > 0 || mine >= count) return;
#pragma unroll
    for (int s = 0; s < S; s++)
      if (s < a.few) put(mine, s, sum[s]);
  });
}

// Shared memory: the short side, and from byte `sums_at` on what parts of k other than the first have.
template <class T, int S, bool WIDE>
__device__ __forceinline__ void columns(const SkinnyArguments& a, int sums_at) {
  constexpr int THREADS = opscope::cuda::narrow_column_threads, L = WIDE ? LANES<T> : 1, U = WIDE ? (S * L >= 128 ? 2 : S * L >= 64 ? 4 : 8) : S >= 32 ? 8 : 16;
  extern __shared__ __align__(16) float shared[];
  const int k = static_cast<int>(a.k), across = THREADS / a.parts, batch = static_cast<int>(blockIdx.x / a.tiles);
  const int part = threadIdx.x / across, mine = threadIdx.x % across, each = (k + a.parts - 1) / a.parts, begin = min(k, part * each), end = min(k, begin + each);
  const long long column = ((blockIdx.x - batch * a.tiles) * across + mine) * L;
  const T* matrix = reinterpret_cast<const T*>(a.matrix) + batch * a.matrix_batch + min(column, a.length - L);
  uint4 wide[WIDE ? U : 1];
  T one[WIDE ? 1 : U];
  const auto load = [&](int l0) {
#pragma unroll
    for (int u = 0; u < U; u++) {
      if (l0 + u >= end) break;
      if constexpr (WIDE) wide[u] = load16_once(matrix + (l0 + u) * a.length);
      else one[u] = matrix[(l0 + u) * a.length];
    }
  };
  // The matrix first: its way is the longest.
  load(begin);
  load_few<S, THREADS>(shared, reinterpret_cast<const T*>(a.vectors) + batch * a.vectors_batch, a);
  __syncthreads();
  float sum[S][L] = {};
  for (int l0 = begin; l0 < end; l0 += U) {
    if (l0 > begin) load(l0);
#pragma unroll
    for (int u = 0; u < U; u++) {
      if (l0 + u >= end) break;
      float x[L], y[S];
      if constexpr (WIDE) unpack<T>(wide[u], x);
      else x[0] = to_float(one[u]);
      load_row(y, shared + (l0 + u) * S);
#pragma unroll
      for (int s = 0; s < S; s++)
#pragma unroll
        for (int j = 0; j < L; j++) sum[s][j] = fmaf(x[j], y[s], sum[s][j]);
    }
  }
  if (a.parts > 1) {
    float* sums = shared + sums_at / 4;
    const auto of = [&](int p, int s, int j) { return (((p - 1) * S + s) * L + j) * across + mine; };
#pragma unroll
    for (int s = 0; s < S; s++)
#pragma unroll
      for (int j = 0; j < L; j++)
        if (part > 0) sums[of(part, s, j)] = sum[s][j];
    __syncthreads();
    for (int p = 1; p < a.parts && part == 0; p++)
#pragma unroll
      for (int s = 0; s < S; s++)
#pragma unroll
        for (int j = 0; j < L; j++) sum[s][j] += sums[of(p, s, j)];
  }
  if constexpr (WIDE) {
    if (a.out_length == 1) {  // rows of whole vectors
      if (part > 0 || column >= a.length) return;
      T* out = reinterpret_cast<T*>(a.out) + batch * a.out_batch + column;
#pragma unroll
      for (int s = 0; s < S; s++)
        if (s < a.few) store16(out + static_cast<long long>(s) * a.out_few, pack<T>(sum[s]));
      return;
    }
  }
  const long long first = (blockIdx.x - batch * a.tiles) * across * L;
  store<THREADS, L>(a, batch, first, static_cast<int>(min(static_cast<long long>(across) * L, a.length - first)), reinterpret_cast<T*>(shared), [&](auto put) {
    if (part > 0 || column >= a.length) return;
#pragma unroll
    for (int s = 0; s < S; s++)
      if (s < a.few)
#pragma unroll
        for (int j = 0; j < L; j++) put(mine * L + j, s, sum[s][j]);
  });
}

}  // namespace

#define ROWS(T, S, NAME, WIDE)                                                                                                                                         \
  extern "C" __global__ void __launch_bounds__(opscope::cuda::narrow_row_threads) matmul_narrow_rows_##T##_##S##_##NAME(const SkinnyArguments a, int tile_at, int sums_at) { \
    rows<T, S, WIDE>(a, tile_at, sums_at);                                                                                                                             \
  }
#define COLUMNS(T, S, NAME, WIDE)                                                                                                                         \
  extern "C" __global__ void __launch_bounds__(opscope::cuda::narrow_column_threads) matmul_narrow_columns_##T##_##S##_##NAME(const SkinnyArguments a, int sums_at) { \
    columns<T, S, WIDE>(a, sums_at);                                                                                                                      \
  }
#define NARROW(T, S) ROWS(T, S, wide, true) ROWS(T, S, one, false) COLUMNS(T, S, wide, true) COLUMNS(T, S, one, false)
#define NARROW_TO_4(T) NARROW(T, 1) NARROW(T, 2) NARROW(T, 4)
NARROW_TO_4(f32)
NARROW(f32, 8)
NARROW(f32, 16)
ROWS(f32, 32, wide, true)
ROWS(f32, 32, one, false)
COLUMNS(f32, 32, one, false)
#define NARROW_ONE(T, S) ROWS(T, S, wide, true) ROWS(T, S, one, false) COLUMNS(T, S, one, false)
NARROW_TO_4(f16)
NARROW_ONE(f16, 8)
NARROW_ONE(f16, 16)
NARROW_ONE(f16, 32)
NARROW_TO_4(bf16)
NARROW_ONE(bf16, 8)
NARROW_ONE(bf16, 16)
NARROW_ONE(bf16, 32)
