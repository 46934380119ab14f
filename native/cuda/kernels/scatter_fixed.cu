// scatter_add (scatter_add.cu) of many indices by integers: elements are added as multiples of one unit, so sums are exact and their order does not matter.
//   scatter_table64_<t>  few cells (an element of out is a cell): a block adds a share of the elements up in shared memory; scatter_table_ends64_<t> joins what all blocks have
//   scatter_cells64_<t>  others: each element to the sum of its cell in memory
//   scatter_ends64_<t>   out = x + sum
#include "common/divide.h"
#include "common/early.cuh"
#include "scatter_add/fixed.cuh"

namespace {

// Calls see(value, cell) for a share of the elements, and before that ready(), while the first of them are on their way; grid: any.
template <int U, class T, class Ready, class See>
__device__ __forceinline__ void each_element(const int* __restrict__ index, const T* __restrict__ src, int rows, int dim, int elements, Divide by_dim, const Ready& ready, const See& see) {
  const int step = U * static_cast<int>(blockDim.x);
  long long base = static_cast<long long>(blockIdx.x) * step + threadIdx.x;
  int row[U], column[U];
  T value[U];
  const auto load = [&] {
#pragma unroll
    for (int u = 0; u < U; u++) {
      const long long i = min(base + u * static_cast<int>(blockDim.x), static_cast<long long>(elements) - 1);
      const int place = divided(static_cast<int>(i), by_dim);
      row[u] = index[place], column[u] = static_cast<int>(i) - place * dim, value[u] = src[i];
    }
  };
  load();
  ready();
  while (base < elements) {
#pragma unroll
    for (int u = 0; u < U; u++)
      if (base + u * static_cast<int>(blockDim.x) < elements && static_cast<unsigned>(row[u]) < static_cast<unsigned>(rows)) see(to_float(value[u]), row[u] * dim + column[u]);
    base += static_cast<long long>(gridDim.x) * step;
    if (base < elements) load();
  }
}

// Shared memory: the lower and the upper halves of sums [cells].
template <class T>
__device__ __forceinline__ void table64(const int* __restrict__ index, const T* __restrict__ src, const Sums& s, int rows, int dim, int elements, int bits, Divide by_dim) {
  extern __shared__ unsigned lower[];
  next_may_start();
  const int cells = rows * dim;
  unsigned* const upper = lower + cells;
  int unit = 0;
  const auto ready = [&] {
    for (int i = threadIdx.x; i < 2 * cells; i += blockDim.x) lower[i] = 0;
    unit = unit_of(src, elements, bits);
    if (blockIdx.x == 0 && threadIdx.x == 0) s.notes[0] = static_cast<unsigned>(unit);
  };
  each_element<8>(index, src, rows, dim, elements, by_dim, ready, [&](float value, int cell) {
    add_element<T>(s, value, cell, unit, bits, [&](int at, Sum multiple) {
      const unsigned low = static_cast<unsigned>(multiple), before = atomicAdd(lower + at, low), high = static_cast<unsigned>(multiple >> 32) + (before + low < low ? 1 : 0);
      if (high != 0) atomicAdd(upper + at, high);
    });
  });
  __syncthreads();
  for (int i = threadIdx.x; i < cells; i += blockDim.x) s.own[static_cast<long long>(blockIdx.x) * cells + i] = static_cast<Sum>(upper[i]) << 32 | lower[i];
}

template <class T>
__device__ __forceinline__ void cells64(const int* __restrict__ index, const T* __restrict__ src, const Sums& s, int rows, int dim, int elements, int bits, Divide by_dim) {
  next_may_start();
  int unit = 0;
  const auto ready = [&] {
    unit = unit_of(src, elements, bits);
    if (blockIdx.x == 0 && threadIdx.x == 0) s.notes[0] = static_cast<unsigned>(unit);
  };
  each_element<4>(index, src, rows, dim, elements, by_dim, ready, [&](float value, int cell) {
    add_element<T>(s, value, cell, unit, bits, [&](int at, Sum multiple) { atomicAdd(s.own + at, multiple); });
  });
}

// grid: cells by fours. Sums and notes are left at zero.
template <class T>
__device__ __forceinline__ void ends64(const T* __restrict__ x, T* __restrict__ out, const Sums& s) {
  constexpr int R = noted_cells;
  const long long first = thread_of_grid() * R;
  if (first >= s.cells) return wait_for_last();
  const int own = static_cast<int>(min(s.cells - first, static_cast<long long>(R)));
  float f[R] = {};
  if (own == R) {
    if constexpr (sizeof(T) == 4) {
      unpack<T>(load16(x + first), f);
    } else {
      const uint2 v = *reinterpret_cast<const uint2*>(x + first);
      unpack_pair(v.x, f[0], f[1], T());
      unpack_pair(v.y, f[2], f[3], T());
    }
  } else {
    for (int j = 0; j < own; j++) f[j] = to_float(x[first + j]);
  }
  wait_for_last();
  const unsigned used = __ldcg(s.notes + 1 + first / noted_cells);
  const double unit = power_of_two(static_cast<int>(__ldcg(s.notes)) - 150);
  // Room for sums is a multiple of R.
  ulonglong2* const sums = reinterpret_cast<ulonglong2*>(s.own + first);
  const ulonglong2 low = __ldcg(sums), high = __ldcg(sums + 1);
  if ((low.x | low.y) != 0) sums[0] = make_ulonglong2(0, 0);
  if ((high.x | high.y) != 0) sums[1] = make_ulonglong2(0, 0);
  const Sum sum[R] = {low.x, low.y, high.x, high.y};
#pragma unroll
  for (int j = 0; j < R; j++) {
    double total = static_cast<double>(static_cast<long long>(sum[j])) * unit;
    if (used != 0 && j < own) total += of_words(s, used, first + j);
    f[j] = static_cast<float>(static_cast<double>(f[j]) + total);
  }
  if (used != 0) s.notes[1 + first / noted_cells] = 0;
  if (own == R) {
    if constexpr (sizeof(T) == 4) store16(out + first, pack<T>(f));
    else *reinterpret_cast<uint2*>(out + first) = make_uint2(pack_pair(f[0], f[1], T()), pack_pair(f[2], f[3], T()));
  } else {
    for (int j = 0; j < own; j++) out[first + j] = from_float<T>(f[j]);
  }
}

// The same of the tables of `blocks` blocks. grid: tiles of 32 cells; 512 threads = 32 cells x 16 shares of the tables.
template <class T>
__device__ __forceinline__ void table_ends64(const T* __restrict__ x, T* __restrict__ out, const Sums& s, int blocks) {
  constexpr int GROUPS = 16, U = 9;
  __shared__ Sum joined[GROUPS][32];
  const int lane = threadIdx.x % 32, group = threadIdx.x / 32;
  const long long cell = blockIdx.x * 32LL + lane;
  const bool mine = cell < s.cells;
  const float own = mine && group == 0 ? to_float(x[cell]) : 0.0f;
  wait_for_last();
  Sum sum = 0;
  for (int first = group; mine && first < blocks; first += U * GROUPS) {
    Sum share[U];
#pragma unroll
    for (int u = 0; u < U; u++) share[u] = first + u * GROUPS < blocks ? __ldcg(s.own + (first + u * GROUPS) * s.cells + cell) : 0;
#pragma unroll
    for (int u = 0; u < U; u++) sum += share[u];
  }
  joined[group][lane] = sum;
  __syncthreads();
  const unsigned lanes = __ballot_sync(0xffffffffu, mine);
  if (group > 0 || !mine) return;
#pragma unroll
  for (int k = 1; k < GROUPS; k++) sum += joined[k][lane];
  const unsigned used = __ldcg(s.notes + 1 + cell / noted_cells);
  double total = static_cast<double>(static_cast<long long>(sum)) * power_of_two(static_cast<int>(__ldcg(s.notes)) - 150);
  __syncwarp(lanes);
  if (used != 0) {
    total += of_words(s, used, cell);
    s.notes[1 + cell / noted_cells] = 0;
  }
  out[cell] = from_float<T>(static_cast<float>(static_cast<double>(own) + total));
}

}  // namespace

#define SCATTER(T)                                                                                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(table_threads) scatter_table64_##T(const int* index, const T* src, Sum* own, Sum* words, unsigned* special, unsigned* notes, int rows, int dim,       \
                                                                                  int elements, int bits, Divide by_dim) {                                                                            \
    table64(index, src, Sums{own, words, special, notes, static_cast<long long>(rows) * dim}, rows, dim, elements, bits, by_dim);                                                                    \
  }                                                                                                                                                                                                  \
  extern "C" __global__ void __launch_bounds__(256, 4) scatter_cells64_##T(const int* index, const T* src, Sum* own, Sum* words, unsigned* special, unsigned* notes, int rows, int dim, int elements, \
                                                                           int bits, Divide by_dim) {                                                                                                 \
    cells64(index, src, Sums{own, words, special, notes, static_cast<long long>(rows) * dim}, rows, dim, elements, bits, by_dim);                                                                    \
  }                                                                                                                                                                                                  \
  extern "C" __global__ void __launch_bounds__(512) scatter_table_ends64_##T(const T* x, T* out, Sum* own, Sum* words, unsigned* special, unsigned* notes, long long cells, int blocks) {             \
    table_ends64(x, out, Sums{own, words, special, notes, cells}, blocks);                                                                                                                            \
  }                                                                                                                                                                                                  \
  extern "C" __global__ void __launch_bounds__(256) scatter_ends64_##T(const T* x, T* out, Sum* own, Sum* words, unsigned* special, unsigned* notes, long long cells) {                              \
    ends64(x, out, Sums{own, words, special, notes, cells});                                                                                                                                          \
  }
SCATTER(f32)
SCATTER(f16)
SCATTER(bf16)
