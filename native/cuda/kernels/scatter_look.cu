// scatter_add (scatter_add.cu) in one launch, where blocks for rows or parts of them that look through all indices are few:
//   scatter_few_<t>   few indices and long rows: a block for a part of a row
//   scatter_look_<t>  others: a block for a row, or a part of it, whose columns several groups of threads share
// _16, _8: rows are whole vectors of so many bytes.
#include "scatter_rows.h"
#include "scatter_add/cells.cuh"

namespace {

constexpr int THREADS = link_threads, WARPS = THREADS / 32, LOOKS = 8;

// grid: rows * parts of `lanes` threads' columns. Each warp looks through a share of the indices for those of the row, as far as it has room for their places. Then groups of lanes each
// add up a share of what the warps have, one behind the other, and are joined in their order.
template <int BYTES, class T>
__device__ __forceinline__ void look(const T* __restrict__ x, const int* __restrict__ index, const T* __restrict__ src, T* __restrict__ out, int dim, int n, int parts, int lanes) {
  using Own = Cells<BYTES, T>;
  constexpr int ROOM = 512, BATCH = 32 * LOOKS, U = 4;
  __shared__ unsigned places[WARPS][ROOM];
  __shared__ int counts[WARPS];
  __shared__ float sums[Own::N][THREADS];
  const int row = static_cast<int>(blockIdx.x / static_cast<unsigned>(parts)), warp = threadIdx.x / 32, warp_lane = threadIdx.x % 32;
  const int groups = THREADS / lanes, group = threadIdx.x / lanes, lane = threadIdx.x % lanes, c = static_cast<int>(blockIdx.x % static_cast<unsigned>(parts)) * columns_of<BYTES, T>(lanes) + column_of<BYTES, T>(lane);
  const int each = ((n + WARPS - 1) / WARPS + 31) / 32 * 32, end = min(n, (warp + 1) * each);
  int at = warp * each, ahead[LOOKS];
  const auto fetch = [&](int from) {
#pragma unroll
    for (int u = 0; u < LOOKS; u++) ahead[u] = from + u * 32 + warp_lane < end ? index[from + u * 32 + warp_lane] : -1;
  };
  fetch(at);
  Own own;
  if (group == 0 && c < dim) own.load(x + static_cast<long long>(row) * dim, c, lanes, dim);
  float sum[Own::N] = {};
  for (bool more = true; more;) {
    int found = 0;
    while (at < end && found + BATCH <= ROOM) {
      unsigned votes[LOOKS], any = 0;
#pragma unroll
      for (int u = 0; u < LOOKS; u++) any |= votes[u] = __ballot_sync(0xffffffffu, ahead[u] == row);
      fetch(at + BATCH);
      if (any) {
#pragma unroll
        for (int u = 0; u < LOOKS; u++) {
          if (votes[u] >> warp_lane & 1) places[warp][found + __popc(votes[u] & ((1u << warp_lane) - 1))] = static_cast<unsigned>(at + u * 32 + warp_lane);
          found += __popc(votes[u]);
        }
      }
      at += BATCH;
    }
    if (warp_lane == 0) counts[warp] = found;
    more = __syncthreads_or(at < end);
    int total = 0;
#pragma unroll
    for (int w = 0; w < WARPS; w++) total += counts[w];
    const int share = (total + groups - 1) / groups, from = group * share, to = min(total, from + share);
    if (c < dim && from < to) {
      // The warp that has place `from`, and where.
      int w = 0, k = from;
      while (k >= counts[w]) k -= counts[w++];
      for (int e = from; e < to; e += U) {
        Own value[U];
#pragma unroll
        for (int u = 0; u < U; u++)
          if (e + u < to) {
            while (k >= counts[w]) k = 0, w++;
            value[u].load(src + static_cast<long long>(places[w][k++]) * dim, c, lanes, dim);
          }
#pragma unroll
        for (int u = 0; u < U; u++)
          if (e + u < to) value[u].add_to(sum);
      }
    }
    if (more) __syncthreads();
  }
  // Groups of a warp, then warps.
#pragma unroll
  for (int j = 0; j < Own::N; j++) {
    for (int offset = 16; offset >= lanes; offset /= 2) sum[j] += __shfl_xor_sync(0xffffffffu, sum[j], offset);
    sums[j][threadIdx.x] = sum[j];
  }
  __syncthreads();
  if (group > 0 || c >= dim) return;
  for (int t = threadIdx.x + max(lanes, 32); t < THREADS; t += max(lanes, 32))
#pragma unroll
    for (int j = 0; j < Own::N; j++) sum[j] += sums[j][t];
  own.store(out + static_cast<long long>(row) * dim, c, lanes, dim, sum);
}

// grid: rows * parts of `part` columns, at most U cells of each thread.
template <bool VECTORS, class T>
__device__ __forceinline__ void few(const T* __restrict__ x, const int* __restrict__ index, const T* __restrict__ src, T* __restrict__ out, long long dim, int n, int parts, int part) {
  constexpr int N = VECTORS ? LANES<T> : 1, U = long_row_columns(VECTORS) / (THREADS * N);
  __shared__ unsigned found[WARPS];
  const long long row = blockIdx.x / static_cast<unsigned>(parts), first = static_cast<long long>(blockIdx.x % static_cast<unsigned>(parts)) * part, end = min(first + part, dim);
  const auto column = [&](int u) { return first + static_cast<long long>(u * THREADS + static_cast<int>(threadIdx.x)) * N; };
  const auto read = [&](const T* from, float (&to)[N]) {
    if constexpr (VECTORS) unpack<T>(load16(from), to);
    else to[0] = to_float(*from);
  };
  float own[U][N], sum[U][N] = {};
#pragma unroll
  for (int u = 0; u < U; u++)
    if (column(u) < end) read(x + row * dim + column(u), own[u]);
  for (int base = 0; base < n; base += THREADS) {
    const int i = base + threadIdx.x;
    const bool same = i < n && index[i] == row;
    const unsigned votes = __ballot_sync(0xffffffffu, same);
    // Nobody writes `found` before all have read it.
    if (!__syncthreads_or(same)) continue;
    if (threadIdx.x % 32 == 0) found[threadIdx.x / 32] = votes;
    __syncthreads();
    for (int w = 0; w < WARPS; w++)
      for (unsigned left = found[w]; left; left &= left - 1) {
        const T* from = src + (static_cast<long long>(base) + w * 32 + __ffs(left) - 1) * dim;
        float value[U][N];
#pragma unroll
        for (int u = 0; u < U; u++)
          if (column(u) < end) read(from + column(u), value[u]);
#pragma unroll
        for (int u = 0; u < U; u++)
#pragma unroll
          for (int j = 0; j < N; j++)
            if (column(u) < end) sum[u][j] += value[u][j];
      }
  }
#pragma unroll
  for (int u = 0; u < U; u++) {
    if (column(u) >= end) continue;
#pragma unroll
    for (int j = 0; j < N; j++) own[u][j] += sum[u][j];
    T* to = out + row * dim + column(u);
    if constexpr (VECTORS) store16(to, pack<T>(own[u]));
    else *to = from_float<T>(own[u][0]);
  }
}

}  // namespace

#define SCATTER_LOOK(T, NAME, BYTES)                                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(THREADS) scatter_look_##NAME(const T* x, const int* index, const T* src, T* out, int dim, int n, int parts, int lanes) { \
    look<BYTES>(x, index, src, out, dim, n, parts, lanes);                                                                                                               \
  }
#define SCATTER_FEW(T, NAME, VECTORS)                                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(THREADS) scatter_few_##NAME(const T* x, const int* index, const T* src, T* out, long long dim, int n, int parts, int part) { \
    few<VECTORS>(x, index, src, out, dim, n, parts, part);                                                                                                                   \
  }
#define SCATTER(T) SCATTER_LOOK(T, T, 0) SCATTER_LOOK(T, T##_8, 8) SCATTER_LOOK(T, T##_16, 16) SCATTER_FEW(T, T, false) SCATTER_FEW(T, T##_16, true)
SCATTER(f32)
SCATTER(f16)
SCATTER(bf16)
