// Sorting of a row as integers.
//
// An element and its place in one integer: the upper half orders as the values do (equal ones, -0 and 0 among them, alike; NaN above all), the lower
// half is the place, so that integers in ascending order are the stable order of the row.
#pragma once
#include "map.h"
#include "reduce.h"

namespace {

template <class T>
inline uint64_t keyed(T x, int64_t place, bool descending) {
  const float value = to_float(x) + 0.0f;
  const uint32_t bits = float_bits(value), ascending = is_nan(value) ? UINT32_MAX : bits >> 31 ? ~bits : bits | 0x80000000u;
  return static_cast<uint64_t>(descending ? ~ascending : ascending) << 32 | static_cast<uint32_t>(place);
}

// Keys of n elements.
template <class T>
inline void key_row(const T* x, int64_t n, bool descending, uint64_t* keys) {
  constexpr int64_t SOME = 256;
  float widened[sizeof(T) < sizeof(float) ? SOME : 1];
  for (int64_t from = 0; from < n; from += SOME) {
    const int64_t end = least(from + SOME, n);
    if constexpr (sizeof(T) < sizeof(float)) {
      map1<false>(x + from, widened, 0, end - from, [](V v) { return v; });
      for (int64_t i = from; i < end; i++) keys[i] = keyed(widened[i - from], i, descending);
    } else {
      for (int64_t i = from; i < end; i++) keys[i] = keyed(x[i], i, descending);
    }
  }
}

// Vectors of keys, where they can be compared.
#if defined(__GNUC__) && (defined(OPSCOPE_ISA_avx512) || defined(OPSCOPE_ISA_avx2) || defined(OPSCOPE_ISA_neon))
#define OPSCOPE_KEY_VECTORS 1
using Keys = uint64_t __attribute__((vector_size(W * sizeof(uint64_t) / 2)));
constexpr int64_t KEYS = W / 2;
constexpr int64_t MOST_KEYS = 128;  // that are compared with one another

// n keys, and such as come behind all others up to a whole number of vectors.
struct PaddedKeys {
  alignas(64) uint64_t at[MOST_KEYS + KEYS];
  void pad(int64_t n) {
    for (int64_t i = n; i % KEYS != 0; i++) at[i] = UINT64_MAX;
  }
  Keys load(int64_t i) const {
    Keys keys;
    __builtin_memcpy(&keys, at + i, sizeof(keys));
    return keys;
  }
};

// The first k of n keys, each the least of those above the one before.
inline void pick_first(const PaddedKeys& a, int64_t n, int64_t k, uint64_t* out) {
  uint64_t above = 0;
  for (int64_t j = 0; j < k; j++) {
    const Keys from = Keys{} + above, none = ~Keys{};
    Keys least_of = none;
    for (int64_t i = 0; i < n; i += KEYS) {
      const Keys keys = a.load(i), left = keys >= from ? keys : none;
      least_of = left < least_of ? left : least_of;
    }
    uint64_t first = least_of[0];
    for (int64_t l = 1; l < KEYS; l++) first = least_of[l] < first ? least_of[l] : first;
    out[j] = first;
    above = first + 1;
  }
}

// Each of up to MOST_KEYS keys goes to the place that the number of those below it is.
inline void place_by_rank(const uint64_t* a, int64_t n, uint64_t* out) {
  PaddedKeys keys;
  for (int64_t i = 0; i < n; i++) keys.at[i] = a[i];
  keys.pad(n);
  for (int64_t i = 0; i < n; i += KEYS) {
    const Keys own = keys.load(i);
    Keys below{};
    for (int64_t j = 0; j < n; j++) below -= static_cast<Keys>(Keys{} + a[j] < own);
    for (int64_t l = 0; l < least(KEYS, n - i); l++) out[below[l]] = a[i + l];
  }
}

// Equal runs that are sorted so, of about as many elements as cost no more than merging.
inline int64_t even_run(int64_t n) {
  constexpr int64_t RUN_OF_RANKS = W < 16 ? 32 : 64;
  const int64_t runs = (n + RUN_OF_RANKS - 1) / RUN_OF_RANKS;
  return (n + runs - 1) / runs;
}
#endif

constexpr int64_t FEW = 8, RUN = 16;
constexpr int64_t LONG_FROM = 1024;  // elements from which three digits of 11 bits cost less than four of eight, which have an eighth of the buckets

inline void insertion_sort(uint64_t* a, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    const uint64_t x = a[i];
    int64_t j = i;
    for (; j > 0 && a[j - 1] > x; j--) a[j] = a[j - 1];
    a[j] = x;
  }
}

// Each of a few goes to the place that the number of those below it is: without branches, which nothing predicts.
template <int N>
inline void place_few(const uint64_t* a, uint64_t* out, int64_t n) {
  if constexpr (N > 1)
    if (n < N) return place_few<N - 1>(a, out, n);
  int below[N] = {};
#pragma GCC unroll 8
  for (int i = 1; i < N; i++) {
#pragma GCC unroll 8
    for (int j = 0; j < i; j++) {
      const int first = a[j] < a[i];
      below[i] += first;
      below[j] += 1 - first;
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < N; i++) out[below[i]] = a[i];
}

// Bottom-up merges of runs. Returns which of the two holds the result.
inline uint64_t* merge_sort(uint64_t* a, uint64_t* other, int64_t n) {
#if defined(OPSCOPE_KEY_VECTORS)
  // Into the other place, and merged from there.
  const int64_t run = even_run(n);
  for (int64_t i = 0; i < n; i += run) place_by_rank(a + i, least(run, n - i), other + i);
  uint64_t* const runs = other;
  other = a;
  a = runs;
#else
  const int64_t run = RUN;
  for (int64_t i = 0; i < n; i += RUN) insertion_sort(a + i, least(RUN, n - i));
#endif
  for (int64_t width = run; width < n; width *= 2) {
    for (int64_t i = 0; i < n; i += 2 * width) {
      const int64_t middle = least(i + width, n), end = least(i + 2 * width, n);
      int64_t left = i, right = middle;
      for (int64_t k = i; k < end; k++) {
        const bool from_left = right == end || (left < middle && a[left] < a[right]);
        other[k] = from_left ? a[left++] : a[right++];
      }
    }
    uint64_t* const swap = a;
    a = other;
    other = swap;
  }
  return a;
}

// Least significant digit first over the upper half, whose low bits may be known to be alike (16-bit types).
template <int DIGIT>
inline uint64_t* radix_sort(uint64_t* a, uint64_t* other, int64_t n, int from_bit) {
  constexpr int BUCKETS = 1 << DIGIT;
  uint32_t starts[BUCKETS];
  for (int shift = 32 + from_bit; shift < 64; shift += DIGIT) {
    for (int b = 0; b < BUCKETS; b++) starts[b] = 0;
    for (int64_t i = 0; i < n; i++) starts[a[i] >> shift & (BUCKETS - 1)]++;
    uint32_t total = 0;
    for (int b = 0; b < BUCKETS; b++) {
      const uint32_t count = starts[b];
      starts[b] = total;
      total += count;
    }
    for (int64_t i = 0; i < n; i++) other[starts[a[i] >> shift & (BUCKETS - 1)]++] = a[i];
    uint64_t* const swap = a;
    a = other;
    other = swap;
  }
  return a;
}

// Bits of the upper half that are the same for all values of a type.
template <class T>
constexpr int SAME_BITS = 0;
template <>
constexpr int SAME_BITS<F16> = 13;
template <>
constexpr int SAME_BITS<BF16> = 16;

template <class T>
inline uint64_t* sorted(uint64_t* a, uint64_t* other, int64_t n) {
  if (n <= FEW) return place_few<FEW>(a, other, n), other;
  constexpr int64_t RADIX_FROM = sizeof(T) < sizeof(float) ? 128 : 256;
  if (n < RADIX_FROM) return merge_sort(a, other, n);
  return n < LONG_FROM ? radix_sort<8>(a, other, n, SAME_BITS<T>) : radix_sort<11>(a, other, n, SAME_BITS<T>);
}

}  // namespace
