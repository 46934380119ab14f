// Sums over all pairs of elements of two tensors: dot = sum of a b, mse_loss = mean of (a - b)^2. dims: [n].
// Threads share the elements; their totals are added in order.
#include "simd/far_pairs.h"

namespace {

template <class T, class F>
inline float pair_sum(const Call& c, const T* a, const T* b, int64_t n, F f) {
  if (n < FAR_PAIRS || c.distant_cache) return sum_of_pairs(a, b, n, f, c.distant_cache);
  return sum_of_pairs(from_far(a), from_far(b), n, f);
}

template <class T, class F, class Done>
void run_pairs(const Call& c, F f, Done done) {
  const Range r = part(c.dims[0], LINE, c.thread, c.threads);
  const T* const a = input<T>(c, 0);
  const T* const b = input<T>(c, 1);
  const int64_t n = r.end - r.begin;
  c.scratch[c.thread * LINE] = pair_sum(c, a + r.begin, b + r.begin, n, f);
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
