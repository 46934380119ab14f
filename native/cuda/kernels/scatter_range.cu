// scatter_add (scatter_add.cu) by a block for a range of rows, which has lists of their indices in shared memory:
//   scatter_found_<t>  few indices: each block looks through all of them
//   scatter_bin        others: each index goes to the bin of its range, in an order that depends on the race; scatter_bin_many where bins are more than 1024
//   scatter_bins_<t>   each block reads its bin
// _16, _8, _4: rows are whole vectors of so many bytes; _single: rows of one element. A row with more than `most_listed` indices is left to its whole block, which looks through all indices
// in their order. A range with more indices than its block has room for is taken in parts.
#include "scatter_range.h"
#include "common/early.cuh"
#include "scatter_add/bins.cuh"
#include "scatter_add/links.cuh"

namespace {

constexpr int THREADS = link_threads;

// grid: ranges of `span` rows. Shared memory: heads of lists [span], indices [room], of single elements their values [room], and what follows each in its list [room]; heads and what follows are 0
// or a number in the list and 1. counts, bins [ranges, room]: an index and its row in the range.
template <int BYTES, bool SINGLE, bool BINNED, class T>
__device__ __forceinline__ void by_range(const T* __restrict__ x, const int* __restrict__ index, const T* __restrict__ src, T* __restrict__ out, unsigned* counts, const uint2* bins, long long rows, int dim, int n, int lanes, int span,
                                         int room) {
  extern __shared__ uint4 memory[];
  __shared__ unsigned late[most_span / 32];  // a bit for each row that is left to the block
  __shared__ int found, any_late;
  unsigned *const heads = reinterpret_cast<unsigned*>(memory), *const places = heads + span;
  float* const values = reinterpret_cast<float*>(places + room);
  unsigned short* const next = reinterpret_cast<unsigned short*>(SINGLE ? values + room : values);
  const long long begin = static_cast<long long>(blockIdx.x) * span;
  const int own = static_cast<int>(min(static_cast<long long>(span), rows - begin)), t = threadIdx.x;
  for (long long i = t * (128 / sizeof(T)); i < static_cast<long long>(own) * dim; i += THREADS * (128 / sizeof(T))) ahead(x + begin * dim + i);
  const auto put = [&](int number, unsigned place, unsigned row) {
    places[number] = place;
    if constexpr (SINGLE) values[number] = to_float(src[place]);
    next[number] = static_cast<unsigned short>(atomicExch(heads + row, static_cast<unsigned>(number) + 1));
  };
  // The indices of rows first .. first + count of the range.
  const auto look = [&](int first, int count) {
    constexpr int U = 8;
    const unsigned from = static_cast<unsigned>(begin) + static_cast<unsigned>(first);
    const auto see = [&](int value, int i) {
      const unsigned row = static_cast<unsigned>(value) - from;
      if (row >= static_cast<unsigned>(count)) return;
      const int number = atomicAdd(&found, 1);
      if (number < room) put(number, static_cast<unsigned>(i), row);
    };
    const int vectors = n / 4;
    for (int base = t; base < vectors; base += U * THREADS) {
      int4 v[U];
#pragma unroll
      for (int u = 0; u < U; u++) v[u] = base + u * THREADS < vectors ? reinterpret_cast<const int4*>(index)[base + u * THREADS] : make_int4(-1, -1, -1, -1);
#pragma unroll
      for (int u = 0; u < U; u++) {
        const int i = (base + u * THREADS) * 4;
        see(v[u].x, i), see(v[u].y, i + 1), see(v[u].z, i + 2), see(v[u].w, i + 3);
      }
    }
    if (t < n % 4) see(index[vectors * 4 + t], vectors * 4 + t);
  };
  const auto from_bin = [&] {
    constexpr int U = 4;
    const int all = static_cast<int>(min(__ldcg(counts + blockIdx.x), static_cast<unsigned>(room) + 1));
    if (t == 0) found = all;
    if (all > room) return;
    each_of_bin<THREADS, U>(bins + static_cast<long long>(blockIdx.x) * room, all, put);
  };
  const auto leave = [&](int row) {
    atomicOr(late + row / 32, 1u << row % 32);
    atomicOr(&any_late, 1);
  };
  // The sum of a row of one element with several indices.
  const auto sum_of = [&](unsigned head, int row) {
    float sum = 0;
    int count = 0;
    for (unsigned at = head; at != 0 && count <= most_listed; at = next[at - 1], count++) sum += values[at - 1];
    // Two in either order are the same.
    if (count <= 2) return sum;
    if (count > most_listed) {
      leave(row);
      return 0.0f;
    }
    sum = 0;
    for (unsigned from = 0;;) {
      unsigned least = 0xffffffffu, number = 0;
      for (unsigned at = head; at != 0; at = next[at - 1])
        if (places[at - 1] >= from && places[at - 1] < least) least = places[at - 1], number = at;
      if (number == 0) return sum;
      sum += values[number - 1];
      from = least + 1;
    }
  };
  bool binned = BINNED;
  int count = own;
  for (int first = 0; first < own;) {
    for (int i = t; i < count; i += THREADS) heads[i] = 0;
    for (int i = t; i < (count + 31) / 32; i += THREADS) late[i] = 0;
    if (t == 0) found = any_late = 0;
    __syncthreads();
    if (BINNED && binned) {
      wait_for_last();
      from_bin();
    } else {
      look(first, count);
    }
    __syncthreads();
    if (BINNED && binned && t == 0) counts[blockIdx.x] = 0;
    binned = false;
    const long long at = begin + first;
    if (found > room) {
      // Fewer rows, or one after the other.
      if (count > LANES<f16>) {
        count = (count / 2 + LANES<f16> - 1) / LANES<f16> * LANES<f16>;
      } else {
        for (int k = 0; k < count; k++) add_long(index, x, src, out, at + k, dim, n);
        first += count;
        count = min(count, own - first);
      }
      __syncthreads();
      continue;
    }
    if constexpr (SINGLE) {
      constexpr int L = LANES<T>;
      for (int r = t * L; r < count; r += THREADS * L) {
        const bool whole = r + L <= count;
        float f[L] = {};
        if (whole) {
          unpack<T>(load16(x + at + r), f);
        } else {
#pragma unroll
          for (int j = 0; j < L; j++)
            if (r + j < count) f[j] = to_float(x[at + r + j]);
        }
        unsigned head[L];
        bool several[L];
#pragma unroll
        for (int j = 0; j < L; j++) {
          head[j] = r + j < count ? heads[r + j] : 0;
          several[j] = head[j] != 0 && next[head[j] - 1] != 0;
        }
#pragma unroll
        for (int j = 0; j < L; j++) {
          if (several[j]) f[j] += sum_of(head[j], r + j);
          else if (head[j] != 0) f[j] += values[head[j] - 1];
        }
        if (whole) {
          store16(out + at + r, pack<T>(f));
        } else {
#pragma unroll
          for (int j = 0; j < L; j++)
            if (r + j < count) out[at + r + j] = from_float<T>(f[j]);
        }
      }
    } else {
      const int groups = THREADS / lanes, lane = t % lanes;
      for (int r = t / lanes; r < count; r += groups) {
        if (!add_links<BYTES>({places, next}, heads[r], x, src, out, at + r, dim, lane, lanes) && lane == 0) leave(r);
      }
    }
    __syncthreads();
    if (any_late) {
      for (int w = 0; w < (count + 31) / 32; w++)
        for (unsigned left = late[w]; left; left &= left - 1) add_long(index, x, src, out, at + w * 32 + __ffs(left) - 1, dim, n);
    }
    first += count;
    count = min(count * 2, own - first);
    __syncthreads();
  }
}

// counts: one for each bin, zero before and after; bins [.., room]. A block puts its indices in the order of bins first, so that those of a bin are written together.
template <int BINS>
__device__ __forceinline__ void fill_bins(const int* __restrict__ index, unsigned* counts, uint2* bins, long long rows, int n, int shift, int room) {
  constexpr int THREADS = bin_threads_of(BINS);
  extern __shared__ uint4 memory[];
  __shared__ unsigned sums[32];
  unsigned *const own = reinterpret_cast<unsigned*>(memory), *const base = own + BINS;
  uint2* const sorted = reinterpret_cast<uint2*>(base + BINS);
  next_may_start();
  const int t = threadIdx.x;
  for (int k = t; k < BINS; k += THREADS) own[k] = 0;
  int row[bin_indices];
  const auto place = [&](int j) { return ((blockIdx.x * (bin_indices / 4) + j / 4) * THREADS + t) * 4 + j % 4; };
#pragma unroll
  for (int j = 0; j < bin_indices; j += 4) {
    const unsigned i = place(j);
    int4 v = make_int4(-1, -1, -1, -1);
    if (i + 4 <= static_cast<unsigned>(n)) {
      v = *reinterpret_cast<const int4*>(index + i);
    } else {
      if (i < static_cast<unsigned>(n)) v.x = index[i];
      if (i + 1 < static_cast<unsigned>(n)) v.y = index[i + 1];
      if (i + 2 < static_cast<unsigned>(n)) v.z = index[i + 2];
    }
    row[j] = v.x, row[j + 1] = v.y, row[j + 2] = v.z, row[j + 3] = v.w;
  }
  __syncthreads();
  unsigned rank[bin_indices];
#pragma unroll
  for (int j = 0; j < bin_indices; j++) {
    if (row[j] >= rows) row[j] = -1;
    if (row[j] >= 0) rank[j] = atomicAdd(own + (row[j] >> shift), 1u);
  }
  __syncthreads();
  const unsigned all = place_bins<THREADS, BINS>(own, base, counts, sums);
#pragma unroll
  for (int j = 0; j < bin_indices; j++)
    if (row[j] >= 0) sorted[own[row[j] >> shift] + rank[j]] = make_uint2(place(j), static_cast<unsigned>(row[j]));
  __syncthreads();
  for (unsigned e = t; e < all; e += THREADS) {
    const uint2 v = sorted[e];
    const unsigned bin = v.y >> shift, at = base[bin] + e;
    if (at >= static_cast<unsigned>(room)) continue;
    bins[static_cast<long long>(bin) * room + at] = make_uint2(v.x, v.y & ((1u << shift) - 1));
  }
}

}  // namespace

#define SCATTER_BIN(NAME, BINS)                                                                                                                                                       \
  extern "C" __global__ void __launch_bounds__(bin_threads_of(BINS)) NAME(const int* index, unsigned* counts, uint2* bins, long long rows, int n, int shift, int room) { \
    fill_bins<BINS>(index, counts, bins, rows, n, shift, room);                                                                                                         \
  }
SCATTER_BIN(scatter_bin, few_bins)
SCATTER_BIN(scatter_bin_many, most_bins)

#define SCATTER_RANGE(T, KIND, NAME, BYTES, SINGLE, BINNED)                                                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(THREADS, 4) scatter_##KIND##_##NAME(const T* x, const int* index, const T* src, T* out, unsigned* counts, const uint2* bins, long long rows, int dim, int n, int lanes, int span, \
                                                                                   int room) {                                                                                                                 \
    by_range<BYTES, SINGLE, BINNED>(x, index, src, out, counts, bins, rows, dim, n, lanes, span, room);                                                                                                          \
  }
#define SCATTER_KIND(T, KIND, BINNED)                                                                                                               \
  SCATTER_RANGE(T, KIND, T, 0, false, BINNED) SCATTER_RANGE(T, KIND, T##_8, 8, false, BINNED) SCATTER_RANGE(T, KIND, T##_16, 16, false, BINNED) \
  SCATTER_RANGE(T, KIND, T##_single, 0, true, BINNED)
#define SCATTER(T) SCATTER_KIND(T, found, false) SCATTER_KIND(T, bins, true)
#define SCATTER_PAIRS(T) SCATTER_RANGE(T, found, T##_4, 4, false, false) SCATTER_RANGE(T, bins, T##_4, 4, false, true)
SCATTER(f32)
SCATTER(f16) SCATTER_PAIRS(f16)
SCATTER(bf16) SCATTER_PAIRS(bf16)
