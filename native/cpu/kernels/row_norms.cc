// Norms of each token over the last axis (simd/rows.h) and their gradients. dims: [tokens, dim]; scalars: [eps] forward, none backward.
#include "simd/rows.h"

namespace {

template <class T>
struct LayerNorm {
  using Stats = Moments;
  int64_t rows, cols;
  double eps;
  const T *x, *weight, *bias;
  T* out;
  explicit LayerNorm(const Call& c) : rows(c.dims[0]), cols(c.dims[1]), eps(c.scalars[0]), x(input<T>(c, 0)), weight(input<T>(c, 1)), bias(input<T>(c, 2)), out(output<T>(c)) {}
  Moments of(int64_t row, int64_t from, int64_t to) const { return moments_of(x + row * cols + from, to - from); }
  static Moments join(Moments a, Moments b) { return joined_moments(a, b); }
  template <bool STREAM>
  void write(int64_t row, int64_t from, int64_t to, const Moments& s) const {
    const int64_t at = row * cols + from;
    const T *w = weight + from, *b = bias + from;
    const V mean = vset(s.mean), rstd = vset(rstd_of(s, eps));
    write_row<STREAM>(x + at, out + at, to - from, [=](V v, int64_t i, int n) { return vfma(vmul(vsub(v, mean), rstd), take(w + i, n), take(b + i, n)); });
  }
};

// Rows that stay in the first-level cache, four at a time: one's statistics are computed while the sums of another are joined, and
// weight and bias are loaded once for all.
template <class T>
bool norm_four_rows(const Call& c, const LayerNorm<T>& p) {
  constexpr int64_t ROWS = 4, SHORT = 1024;
  if (c.stream || p.cols > SHORT || rows_shared(p.rows, p.cols, c.threads)) return false;
  const Range r = part(p.rows, 1, c.thread, c.threads);
  int64_t row = r.begin;
  for (; row + ROWS <= r.end; row += ROWS) {
    const T* const x = p.x + row * p.cols;
    T* const out = p.out + row * p.cols;
    float sums[ROWS];
    Moments moments[ROWS];
    const float count = static_cast<float>(p.cols);
    for (int64_t q = 0; q < ROWS; q++) sums[q] = sum_of(x + q * p.cols, p.cols, [](V v) { return v; });
    for (int64_t q = 0; q < ROWS; q++) moments[q] = {count, sums[q] / count, squares_of(x + q * p.cols, p.cols, sums[q] / count)};
    V mean[ROWS], rstd[ROWS];
    for (int64_t q = 0; q < ROWS; q++) {
      mean[q] = vset(moments[q].mean);
      rstd[q] = vset(rstd_of(moments[q], p.eps));
    }
    const auto normed = [&](V v, int64_t q, V w, V b) { return vfma(vmul(vsub(v, mean[q]), rstd[q]), w, b); };
    int64_t i = 0;
    for (; i + W <= p.cols; i += W) {
      const V w = vload(p.weight + i), b = vload(p.bias + i);
#pragma GCC unroll 4
      for (int64_t q = 0; q < ROWS; q++) vstore(out + q * p.cols + i, normed(vload(x + q * p.cols + i), q, w, b));
    }
    if (const int rest = static_cast<int>(p.cols - i); rest > 0) {
      const V w = vload_n(p.weight + i, rest, 0), b = vload_n(p.bias + i, rest, 0);
      for (int64_t q = 0; q < ROWS; q++) vstore_n(out + q * p.cols + i, normed(vload_n(x + q * p.cols + i, rest, 0), q, w, b), rest);
    }
  }
  for (; row < r.end; row++) p.template write<false>(row, 0, p.cols, p.of(row, 0, p.cols));
  return true;
}

template <class T>
struct RmsNorm {
  struct Stats {
    float squares;
  };
  int64_t rows, cols;
  double eps;
  const T *x, *weight;
  T* out;
  explicit RmsNorm(const Call& c) : rows(c.dims[0]), cols(c.dims[1]), eps(c.scalars[0]), x(input<T>(c, 0)), weight(input<T>(c, 1)), out(output<T>(c)) {}
  Stats of(int64_t row, int64_t from, int64_t to) const {
    return {sum_of(x + row * cols + from, to - from, [](V v) { return vmul(v, v); })};
  }
  static Stats join(Stats a, Stats b) { return {a.squares + b.squares}; }
  template <bool STREAM>
  void write(int64_t row, int64_t from, int64_t to, const Stats& s) const {
    const int64_t at = row * cols + from;
    const T* w = weight + from;
    const V rstd = vset(rstd_of({static_cast<float>(cols), 0, s.squares}, eps));
    write_row<STREAM>(x + at, out + at, to - from, [=](V v, int64_t i, int n) { return vmul(vmul(v, rstd), take(w + i, n)); });
  }
};

inline int64_t up_to_line(int64_t n) { return (n + LINE - 1) / LINE * LINE; }

// Gradients: dx of each token from two sums over it, and the sums over tokens of grad * h and (CENTERED: layer_norm, which has a mean
// and a bias) of grad, for h = (x - mean) * rstd. Each thread adds up its own tokens; the totals are joined at the end.
template <class T, bool CENTERED>
struct NormBackward {
  struct Stats {
    float sum, dot;
  };
  int64_t rows, cols;
  const T *grad, *x, *weight;
  const float *means, *rstds;
  T* dx;
  float *dweight, *dbias;  // this thread's totals, or where rows are shared those of all; whole vectors, which the next row can read at once
  NormBackward(const Call& c, float* totals)
      : rows(c.dims[0]), cols(c.dims[1]), grad(input<T>(c, 0)), x(input<T>(c, 1)), weight(input<T>(c, 2)), means(CENTERED ? input(c, 3) : nullptr),
        rstds(input(c, CENTERED ? 4 : 3)), dx(output<T>(c)), dweight(totals), dbias(totals + up_to_line(cols)) {}
  // h without the factor rstd.
  inline V centered(V v, int64_t row) const {
    if constexpr (CENTERED) return vsub(v, vset(means[row]));
    else return v;
  }
  Stats of(int64_t row, int64_t from, int64_t to) const {
    const T *g = grad + row * cols + from, *v = x + row * cols + from, *w = weight + from;
    const auto at = [=, this](int64_t i, int n) { return vmul(vmul(take(g + i, n), take(w + i, n)), centered(take(v + i, n), row)); };
    const float dot = total_of(to - from, [at](int64_t i) { return at(i, W); }, at);
    return {CENTERED ? sum_of_pairs(g, w, to - from, [](V a, V b) { return vmul(a, b); }) : 0, dot * rstds[row]};
  }
  static Stats join(Stats a, Stats b) { return {a.sum + b.sum, a.dot + b.dot}; }
  template <bool STREAM>
  void write(int64_t row, int64_t from, int64_t to, const Stats& s) const {
    const int64_t at = row * cols + from;
    const T *v = x + at, *w = weight + from;
    float *dw = dweight + from, *db = dbias + from;
    const float n = static_cast<float>(cols);
    const V rstd = vset(rstds[row]), sum = vset(s.sum / n), dot = vset(s.dot / n);
    write_row<STREAM>(grad + at, dx + at, to - from, [=, this](V g, int64_t i, int count) {
      const V h = vmul(centered(take(v + i, count), row), rstd);
      vstore(dw + i, vfma(g, h, vload(dw + i)));
      if constexpr (CENTERED) vstore(db + i, vadd(g, vload(db + i)));
      V of_g = vmul(g, take(w + i, count));
      if constexpr (CENTERED) of_g = vsub(of_g, sum);
      return vmul(rstd, vsub(of_g, vmul(h, dot)));
    });
  }
};

// Floats of one thread's totals.
int64_t totals_stride(int64_t dim) { return 2 * up_to_line(dim); }

template <class T, bool CENTERED>
void run_norm_backward(const Call& c) {
  const int64_t rows = c.dims[0], dim = c.dims[1], stride = totals_stride(dim);
  const bool shared = rows_shared(rows, dim, c.threads);
  float* const all = c.scratch + rows_scratch(rows, dim, c.threads);
  float* const mine = shared ? all : all + c.thread * stride;
  const Range r = shared ? part(dim, LINE, c.thread, c.threads) : Range{0, dim};
  for (int64_t i = r.begin; i < up_to_line(r.end); i++) mine[i] = mine[up_to_line(dim) + i] = 0;
  NormBackward<T, CENTERED> p(c, mine);
  run_rows(c, p);
  c.barrier(c.team);
  const Range own = part(dim, LINE, c.thread, c.threads);
  for (int output_index = 1; output_index <= (CENTERED ? 2 : 1); output_index++) {
    float* const first = all + (output_index - 1) * up_to_line(dim);
    if (!shared)
      for (int t = 1; t < c.threads; t++) map2<false>(first, first + t * stride, first, own.begin, own.end, [](V a, V b) { return vadd(a, b); });
    map1<false>(first, output<T>(c, output_index), own.begin, own.end, [](V v) { return v; });
  }
}

template <class T>
void run_layer_norm(const Call& c) {
  LayerNorm<T> p(c);
  if (!norm_four_rows(c, p)) run_rows(c, p);
}
template <class T>
void run_rms_norm(const Call& c) {
  RmsNorm<T> p(c);
  run_rows(c, p);
}
template <class T>
void run_layer_norm_backward(const Call& c) {
  run_norm_backward<T, true>(c);
}
template <class T>
void run_rms_norm_backward(const Call& c) {
  run_norm_backward<T, false>(c);
}

bool layer_norm_shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[3] = times(d[0], d[1]);
  sizes[1] = sizes[2] = d[1];
  return true;
}
bool rms_norm_shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[2] = times(d[0], d[1]);
  sizes[1] = d[1];
  return true;
}
bool layer_norm_backward_shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[1] = sizes[5] = times(d[0], d[1]);
  sizes[2] = sizes[6] = sizes[7] = d[1];
  sizes[3] = sizes[4] = d[0];
  return true;
}
bool rms_norm_backward_shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[1] = sizes[4] = times(d[0], d[1]);
  sizes[2] = sizes[5] = d[1];
  sizes[3] = d[0];
  return true;
}

size_t scratch(const int64_t* d, int, int threads, size_t) { return rows_scratch(d[0], d[1], threads); }
size_t backward_scratch(const int64_t* d, int, int threads, size_t) {
  return rows_scratch(d[0], d[1], threads) + static_cast<size_t>((rows_shared(d[0], d[1], threads) ? 1 : threads) * totals_stride(d[1]));
}

}  // namespace

OPSCOPE_TYPED(layer_norm, run_layer_norm, "ttt>t", 2, 2, 1, layer_norm_shape, scratch)
OPSCOPE_TYPED(rms_norm, run_rms_norm, "tt>t", 2, 2, 1, rms_norm_shape, scratch)
OPSCOPE_TYPED(layer_norm_backward, run_layer_norm_backward, "tttff>t>t>t", 2, 2, 0, layer_norm_backward_shape, backward_scratch)
OPSCOPE_TYPED(rms_norm_backward, run_rms_norm_backward, "tttf>t>t", 2, 2, 0, rms_norm_backward_shape, backward_scratch)
