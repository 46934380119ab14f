// Sums over the pairs of elements of two tensors beyond the second-level cache.
#pragma once
#include "fetch.h"
#include "reduce.h"

namespace {

constexpr int64_t FAR_PAIRS = 1 << 18;  // that no second-level cache holds

// Sum of f(a, b) over n pairs: four parts of them side by side, of which one core has more lines on their way.
template <class T, class F>
inline float sum_side_by_side(const T* a, const T* b, int64_t n, F f) {
  constexpr int64_t PARTS = 4, AHEAD = 1024 / sizeof(T);
  const int64_t each = n / PARTS / IN_LINE<T> * IN_LINE<T>, rest = n - PARTS * each;
  const auto of_all = [=](int64_t i) {
    V sum[PARTS];
#pragma GCC unroll 4
    for (int64_t part = 0; part < PARTS; part++) {
      const T *const x = a + part * each + i, *const y = b + part * each + i;
      if (i % IN_LINE<T> == 0) {
        fetch_line(x + AHEAD, Near{});
        fetch_line(y + AHEAD, Near{});
      }
      sum[part] = f(vload(x), vload(y));
    }
    return vadd(vadd(sum[0], sum[1]), vadd(sum[2], sum[3]));
  };
  const float sum = total_of(each, of_all, [=](int64_t i, int) { return of_all(i); });
  return rest > 0 ? sum + sum_of_pairs(a + n - rest, b + n - rest, rest, f) : sum;
}

// The same of any number of pairs. distant_cache: of the call.
template <class T, class F>
inline float sum_of_pairs(const T* a, const T* b, int64_t n, F f, [[maybe_unused]] bool distant_cache) {
  if constexpr (W == LINE)
    if (distant_cache && n >= FAR_PAIRS) return sum_side_by_side(a, b, n, f);
  return sum_of_pairs(a, b, n, f);
}

}  // namespace
