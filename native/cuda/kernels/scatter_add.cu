// out = x, and out[index[i]] += src[i] in the order of i, in f32, or in integers (scatter_fixed.cu) or double precision (scatter_exact.cu) in any order: results repeat bit for bit. An index outside the table is passed over.
//   scatter_scan_<t>    few rows: a block for 32 columns of a row and a share of the indices looks for those of its row
//   scatter_join_<t>    adds the shares up
//   scatter_table_<t>   rows of up to 32 columns that fit shared memory several times, and many indices: a warp adds a share of the indices up there
//   scatter_columns_<t>  longer rows that fit shared memory several times, and many indices: a thread adds its columns of a share of them up there
//   scatter_chunks_<t>  others: indices are sorted with their places (order.cu); a thread for a column of a chunk of them
//   scatter_ends_<t>    joins the sums of rows that go on in further chunks
#include "scatter_add.h"
#include "common/arithmetic.cuh"
#include "common/reduce.cuh"
#include "common/vec.cuh"

namespace {

using Key = unsigned long long;
__device__ __forceinline__ unsigned row_of(Key key) { return static_cast<unsigned>(key >> 32); }

// grid: rows * column blocks * splits; 256 threads. `lanes`: of a row's columns, a power of two; the others of a warp take further indices.
template <class T>
__device__ __forceinline__ void scan(const T* __restrict__ x, const int* __restrict__ index, const T* __restrict__ src, T* __restrict__ out, float* __restrict__ shares, long long rows, int dim, long long n,
                                     int lanes, int splits) {
  __shared__ float parts[8][32];
  const int blocks = (dim + 31) / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32, sub = lane / lanes;
  const long long cell = blockIdx.x / splits, row = cell / blocks;
  const int split = blockIdx.x % splits, column = static_cast<int>(cell % blocks) * 32 + lane % lanes;
  // Whole groups of 32 indices for each warp.
  const long long share = (n + splits * 256 - 1) / (splits * 256) * 32, from = (split * 8 + warp) * share, to = min(n, from + share);
  unsigned own = 0;
  for (int j = sub; j < 32; j += 32 / lanes) own |= 1u << j;
  float sum = 0;
#pragma unroll 4
  for (long long base = from; base < to; base += 32) {
    const long long at = base + lane;
    unsigned found = __ballot_sync(0xffffffffu, at < to && index[at] == row) & own;
    while (found) {
      const int j = __ffs(found) - 1;
      found &= found - 1;
      if (column < dim) sum += to_float(src[(base + j) * dim + column]);
    }
  }
  for (int offset = 16; offset >= lanes; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  parts[warp][lane] = sum;
  __syncthreads();
  if (threadIdx.x >= lanes || column >= dim) return;
  float total = 0;
#pragma unroll
  for (int w = 0; w < 8; w++) total += parts[w][lane];
  const long long place = row * dim + column;
  if (splits > 1) shares[split * rows * dim + place] = total;
  else out[place] = from_float<T>(to_float(x[place]) + total);
}

template <class T>
__device__ __forceinline__ void join(const T* __restrict__ x, const float* __restrict__ shares, T* __restrict__ out, long long n, int splits) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float total = 0;
#pragma unroll 16
  for (int s = 0; s < splits; s++) total += shares[s * n + i];
  out[i] = from_float<T>(to_float(x[i]) + total);
}

// grid: splits. Each warp has a table [rows, lanes] in shared memory and takes 32 / lanes indices at a time; those of one row take turns, in their order. The
// tables of a block are added up in the order of its warps. shares: [splits, rows, dim].
template <class T>
__device__ __forceinline__ void table(const int* __restrict__ index, const T* __restrict__ src, float* __restrict__ shares, int rows, int dim, long long n, int lanes) {
  extern __shared__ float tables[];
  constexpr int U = 8;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32, size = rows * lanes, together = 32 / lanes, sub = lane / lanes, column = lane % lanes;
  float* own = tables + warp * size;
  for (int i = lane; i < size; i += 32) own[i] = 0;
  __syncwarp();
  unsigned below = 0;  // lanes of this column that have earlier indices
  for (int k = 0; k < sub; k++) below |= 1u << (k * lanes + column);
  const long long part = static_cast<long long>(blockIdx.x) * warps + warp, parts = static_cast<long long>(gridDim.x) * warps, share = (n + parts - 1) / parts, from = part * share, to = min(n, from + share);
  for (long long base = from; base < to; base += U * together) {
    int row[U];
    float value[U];
#pragma unroll
    for (int u = 0; u < U; u++) {
      const long long i = base + u * together + sub;
      row[u] = i < to ? index[i] : -1;
    }
#pragma unroll
    for (int u = 0; u < U; u++) {
      const bool valid = static_cast<unsigned>(row[u]) < static_cast<unsigned>(rows) && column < dim;
      value[u] = valid ? to_float(src[(base + u * together + sub) * dim + column]) : 0.0f;
      if (!valid) row[u] = -1;
    }
#pragma unroll
    for (int u = 0; u < U; u++) {
      const unsigned same = __match_any_sync(0xffffffffu, static_cast<unsigned>(row[u]));
      const int turn = row[u] < 0 ? -1 : __popc(same & below);
      for (int k = 0; __any_sync(0xffffffffu, turn >= k); k++) {
        if (turn == k) own[row[u] * lanes + column] += value[u];
        __syncwarp();
      }
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < size; i += blockDim.x) {
    float sum = 0;
    for (int w = 0; w < warps; w++) sum += tables[w * size + i];
    if (i % lanes < dim) shares[(static_cast<long long>(blockIdx.x) * rows + i / lanes) * dim + i % lanes] = sum;
  }
}

// grid: splits. Each group of `width` threads has a table [rows, dim] in shared memory and takes a share of the indices in their order, a thread the columns t, t + width, .. of them. The tables of a block
// are added up in the order of its groups. shares: [splits, rows, dim].
template <class T>
__device__ __forceinline__ void columns(const int* __restrict__ index, const T* __restrict__ src, float* __restrict__ shares, int rows, int dim, long long n, int width) {
  extern __shared__ float tables[];
  constexpr int U = 8;
  const int groups = blockDim.x / width, group = threadIdx.x / width, size = rows * dim;
  for (int i = threadIdx.x; i < groups * size; i += blockDim.x) tables[i] = 0;
  __syncthreads();
  float* own = tables + group * size;
  const long long part = static_cast<long long>(blockIdx.x) * groups + group, parts = static_cast<long long>(gridDim.x) * groups, share = (n + parts - 1) / parts, from = part * share, to = min(n, from + share);
  for (int c = threadIdx.x % width; c < dim; c += width)
    for (long long base = from; base < to; base += U) {
      int row[U];
      T value[U];
#pragma unroll
      for (int u = 0; u < U; u++) row[u] = base + u < to ? index[base + u] : -1;
#pragma unroll
      for (int u = 0; u < U; u++)
        if (base + u < to) value[u] = src[(base + u) * dim + c];
#pragma unroll
      for (int u = 0; u < U; u++)
        if (static_cast<unsigned>(row[u]) < static_cast<unsigned>(rows)) own[row[u] * dim + c] += to_float(value[u]);
    }
  __syncthreads();
  for (int i = threadIdx.x; i < size; i += blockDim.x) {
    float sum = 0;
    for (int g = 0; g < groups; g++) sum += tables[g * size + i];
    shares[static_cast<long long>(blockIdx.x) * size + i] = sum;
  }
}

// What chunks leave of rows that begin before them (head) or go on after them (tail): [chunks, dim].
struct Ends {
  float *head, *tail;
};

template <class T>
__device__ __forceinline__ void chunks(const Key* __restrict__ keys, const T* __restrict__ x, const T* __restrict__ src, T* __restrict__ out, const Ends& ends, long long rows, long long dim, long long n,
                                       long long chunk, long long threads) {
  constexpr int U = 4;
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (thread >= threads) return;
  const long long c = quotient(thread, dim), column = thread - c * dim, from = c * chunk, to = min(n, from + chunk);
  unsigned row = row_of(keys[from]);
  bool begun = from > 0 && row_of(keys[from - 1]) == row;
  float sum = 0;
  const auto finish = [&] {
    if (begun) ends.head[thread] = sum;
    else if (row < rows) out[row * dim + column] = from_float<T>(to_float(x[row * dim + column]) + sum);
    begun = false;
    sum = 0;
  };
  for (long long i = from; i < to; i += U) {
    Key key[U];
    float value[U];
#pragma unroll
    for (int u = 0; u < U; u++) key[u] = keys[min(i + u, to - 1)];
#pragma unroll
    for (int u = 0; u < U; u++) value[u] = row_of(key[u]) < rows ? to_float(src[static_cast<unsigned>(key[u]) * dim + column]) : 0.0f;
#pragma unroll
    for (int u = 0; u < U; u++) {
      if (i + u >= to) break;
      if (row_of(key[u]) != row) {
        finish();
        row = row_of(key[u]);
      }
      sum += value[u];
    }
  }
  if (to < n && row_of(keys[to]) == row && !begun) ends.tail[thread] = sum;
  else finish();
}

template <class T>
__device__ __forceinline__ void join_ends(const Key* __restrict__ keys, const T* __restrict__ x, T* __restrict__ out, const Ends& ends, long long rows, long long dim, long long n, long long chunk, long long threads) {
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (thread >= threads) return;
  const long long c = quotient(thread, dim), column = thread - c * dim;
  long long end = (c + 1) * chunk;
  if (end >= n) return;
  const unsigned row = row_of(keys[end]);
  // Only where the row begins in this chunk and goes on after it.
  if (row >= rows || row_of(keys[end - 1]) != row || (c > 0 && row_of(keys[c * chunk - 1]) == row)) return;
  float sum = ends.tail[thread];
  for (long long next = c + 1;; next++) {
    sum += ends.head[next * dim + column];
    end = (next + 1) * chunk;
    if (end >= n || row_of(keys[end]) != row) break;
  }
  out[row * dim + column] = from_float<T>(to_float(x[row * dim + column]) + sum);
}

}  // namespace

#define SCATTER(T)                                                                                                                                                                         \
  extern "C" __global__ void __launch_bounds__(256) scatter_scan_##T(const T* x, const int* index, const T* src, T* out, float* shares, long long rows, int dim, long long n, int lanes, int splits) { \
    scan(x, index, src, out, shares, rows, dim, n, lanes, splits);                                                                                                                          \
  }                                                                                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(256) scatter_join_##T(const T* x, const float* shares, T* out, long long n, int splits) { join(x, shares, out, n, splits); }                   \
  extern "C" __global__ void __launch_bounds__(512) scatter_table_##T(const int* index, const T* src, float* shares, int rows, int dim, long long n, int lanes) {                               \
    table(index, src, shares, rows, dim, n, lanes);                                                                                                                                         \
  }                                                                                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(column_threads) scatter_columns_##T(const int* index, const T* src, float* shares, int rows, int dim, long long n, int width) {                     \
    columns(index, src, shares, rows, dim, n, width);                                                                                                                                       \
  }                                                                                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(256) scatter_chunks_##T(const Key* keys, const T* x, const T* src, T* out, float* head, float* tail, long long rows, long long dim, long long n,  \
                                                                       long long chunk, long long threads) {                                                                               \
    chunks(keys, x, src, out, {head, tail}, rows, dim, n, chunk, threads);                                                                                                                  \
  }                                                                                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(256) scatter_ends_##T(const Key* keys, const T* x, T* out, float* head, float* tail, long long rows, long long dim, long long n, long long chunk, \
                                                                     long long threads) {                                                                                                  \
    join_ends(keys, x, out, {head, tail}, rows, dim, n, chunk, threads);                                                                                                                    \
  }
SCATTER(f32)
SCATTER(f16)
SCATTER(bf16)
