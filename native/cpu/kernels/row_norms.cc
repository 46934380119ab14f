// Norms of each token over the last axis (simd/rows.h). dims: [tokens, dim]; scalars: [eps].
#include "simd/columns.h"
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
  auto value(int64_t row, int64_t from, const Moments& s) const {
    return [v = x + row * cols + from, w = weight + from, b = bias + from, mean = vset(s.mean), rstd = vset(rstd_of(s, eps))](int64_t i, int n) {
      return vfma(vmul(vsub(take(v + i, n), mean), rstd), take(w + i, n), take(b + i, n));
    };
  }
  void fetch(int64_t i, auto where) const { fetch_line(x + i, where); }
};

// Rows of so many vectors, the last of which may be shorter, stay in registers. With half the vectors of AVX-512 it is slower than what follows.
template <int VECTORS, class T>
void norm_of_vectors(const LayerNorm<T>& p, Range rows) {
  const int rest = static_cast<int>(p.cols - (VECTORS - 1) * W);
  const float count = static_cast<float>(p.cols);
  const auto at = [rest](const T* x, int i) { return i + 1 < VECTORS || rest == W ? vload(x + i * W) : vload_n(x + i * W, rest, 0); };
  V weight[VECTORS], bias[VECTORS];
  for (int i = 0; i < VECTORS; i++) {
    weight[i] = at(p.weight, i);
    bias[i] = at(p.bias, i);
  }
  for (int64_t row = rows.begin; row < rows.end; row++) {
    const T* const x = p.x + row * p.cols;
    T* const out = p.out + row * p.cols;
    V v[VECTORS], sum = vset(0), squares = vset(0);
    for (int i = 0; i < VECTORS; i++) sum = vadd(sum, v[i] = at(x, i));
    const V mean = vset(vsum(sum) / count);
    for (int i = 0; i < VECTORS; i++) {
      v[i] = vsub(v[i], mean);
      if (i + 1 == VECTORS && rest < W) v[i] = vfirst(v[i], rest, 0);
      squares = vfma(v[i], v[i], squares);
    }
    const V rstd = vset(rstd_of({count, 0, vsum(squares)}, p.eps));
    for (int i = 0; i < VECTORS; i++) {
      const V normed = vfma(vmul(v[i], rstd), weight[i], bias[i]);
      if (i + 1 < VECTORS || rest == W) vstore(out + i * W, normed);
      else vstore_n(out + i * W, normed, rest);
    }
  }
}

constexpr int64_t TOGETHER = 2;  // rows that share what is loaded of weight and bias

// Rows that stay in the first-level cache: the sums of the next ones, which bring these there, are made while the last ones are written.
template <class T>
struct PairsOfRows {
  const LayerNorm<T>& p;
  V mean[TOGETHER], rstd[TOGETHER], sums[TOGETHER];

  // Of `of(q, i)`, a vector of element i of row q, and of(q, i, n).
  template <class F>
  void add_up(F of) {
    V second[TOGETHER];
    for (int64_t q = 0; q < TOGETHER; q++) sums[q] = second[q] = vset(0);
    int64_t i = 0;
    for (; i + 2 * W <= p.cols; i += 2 * W)
      for (int64_t q = 0; q < TOGETHER; q++) {
        sums[q] = vadd(sums[q], of(q, i, W));
        second[q] = vadd(second[q], of(q, i + W, W));
      }
    for (; i < p.cols; i += W)
      for (int64_t q = 0; q < TOGETHER; q++) sums[q] = vadd(sums[q], of(q, i, static_cast<int>(least(W, p.cols - i))));
    for (int64_t q = 0; q < TOGETHER; q++) sums[q] = vadd(sums[q], second[q]);
  }

  // Mean and 1 / sqrt(variance + eps) of the rows from x on, by their sums.
  void find(const T* x) {
    const float count = static_cast<float>(p.cols);
    for (int64_t q = 0; q < TOGETHER; q++) mean[q] = vset(vsum(sums[q]) / count);
    add_up([=, this](int64_t q, int64_t i, int n) {
      const V v = take(x + q * p.cols + i, n), away = n == W ? vsub(v, mean[q]) : vfirst(vsub(v, mean[q]), n, 0);
      return vmul(away, away);
    });
    for (int64_t q = 0; q < TOGETHER; q++) rstd[q] = vset(rstd_of({count, 0, vsum(sums[q])}, p.eps));
  }

  // Writes the rows from x on; NEXT: adds up those behind them. FETCH: brings their places in the output, where rows start within lines.
  template <bool NEXT, bool STREAM, bool FETCH>
  void write(const T* x, T* out) {
    const T* const next = x + TOGETHER * p.cols;
    V added[TOGETHER];
    for (int64_t q = 0; q < TOGETHER; q++) added[q] = vset(0);
    const auto normed = [this](V v, int64_t q, V w, V b) { return vfma(vmul(vsub(v, mean[q]), rstd[q]), w, b); };
    int64_t i = 0;
    for (; i + W <= p.cols; i += W) {
      const V w = vload(p.weight + i), b = vload(p.bias + i);
      for (int64_t q = 0; q < TOGETHER; q++) {
        if constexpr (NEXT) added[q] = vadd(added[q], vload(next + q * p.cols + i));
        if constexpr (NEXT && FETCH) vprefetch(out + (TOGETHER + q) * p.cols + i);
        put<STREAM>(out + q * p.cols + i, normed(vload(x + q * p.cols + i), q, w, b));
      }
    }
    if (const int rest = static_cast<int>(p.cols - i); rest > 0) {
      const V w = vload_n(p.weight + i, rest, 0), b = vload_n(p.bias + i, rest, 0);
      for (int64_t q = 0; q < TOGETHER; q++) {
        if constexpr (NEXT) added[q] = vadd(added[q], vload_n(next + q * p.cols + i, rest, 0));
        vstore_n(out + q * p.cols + i, normed(vload_n(x + q * p.cols + i, rest, 0), q, w, b), rest);
      }
    }
    for (int64_t q = 0; q < TOGETHER; q++) sums[q] = added[q];
  }
};

// Rows of a few vectors, four at a time: one's statistics are computed while the sums of another are joined, and weight and bias are
// loaded once for all.
template <class T>
void norm_four_rows(const LayerNorm<T>& p, Range r) {
  constexpr int64_t ROWS = 4;
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
  for (; row < r.end; row++) write_row<false>(p.out + row * p.cols, p.cols, p.value(row, 0, p.of(row, 0, p.cols)));
}

template <bool STREAM, bool FETCH, class T>
void norm_pairs_of_rows(const LayerNorm<T>& p, Range r) {
  PairsOfRows<T> pair{p, {}, {}, {}};
  int64_t row = r.begin;
  const auto at = [&](int64_t q, int64_t i, int n) { return take(p.x + (row + q) * p.cols + i, n); };
  if (row + TOGETHER <= r.end) pair.add_up(at);
  for (; row + TOGETHER <= r.end; row += TOGETHER) {
    const T* const x = p.x + row * p.cols;
    T* const out = p.out + row * p.cols;
    pair.find(x);
    if (row + 2 * TOGETHER <= r.end) pair.template write<true, STREAM, FETCH>(x, out);
    else pair.template write<false, STREAM, FETCH>(x, out);
  }
  for (; row < r.end; row++) write_part<STREAM>(p, row, 0, p.cols, p.of(row, 0, p.cols));
  vfence();
}

template <class T>
bool norm_cached_rows(const Call& c, const LayerNorm<T>& p) {
  constexpr int64_t SHORT = 1024, SHORT_STREAMED = 640 / sizeof(T);
  if (p.cols > (c.stream ? SHORT_STREAMED : SHORT) || rows_shared(p.rows, p.cols, c.threads)) return false;
  if (c.stream && p.cols % LINE == 0) return each_range(c, p.rows, TOGETHER, [&](Range rows) { norm_pairs_of_rows<true, false>(p, rows); }), true;
  const Range r = part(p.rows, 1, c.thread, c.threads);
  if constexpr (W >= LINE) {
    switch ((p.cols + W - 1) / W) {
      case 1: return norm_of_vectors<1>(p, r), true;
      case 2: return norm_of_vectors<2>(p, r), true;
      case 3: return norm_of_vectors<3>(p, r), true;
      case 4: return norm_of_vectors<4>(p, r), true;
    }
  }
  if (W < LINE && p.cols < 8 * W) return norm_four_rows(p, r), true;
  if (W >= LINE && sizeof(T) == sizeof(float) && p.cols % LINE != 0 && p.cols >= 256) return norm_pairs_of_rows<false, true>(p, r), true;
  return norm_pairs_of_rows<false, false>(p, r), true;
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
  auto value(int64_t row, int64_t from, const Stats& s) const {
    return [v = x + row * cols + from, w = weight + from, rstd = vset(rstd_of({static_cast<float>(cols), 0, s.squares}, eps))](int64_t i, int n) {
      return vmul(vmul(take(v + i, n), rstd), take(w + i, n));
    };
  }
  void fetch(int64_t i, auto where) const { fetch_line(x + i, where); }
};

// bias null: rms_norm.
template <class T>
void norm_short_rows(const Call& c, const T* x, const T* weight, const T* bias, T* out) {
  const int64_t rows = c.dims[0], cols = c.dims[1];
  const V share = vset(1 / static_cast<float>(cols)), eps = vset(static_cast<float>(c.scalars[0]));
  float weights[SHORT_ROW], biases[SHORT_ROW] = {};
  for (int64_t k = 0; k < cols; k++) {
    weights[k] = to_float(weight[k]);
    if (bias) biases[k] = to_float(bias[k]);
  }
  Columns v;
  const Range r = part(rows, LINE, c.thread, c.threads);
  for (int64_t from = r.begin; from < r.end; from += AT_ONCE) {
    const int64_t count = least(AT_ONCE, r.end - from);
    v.take_rows(x + from * cols, cols, count);
    for (int64_t i = 0; i < count; i += W) {
      V mean = vset(0), squares = vset(0);
      if (bias) {
        for (int64_t k = 0; k < cols; k++) mean = vadd(mean, v.load(k, i));
        mean = vmul(mean, share);
      }
      for (int64_t k = 0; k < cols; k++) {
        const V away = vsub(v.load(k, i), mean);
        squares = vfma(away, away, squares);
      }
      const V rstd = vdiv(vset(1), vsqrt(vfma(squares, share, eps)));
      for (int64_t k = 0; k < cols; k++) v.store(k, i, vfma(vmul(vsub(v.load(k, i), mean), rstd), vset(weights[k]), vset(biases[k])));
    }
    v.put_rows(out + from * cols, cols, count);
  }
}

template <class T>
void run_layer_norm(const Call& c) {
  LayerNorm<T> p(c);
  if (is_short(p.rows, p.cols, W >= 8 ? SHORT_ROW : W > 1 ? SHORT_ROW - 1 : 0)) return norm_short_rows(c, p.x, p.weight, p.bias, p.out);
  if (!norm_cached_rows(c, p)) run_rows(c, p);
}
template <class T>
void run_rms_norm(const Call& c) {
  RmsNorm<T> p(c);
  if (is_short(p.rows, p.cols, W > 1 ? SHORT_ROW - 1 : 0)) return norm_short_rows<T>(c, p.x, p.weight, nullptr, p.out);
  run_rows(c, p);
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
size_t scratch(const int64_t* d, int, int threads, size_t) { return rows_scratch(d[0], d[1], threads); }
}  // namespace

OPSCOPE_ROUNDED(layer_norm, run_layer_norm, "ttt>t", 2, 2, 1, layer_norm_shape, scratch)
OPSCOPE_ROUNDED(rms_norm, run_rms_norm, "tt>t", 2, 2, 1, rms_norm_shape, scratch)
