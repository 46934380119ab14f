// The first k elements of a row by a block, which counts them by the digits of their words until few enough are left, and sorts these (order_choose.cu).
#pragma once
#include "../common/vec.cuh"
#include "../order_choose.h"
#include "keys.cuh"
#include "words.cuh"

namespace choose {

struct True {
  static constexpr bool value = true;
};
struct False {
  static constexpr bool value = false;
};

constexpr int THREADS = choose_threads, DIGIT = 11, DIGITS = 1 << DIGIT;

template <int MOST>
struct Shared {
  Key keys[MOST + MOST / EACH];
  unsigned counts[DIGITS], sums[THREADS / 32];
  unsigned digit, before, of_digit;
  int kept;
};

// Elements whose word, or word and place, have the bits of the mask in common with those given, or less there.
struct Bound {
  unsigned word = 0, word_mask = 0, place = 0, place_mask = 0;
  __device__ __forceinline__ bool equals(unsigned other, unsigned at) const { return (other & word_mask) == word && (at & place_mask) == place; }
  __device__ __forceinline__ bool reached(unsigned other, unsigned at) const {
    const unsigned of = other & word_mask;
    return of < word || (of == word && (at & place_mask) <= place);
  }
};

// Finds the digit of the `want`-th of what was counted. Counts are left at zero.
template <int MOST>
__device__ __forceinline__ void find_digit(Shared<MOST>& s, unsigned want) {
  constexpr int OWN = DIGITS / THREADS;
  const int t = threadIdx.x;
  unsigned own[OWN], sum = 0;
  __syncthreads();
#pragma unroll
  for (int j = 0; j < OWN; j++) {
    own[j] = s.counts[t * OWN + j];
    s.counts[t * OWN + j] = 0;
    sum += own[j];
  }
  unsigned up_to = sum;
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) {
    const unsigned lower = __shfl_up_sync(0xffffffffu, up_to, offset);
    if (t % 32 >= offset) up_to += lower;
  }
  if (t % 32 == 31) s.sums[t / 32] = up_to;
  __syncthreads();
  unsigned before = up_to - sum;
  for (int w = 0; w < t / 32; w++) before += s.sums[w];
#pragma unroll
  for (int j = 0; j < OWN; j++) {
    if (before < want && want <= before + own[j]) s.digit = t * OWN + j, s.before = before, s.of_digit = own[j];
    before += own[j];
  }
  __syncthreads();
}

// Where the first k of each row of `cols` go, and the rows.
template <class E>
struct Out {
  E* values;
  int* indices;
  const E* x;
  int cols, k;
  words::Order order;
};

// Sorts `count` keys in shared memory, of which at least k, and stores the first. Of: threads of the block.
template <int OF, class E>
__device__ __forceinline__ void store_sorted(Key* keys, int count, const Out<E>& out, long long row) {
  const int t = threadIdx.x;
  int size = 32 * EACH;
  while (size < count) size *= 2;
  for (int i = count + t; i < size; i += OF) keys[spread(i)] = LAST;
  sort_keys<true>(keys, size);
  for (int i = t; i < out.k; i += OF) {
    const Key key = keys[spread(i)];
    const unsigned place = static_cast<unsigned>(key);
    out.values[row * out.k + i] = words::element_of<E>(static_cast<unsigned>(key >> 32), place, out.x + row * out.cols, out.order);
    out.indices[row * out.k + i] = static_cast<int>(place);
  }
}

// memory: room for the words of the row, where they are held.
template <bool HELD, int MOST, class E>
__device__ __forceinline__ void of_row(Shared<MOST>& s, uint4* memory, const Out<E>& out, long long row) {
  constexpr int LANES = 16 / sizeof(E), BITS = 8 * sizeof(E), U = 4;
  static_assert(MOST > most_chosen || sizeof(Shared<MOST>) <= choose_own_shared);
  const E* const x = out.x;
  const int cols = out.cols, k = out.k;
  const words::Order order = out.order;
  const long long start = row * cols;
  const int t = threadIdx.x, skip = static_cast<int>(start % LANES), vectors = (skip + cols + LANES - 1) / LANES;
  for (int i = t; i < DIGITS; i += THREADS) s.counts[i] = 0;
  if (t == 0) s.kept = 0;
  __syncthreads();
  // Vectors from the 16 bytes on that the row begins in; it lies in shared memory as it does there.
  const uint4* const from = reinterpret_cast<const uint4*>(x + (start - skip));
  // f(word, place, whether it is of the row) for all of them, by whole warps. FIRST: from x, to shared memory where they are held.
  const auto each = [&](auto first, auto f) {
    constexpr bool FIRST = decltype(first)::value;
    for (int base = 0; base < vectors; base += U * THREADS) {
      uint4 v[U];
#pragma unroll
      for (int u = 0; u < U; u++) {
        const int i = min(base + u * THREADS + t, vectors - 1);
        v[u] = HELD && !FIRST ? memory[i] : from[i];
      }
#pragma unroll
      for (int u = 0; u < U; u++) {
        if (base + u * THREADS >= vectors) break;
        const int i = base + u * THREADS + t;
        E e[LANES];
        memcpy(e, &v[u], 16);
#pragma unroll
        for (int j = 0; j < LANES; j++) {
          const unsigned word = HELD && !FIRST ? e[j] : words::order_of<E>(e[j], order);
          if (HELD && FIRST) e[j] = static_cast<E>(word);
          const int place = i * LANES + j - skip;
          f(word, place, i < vectors && place >= 0 && place < cols);
        }
        if (HELD && FIRST && i < vectors) {
          memcpy(&v[u], e, 16);
          memory[i] = v[u];
        }
      }
    }
  };
  each(True(), [&](unsigned word, int, bool own) {
    if (own) atomicAdd(&s.counts[word >> (BITS - DIGIT)], 1u);
  });
  Bound bound;
  unsigned want = k, above = 0;
  // Bits of the word, then of the place, that are still to be looked at.
  int word_left = BITS - DIGIT, place_left = 32 - __clz(cols);
  find_digit(s, want);
  bound.word = s.digit << word_left, bound.word_mask = ~0u << word_left;
  for (;;) {
    above += s.before, want -= s.before;
    if (above + s.of_digit <= MOST) break;
    const bool of_word = word_left > 0;
    int& left = of_word ? word_left : place_left;
    const int taken = min(left, DIGIT);
    left -= taken;
    const int shift = left;
    each(False(), [&](unsigned word, int place, bool own) {
      if (own && bound.equals(word, place)) atomicAdd(&s.counts[((of_word ? word : static_cast<unsigned>(place)) >> shift) & ((1u << taken) - 1)], 1u);
    });
    find_digit(s, want);
    const unsigned bits = s.digit << shift, mask = ((1u << taken) - 1) << shift;
    if (of_word) bound.word |= bits, bound.word_mask |= mask;
    else bound.place |= bits, bound.place_mask |= mask;
  }
  const int count = static_cast<int>(above + s.of_digit);
  each(False(), [&](unsigned word, int place, bool own) {
    const bool is = own && bound.reached(word, place);
    const unsigned votes = __ballot_sync(0xffffffffu, is);
    if (votes == 0) return;
    int to = 0;
    if (t % 32 == 0) to = atomicAdd(&s.kept, __popc(votes));
    to = __shfl_sync(0xffffffffu, to, 0) + __popc(votes & ((1u << t % 32) - 1));
    if (is) s.keys[spread(to)] = static_cast<Key>(word) << 32 | static_cast<unsigned>(place);
  });
  store_sorted<THREADS>(s.keys, count, out, row);
}

}  // namespace choose
