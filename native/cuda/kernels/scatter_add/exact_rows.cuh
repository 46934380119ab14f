// Rows of a block whose indices lie in the order of rows in shared memory, added up in registers. For scatter_exact.cu.
#pragma once
#include "../common/divide.h"
#include "../scatter_exact.h"
#include "exact.cuh"

template <int BYTES, class T>
struct alignas(BYTES) Piece {
  static constexpr int N = BYTES / static_cast<int>(sizeof(T));
  T of[N];
};

// Calls see(index, row) for all indices of rows from .. from + count, by all threads of a block.
template <class See>
__device__ __forceinline__ void each_of_all(const int* __restrict__ index, int n, long long from, int count, const See& see) {
  constexpr int U = 8;
  for (int base = threadIdx.x; base < n; base += U * exact_threads) {
    int value[U];
#pragma unroll
    for (int u = 0; u < U; u++) value[u] = base + u * exact_threads < n ? index[base + u * exact_threads] : -1;
#pragma unroll
    for (int u = 0; u < U; u++)
      if (const long long row = value[u] - from; row >= 0 && row < count) see(static_cast<unsigned>(base + u * exact_threads), static_cast<int>(row));
  }
}

// out = x + all that indices lead to `row`, by the whole block.
template <class T>
static __device__ __noinline__ void add_whole(const int* __restrict__ index, const T* __restrict__ x, const T* __restrict__ src, T* __restrict__ out, long long row, int dim, int n) {
  __shared__ double sums[exact_threads / 32];
  __shared__ unsigned mosts[exact_threads / 32];
  const auto join = [&](double& sum, unsigned& most) {
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    most = __reduce_max_sync(0xffffffffu, most);
    __syncthreads();
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum, mosts[threadIdx.x / 32] = most;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < exact_threads / 32; w++) sum += sums[w], most = max(most, mosts[w]);
  };
  for (int c = 0; c < dim; c++) {
    const auto visit = [&](auto see) { each_of_all(index, n, row, 1, [&](unsigned place, int) { see(to_float(src[static_cast<long long>(place) * dim + c])); }); };
    double sum = 0;
    unsigned most = 0;
    visit([&](float v) { sum += static_cast<double>(v), most = max(most, magnitude_of(v)); });
    join(sum, most);
    if (most < 0x7f800000) sum = sum_in_groups(most, exact_range<T>(n), visit, join);
    if (threadIdx.x == 0) out[row * dim + c] = from_float<T>(static_cast<float>(static_cast<double>(to_float(x[row * dim + c])) + sum));
  }
}

// What a block adds up: rows, vectors of a row, and threads, a power of two, that share the indices of a row.
template <class T>
struct ExactRows {
  const T *x, *src;
  T* out;
  int dim, lanes, sharers;
  Divide by_lanes;
};

// out = x + what the indices of each row lead to: row first + r has those at places[ends[r - 1] .. ends[r]).
template <int BYTES, class T>
__device__ __forceinline__ void add_rows(const ExactRows<T>& rows, long long first, int count, const unsigned* ends, const unsigned* places) {
  using Own = Piece<BYTES, T>;
  constexpr int N = Own::N, U = N == 4 ? 4 : 8;
  const int sharers = rows.sharers, sharer = threadIdx.x & (sharers - 1);
  const unsigned mask = (0xffffffffu >> (32 - sharers)) << (threadIdx.x % 32 - sharer);
  for (int item = threadIdx.x / sharers; item < count * rows.lanes; item += exact_threads / sharers) {
    const int row = divided(item, rows.by_lanes), c = (item - row * rows.lanes) * N, from = row == 0 ? 0 : static_cast<int>(ends[row - 1]), to = static_cast<int>(ends[row]);
    const T* const column = rows.src + c;
    const auto vector = [&](int k) { return *reinterpret_cast<const Own*>(column + static_cast<long long>(places[k]) * rows.dim); };
    ExactSum sum[N];
    int k = from + sharer;
    for (; k + (U - 1) * sharers < to; k += U * sharers) {
      Own v[U];
#pragma unroll
      for (int u = 0; u < U; u++) v[u] = vector(k + u * sharers);
#pragma unroll
      for (int u = 0; u < U; u++)
#pragma unroll
        for (int j = 0; j < N; j++) sum[j].add(to_float(v[u].of[j]));
    }
    for (; k < to; k += sharers) {
      const Own v = vector(k);
#pragma unroll
      for (int j = 0; j < N; j++) sum[j].add(to_float(v.of[j]));
    }
    const int range = exact_range<T>(to - from);
    const long long at = (first + row) * rows.dim + c;
    Own result = *reinterpret_cast<const Own*>(rows.x + at);
#pragma unroll
    for (int j = 0; j < N; j++) {
      const int dim = rows.dim;
      const double total = shared_sum(sum[j], range, sharers, mask, [=](auto see) {
        for (int i = from + sharer; i < to; i += sharers) see(to_float(column[static_cast<long long>(places[i]) * dim + j]));
      });
      result.of[j] = from_float<T>(static_cast<float>(static_cast<double>(to_float(result.of[j])) + total));
    }
    if (sharer == 0) *reinterpret_cast<Own*>(rows.out + at) = result;
  }
}

// The same of `own` rows from `begin` on, in parts with no more than `room` indices, for which the block looks through all indices. Shared memory: ends [own], places [room].
template <int BYTES, class T>
static __device__ __noinline__ void add_in_parts(const ExactRows<T>& rows, const int* __restrict__ index, long long begin, int own, int n, unsigned* ends, unsigned* places, int room) {
  __shared__ unsigned sums[32];
  const int t = threadIdx.x;
  for (int first = 0, count = (own + 1) / 2; first < own;) {
    const auto each_index = [&](const auto& see) { each_of_all(index, n, begin + first, count, see); };
    __syncthreads();
    for (int i = t; i < count; i += exact_threads) ends[i] = 0;
    __syncthreads();
    each_index([&](unsigned, int row) { atomicAdd(ends + row, 1u); });
    __syncthreads();
    if (starts_of<exact_threads>(ends, count, sums) <= room) {
      each_index([&](unsigned place, int row) { places[atomicAdd(ends + row, 1u)] = place; });
      __syncthreads();
      add_rows<BYTES>(rows, begin + first, count, ends, places);
      first += count, count = min(count * 2, own - first);
    } else if (count == 1) {
      add_whole(index, rows.x, rows.src, rows.out, begin + first++, rows.dim, n);
    } else {
      count = (count + 1) / 2;
    }
  }
}
