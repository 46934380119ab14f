// softmax(q k^T / sqrt(headDim)) v. dims: [batch, heads, kvHeads, seqQ, seqK, headDim, causal].
//
// A block of queries meets the keys a block at a time, with the running maximum and sum of each query (Milakov & Gimelshein 2018; Dao et
// al. 2022): scores are a product with packed panels (simd/gemm.h), and become weights, the left operand of the product with the values. Few
// queries meet keys and values as these lie. Threads share the blocks of queries of all heads. In bf16 both are products of pairs of terms
// (simd/pairs.h) or of tiles of them (simd/attention_tiles.h) where the processor has such; weights are then rounded to bf16, their sums are not.
#include "simd/attention_tiles.h"
#include "simd/bf16_operands.h"
#include "simd/dots.h"
#include "simd/gemm.h"
#include "simd/math.h"

namespace {

constexpr int64_t QUERIES = MR * (MR >= 14 ? 5 : 12);  // about 64
constexpr int64_t KEYS = 256, SCORES = KEYS + LINE;  // keys of a block, and the distance of rows of scores

// Queries of heads that share keys, and see the same of them, are the queries of one head.
struct Sizes {
  int64_t batch, heads, kv_heads, queries, keys, stored_keys, dim;
  bool causal;
  explicit Sizes(const int64_t* d) : batch(d[0]), heads(d[1]), kv_heads(d[2]), queries(d[3]), keys(d[4]), stored_keys(d[4]), dim(d[5]), causal(d[6] != 0) {
    if (causal && queries > 1) return;
    if (causal) keys = least(keys, 1);
    causal = false;
    queries *= heads / kv_heads;
    heads = kv_heads;
  }
  // Whether so few queries or keys do not repay copies of keys and values.
  bool is_few() const {
    constexpr int64_t FEW_KEYS = 8;
    return keys <= FEW_KEYS || queries <= 2 * DOT_ROWS || (keys <= 3 * FEW_KEYS && queries <= 3 * DOT_ROWS);
  }
};

// Queries of a block: up to `most`, a multiple of `unit`; as many in each as can be.
struct Blocks {
  int64_t rows, count;
  Blocks(const Sizes& s, int64_t most, int64_t unit) {
    const int64_t blocks = (s.queries + most - 1) / most;
    rows = up((s.queries + blocks - 1) / blocks, unit);
    count = (s.queries + rows - 1) / rows;
  }
};
inline Blocks blocks_of(const Sizes& s) { return s.is_few() ? Blocks(s, DOT_ROWS, 1) : Blocks(s, QUERIES, QUERIES); }

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

#if defined(OPSCOPE_PAIRS)
// What such products take of the scratch beside Buffers.
struct PairBuffers {
  float *slab, *block, *sums;
  BF16* weights;
  // Larger than the products of queries and keys and of weights and values.
  static Products largest(const Sizes& s) { return {1, QUERIES, s.dim > KEYS ? s.dim : KEYS, up(pairs(s.dim > KEYS ? s.dim : KEYS), LINE), INT32_MAX}; }
  static int64_t floats(const Sizes& s) {
    const Products p = largest(s);
    return p.b_floats() + p.a_floats() + p.sum_floats() + QUERIES * SCORES / 2;
  }
  PairBuffers(const Sizes& s, float* at) : slab(at), block(slab + largest(s).b_floats()), sums(block + largest(s).a_floats()), weights(reinterpret_cast<BF16*>(sums + largest(s).sum_floats())) {}
};

// Whether queries of such a block meet so many keys by them.
inline bool by_pairs(const Sizes& s, int64_t rows) {
  constexpr int64_t LEAST = 32, MOST = 1024;
  return rows > DOT_ROWS && s.dim >= LEAST && s.dim <= MOST && s.keys >= LEAST;
}

// As attend(), of a block for which by_pairs() holds.
template <class Operands>
void attend_by_pairs(const Sizes& s, const BF16* q, const BF16* k, const BF16* v, BF16* out, int64_t first, int64_t rows, const Buffers& b, const PairBuffers& p) {
  const float scale = 1 / __builtin_sqrtf(static_cast<float>(s.dim));
  const int64_t dim = s.dim, seen = s.causal ? least(s.keys, first + rows) : s.keys;
  Met met(b.out, rows, dim);
  const auto multiply_all = [&]<class F>(const auto& left, const auto& right, int64_t columns, int64_t terms, F finished) {
    const int64_t units = Operands::products({1, rows, columns, terms}).k;
    multiply(left, right, false, true, Finished<F>{{p.sums}, finished}, {0, rows}, 0, columns, {0, columns}, 0, units, units, p.slab, p.block);
  };
  for (int64_t from = 0; from < seen; from += KEYS) {
    const int64_t keys = least(KEYS, seen - from);
    multiply_all(Operands::left(q + first * dim, dim, false, dim), Operands::right(k + from * dim, dim, true, dim), keys, dim, [&](int64_t i, int64_t j, const float* sums, int64_t n) {
      map1<false>(sums, b.scores + i * SCORES + j, 0, n, [scale](V x) { return vmul(x, vset(scale)); });
    });
    for (int64_t i = 0; i < rows; i++) {
      float* const row = b.scores + i * SCORES;
      const int64_t some = s.causal ? least(keys, first + i + 1 - from) : keys;
      for (int64_t j = some > 0 ? some : 0; j < keys; j++) row[j] = 0;
      if (some > 0) met.weigh(i, row, some);
      map1<false>(row, rounded(p.weights + i * SCORES), 0, keys, [](V x) { return x; });
    }
    multiply_all(Operands::left(p.weights, SCORES, false, keys), Operands::right(v + from * dim, dim, false, keys), dim, keys, [&](int64_t i, int64_t j, const float* sums, int64_t n) {
      float* const to = b.out + i * dim + j;
      map2<false>(sums, to, to, 0, n, [](V x, V y) { return vadd(x, y); });
    });
  }
  met.write(rows, Operands::output(out + first * dim));
}
#endif

struct AsFloats {
  using State = NoState;
  static constexpr bool TILES = false, PAIRS = false;
};

#if defined(OPSCOPE_TILES)
// Blocks of queries that meet their keys by tiles.
inline Blocks blocks_of_tiles(const Sizes& s) { return Blocks(s, AttentionTiles::QUERIES, NR); }
inline bool by_tiles(const Sizes& s) {
  constexpr int64_t LEAST_DIM = 16, MOST_DIM = 1024, LEAST_KEYS = 8, LEAST_SCORES = 144, MANY_KEYS = 256;
  if (s.dim < LEAST_DIM || s.dim > MOST_DIM || s.keys < LEAST_KEYS) return false;
  return s.queries >= 2 * DOT_ROWS ? times(s.queries, s.keys) >= LEAST_SCORES : s.queries > DOT_ROWS && s.keys >= MANY_KEYS;
}
#endif

template <class T, class Operands = AsFloats>
void run(const Call& c) {
  [[maybe_unused]] const typename Operands::State state{};
  const Sizes s(c.dims);
  const auto each_block = [&](const Blocks& blocks, const auto& attend_to) {
    each_range_in(c, parts_of_work(c, 2 * s.batch * s.heads * s.queries * s.keys * s.dim), s.batch * s.heads * blocks.count, 1, [&](Range r) {
      for (int64_t i = r.begin; i < r.end; i++) {
        const int64_t head = i / blocks.count, first = (i - head * blocks.count) * blocks.rows;
        const int64_t source = (head / s.heads * s.kv_heads + head % s.heads / (s.heads / s.kv_heads)) * s.stored_keys * s.dim, at = head * s.queries * s.dim;
        attend_to(input<T>(c, 0) + at, input<T>(c, 1) + source, input<T>(c, 2) + source, output<T>(c) + at, first, least(blocks.rows, s.queries - first));
      }
    });
  };
#if defined(OPSCOPE_TILES)
  if constexpr (Operands::TILES)
    if (by_tiles(s)) {
      AttentionTiles tiles(s.dim, c.scratch + c.thread * AttentionTiles::floats(s.dim));
      return each_block(blocks_of_tiles(s), [&](const T* q, const T* k, const T* v, T* out, int64_t first, int64_t rows) { tiles.attend({k, v, s.keys, s.dim, s.causal}, q + first * s.dim, out + first * s.dim, first, rows); });
    }
#endif
  const Buffers b(s, c.scratch + c.thread * Buffers::floats(s));
  each_block(blocks_of(s), [&](const T* q, const T* k, const T* v, T* out, int64_t first, int64_t rows) {
#if defined(OPSCOPE_PAIRS)
    if constexpr (Operands::PAIRS)
      if (by_pairs(s, rows)) return attend_by_pairs<Operands>(s, q, k, v, out, first, rows, b, PairBuffers(s, c.scratch + c.threads * Buffers::floats(s) + c.thread * PairBuffers::floats(s)));
#endif
    attend(s, q, k, v, out, first, rows, b);
  });
}

bool shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[3] = times(times(d[0], d[1]), times(d[3], d[5]));
  sizes[1] = sizes[2] = times(times(d[0], d[2]), times(d[4], d[5]));
  return d[2] > 0 && d[1] % d[2] == 0;
}

size_t scratch(const int64_t* d, int, int threads, [[maybe_unused]] size_t bytes) {
  const Sizes s(d);
  int64_t floats = Buffers::floats(s);
#if defined(OPSCOPE_PAIRS)
  if (bytes < sizeof(float) && by_pairs(s, blocks_of(s).rows)) floats += PairBuffers::floats(s);
#endif
#if defined(OPSCOPE_TILES)
  if (bytes < sizeof(float) && by_tiles(s) && floats < AttentionTiles::floats(s.dim)) floats = AttentionTiles::floats(s.dim);
#endif
  return static_cast<size_t>(floats * threads);
}

}  // namespace

OPSCOPE_KERNEL(scaled_dot_product_attention, "ttt>t", 7, 7, 0, shape, scratch, OPSCOPE_MULTIPLIED_RUNS(run, Paired, Tiled))
