// Softmax over the last axis. dims: [rows, cols].
//
// Three passes over a row that stays in cache: maximum; exponentials and their sum; scale. Where the tensors are
// larger than the caches, the exponentials wait in a buffer of the thread's own and the result is streamed out, so that
// the output is written once without being read first. Fewer rows than threads: all threads share each row.
#include "simd/map.h"
#include "simd/math.h"
#include "simd/reduce.h"

namespace {

constexpr int64_t BUFFERED = 32768;  // longest row, in floats, that waits in a buffer (128 KiB of second-level cache)

// e[i] = exp(x[i] - max); returns the sum.
// AHEAD: fetches the row after this one meanwhile, as the arithmetic leaves the memory idle.
template <bool AHEAD>
float exponentials(const float* x, float max, float* e, int64_t n) {
  const V top = vset(max);
  Total total;
  for (int64_t from = 0; from < n; from += BLOCK) {
    const int64_t end = least(from + BLOCK, n);
    V s0 = vset(0), s1 = s0, s2 = s0, s3 = s0;
    int64_t i = from;
    for (; i + 4 * W <= end; i += 4 * W) {
      const V e0 = vexp(vsub(vload(x + i), top)), e1 = vexp(vsub(vload(x + i + W), top));
      const V e2 = vexp(vsub(vload(x + i + 2 * W), top)), e3 = vexp(vsub(vload(x + i + 3 * W), top));
      if constexpr (AHEAD)
        for (int64_t ahead = 0; ahead < 4 * W; ahead += LINE) vprefetch(x + n + i + ahead);
      vstore(e + i, e0);
      vstore(e + i + W, e1);
      vstore(e + i + 2 * W, e2);
      vstore(e + i + 3 * W, e3);
      s0 = vadd(s0, e0);
      s1 = vadd(s1, e1);
      s2 = vadd(s2, e2);
      s3 = vadd(s3, e3);
    }
    for (; i + W <= end; i += W) {
      const V e0 = vexp(vsub(vload(x + i), top));
      vstore(e + i, e0);
      s0 = vadd(s0, e0);
    }
    if (i < end) {
      // The padding becomes exp(-inf) = 0.
      const int rest = static_cast<int>(end - i);
      const V e0 = vexp(vsub(vload_n(x + i, rest, -__builtin_inff()), top));
      vstore_n(e + i, e0, rest);
      s1 = vadd(s1, e0);
    }
    total.add(vadd(vadd(s0, s1), vadd(s2, s3)));
  }
  return vsum(total.sum);
}

template <bool STREAM>
void scale(const float* e, float factor, float* out, int64_t n) {
  const V f = vset(factor);
  map1<STREAM>(e, out, 0, n, [f](V v) { return vmul(v, f); });
}

bool buffered(const int64_t* d) { return d[1] <= BUFFERED && d[1] % LINE == 0; }

// All threads on every row, two values per thread in the scratch: its maximum and its sum, one line each.
void run_shared(const Call& c) {
  const int64_t cols = c.dims[1];
  const Range r = part(cols, LINE, c.thread, c.threads);
  const int64_t n = r.end - r.begin;
  float* const maxima = c.scratch;
  float* const sums = c.scratch + c.threads * LINE;
  for (int64_t row = 0; row < c.dims[0]; row++) {
    const float* x = input(c, 0) + row * cols + r.begin;
    float* out = output(c) + row * cols + r.begin;
    maxima[c.thread * LINE] = n > 0 ? max_of(x, n) : -__builtin_inff();
    c.barrier(c.team);
    float max = maxima[0];
    for (int t = 1; t < c.threads; t++) max = maxima[t * LINE] > max ? maxima[t * LINE] : max;
    sums[c.thread * LINE] = exponentials<false>(x, max, out, n);
    c.barrier(c.team);
    float sum = 0;
    for (int t = 0; t < c.threads; t++) sum += sums[t * LINE];
    scale<false>(out, 1 / sum, out, n);
  }
}

bool shared(const int64_t* d, int threads) { return d[0] < threads && d[1] >= 4096; }

void run(const Call& c) {
  if (shared(c.dims, c.threads)) return run_shared(c);
  const int64_t cols = c.dims[1];
  const bool wait = c.stream && buffered(c.dims);
  float* const buffer = wait ? c.scratch + c.thread * BUFFERED : nullptr;
  const Range r = part(c.dims[0], 1, c.thread, c.threads);
  for (int64_t row = r.begin; row < r.end; row++) {
    const float* x = input(c, 0) + row * cols;
    float* out = output(c) + row * cols;
    float* e = wait ? buffer : out;
    const float max = max_of(x, cols);
    const float sum = wait ? exponentials<true>(x, max, e, cols) : exponentials<false>(x, max, e, cols);
    if (wait) scale<true>(e, 1 / sum, out, cols);
    else scale<false>(e, 1 / sum, out, cols);
  }
  vfence();
}

bool shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[1] = times(d[0], d[1]);
  return true;
}

size_t scratch(const int64_t* d, int, int threads) {
  if (shared(d, threads)) return static_cast<size_t>(2 * LINE * threads);
  return buffered(d) ? static_cast<size_t>(BUFFERED * threads) : 0;
}

}  // namespace

OPSCOPE_KERNEL(softmax, "f>f", 2, 2, 0, shape, scratch, run)
