// Vectors of elements that lie anywhere near one another, put in their lanes by permutations that are listed once (AVX-512).
#pragma once
#include "map.h"

namespace {

#if defined(OPSCOPE_ISA_avx512)
#define OPSCOPE_GATHERED 1

// Lanes of a vector that are read together: of the 16 elements from `from` on those of `met`, in the order `order`.
struct Gathered {
  __m512i order;
  int64_t from;
  VLanes met, lanes;
};

inline V some_of(const float* p, VLanes met) { return _mm512_maskz_loadu_ps(met, p); }
template <class T>
inline V some_of(const T* p, VLanes met) { return vload_masked(p, met); }

// Lists the elements at place[0] .. place[n - 1], none where negative, vector by vector; past[v]: how many up to the end of vector v. At most n, or one for each vector.
inline void list_gathered(const int64_t* place, int64_t n, Gathered* list, int32_t* past) {
  int32_t count = 0;
  for (int64_t v = 0; v < n; v += W) {
    const int lanes = static_cast<int>(least(W, n - v));
    const int32_t first = count;
    for (int lane = 0; lane < lanes;) {
      if (place[v + lane] < 0) {
        lane++;
        continue;
      }
      alignas(64) int32_t order[W] = {};
      Gathered& one = list[count++];
      one.from = place[v + lane], one.met = one.lanes = 0;
      for (; lane < lanes && (place[v + lane] < 0 || (place[v + lane] >= one.from && place[v + lane] - one.from < W)); lane++) {
        if (place[v + lane] < 0) continue;
        order[lane] = static_cast<int32_t>(place[v + lane] - one.from);
        one.met = static_cast<VLanes>(one.met | 1u << order[lane]), one.lanes = static_cast<VLanes>(one.lanes | 1u << lane);
      }
      one.order = _mm512_load_si512(order);
    }
    if (count == first) list[count++] = {_mm512_setzero_si512(), 0, 0, 0};
    past[v / W] = count;
  }
}

// One of those vectors, zero where there is no element.
template <class T>
OPSCOPE_INLINE V gathered(const T* x, const Gathered* one, const Gathered* end) {
  V all = _mm512_maskz_permutexvar_ps(one->lanes, one->order, some_of(x + one->from, one->met));
  for (one++; one < end; one++) all = _mm512_mask_permutexvar_ps(all, one->lanes, one->order, some_of(x + one->from, one->met));
  return all;
}
template <class T>
OPSCOPE_INLINE void gather(const T* x, const Gathered* list, const int32_t* past, int64_t vectors, float* to) {
  for (int64_t v = 0; v < vectors; v++) vstore(to + v * W, gathered(x, list + (v == 0 ? 0 : past[v - 1]), list + past[v]));
}
#endif

}  // namespace
