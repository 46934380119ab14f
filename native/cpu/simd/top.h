// The best k of a row, in their order (keys.h).
#pragma once
#include "keys.h"

namespace {

// The first n of the order, as values and places.
template <class T>
inline void write_order(const T* x, const uint64_t* order, int64_t n, T* values, int32_t* indices) {
  for (int64_t i = 0; i < n; i++) {
    indices[i] = static_cast<int32_t>(order[i]);
    values[i] = x[indices[i]];
  }
}

// Candidates that are kept before all but the best k are dropped.
int64_t topk_room(int64_t cols, int64_t k) { return least(cols, 2 * k + (k < 32 ? 16 : 64)); }

// Whether so many of a row are wanted that the first digit of each element tells most others apart from them.
bool top_by_digits(int64_t cols, int64_t k) { return k > 32 && 32 * k >= cols; }

// Those in the same bucket as the k-th best of a row, by the first digit, and in better ones are sorted.
template <class T>
void top_of_buckets(const T* x, int64_t cols, int64_t k, uint64_t* a, uint64_t* other, T* values, int32_t* indices) {
  constexpr int DIGIT = 11, SHIFT = 64 - DIGIT;
  uint32_t counts[1 << DIGIT] = {};
  key_row(x, cols, true, other);
  for (int64_t i = 0; i < cols; i++) counts[other[i] >> SHIFT]++;
  uint64_t last = 0;
  for (int64_t better = counts[0]; better < k; better += counts[last]) last++;
  int64_t count = 0;
  for (int64_t i = 0; i < cols; i++) {
    a[count] = other[i];
    count += other[i] >> SHIFT <= last;
  }
  write_order(x, sorted<T>(a, other, count), k, values, indices);
}

// Of a row with more elements than candidates. These are those above the k-th best so far; the rest of the row is compared a few vectors at a time.
template <class T>
void top_of_row(const T* x, int64_t cols, int64_t k, uint64_t* a, uint64_t* other, T* values, int32_t* indices) {
  const int64_t room = topk_room(cols, k);
  int64_t count = 0, i = 0;
  const auto keep_best = [&] {
    const uint64_t* best = sorted<T>(a, other, count);
    if (best != a)
      for (int64_t j = 0; j < k; j++) a[j] = best[j];
    count = k;
  };
  for (; i < room; i++) a[count++] = keyed(x[i], i, true);
  keep_best();
  float least_kept = to_float(x[static_cast<int32_t>(a[k - 1])]);
  constexpr int64_t STEP = 4 * W;
  while (i < cols) {
    const int64_t end = least(i + STEP, cols);
    if (end - i == STEP) {
      VNan seen = vnan_none();
      const V most = Largest::next(Largest::next(vset(Largest::NOTHING), vload(x + i), vload(x + i + W), seen), vload(x + i + 2 * W), vload(x + i + 3 * W), seen);
      if (!vnan_any(seen) && vall_at_most(most, vset(least_kept))) {
        i = end;
        continue;
      }
    }
    for (; i < end; i++) {
      if (!Largest::beats(to_float(x[i]), least_kept)) continue;
      a[count++] = keyed(x[i], i, true);
      if (count < room) continue;
      keep_best();
      least_kept = to_float(x[static_cast<int32_t>(a[k - 1])]);
    }
  }
  write_order(x, sorted<T>(a, other, count), k, values, indices);
}

#if defined(OPSCOPE_KEY_VECTORS)
// The least of groups of a row, one for each lane of four vectors: the k-th largest of their maxima is at most the k-th largest of the row.
constexpr int64_t GROUPS = 4 * W;

// What is below each of the k best of a row, or NaN where the row may have one.
template <class T>
inline float below_best(const T* x, int64_t cols, int64_t k) {
  V most[4];
  VNan seen = vnan_none();
  for (int g = 0; g < 4; g++) most[g] = vload(x + g * W), seen = vnan_also(seen, most[g], most[g]);
  int64_t i = GROUPS;
  const auto join = [&](int g, V v) { seen = vnan_also(seen, v, v), most[g] = vmax(v, most[g]); };
  for (; i + GROUPS <= cols; i += GROUPS)
    for (int g = 0; g < 4; g++) join(g, vload(x + i + g * W));
  for (; i + W <= cols; i += W) join(0, vload(x + i));
  if (i < cols) join(1, vload_n(x + i, static_cast<int>(cols - i), -__builtin_inff()));
  if (vnan_any(seen)) return __builtin_nanf("");
  // Where maxima keep a NaN themselves, `seen` has none.
  for (const V& v : most)
    if (!vall_at_most(v, v)) return __builtin_nanf("");
  alignas(64) float maxima[GROUPS];
  for (int g = 0; g < 4; g++) vstore(maxima + g * W, most[g]);
  PaddedKeys keys;
  uint64_t best[GROUPS / 2];
  key_row(maxima, GROUPS, true, keys.at);
  pick_first(keys, GROUPS, k, best);
  const float last = maxima[static_cast<int32_t>(best[k - 1])];
  if (last > __FLT_MAX__) return __FLT_MAX__;
  return last - __builtin_fabsf(last) * 0x1p-20f - __FLT_MIN__;
}

// The k best of a row by vectors, where k is small; false where the row has NaN, or too many elements that may be among them.
template <class T>
bool top_by_vectors(const T* x, int64_t cols, int64_t k, T* values, int32_t* indices) {
  if (k > GROUPS / 2) return false;
  PaddedKeys keys;
  uint64_t best[GROUPS / 2];
  int64_t count = cols;
  if (cols <= MOST_KEYS) {
    key_row(x, cols, true, keys.at);
  } else {
    const float bound = below_best(x, cols, k);
    if (is_nan(bound)) return false;
    count = 0;
    for (int64_t i = 0; i < cols; i += W) {
      const int some = static_cast<int>(least(W, cols - i));
      if (vall_at_most(some == W ? vload(x + i) : vload_n(x + i, some, -__builtin_inff()), vset(bound))) continue;
      if (count + some > MOST_KEYS) return false;
      for (int64_t j = i; j < i + some; j++) {
        keys.at[count] = keyed(x[j], j, true);
        count += to_float(x[j]) > bound;
      }
    }
  }
  keys.pad(count);
  pick_first(keys, count, k, best);
  write_order(x, best, k, values, indices);
  return true;
}
#endif

}  // namespace
