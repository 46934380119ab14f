// Elements fetched before they are read.
#pragma once
#include "simd.h"

namespace {

// Where they are fetched to: the first-level cache, or the second-level one.
struct Near {
  static inline void fetch(const void* p) { vprefetch(p); }
};
struct Far {
  static inline void fetch(const void* p) { vprefetch_far(p); }
};

template <class T, class Where>
inline void fetch_line(const T* p, Where) {
  Where::fetch(p);
#if defined(__GNUC__)
  __asm__ volatile("");  // compilers take out calls of functions that only prefetch
#endif
}

template <class T>
constexpr int64_t IN_LINE = LINE * sizeof(float) / sizeof(T);

// Elements from one that is read to one that is fetched on time from memory that is read in its order.
template <class T>
constexpr int64_t FETCHED_AHEAD = 2048 / sizeof(T);

// Floats in memory of which those further on are fetched into the second-level cache, for vload() and vload_n().
struct FetchedFloat {
  float value;
};
inline const FetchedFloat* fetched_ahead(const float* p) { return reinterpret_cast<const FetchedFloat*>(p); }
inline V vload(const FetchedFloat* p) {
  constexpr int64_t AHEAD = 8192 / sizeof(float);
  fetch_line(&p->value + AHEAD, Far{});
  return vload(&p->value);
}
inline V vload_n(const FetchedFloat* p, int n, float pad) { return vload_n(&p->value, n, pad); }

// Calls use(j) for each vector j of the first `columns` columns, whole vectors, of ROWS rows. FETCH: beside it the same columns of the
// ROWS rows from `next` on are fetched into the second-level cache, one row after the other: the processor reads ahead of memory
// that is read in its order, but not of ROWS rows side by side.
template <bool FETCH, int ROWS, class T, class F>
inline void each_vector(int64_t columns, const T* next, int64_t stride, F use) {
  int64_t j = 0;
  if constexpr (FETCH) {
    const int64_t share = (columns / ROWS + W - 1) / W * W;
    for (int r = 0; r < ROWS; r++, next += stride) {
      const T* line = next;
      for (const int64_t end = least(j + share, columns); j < end; j += W) {
#pragma GCC unroll 8
        for (int i = 0; i < ROWS * W / IN_LINE<T>; i++, line += IN_LINE<T>) fetch_line(line, Far{});
        use(j);
      }
    }
  }
  for (; j < columns; j += W) use(j);
}

}  // namespace
