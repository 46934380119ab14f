// Sums over all pairs of elements of two tensors: dot = sum of a b, mse_loss = mean of (a - b)^2. dims: [n].
// Threads share the elements; their totals are added in order.
#include "simd/fetch.h"
#include "simd/reduce.h"

namespace {

constexpr int64_t FAR = 1 << 18;  // elements of each of the two, which no second-level cache holds

// Sum of f(a, b) over n pairs of floats where the last-level cache is far: four parts of them side by side, of which one core has more lines on their way.
template <class F>
inline float sum_side_by_side(const float* a, const float* b, int64_t n, F f) {
  constexpr int64_t PARTS = 4, AHEAD = 256;
  const int64_t each = n / PARTS / W * W, rest = n - PARTS * each;
  const auto of_all = [=](int64_t i) {
    V sum[PARTS];
#pragma GCC unroll 4
    for (int64_t part = 0; part < PARTS; part++) {
      const float *const x = a + part * each + i, *const y = b + part * each + i;
      fetch_line(x + AHEAD, Near{});
      fetch_line(y + AHEAD, Near{});
      sum[part] = f(vload(x), vload(y));
    }
    return vadd(vadd(sum[0], sum[1]), vadd(sum[2], sum[3]));
  };
  const float sum = total_of(each, of_all, [=](int64_t i, int) { return of_all(i); });
  return rest > 0 ? sum + sum_of_pairs(a + n - rest, b + n - rest, rest, f) : sum;
}

template <class T, class F>
inline float sum_of_far(const Call& c, const T* a, const T* b, int64_t n, F f) {
  if constexpr (W == LINE && sizeof(T) == sizeof(float))
    if (c.distant_cache) return sum_side_by_side(a, b, n, f);
  return sum_of_pairs(from_far(a), from_far(b), n, f);
}

template <class T, class F, class Done>
void run_pairs(const Call& c, F f, Done done) {
  const Range r = part(c.dims[0], LINE, c.thread, c.threads);
  const T* const a = input<T>(c, 0);
  const T* const b = input<T>(c, 1);
  const int64_t n = r.end - r.begin;
  c.scratch[c.thread * LINE] = n >= FAR ? sum_of_far(c, a + r.begin, b + r.begin, n, f) : sum_of_pairs(a + r.begin, b + r.begin, n, f);
  if (c.threads > 1) c.barrier(c.team);
  if (c.thread != 0) return;
  float sum = 0;
  for (int t = 0; t < c.threads; t++) sum += c.scratch[t * LINE];
  set(output<T>(c), done(sum));
}

template <class T>
void run_dot(const Call& c) {
  run_pairs<T>(c, [](V a, V b) { return vmul(a, b); }, [](float sum) { return sum; });
}

template <class T>
void run_mse(const Call& c) {
  const auto squared = [](V a, V b) {
    const V away = vsub(a, b);
    return vmul(away, away);
  };
  run_pairs<T>(c, squared, [&c](float sum) { return sum / static_cast<float>(c.dims[0]); });
}

bool shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[1] = d[0];
  sizes[2] = 1;
  return true;
}

size_t scratch(const int64_t*, int, int threads, size_t) { return static_cast<size_t>(threads * LINE); }

}  // namespace

OPSCOPE_TYPED(dot, run_dot, "tt>t", 1, 1, 0, shape, scratch)
OPSCOPE_TYPED(mse_loss, run_mse, "tt>t", 1, 1, 0, shape, scratch)
