// topk of up to 1024 of long rows, which are read twice. The first pass finds the least word of each of 2048 or more parts of a row; the k-th of these is a bound that at least k elements reach, and not many more unless
// the row is ordered. The second pass collects the elements that reach it, and these are sorted. If they are too many, digits are counted (order/choose.cuh).
//   order_filter_row_<bits>  a block for a row
//   order_least_<bits>, order_filter_<bits>  several blocks for a row, one launch for each pass
//   order_least_more_<bits>, order_filter_more_<bits>, order_filter_sort_<bits>  the same for up to 4096, of longer rows, with a launch that sorts
// 16: f16 and bf16; 32: f32.
#include "order_filter.h"
#include "common/early.cuh"
#include "common/reduce.cuh"
#include "order/choose.cuh"

namespace {

constexpr int THREADS = choose_threads, SLOTS = filter_slots, OWN = filter_own, MOST = most_chosen_far;
using Shared = choose::Shared<MOST>;
constexpr unsigned NONE = ~0u;  // above the word of every element

// see(slot, vector, words) for the vectors of the row from the 16 bytes on that it begins in, by whole warps; those of one slot of all threads of all parts lie side by side. Words beyond the row are NONE.
template <class E, class See>
__device__ __forceinline__ void each_vector(const choose::Out<E>& out, long long row, int part, int parts, const See& see) {
  constexpr int LANES = 16 / sizeof(E);
  const long long start = row * out.cols;
  const int skip = static_cast<int>(start % LANES), vectors = (skip + out.cols + LANES - 1) / LANES, step = parts * THREADS;
  const uint4* const from = reinterpret_cast<const uint4*>(out.x + (start - skip));
  for (int base = part * THREADS; base < vectors; base += SLOTS * step) {
    uint4 v[SLOTS];
#pragma unroll
    for (int u = 0; u < SLOTS; u++) v[u] = load16(from + min(base + u * step + static_cast<int>(threadIdx.x), vectors - 1));
#pragma unroll
    for (int u = 0; u < SLOTS; u++) {
      const int i = base + u * step + static_cast<int>(threadIdx.x);
      E e[LANES];
      memcpy(e, &v[u], 16);
      unsigned word[LANES];
#pragma unroll
      for (int j = 0; j < LANES; j++) word[j] = words::order_of<E>(e[j], out.order);
      if (i == 0 || i >= vectors - 1) {
#pragma unroll
        for (int j = 0; j < LANES; j++)
          if (static_cast<unsigned>(i) * LANES + j - skip >= static_cast<unsigned>(out.cols)) word[j] = NONE;
      }
      see(u, i, word);
    }
  }
}

template <int N>
__device__ __forceinline__ unsigned least_of(const unsigned (&word)[N]) {
  unsigned low = word[0];
#pragma unroll
  for (int j = 1; j < N; j++) low = min(low, word[j]);
  return low;
}

// The least words of the vectors that this thread sees, and in which vector each comes first.
template <class E>
__device__ __forceinline__ void find_least(const choose::Out<E>& out, long long row, int part, int parts, Key (&least)[SLOTS]) {
  unsigned low[SLOTS], at[SLOTS] = {};
#pragma unroll
  for (int u = 0; u < SLOTS; u++) low[u] = NONE;
  each_vector(out, row, part, parts, [&](int u, int i, const auto& word) {
    const unsigned of = least_of(word);
    if (of < low[u]) low[u] = of, at[u] = i;
  });
#pragma unroll
  for (int u = 0; u < SLOTS; u++) least[u] = low[u] == NONE ? LAST : static_cast<Key>(low[u]) << 32 | at[u];
}

// A key that k of the block's own reach, and not many more.
template <int OWN>
__device__ __forceinline__ Key bound_of(Shared& s, const Key (&own)[OWN], unsigned k) {
  __shared__ unsigned all, any;
  for (int i = threadIdx.x; i < choose::DIGITS; i += THREADS) s.counts[i] = 0;
  if (threadIdx.x == 0) all = NONE, any = 0;
  __syncthreads();
  unsigned own_all = NONE, own_any = 0;
#pragma unroll
  for (int j = 0; j < OWN; j++)
    if (own[j] != LAST) own_all &= static_cast<unsigned>(own[j] >> 32), own_any |= static_cast<unsigned>(own[j] >> 32);
  own_all = __reduce_and_sync(0xffffffffu, own_all), own_any = __reduce_or_sync(0xffffffffu, own_any);
  if (threadIdx.x % 32 == 0) atomicAnd(&all, own_all), atomicOr(&any, own_any);
  __syncthreads();
  // Bits that all words have in common need no digits.
  int left = 64 - __clz(all ^ any);
  const Key same = left < 64 ? static_cast<Key>(any) << 32 >> left << left : 0;
  const unsigned enough = k + k / 8;
  Key bits = 0, mask = 0;
  unsigned above = 0;
  while (left > 0) {
    const int taken = min(left, choose::DIGIT);
    left -= taken;
#pragma unroll
    for (int j = 0; j < OWN; j++)
      if (own[j] != LAST && (own[j] & mask) == bits) atomicAdd(&s.counts[static_cast<unsigned>(own[j] >> left) & ((1u << taken) - 1)], 1u);
    choose::find_digit(s, k - above);
    above += s.before;
    bits |= static_cast<Key>(s.digit) << left, mask |= static_cast<Key>((1u << taken) - 1) << left;
    if (above + s.of_digit <= enough) break;
  }
  return same | bits | ((Key(1) << left) - 1);
}

// Keys of the elements of the vectors that this block sees which reach the bound, as far as there is room. Returns how many do.
template <class E>
__device__ __forceinline__ int collect(Shared& s, const choose::Out<E>& out, long long row, int part, int parts, Key bound) {
  constexpr int LANES = 16 / sizeof(E);
  const unsigned of_bound = static_cast<unsigned>(bound >> 32), last = static_cast<unsigned>(bound);
  const int lane = threadIdx.x % 32, skip = static_cast<int>(row * out.cols % LANES);
  if (threadIdx.x == 0) s.kept = 0;
  __syncthreads();
  each_vector(out, row, part, parts, [&](int, int i, const auto& word) {
    if (!__any_sync(0xffffffffu, least_of(word) <= of_bound)) return;
#pragma unroll
    for (int j = 0; j < LANES; j++) {
      const bool is = word[j] < of_bound || (word[j] == of_bound && static_cast<unsigned>(i) <= last);
      const unsigned votes = __ballot_sync(0xffffffffu, is);
      if (votes == 0) continue;
      int to = 0;
      if (lane == 0) to = atomicAdd(&s.kept, __popc(votes));
      to = __shfl_sync(0xffffffffu, to, 0) + __popc(votes & ((1u << lane) - 1));
      if (is && to < MOST) s.keys[spread(to)] = static_cast<Key>(word[j]) << 32 | static_cast<unsigned>(i * LANES + j - skip);
    }
  });
  __syncthreads();
  return s.kept;
}

template <class E>
__device__ __forceinline__ void finish(Shared& s, int count, const choose::Out<E>& out, long long row) {
  if (count <= MOST) return choose::store_sorted<THREADS>(s.keys, count, out, row);
  __syncthreads();
  choose::of_row<false>(s, nullptr, out, row);
}

// grid: rows.
template <class E>
__device__ __forceinline__ void filter_row(const choose::Out<E>& out) {
  __shared__ Shared s;
  const long long row = blockIdx.x;
  Key least[SLOTS], own[OWN];
  find_least(out, row, 0, 1, least);
#pragma unroll
  for (int j = 0; j < OWN; j++) own[j] = j < SLOTS ? least[j] : LAST;
  finish(s, collect(s, out, row, 0, 1, bound_of(s, own, out.k)), out, row);
}

// grid: rows * parts. least [rows, parts, each], bounds [rows], arrived [rows].
template <int OWN, class E>
__device__ __forceinline__ void leave_least(const choose::Out<E>& out, int parts, int each, Key* least, Key* bounds, unsigned* arrived) {
  __shared__ Shared s;
  next_may_start();
  const long long row = blockIdx.x / parts;
  const int part = static_cast<int>(blockIdx.x % parts), count = parts * each;
  Key* const of_row = least + row * count;
  Key own[SLOTS], all[OWN];
  find_least(out, row, part, parts, own);
  Key* const to = of_row + part * each;
  if (each == SLOTS * THREADS) {
#pragma unroll
    for (int u = 0; u < SLOTS; u++) to[u * THREADS + threadIdx.x] = own[u];
  } else {
    Key low = min(min(own[0], own[1]), min(own[2], own[3]));
    const int lanes = each / (THREADS / 32), lane = threadIdx.x % 32;
    for (int offset = 16; offset >= lanes; offset /= 2) low = min(low, __shfl_xor_sync(0xffffffffu, low, offset));
    if (lane < lanes) to[threadIdx.x / 32 * lanes + lane] = low;
  }
  if (!last_to_arrive(arrived + row, parts)) return;
#pragma unroll
  for (int j = 0; j < OWN; j++) all[j] = LAST;
  for (int base = threadIdx.x; base < count; base += OWN * THREADS) {
#pragma unroll
    for (int j = 0; j < OWN; j++)
      if (base + j * THREADS < count) all[j] = min(all[j], __ldcg(of_row + base + j * THREADS));
  }
  const Key bound = bound_of(s, all, out.k);
  if (threadIdx.x == 0) bounds[row] = bound;
}

// Adds what this block finds to the keys of the row, of which there is room for ROOM, and waits for all blocks of the row. True in the one that comes last. counts [rows]: more than ROOM where keys are missing.
template <int ROOM, class E>
__device__ __forceinline__ bool leave_keys(Shared& s, const choose::Out<E>& out, long long row, int parts, const Key* bounds, Key* of_row, unsigned* counts, unsigned* arrived) {
  __shared__ unsigned start;
  wait_for_last();
  const int found = collect(s, out, row, static_cast<int>(blockIdx.x % parts), parts, __ldcg(bounds + row));
  if (threadIdx.x == 0) start = found > 0 ? atomicAdd(counts + row, static_cast<unsigned>(found > MOST ? ROOM + 1 : found)) : 0;
  __syncthreads();
  for (int i = threadIdx.x; i < min(found, MOST); i += THREADS)
    if (start + i < ROOM) of_row[start + i] = s.keys[spread(i)];
  return last_to_arrive(arrived + row, parts);
}

// grid: rows * parts. keys [rows, MOST], counts and arrived [rows], which are left at zero.
template <class E>
__device__ __forceinline__ void filter_parts(const choose::Out<E>& out, int parts, const Key* bounds, Key* keys, unsigned* counts, unsigned* arrived) {
  __shared__ Shared s;
  const long long row = blockIdx.x / parts;
  Key* const of_row = keys + row * MOST;
  if (!leave_keys<MOST>(s, out, row, parts, bounds, of_row, counts, arrived)) return;
  const int count = static_cast<int>(min(__ldcg(counts + row), static_cast<unsigned>(MOST + 1)));
  __syncthreads();
  if (threadIdx.x == 0) counts[row] = 0;
  for (int i = threadIdx.x; i < min(count, MOST); i += THREADS) s.keys[spread(i)] = __ldcg(of_row + i);
  finish(s, count, out, row);
}

// The same for more keys, which order_filter_sort sorts; if they are too many, digits are counted here. keys [rows, filter_more_keys].
template <class E>
__device__ __forceinline__ void filter_more(const choose::Out<E>& out, int parts, const Key* bounds, Key* keys, unsigned* counts, unsigned* arrived) {
  __shared__ Shared s;
  next_may_start();
  const long long row = blockIdx.x / parts;
  if (!leave_keys<filter_more_keys>(s, out, row, parts, bounds, keys + row * filter_more_keys, counts, arrived) || __ldcg(counts + row) <= filter_more_keys) return;
  __syncthreads();
  choose::of_row<false>(s, nullptr, out, row);
}

// grid: rows. Sorts what filter_more left, unless that has the result already. counts [rows] are left at zero.
template <class E>
__device__ __forceinline__ void sort_filtered(const choose::Out<E>& out, const Key* keys, unsigned* counts) {
  extern __shared__ Key kept[];
  const long long row = blockIdx.x;
  const Key* const of_row = keys + row * filter_more_keys;
  wait_for_last();
  const int count = static_cast<int>(min(__ldcg(counts + row), static_cast<unsigned>(filter_more_keys + 1)));
  __syncthreads();
  if (threadIdx.x == 0) counts[row] = 0;
  if (count > filter_more_keys) return;
  for (int i = threadIdx.x; i < count; i += filter_more_threads) kept[spread(i)] = __ldcg(of_row + i);
  choose::store_sorted<filter_more_threads>(kept, count, out, row);
}

}  // namespace

#define FILTER(bits, E)                                                                                                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(THREADS, 2) order_filter_row_##bits(const E* x, E* values, int* indices, int cols, int k, unsigned infinity, unsigned flip) {                                     \
    filter_row<E>({values, indices, x, cols, k, {infinity, flip}});                                                                                                                                                      \
  }                                                                                                                                                                                                                       \
  extern "C" __global__ void __launch_bounds__(THREADS, 2) order_least_##bits(const E* x, int cols, int k, unsigned infinity, unsigned flip, int parts, Key* least, Key* bounds, unsigned* arrived) {              \
    leave_least<OWN, E>({nullptr, nullptr, x, cols, k, {infinity, flip}}, parts, filter_least(parts), least, bounds, arrived);                                                                                            \
  }                                                                                                                                                                                                                       \
  extern "C" __global__ void __launch_bounds__(THREADS, 2) order_least_more_##bits(const E* x, int cols, int k, unsigned infinity, unsigned flip, int parts, Key* least, Key* bounds, unsigned* arrived) {         \
    leave_least<filter_more_own, E>({nullptr, nullptr, x, cols, k, {infinity, flip}}, parts, filter_more_least(parts), least, bounds, arrived);                                                                           \
  }                                                                                                                                                                                                                       \
  extern "C" __global__ void __launch_bounds__(THREADS, 2) order_filter_##bits(const E* x, E* values, int* indices, int cols, int k, unsigned infinity, unsigned flip, int parts, const Key* bounds, Key* keys, \
                                                                               unsigned* counts, unsigned* arrived) {                                                                                                   \
    filter_parts<E>({values, indices, x, cols, k, {infinity, flip}}, parts, bounds, keys, counts, arrived);                                                                                                              \
  }                                                                                                                                                                                                                       \
  extern "C" __global__ void __launch_bounds__(THREADS, 2) order_filter_more_##bits(const E* x, E* values, int* indices, int cols, int k, unsigned infinity, unsigned flip, int parts, const Key* bounds,         \
                                                                                    Key* keys, unsigned* counts, unsigned* arrived) {                                                                                   \
    filter_more<E>({values, indices, x, cols, k, {infinity, flip}}, parts, bounds, keys, counts, arrived);                                                                                                               \
  }                                                                                                                                                                                                                       \
  extern "C" __global__ void __launch_bounds__(filter_more_threads) order_filter_sort_##bits(const E* x, E* values, int* indices, int cols, int k, unsigned infinity, unsigned flip, const Key* keys,              \
                                                                                             unsigned* counts) {                                                                                                        \
    sort_filtered<E>({values, indices, x, cols, k, {infinity, flip}}, keys, counts);                                                                                                                                     \
  }
FILTER(16, unsigned short)
FILTER(32, unsigned)
