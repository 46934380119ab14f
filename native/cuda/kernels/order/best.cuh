// The first k words of elements that the threads of a group hold in registers, a warp or a block. A bound that k elements reach comes from the least words of
// the threads; where too many reach it, the exact one is found bit by bit. What reaches it is sorted: by its rank among all, or by merges.
#pragma once
#include "keys.cuh"
#include "words.cuh"

namespace best {

constexpr unsigned NONE = ~0u;  // above the word of every element

// Words of R elements of a thread. 16 bits: with the place among the elements of the group; f32: the order alone.
template <class E, int R>
struct Held {
  static constexpr int LANES = 16 / sizeof(E);
  unsigned word[R];

  // The n elements from `start` on of x, whose address is a multiple of 16 bytes; `threads` hold them. Place 0 is at the 16 bytes that element `start` lies in.
  __device__ __forceinline__ void load(const E* x, long long start, int n, int thread, int threads, words::Order order) {
    const int skip = static_cast<int>(start % LANES);
    const E* const from = x + (start - skip);
    uint4 vector[R / LANES];
#pragma unroll
    for (int v = 0; v < R / LANES; v++) {
      const int first = (v * threads + thread) * LANES;
      vector[v] = first < skip + n ? load16(from + first) : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int j = 0; j < R; j++) {
      const int at = place(j, thread, threads), e = j % LANES;
      const uint4 v = vector[j / LANES];
      const int part = e * static_cast<int>(sizeof(E)) / 4;
      const unsigned bits = part == 0 ? v.x : part == 1 ? v.y : part == 2 ? v.z : v.w;
      const E element = static_cast<E>(sizeof(E) == 4 ? bits : bits >> e % 2 * 16);
      const unsigned by_order = words::order_of(element, order);
      word[j] = at < skip || at >= skip + n ? NONE : sizeof(E) == 4 ? by_order : by_order << 16 | at;
    }
  }
  __device__ __forceinline__ static int place(int j, int thread, int threads) { return (j / LANES * threads + thread) * LANES + j % LANES; }
  __device__ __forceinline__ unsigned least() const {
    unsigned low = word[0];
#pragma unroll
    for (int j = 1; j < R; j++) low = min(low, word[j]);
    return low;
  }
};

// Words below `word`, and those equal to it up to `place`.
struct Bound {
  unsigned word, place;
  __device__ __forceinline__ bool reached(unsigned other, unsigned at) const { return other < word || (other == word && at <= place); }
};

// The bound that exactly the first k reach. count(f): how many of the group's words f(word, place) holds for.
template <class E, class Count>
__device__ __forceinline__ Bound exact_bound(int k, Count count) {
  unsigned word = 0, place = 0;
#pragma unroll 1
  for (int bit = 31; bit >= 0; bit--)
    if (count([=](unsigned other, unsigned) { return other <= (word | ((1u << bit) - 1)); }) < k) word |= 1u << bit;
  if (sizeof(E) == 2) return {word, NONE};
  const int left = k - count([=](unsigned other, unsigned) { return other < word; });
#pragma unroll 1
  for (int bit = 15; bit >= 0; bit--)
    if (count([=](unsigned other, unsigned at) { return other == word && at <= (place | ((1u << bit) - 1)); }) < left) place |= 1u << bit;
  return {word, place};
}

// The least words of 32 lanes in order.
__device__ __forceinline__ unsigned sorted_lanes(unsigned word) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int width = 1; width < 32; width *= 2) {
    unsigned other = __shfl_xor_sync(0xffffffffu, word, 2 * width - 1);
    word = lane & width ? max(word, other) : min(word, other);
#pragma unroll
    for (int distance = width / 2; distance > 0; distance /= 2) {
      other = __shfl_xor_sync(0xffffffffu, word, distance);
      word = lane & distance ? max(word, other) : min(word, other);
    }
  }
  return word;
}

// Words of this key below it among n.
__device__ __forceinline__ int rank_of(Key key, const Key* keys, int n) {
  int rank = 0;
#pragma unroll 4
  for (int i = 0; i < n; i++) rank += keys[spread(i)] < key;
  return rank;
}

}  // namespace best
