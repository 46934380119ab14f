// Gradients of the norms of each token over the last axis (simd/rows.h). dims: [tokens, dim].
#include "simd/columns.h"
#include "simd/rows.h"

namespace {

inline int64_t up_to_line(int64_t n) { return (n + LINE - 1) / LINE * LINE; }

// Floats of one total over tokens of so many elements: a whole vector can start at any of these.
inline int64_t total_floats(int64_t dim) { return up_to_line(dim + W - 1); }

// Gradients: dx of each token from two sums over it, and the sums over tokens of grad * h and (CENTERED: layer_norm, which has a mean
// and a bias) of grad, for h = (x - mean) * rstd. Each thread adds up its own tokens; the totals are joined at the end.
template <class T, bool CENTERED>
struct NormBackward {
  static constexpr bool ADDS_UP = true;
  struct Stats {
    float sum, dot;
  };
  int64_t rows, cols;
  const T *grad, *x, *weight;
  const float *means, *rstds;
  T* out;  // dx
  float *dweight, *dbias;  // this thread's totals, or where rows are shared those of all; read and written by whole vectors, which the next row can read at once
  NormBackward(const Call& c, float* totals)
      : rows(c.dims[0]), cols(c.dims[1]), grad(input<T>(c, 0)), x(input<T>(c, 1)), weight(input<T>(c, 2)), means(CENTERED ? input(c, 3) : nullptr),
        rstds(input(c, CENTERED ? 4 : 3)), out(output<T>(c)), dweight(totals), dbias(totals + total_floats(cols)) {}
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
  auto value(int64_t row, int64_t from, const Stats& s) const {
    const T *g = grad + row * cols + from, *v = x + row * cols + from, *w = weight + from;
    float *dw = dweight + from, *db = dbias + from;
    const float n = static_cast<float>(cols);
    const V mean = vset(CENTERED ? means[row] : 0), rstd = vset(rstds[row]), sum = vset(s.sum / n), dot = vset(s.dot / n);
    return [=](int64_t i, int count) {
      const V own = take(g + i, count), x = take(v + i, count), h = vmul(CENTERED ? vsub(x, mean) : x, rstd);
      vstore(dw + i, vfma(own, h, vload(dw + i)));
      if constexpr (CENTERED) vstore(db + i, vadd(own, vload(db + i)));
      V of_g = vmul(own, take(w + i, count));
      if constexpr (CENTERED) of_g = vsub(of_g, sum);
      return vmul(rstd, vsub(of_g, vmul(h, dot)));
    };
  }
  void fetch(int64_t i, auto where) const {
    fetch_line(grad + i, where);
    fetch_line(x + i, where);
  }
};

// Floats of one thread's totals.
int64_t totals_stride(int64_t dim) { return 2 * total_floats(dim); }

// The part of the gradients that this thread's rows of a few elements have; `p` has its totals.
template <class T, bool CENTERED>
void norm_backward_short_rows(const Call& c, const NormBackward<T, CENTERED>& p) {
  const int64_t rows = p.rows, cols = p.cols;
  const V share = vset(1 / static_cast<float>(cols));
  float weights[SHORT_ROW];
  V of_weight[SHORT_ROW], of_bias[SHORT_ROW];
  for (int64_t k = 0; k < cols; k++) {
    weights[k] = to_float(p.weight[k]);
    of_weight[k] = of_bias[k] = vset(0);
  }
  Columns g, h;
  const Range r = part(rows, LINE, c.thread, c.threads);
  for (int64_t from = r.begin; from < r.end; from += AT_ONCE) {
    const int64_t count = least(AT_ONCE, r.end - from);
    g.take_rows(p.grad + from * cols, cols, count);
    h.take_rows(p.x + from * cols, cols, count);
    for (int64_t i = 0; i < count; i += W) {
      const int n = static_cast<int>(least(W, count - i));
      const V rstd = n == W ? vload(p.rstds + from + i) : vload_n(p.rstds + from + i, n, 0);
      V mean = vset(0), sum = vset(0), dot = vset(0);
      if constexpr (CENTERED) mean = n == W ? vload(p.means + from + i) : vload_n(p.means + from + i, n, 0);
      for (int64_t k = 0; k < cols; k++) {
        const V grad = g.load(k, i), normed = vmul(vsub(h.load(k, i), mean), rstd), weighted = vmul(grad, vset(weights[k]));
        h.store(k, i, normed);
        of_weight[k] = vfma(grad, normed, of_weight[k]);
        if constexpr (CENTERED) {
          of_bias[k] = vadd(of_bias[k], grad);
          sum = vadd(sum, weighted);
        }
        dot = vfma(weighted, normed, dot);
      }
      sum = vmul(sum, share);
      dot = vmul(dot, share);
      for (int64_t k = 0; k < cols; k++) {
        const V weighted = vsub(vmul(g.load(k, i), vset(weights[k])), sum);
        g.store(k, i, vmul(rstd, vsub(weighted, vmul(h.load(k, i), dot))));
      }
    }
    g.put_rows(p.out + from * cols, cols, count);
  }
  for (int64_t k = 0; k < cols; k++) {
    p.dweight[k] = vsum(of_weight[k]);
    p.dbias[k] = vsum(of_bias[k]);
  }
}

// The same of rows of so many vectors, the last of which may be shorter: they, the weight and the totals stay in registers.
template <int VECTORS, bool STREAM, class T, bool CENTERED>
void norm_backward_of_vectors(const NormBackward<T, CENTERED>& p, Range rows) {
  const int rest = static_cast<int>(p.cols - (VECTORS - 1) * W);
  const float share = 1 / static_cast<float>(p.cols);
  const auto at = [rest](const T* x, int i) { return i + 1 < VECTORS || rest == W ? vload(x + i * W) : vload_n(x + i * W, rest, 0); };
  V weight[VECTORS], of_weight[VECTORS], of_bias[VECTORS];
  for (int i = 0; i < VECTORS; i++) {
    weight[i] = at(p.weight, i);
    of_weight[i] = of_bias[i] = vset(0);
  }
  for (int64_t row = rows.begin; row < rows.end; row++) {
    const T *const grad = p.grad + row * p.cols, *const x = p.x + row * p.cols;
    T* const dx = p.out + row * p.cols;
    const V rstd = vset(p.rstds[row]);
    V weighted[VECTORS], normed[VECTORS], sum = vset(0), dot = vset(0);
    for (int i = 0; i < VECTORS; i++) {
      const V g = at(grad, i);
      normed[i] = vmul(p.centered(at(x, i), row), rstd);
      if (i + 1 == VECTORS && rest < W) normed[i] = vfirst(normed[i], rest, 0);
      weighted[i] = vmul(g, weight[i]);
      of_weight[i] = vfma(g, normed[i], of_weight[i]);
      if constexpr (CENTERED) {
        of_bias[i] = vadd(of_bias[i], g);
        sum = vadd(sum, weighted[i]);
      }
      dot = vfma(weighted[i], normed[i], dot);
    }
    if constexpr (CENTERED) sum = vset(vsum(sum) * share);
    dot = vset(vsum(dot) * share);
    for (int i = 0; i < VECTORS; i++) {
      const V own = CENTERED ? vsub(weighted[i], sum) : weighted[i], result = vmul(rstd, vsub(own, vmul(normed[i], dot)));
      if (i + 1 < VECTORS || rest == W) put<STREAM>(dx + i * W, result);
      else vstore_n(dx + i * W, result, rest);
    }
  }
  for (int i = 0; i < VECTORS; i++) {
    vstore(p.dweight + i * W, of_weight[i]);
    vstore(p.dbias + i * W, of_bias[i]);
  }
}

template <bool STREAM, class T, bool CENTERED>
bool norm_backward_by_vectors(const Call& c, const NormBackward<T, CENTERED>& p) {
  if (W == 1) return false;
  const Range r = part(p.rows, 1, c.thread, c.threads);
  switch ((p.cols + W - 1) / W) {
    case 1: norm_backward_of_vectors<1, STREAM>(p, r); break;
    case 2: norm_backward_of_vectors<2, STREAM>(p, r); break;
    case 3: norm_backward_of_vectors<3, STREAM>(p, r); break;
    case 4: norm_backward_of_vectors<4, STREAM>(p, r); break;
    default: return false;
  }
  if constexpr (STREAM) vfence();
  return true;
}

// Rows that stay in the first-level cache, ROWS at a time: what is loaded of the weight and the totals is for all of them.
constexpr int64_t CACHED = 1024;  // longest of them

// FETCH: the rows that follow are fetched, for the processor reads ahead of memory within a page, which is about a row.
template <int ROWS, bool FETCH, class T, bool CENTERED>
void norm_backward_together(const NormBackward<T, CENTERED>& p, int64_t row, T* dx) {
  const int64_t cols = p.cols;
  const T *const grad = p.grad + row * cols, *const x = p.x + row * cols;
  const float share = 1 / static_cast<float>(cols);
  V mean[ROWS], rstd[ROWS], sum[ROWS], dot[ROWS];
  for (int q = 0; q < ROWS; q++) {
    mean[q] = CENTERED ? vset(p.means[row + q]) : vset(0);
    rstd[q] = vset(p.rstds[row + q]);
    sum[q] = dot[q] = vset(0);
  }
  const auto fetch = [&](const T* next, int64_t i) {
    if constexpr (FETCH)
      for (int64_t at = 0; at < ROWS * W; at += IN_LINE<T>) fetch_line(next + ROWS * (cols + i) + at, Far{});
  };
  const auto normed = [&](int q, int64_t i, int n) {
    const V v = take(x + q * cols + i, n);
    return vmul(CENTERED ? vsub(v, mean[q]) : v, rstd[q]);
  };
  const auto add = [&](int64_t i, int n) {
    const V w = take(p.weight + i, n);
    for (int q = 0; q < ROWS; q++) {
      const V weighted = vmul(take(grad + q * cols + i, n), w), h = normed(q, i, n);
      if constexpr (CENTERED) sum[q] = vadd(sum[q], weighted);
      dot[q] = vfma(weighted, n == W ? h : vfirst(h, n, 0), dot[q]);
    }
  };
  const auto write = [&](int64_t i, int n) {
    const V w = take(p.weight + i, n);
    V of_weight = vload(p.dweight + i), of_bias = vload(p.dbias + i);
    for (int q = 0; q < ROWS; q++) {
      const V g = take(grad + q * cols + i, n), h = normed(q, i, n), weighted = vmul(g, w);
      of_weight = vfma(g, h, of_weight);
      if constexpr (CENTERED) of_bias = vadd(of_bias, g);
      const V result = vmul(rstd[q], vsub(CENTERED ? vsub(weighted, sum[q]) : weighted, vmul(h, dot[q])));
      if (n == W) vstore(dx + q * cols + i, result);
      else vstore_n(dx + q * cols + i, result, n);
    }
    vstore(p.dweight + i, of_weight);
    if constexpr (CENTERED) vstore(p.dbias + i, of_bias);
  };
  const int64_t whole = cols - cols % W;
  const int rest = static_cast<int>(cols - whole);
  for (int64_t i = 0; i < whole; i += W) fetch(grad, i), add(i, W);
  if (rest > 0) add(whole, rest);
  for (int q = 0; q < ROWS; q++) {
    if constexpr (CENTERED) sum[q] = vset(vsum(sum[q]) * share);
    dot[q] = vset(vsum(dot[q]) * share);
  }
  for (int64_t i = 0; i < whole; i += W) fetch(x, i), write(i, W);
  if (rest > 0) write(whole, rest);
}

// Copies floats by whole lines of the output, past the caches, and by plain stores what lies before and behind these.
inline void stream_lines(const float* from, float* to, int64_t n) {
  const int64_t before = least(n, static_cast<int64_t>((0 - reinterpret_cast<uintptr_t>(to)) / sizeof(float) % LINE)), lines = (n - before) / LINE * LINE;
  __builtin_memcpy(to, from, static_cast<size_t>(before) * sizeof(float));
  for (int64_t i = before; i < before + lines; i += W) vstream(to + i, vload(from + i));
  __builtin_memcpy(to + before + lines, from + before + lines, static_cast<size_t>(n - before - lines) * sizeof(float));
}

template <class T, bool CENTERED>
bool norm_backward_cached_rows(const Call& c, const NormBackward<T, CENTERED>& p) {
  constexpr int TOGETHER = 2;
  if (p.cols > (CENTERED ? CACHED : CACHED / 3) || (c.stream && p.cols % LINE == 0)) return false;
  const Range r = part(p.rows, 1, c.thread, c.threads);
  int64_t row = r.begin;
  if constexpr (sizeof(T) == sizeof(float))
    if (c.stream) {
      // Rows that start within lines are streamed from line to line.
      alignas(64) float results[TOGETHER * CACHED];
      for (; row + TOGETHER <= r.end; row += TOGETHER) {
        norm_backward_together<TOGETHER, true>(p, row, results);
        stream_lines(results, p.out + row * p.cols, TOGETHER * p.cols);
      }
      vfence();
    }
  for (; row + TOGETHER <= r.end; row += TOGETHER) norm_backward_together<TOGETHER, false>(p, row, p.out + row * p.cols);
  for (; row < r.end; row++) norm_backward_together<1, false>(p, row, p.out + row * p.cols);
  return true;
}

template <class T, bool CENTERED>
void run_norm_backward(const Call& c) {
  const int64_t rows = c.dims[0], dim = c.dims[1], stride = totals_stride(dim);
  const bool shared = rows_shared(rows, dim, c.threads);
  float* const all = c.scratch + rows_scratch(rows, dim, c.threads);
  float* const mine = shared ? all : all + c.thread * stride;
  const Range r = shared ? part(dim, LINE, c.thread, c.threads) : Range{0, dim};
  for (int64_t i = r.begin, end = r.end == dim ? total_floats(dim) : r.end; i < end; i++) mine[i] = mine[total_floats(dim) + i] = 0;
  NormBackward<T, CENTERED> p(c, mine);
  if (is_short(rows, dim, W < 8 ? 8 : SHORT_ROW)) norm_backward_short_rows(c, p);
  else if (const bool stream = c.stream && dim % LINE == 0; !(stream ? norm_backward_by_vectors<true>(c, p) : norm_backward_by_vectors<false>(c, p)) && !norm_backward_cached_rows(c, p)) run_rows(c, p);
  c.barrier(c.team);
  const Range own = part(dim, LINE, c.thread, c.threads);
  for (int output_index = 1; output_index <= (CENTERED ? 2 : 1); output_index++) {
    float* const first = all + (output_index - 1) * total_floats(dim);
    if (!shared)
      for (int t = 1; t < c.threads; t++) map2<false>(first, first + t * stride, first, own.begin, own.end, [](V a, V b) { return vadd(a, b); });
    map1<false>(first, output<T>(c, output_index), own.begin, own.end, [](V v) { return v; });
  }
}

template <class T>
void run_layer_norm_backward(const Call& c) {
  run_norm_backward<T, true>(c);
}
template <class T>
void run_rms_norm_backward(const Call& c) {
  run_norm_backward<T, false>(c);
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

size_t backward_scratch(const int64_t* d, int, int threads, size_t) {
  return rows_scratch(d[0], d[1], threads) + static_cast<size_t>((rows_shared(d[0], d[1], threads) ? 1 : threads) * totals_stride(d[1]));
}

}  // namespace

OPSCOPE_ROUNDED(layer_norm_backward, run_layer_norm_backward, "tttff>t>t>t", 2, 2, 0, layer_norm_backward_shape, backward_scratch)
OPSCOPE_ROUNDED(rms_norm_backward, run_rms_norm_backward, "tttf>t>t", 2, 2, 0, rms_norm_backward_shape, backward_scratch)
