// topk of few: the first k of a row, or of a part of it, out of registers (order/best.cuh).
//   order_best_warp_<bits>_<r>  a warp for each row, r elements of a lane; k up to 32
//   order_best_<bits>_<r>       a block for each part of a row; the block that comes last of a row joins what the parts leave, or another kernel does
// 16: f16 and bf16; 32: f32.
#include "common/reduce.cuh"
#include "order/best.cuh"

namespace {

using best::Bound;
using best::Held;

template <class E>
struct Out {
  E* values;
  int* indices;
  const E* x;
  long long cols;
  int k;
  words::Order order;

  __device__ __forceinline__ void put(long long row, int rank, Key key) const {
    const unsigned place = static_cast<unsigned>(key);
    values[row * k + rank] = words::element_of<E>(static_cast<unsigned>(key >> 32), place, x + row * cols, order);
    indices[row * k + rank] = static_cast<int>(place);
  }
};

// The key of a held word: of an element at place `at` of the group, of which place `skip` is element `from` of the row.
template <class E>
__device__ __forceinline__ Key key_of(unsigned word, long long from, int at, int skip) {
  return static_cast<Key>(sizeof(E) == 2 ? word >> 16 : word) << 32 | static_cast<unsigned>(from + at - skip);
}

constexpr int WARPS = 4, WARP_MOST = 128;

template <class E, int R>
__device__ __forceinline__ void of_warp(const Out<E>& out, long long rows) {
  __shared__ Key kept[WARPS][WARP_MOST + WARP_MOST / EACH];
  const int lane = threadIdx.x % 32, n = static_cast<int>(out.cols);
  const long long row = static_cast<long long>(blockIdx.x) * WARPS + threadIdx.x / 32;
  if (row >= rows) return;
  Key* const keys = kept[threadIdx.x / 32];
  Held<E, R> held;
  held.load(out.x, row * out.cols, n, lane, 32, out.order);
  const int skip = static_cast<int>(row * out.cols % Held<E, R>::LANES);
  const unsigned least = held.least();
  const auto collect = [&](auto reached) {
    int count = 0;
#pragma unroll
    for (int j = 0; j < R; j++) {
      const int at = Held<E, R>::place(j, lane, 32);
      const bool is = reached(held.word[j], at);
      const unsigned votes = __ballot_sync(0xffffffffu, is);
      if (votes == 0) continue;
      const int to = count + __popc(votes & ((1u << lane) - 1));
      if (is && to < WARP_MOST) keys[spread(to)] = key_of<E>(held.word[j], 0, at, skip);
      count += __popc(votes);
    }
    __syncwarp();
    return count;
  };
  const unsigned bound = min(__shfl_sync(0xffffffffu, best::sorted_lanes(least), out.k - 1), best::NONE - 1);
  int count = collect([&](unsigned word, int) { return word <= bound; });
  if (count > WARP_MOST) {
    const Bound exact = best::exact_bound<E>(out.k, [&](auto holds) {
      int own = 0;
#pragma unroll
      for (int j = 0; j < R; j++) own += holds(held.word[j], Held<E, R>::place(j, lane, 32));
      return warp_reduce(own, [](int a, int b) { return a + b; });
    });
    count = collect([&](unsigned word, int at) { return exact.reached(word, at); });
  }
  for (int i = lane; i < count; i += 32) {
    const Key key = keys[spread(i)];
    const int rank = best::rank_of(key, keys, count);
    if (rank < out.k) out.put(row, rank, key);
  }
}

constexpr int THREADS = 256, MOST = THREADS * EACH;

struct Shared {
  Key keys[MOST + MOST / EACH];
  unsigned least[THREADS];
  int sums[3], count;
  unsigned bound;
  Key last;
};

// Sorts n keys in shared memory and hands each rank below k with its key to put.
template <class Put>
__device__ __forceinline__ void in_order(Shared& s, int n, int k, Put put) {
  if (n <= THREADS) {
    if (threadIdx.x >= n) return;
    const Key key = s.keys[spread(threadIdx.x)];
    const int rank = best::rank_of(key, s.keys, n);
    if (rank < k) put(rank, key);
    return;
  }
  for (int i = n + threadIdx.x; i < MOST; i += THREADS) s.keys[spread(i)] = LAST;
  sort_block(s.keys);
  for (int i = threadIdx.x; i < k; i += THREADS) put(i, s.keys[spread(i)]);
}

// A bound that k words of the block reach: by warps for a few, by the rank among the least words of all threads for some.
template <class E>
__device__ __forceinline__ unsigned bound_of(Shared& s, unsigned least, int k) {
  constexpr int BY_WARPS = 12;
  if (threadIdx.x == 0) s.bound = best::NONE - 1;
  s.least[threadIdx.x] = least;
  __syncthreads();
  if (k <= BY_WARPS) {
    const unsigned of_warp = __shfl_sync(0xffffffffu, best::sorted_lanes(least), k - 1);
    if (threadIdx.x % 32 == 0) atomicMin(&s.bound, of_warp);
  } else {
    int rank = 0;
#pragma unroll 4
    for (int i = 0; i < THREADS; i += 4) {
      const uint4 others = *reinterpret_cast<const uint4*>(&s.least[i]);
      const int t = threadIdx.x;
      rank += others.x < least || (others.x == least && i < t);
      rank += others.y < least || (others.y == least && i + 1 < t);
      rank += others.z < least || (others.z == least && i + 2 < t);
      rank += others.w < least || (others.w == least && i + 3 < t);
    }
    if (rank == k - 1) s.bound = min(least, best::NONE - 1);
  }
  __syncthreads();
  return s.bound;
}

// grid: rows * parts. Elements of a part and its start within 16 bytes: R * THREADS at most. to: [rows, parts, k], where parts > 1; arrived: [rows], null where another
// kernel joins the parts.
template <class E, int R>
__device__ __forceinline__ void of_block(const Out<E>& out, Key* to, unsigned* arrived, int parts, int part) {
  __shared__ alignas(16) Shared s;
  const long long row = blockIdx.x / parts, from = static_cast<long long>(blockIdx.x % parts) * part, start = row * out.cols + from;
  const int n = static_cast<int>(min(static_cast<long long>(part), out.cols - from)), lane = threadIdx.x % 32, k = out.k;
  const int skip = static_cast<int>(start % Held<E, R>::LANES);
  Held<E, R> held;
  held.load(out.x, start, n, threadIdx.x, THREADS, out.order);
  const unsigned least = held.least();
  const auto collect = [&](Bound bound) {
    if (threadIdx.x == 0) s.count = 0;
    __syncthreads();
    if (__any_sync(0xffffffffu, least <= bound.word)) {
#pragma unroll
      for (int j = 0; j < R; j++) {
        const int at = Held<E, R>::place(j, threadIdx.x, THREADS);
        const bool reached = bound.reached(held.word[j], at);
        const unsigned votes = __ballot_sync(0xffffffffu, reached);
        if (votes == 0) continue;
        int place = 0;
        if (lane == 0) place = atomicAdd(&s.count, __popc(votes));
        place = __shfl_sync(0xffffffffu, place, 0) + __popc(votes & ((1u << lane) - 1));
        if (reached && place < MOST) s.keys[spread(place)] = key_of<E>(held.word[j], from, at, skip);
      }
    }
    __syncthreads();
    return s.count;
  };
  int count = MOST + 1;
  if (n <= k) count = collect({best::NONE - 1, best::NONE});
  else if (k <= THREADS / 2) count = collect({bound_of<E>(s, least, k), best::NONE});
  if (count > MOST) {
    if (threadIdx.x == 0) s.sums[0] = 0;
    __syncthreads();
    int turn = 0;
    count = collect(best::exact_bound<E>(k, [&](auto holds) {
      int own = 0;
#pragma unroll
      for (int j = 0; j < R; j++) own += holds(held.word[j], Held<E, R>::place(j, threadIdx.x, THREADS));
      own = warp_reduce(own, [](int a, int b) { return a + b; });
      // Three sums in turn, so that one barrier is enough: the next one was read before the last.
      const int now = turn, next = turn == 2 ? 0 : turn + 1;
      turn = next;
      if (threadIdx.x == 0) s.sums[next] = 0;
      if (lane == 0) atomicAdd(&s.sums[now], own);
      __syncthreads();
      return s.sums[now];
    }));
  }
  if (parts == 1) {
    in_order(s, count, k, [&](int rank, Key key) { out.put(row, rank, key); });
    return;
  }
  Key* const of_row = to + row * parts * k;
  Key* const own = of_row + static_cast<long long>(blockIdx.x % parts) * k;
  in_order(s, count, k, [&](int rank, Key key) { own[rank] = key; });
  for (int i = count + threadIdx.x; i < k; i += THREADS) own[i] = LAST;
  if (!arrived || !last_to_arrive(&arrived[row], parts)) return;
  // No key after the last that some part leaves is among the first of the row.
  if (threadIdx.x == 0) s.last = LAST, s.count = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < parts; i += THREADS) atomicMin(&s.last, of_row[static_cast<long long>(i) * k + k - 1]);
  __syncthreads();
  const Key last = s.last;
  for (int i = threadIdx.x; i < parts * k; i += THREADS) {
    const Key key = of_row[i];
    if (key <= last && key != LAST) s.keys[spread(atomicAdd(&s.count, 1))] = key;
  }
  __syncthreads();
  in_order(s, s.count, k, [&](int rank, Key key) { out.put(row, rank, key); });
}

}  // namespace

#define BEST(bits, E, R)                                                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(WARPS * 32) order_best_warp_##bits##_##R(const E* x, E* values, int* indices, long long rows, int cols, int k, unsigned infinity, \
                                                                                         unsigned flip) {                                                                    \
    of_warp<E, R>({values, indices, x, cols, k, {infinity, flip}}, rows);                                                                                                    \
  }                                                                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(THREADS) order_best_##bits##_##R(const E* x, E* values, int* indices, Key* to, unsigned* arrived, long long cols, int parts,   \
                                                                                 int part, int k, unsigned infinity, unsigned flip) {                                        \
    of_block<E, R>({values, indices, x, cols, k, {infinity, flip}}, to, arrived, parts, part);                                                                               \
  }
BEST(16, unsigned short, 8)
BEST(16, unsigned short, 16)
BEST(16, unsigned short, 32)
BEST(32, unsigned, 8)
BEST(32, unsigned, 16)
BEST(32, unsigned, 32)
