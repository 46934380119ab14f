// The order of rows of a few elements, a vector of neighbouring rows at once (columns.h).
#pragma once
#include "columns.h"

namespace {

// The longest rows.
constexpr int64_t ORDERED = LONGEST;

// The best k of each of TOGETHER vectors of rows come first: in pass p the best of the elements from p on moves up to p, past those that are not
// better, so that equal ones stay in their order.
template <int TOGETHER>
inline void order_columns(int64_t cols, int64_t k, bool descending, float* values, float* places) {
  const auto load = [](const float* from, V (&to)[TOGETHER]) {
    for (int v = 0; v < TOGETHER; v++) to[v] = vload(from + v * W);
  };
  const auto pass = [&](int64_t p, const auto& choose) {
    V best[TOGETHER], place[TOGETHER];
    load(values + (cols - 1) * AT_ONCE, best);
    load(places + (cols - 1) * AT_ONCE, place);
    for (int64_t i = (cols - 2) * AT_ONCE; i >= p * AT_ONCE; i -= AT_ONCE) {
      V value[TOGETHER], number[TOGETHER];
      load(values + i, value);
      load(places + i, number);
      for (int v = 0; v < TOGETHER; v++) {
        const V kept = best[v];
        vstore(values + i + AT_ONCE + v * W, choose(kept, value[v], value[v], kept));
        vstore(places + i + AT_ONCE + v * W, choose(kept, value[v], number[v], place[v]));
        best[v] = choose(kept, value[v], kept, value[v]);
        place[v] = choose(kept, value[v], place[v], number[v]);
      }
    }
    for (int v = 0; v < TOGETHER; v++) {
      vstore(values + p * AT_ONCE + v * W, best[v]);
      vstore(places + p * AT_ONCE + v * W, place[v]);
    }
  };
  for (int64_t p = 0; p < least(k, cols - 1); p++) {
    if (descending) pass(p, [](V a, V b, V yes, V no) { return vless(b, a, yes, no); });
    else pass(p, [](V a, V b, V yes, V no) { return vless(a, b, yes, no); });
  }
}

// The first k of the order of each of `rows`, as values and places; other(row) orders rows among which one has NaN.
template <class T, class F>
OPSCOPE_APART void order_short_rows(const T* x, int64_t cols, int64_t k, Range rows, bool descending, T* values, int32_t* indices, F other) {
  alignas(64) float sorted_values[ORDERED * AT_ONCE] = {}, places[ORDERED * AT_ONCE];
  for (int64_t from = rows.begin; from < rows.end; from += AT_ONCE) {
    const int64_t n = least(AT_ONCE, rows.end - from);
    gather_columns(x + from * cols, cols, n, sorted_values);
    bool nan = false;
    for (int64_t i = 0; i < cols; i++) {
      const V place = vset(bits_float(static_cast<uint32_t>(i)));
      for (int64_t r = 0; r < n; r += W) {
        const V v = vload(sorted_values + i * AT_ONCE + r);
        nan |= !vall_at_most(v, v);
        vstore(places + i * AT_ONCE + r, place);
      }
    }
    if (nan) {
      for (int64_t row = from; row < from + n; row++) other(row);
      continue;
    }
    // A step of a pass waits for the one before: several vectors at a time cost little more than one.
    for (int64_t r = 0; r < n; r += 4 * W) {
      if (n - r <= W) order_columns<1>(cols, k, descending, sorted_values + r, places + r);
      else if (n - r <= 2 * W) order_columns<2>(cols, k, descending, sorted_values + r, places + r);
      else order_columns<4>(cols, k, descending, sorted_values + r, places + r);
    }
    scatter_rows(sorted_values, k, n, values + from * k);
    scatter_rows(places, k, n, reinterpret_cast<float*>(indices + from * k));
  }
}

}  // namespace
