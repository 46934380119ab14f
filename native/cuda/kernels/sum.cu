// sum: out[outer, inner] = sum over r of x[outer, reduce, inner], in f32. How to build and run: scripts/gpu/kernels.sh.
//   sum_<t>_warp   inner = 1, short rows: one warp per row
//   sum_<t>_row    inner = 1: one or several blocks per row; the last block to finish a row adds the partial sums
//   sum_<t>_col_<w>  inner > 1: a block owns 32 columns of w elements and a share of the rows; last block adds the shares
// Partial sums are added in a fixed order, so results repeat bit for bit.
#include "common/reduce.cuh"
#include "common/vec.cuh"

namespace {

// Sum of elements t, t + threads, ... of the contiguous range [p, p + n), in 16-byte vectors between ragged ends.
template <class T>
__device__ __forceinline__ float sum_range(const T* p, long long n, int t, int threads) {
  constexpr int L = LANES<T>, U = 4;
  float total = 0;
  long long head = (16 - (reinterpret_cast<uintptr_t>(p) & 15)) % 16 / sizeof(T);
  if (head > n) head = n;
  if (t < head) total += to_float(p[t]);
  p += head;
  n -= head;
  const uint4* v = reinterpret_cast<const uint4*>(p);
  const long long vectors = n / L;
  float part[U] = {};
  long long i = t;
  for (; i + (U - 1) * threads < vectors; i += U * threads) {
    uint4 x[U];
#pragma unroll
    for (int u = 0; u < U; u++) x[u] = load16_once(v + i + u * threads);
#pragma unroll
    for (int u = 0; u < U; u++) {
      float f[L];
      unpack<T>(x[u], f);
#pragma unroll
      for (int j = 0; j < L; j += 2) part[u] += f[j] + f[j + 1];
    }
  }
  for (; i < vectors; i += threads) {
    float f[L];
    unpack<T>(load16_once(v + i), f);
#pragma unroll
    for (int j = 0; j < L; j += 2) part[0] += f[j] + f[j + 1];
  }
  const long long rest = n - vectors * L;
  if (t < rest) total += to_float(p[vectors * L + t]);
  return total + ((part[0] + part[1]) + (part[2] + part[3]));
}

template <class T>
__device__ __forceinline__ void sum_warp(const T* x, T* out, long long rows, long long cols) {
  const long long row = static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  const float total = warp_reduce(sum_range(x + row * cols, cols, threadIdx.x % 32, 32), AddOp());
  if (threadIdx.x % 32 == 0) out[row] = from_float<T>(total);
}

// grid: (splits, rows). `chunk` elements per split, a multiple of the vector width.
template <class T>
__device__ __forceinline__ void sum_row(const T* x, T* out, long long cols, long long chunk, float* partial, unsigned* counters) {
  __shared__ float scratch[32], second[32];
  const long long row = blockIdx.y;
  const unsigned splits = gridDim.x;
  const long long from = blockIdx.x * chunk;
  const long long count = min(chunk, cols - from);
  float total = block_reduce(sum_range(x + row * cols + from, count, threadIdx.x, blockDim.x), 0.0f, scratch, AddOp());
  if (splits == 1) {
    if (threadIdx.x == 0) out[row] = from_float<T>(total);
    return;
  }
  if (threadIdx.x == 0) partial[row * splits + blockIdx.x] = total;
  if (!last_to_arrive(counters + row, splits)) return;
  total = 0;
  for (unsigned s = threadIdx.x; s < splits; s += blockDim.x) total += __ldcg(partial + row * splits + s);
  total = block_reduce(total, 0.0f, second, AddOp());
  if (threadIdx.x == 0) out[row] = from_float<T>(total);
}

// grid: (column tiles of 32 * W, splits, outer); 256 threads = 32 columns groups x 8 rows. W elements per access.
template <class T, int W>
__device__ __forceinline__ void sum_col(const T* x, T* out, long long reduce, long long inner, long long rows_per_split, float* partial, unsigned* counters) {
  __shared__ float shares[8][32 * W + 1];
  const int lane = threadIdx.x % 32, group = threadIdx.x / 32;
  const long long column = (static_cast<long long>(blockIdx.x) * 32 + lane) * W;
  const unsigned splits = gridDim.y;
  const long long from = blockIdx.y * rows_per_split, to = min(reduce, from + rows_per_split);
  float sum[W] = {};
  if (column < inner) {
    const T* p = x + (blockIdx.z * reduce) * inner + column;
    constexpr int U = 4;
    long long r = from + group;
    for (; r + 8 * (U - 1) < to; r += 8 * U) {
      if constexpr (W == LANES<T>) {
        uint4 v[U];
#pragma unroll
        for (int u = 0; u < U; u++) v[u] = load16_once(p + (r + 8 * u) * inner);
#pragma unroll
        for (int u = 0; u < U; u++) {
          float f[LANES<T>];
          unpack<T>(v[u], f);
#pragma unroll
          for (int j = 0; j < W; j++) sum[j] += f[j];
        }
      } else {
        T v[U];
#pragma unroll
        for (int u = 0; u < U; u++) v[u] = p[(r + 8 * u) * inner];
#pragma unroll
        for (int u = 0; u < U; u++) sum[0] += to_float(v[u]);
      }
    }
    for (; r < to; r += 8) {
      if constexpr (W == LANES<T>) {
        float f[LANES<T>];
        unpack<T>(load16_once(p + r * inner), f);
#pragma unroll
        for (int j = 0; j < W; j++) sum[j] += f[j];
      } else {
        sum[0] += to_float(p[r * inner]);
      }
    }
  }
#pragma unroll
  for (int j = 0; j < W; j++) shares[group][j * 32 + lane] = sum[j];
  __syncthreads();
  // One thread per column of the tile adds the eight shares.
  const int tile = 32 * W;
  const long long tile_base = static_cast<long long>(blockIdx.x) * tile;
  const long long outer_base = blockIdx.z * inner;
  const unsigned cell = blockIdx.z * gridDim.x + blockIdx.x;
  for (int c = threadIdx.x; c < tile; c += 256) {
    float total = 0;
#pragma unroll
    for (int g = 0; g < 8; g++) total += shares[g][c % W * 32 + c / W];
    if (splits > 1)
      partial[(static_cast<long long>(cell) * splits + blockIdx.y) * tile + c] = total;
    else if (tile_base + c < inner)
      out[outer_base + tile_base + c] = from_float<T>(total);
  }
  if (splits == 1 || !last_to_arrive(counters + cell, splits)) return;
  for (int c = threadIdx.x; c < tile; c += 256) {
    float total = 0;
    for (unsigned s = 0; s < splits; s++) total += __ldcg(partial + (static_cast<long long>(cell) * splits + s) * tile + c);
    if (tile_base + c < inner) out[outer_base + tile_base + c] = from_float<T>(total);
  }
}

}  // namespace

#define SUM(T)                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(256) sum_##T##_warp(const T* x, T* out, long long rows, long long cols) {                \
    sum_warp<T>(x, out, rows, cols);                                                                                                    \
  }                                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(1024) sum_##T##_row(const T* x, T* out, long long cols, long long chunk, float* partial, \
                                                                   unsigned* counters) {                                                \
    sum_row<T>(x, out, cols, chunk, partial, counters);                                                                                 \
  }                                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(256) sum_##T##_col_wide(const T* x, T* out, long long reduce, long long inner,           \
                                                                       long long rows_per_split, float* partial, unsigned* counters) {  \
    sum_col<T, LANES<T>>(x, out, reduce, inner, rows_per_split, partial, counters);                                                     \
  }                                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(256) sum_##T##_col_one(const T* x, T* out, long long reduce, long long inner,            \
                                                                      long long rows_per_split, float* partial, unsigned* counters) {   \
    sum_col<T, 1>(x, out, reduce, inner, rows_per_split, partial, counters);                                                            \
  }
SUM(f32)
SUM(f16)
SUM(bf16)
