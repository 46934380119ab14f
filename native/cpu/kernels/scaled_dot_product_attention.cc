// softmax(q k^T / sqrt(headDim)) v. dims: [batch, heads, kvHeads, seqQ, seqK, headDim, causal].
//
// A block of queries meets the keys a block at a time, with the running maximum and sum of each query (Milakov & Gimelshein 2018; Dao et
// al. 2022): scores are a product with packed panels (simd/gemm.h), and become weights, the left operand of the product with the values. Few
// queries meet keys and values as these lie. Threads share the blocks of queries of all heads.
#include "simd/dots.h"
#include "simd/gemm.h"
#include "simd/math.h"

namespace {

constexpr int64_t QUERIES = MR * (MR >= 14 ? 5 : 12);  // about 64
constexpr int64_t KEYS = 256, SCORES = KEYS + LINE;  // keys of a block, and the distance of rows of scores

// Single queries of heads that share keys are the queries of one head.
struct Sizes {
  int64_t batch, heads, kv_heads, queries, keys, stored_keys, dim;
  bool causal;
  explicit Sizes(const int64_t* d) : batch(d[0]), heads(d[1]), kv_heads(d[2]), queries(d[3]), keys(d[4]), stored_keys(d[4]), dim(d[5]), causal(d[6] != 0) {
    if (queries > 1) return;
    queries = heads / kv_heads;
    heads = kv_heads;
    if (causal) keys = least(keys, 1);
    causal = false;
  }
  // Queries of a block: few where so few queries or keys do not repay copies of keys and values.
  int64_t block() const {
    constexpr int64_t FEW_KEYS = 8;
    if (keys > FEW_KEYS && queries > 2 * DOT_ROWS && (keys > 3 * FEW_KEYS || queries > 3 * DOT_ROWS)) return QUERIES;
    const int64_t blocks = (queries + DOT_ROWS - 1) / DOT_ROWS;
    return (queries + blocks - 1) / blocks;
  }
  int64_t blocks() const { return (queries + block() - 1) / block(); }
};

// What one thread needs, in the scratch.
struct Buffers {
  float *q, *k, *v, *scores, *out;
  static int64_t q_floats(const Sizes& s) { return up(QUERIES * s.dim, LINE); }
  static int64_t k_floats(const Sizes& s) { return up(up(KEYS, NR) * s.dim, LINE); }
  static int64_t v_floats(const Sizes& s) { return up(KEYS * up(s.dim, NR), LINE); }
  static int64_t floats(const Sizes& s) { return 2 * q_floats(s) + k_floats(s) + v_floats(s) + QUERIES * SCORES; }
  Buffers(const Sizes& s, float* at) : q(at), k(q + q_floats(s)), v(k + k_floats(s)), scores(v + v_floats(s)), out(scores + QUERIES * SCORES) {}
};

// What queries have met: the largest score of each, the sum of its weights, and (out, `dim` each) that of the weighted values.
struct Met {
  float maxima[QUERIES], sums[QUERIES];
  float* out;
  int64_t dim;
  Met(float* weighted, int64_t rows, int64_t width) : out(weighted), dim(width) {
    for (int64_t i = 0; i < rows; i++) {
      maxima[i] = -__builtin_inff();
      sums[i] = 0;
    }
    for (int64_t i = 0; i < rows * dim; i++) out[i] = 0;
  }
  // Turns n scores of query i into weights, and what it has met before into what it is beside these.
  void weigh(int64_t i, float* scores, int64_t n) {
    const float own = max_of(scores, n), max = own > maxima[i] ? own : maxima[i];
    const V top = vset(max), kept = vexp_falling(vset(maxima[i] - max));
    map1<false>(scores, scores, 0, n, [top](V x) { return vexp_falling(vsub(x, top)); });
    float keep[W];
    vstore(keep, kept);
    sums[i] = sums[i] * keep[0] + sum_of(scores, n, [](V x) { return x; });
    if (max != maxima[i]) map1<false>(out + i * dim, out + i * dim, 0, dim, [kept](V x) { return vmul(x, kept); });
    maxima[i] = max;
  }
  template <class T>
  void write(int64_t rows, T* to) const {
    for (int64_t i = 0; i < rows; i++) {
      const V factor = vset(1 / sums[i]);
      map1<false>(out + i * dim, to + i * dim, 0, dim, [factor](V x) { return vmul(x, factor); });
    }
  }
};

// `rows` queries from `first` on of one head.
template <class T>
void attend(const Sizes& s, const T* q, const T* k, const T* v, T* out, int64_t first, int64_t rows, const Buffers& b) {
  const float scale = 1 / __builtin_sqrtf(static_cast<float>(s.dim));
  const int64_t dim = s.dim, seen = s.causal ? least(s.keys, first + rows) : s.keys;
  const bool few = rows <= DOT_ROWS;
  if (!few) map1<false>(q + first * dim, b.q, 0, rows * dim, [scale](V x) { return vmul(x, vset(scale)); });
  const Left queries{b.q, dim, false}, weights{b.scores, SCORES, false};
  Met met(b.out, rows, dim);
  for (int64_t from = 0; from < seen; from += KEYS) {
    const int64_t keys = least(KEYS, seen - from);
    const T *const of_keys = k + from * dim, *const of_values = v + from * dim;
    if (few) {
      dots<DOT_ROWS>(q + first * dim, of_keys, rows, dim, dim, {0, keys}, b.scores, SCORES, 1);
      map1<false>(b.scores, b.scores, 0, (rows - 1) * SCORES + keys, [scale](V x) { return vmul(x, vset(scale)); });
    } else {
      const RightMatrix<T> keys_by_terms{of_keys, dim, true, dim}, values{of_values, dim, false, keys};
      for (int64_t j = 0; j < keys; j += NR) keys_by_terms.pack(j, static_cast<int>(least(NR, keys - j)), 0, dim, b.k + j * dim);
      for (int64_t j = 0; j < dim; j += NR) values.pack(j, static_cast<int>(least(NR, dim - j)), 0, keys, b.v + j * keys);
      for (int64_t j = 0; j < keys; j += NR) multiply_panel(queries, rows, Right{b.k + j * dim, NR}, dim, b.scores + j, SCORES, static_cast<int>(least(NR, keys - j)), true);
    }
    for (int64_t i = 0; i < rows; i++) {
      float* const row = b.scores + i * SCORES;
      const int64_t some = s.causal ? least(keys, first + i + 1 - from) : keys;
      for (int64_t j = some > 0 ? some : 0; j < keys; j++) row[j] = 0;
      if (some > 0) met.weigh(i, row, some);
      if (few) add_rows_to(b.out + i * dim, row, of_values, keys, dim, dim);
    }
    for (int64_t j = 0; !few && j < dim; j += NR) multiply_panel(weights, rows, Right{b.v + j * keys, NR}, keys, b.out + j, dim, static_cast<int>(least(NR, dim - j)), false);
  }
  met.write(rows, out + first * dim);
}

template <class T>
void run(const Call& c) {
  const Sizes s(c.dims);
  const Buffers b(s, c.scratch + c.thread * Buffers::floats(s));
  const Range r = part(s.batch * s.heads * s.blocks(), 1, c.thread, c.threads);
  for (int64_t i = r.begin; i < r.end; i++) {
    const int64_t head = i / s.blocks(), first = (i - head * s.blocks()) * s.block();
    const int64_t source = (head / s.heads * s.kv_heads + head % s.heads / (s.heads / s.kv_heads)) * s.stored_keys * s.dim;
    attend(s, input<T>(c, 0) + head * s.queries * s.dim, input<T>(c, 1) + source, input<T>(c, 2) + source, output<T>(c) + head * s.queries * s.dim, first, least(s.block(), s.queries - first), b);
  }
}

bool shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[3] = times(times(d[0], d[1]), times(d[3], d[5]));
  sizes[1] = sizes[2] = times(times(d[0], d[2]), times(d[4], d[5]));
  return d[2] > 0 && d[1] % d[2] == 0;
}

size_t scratch(const int64_t* d, int, int threads, size_t) { return static_cast<size_t>(Buffers::floats(Sizes(d)) * threads); }

}  // namespace

OPSCOPE_TYPED(scaled_dot_product_attention, run, "ttt>t", 7, 7, 0, shape, scratch)
