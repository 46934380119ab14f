// scatter_add (scatter_add.cu) in one launch, where blocks for rows or parts of them that look through all indices are few:
//   scatter_few_<t>   few indices and long rows: a block for a part of a row
//   scatter_look_<t>  others: a block for a row, or a part of it, whose columns several groups of threads share
// _16, _8: rows are whole vectors of so many bytes.
#include "scatter_rows.h"
#include "common/loose.cuh"
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

// grid: rows * parts of `part` columns. VECTORS: rows are whole vectors; else a thread has the vectors of x and out that lie in its part, which vectors of src that start anywhere are added to, and threads of the first two warps an
// element before or behind them.
template <bool VECTORS, class T>
__device__ __forceinline__ void few(const T* __restrict__ x, const int* __restrict__ index, const T* __restrict__ src, T* __restrict__ out, long long dim, int n, int parts, int part) {
  constexpr int L = LANES<T>, U = long_row_columns(VECTORS) / (THREADS * L);
  __shared__ unsigned found[WARPS];
  const int t = threadIdx.x;
  const long long row = blockIdx.x / static_cast<unsigned>(parts), first = static_cast<long long>(blockIdx.x % static_cast<unsigned>(parts)) * part, end = min(first + part, dim), begin = row * dim + first;
  const int count = static_cast<int>(end - first), head = VECTORS ? 0 : min(count, static_cast<int>(-begin & (L - 1))), vectors = (count - head) / L, behind = head + vectors * L;
  // Columns of the part.
  const auto column = [&](int u) { return head + (u * THREADS + t) * L; };
  const int edge = VECTORS ? -1 : t < head ? t : t >= 32 && t - 32 < count - behind ? behind + t - 32 : -1;
  const auto whole = [&](int u) { return u * THREADS + t < vectors; };
  uint4 own[U];
  T own_edge = {};
#pragma unroll
  for (int u = 0; u < U; u++)
    if (whole(u)) own[u] = load16(x + begin + column(u));
  if (edge >= 0) own_edge = x[begin + edge];
  float sum[U][L] = {}, edge_sum = 0;
  for (int base = 0; base < n; base += THREADS) {
    const int i = base + t;
    const bool same = i < n && index[i] == row;
    const unsigned votes = __ballot_sync(0xffffffffu, same);
    // Nobody writes `found` before all have read it.
    if (!__syncthreads_or(same)) continue;
    if (t % 32 == 0) found[t / 32] = votes;
    __syncthreads();
    for (int w = 0; w < WARPS; w++)
      for (unsigned left = found[w]; left; left &= left - 1) {
        const T* from = src + (static_cast<long long>(base) + w * 32 + __ffs(left) - 1) * dim + first;
        uint4 value[U];
        T value_edge = {};
        if constexpr (VECTORS) {
#pragma unroll
          for (int u = 0; u < U; u++)
            if (whole(u)) value[u] = load16(from + column(u));
        } else {
          const int shift = static_cast<int>(reinterpret_cast<uintptr_t>(from + head) & 15);
          uint4 next[U];
#pragma unroll
          for (int u = 0; u < U; u++)
            if (whole(u)) {
              const char* at = reinterpret_cast<const char*>(from + column(u)) - shift;
              value[u] = load16(at);
              next[u] = shift > 0 ? load16(at + 16) : value[u];
            }
          if (edge >= 0) value_edge = from[edge];
#pragma unroll
          for (int u = 0; u < U; u++) value[u] = shifted(value[u], next[u], shift);
        }
#pragma unroll
        for (int u = 0; u < U; u++) {
          float f[L];
          unpack<T>(value[u], f);
#pragma unroll
          for (int j = 0; j < L; j++)
            if (whole(u)) sum[u][j] += f[j];
        }
        if (edge >= 0) edge_sum += to_float(value_edge);
      }
  }
#pragma unroll
  for (int u = 0; u < U; u++) {
    if (!whole(u)) continue;
    float f[L];
    unpack<T>(own[u], f);
#pragma unroll
    for (int j = 0; j < L; j++) f[j] += sum[u][j];
    store16(out + begin + column(u), pack<T>(f));
  }
  if (edge >= 0) out[begin + edge] = from_float<T>(to_float(own_edge) + edge_sum);
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
