// Attention in bf16 by tiles (simd/tiles.h), with queries as the columns of every product: keys and transposed values are the left operands, and scores lie as key by
// query, so that maxima, exponentials and sums of weights are those of whole vectors of queries. Weights are rounded to bf16, their sums are not.
#pragma once
#include "math.h"
#include "tiles.h"
#include "transpose.h"
#if defined(OPSCOPE_TILES)

namespace {

// What the queries of a head meet.
struct TiledHead {
  const BF16 *k, *v;
  int64_t keys, dim;
  bool causal;
};

class AttentionTiles {
 public:
  static constexpr int64_t QUERIES = 3 * NR, KEYS = 256;

  static int64_t floats(int64_t dim) { return QUERIES * units_of(dim) + PAIR_ROWS * units_of(dim) + up(dim, PAIR_ROWS) * KEYS / 2 + KEYS * QUERIES + KEYS / 2 * QUERIES + up(dim, PAIR_ROWS) * QUERIES; }

  AttentionTiles(int64_t dim, float* at)
      : dim_(dim), units_(units_of(dim)), queries_(at), keys_(queries_ + QUERIES * units_), values_(keys_ + PAIR_ROWS * units_), scores_(values_ + up(dim, PAIR_ROWS) * KEYS / 2), weights_(scores_ + KEYS * QUERIES), out_(weights_ + KEYS / 2 * QUERIES) {}

  // `rows` <= QUERIES rows of q, the first of which sees `first` + 1 keys of a causal head.
  void attend(const TiledHead& head, const BF16* q, BF16* out, int64_t first, int64_t rows) {
    rows_ = rows;
    RightOfTiles{{q, dim_, true, dim_}}.pack(0, rows, 0, units_, queries_);
    for (int v = 0; v < VECTORS; v++) {
      maxima_[v] = vset(-__builtin_inff());
      sums_[v] = vset(0);
    }
    const int64_t seen = head.causal ? least(head.keys, first + rows) : head.keys;
    for (int64_t from = 0; from < seen; from += KEYS) {
      const int64_t keys = least(KEYS, seen - from);
      score(head.k + from * dim_, keys);
      weigh(keys, head.causal ? first - from : INT32_MAX, from == 0);
      add_values(head.v + from * dim_, keys, from == 0);
    }
    write(out);
  }

 private:
  static constexpr int VECTORS = QUERIES / W;
  static int64_t units_of(int64_t terms) { return up(pairs(terms), TILE_UNITS); }
  int64_t panels() const { return (rows_ + NR - 1) / NR; }
  // Whether the panel from query j on has but one vector of them.
  bool is_narrow(int64_t j) const { return rows_ - j <= W; }

  // sums[rows x a panel of queries] (`adds`: +)= left * panel.
  template <int GROUPS, int COLUMNS>
  static void product(const LeftTiles& first, const LeftTiles& second, const float* panel, int64_t steps, float* sums, bool adds) {
    constexpr int64_t STRIDE = QUERIES * sizeof(float);
    float* const below = sums + TILE_ROWS * QUERIES;
    if (adds) {
      OPSCOPE_TILE_LOAD(0, sums, STRIDE);
      if constexpr (COLUMNS > 1) OPSCOPE_TILE_LOAD(1, sums + W, STRIDE);
      if constexpr (GROUPS > 1) OPSCOPE_TILE_LOAD(2, below, STRIDE);
      if constexpr (GROUPS > 1 && COLUMNS > 1) OPSCOPE_TILE_LOAD(3, below + W, STRIDE);
    } else {
      OPSCOPE_TILE_ZERO(0);
      if constexpr (COLUMNS > 1) OPSCOPE_TILE_ZERO(1);
      if constexpr (GROUPS > 1) OPSCOPE_TILE_ZERO(2);
      if constexpr (GROUPS > 1 && COLUMNS > 1) OPSCOPE_TILE_ZERO(3);
    }
    multiply_tiles<GROUPS, COLUMNS>(first, second, panel, steps);
    OPSCOPE_TILE_STORE(0, sums, STRIDE);
    if constexpr (COLUMNS > 1) OPSCOPE_TILE_STORE(1, sums + W, STRIDE);
    if constexpr (GROUPS > 1) OPSCOPE_TILE_STORE(2, below, STRIDE);
    if constexpr (GROUPS > 1 && COLUMNS > 1) OPSCOPE_TILE_STORE(3, below + W, STRIDE);
  }

  // The products of two groups of rows of the left operand with every panel of queries, `apart` floats from each other.
  void products(bool both, const LeftTiles& first, const LeftTiles& second, const float* panel, int64_t apart, int64_t steps, float* sums, bool adds) const {
    for (int64_t j = 0; j < panels() * NR; j += NR, panel += apart) {
      if (both) is_narrow(j) ? product<2, 1>(first, second, panel, steps, sums + j, adds) : product<2, 2>(first, second, panel, steps, sums + j, adds);
      else is_narrow(j) ? product<1, 1>(first, second, panel, steps, sums + j, adds) : product<1, 2>(first, second, panel, steps, sums + j, adds);
    }
  }

  static LeftTiles packed(const float* from) { return {reinterpret_cast<const char*>(from), TILE_UNITS * sizeof(float), TILE_FLOATS * sizeof(float)}; }

  // scores[key][query], in the units of the operands.
  void score(const BF16* k, int64_t keys) {
    const LeftOfTiles left{k, dim_, false, dim_};
    for (int64_t i = 0; i < keys; i += PAIR_ROWS) {
      const int64_t some = least(PAIR_ROWS, keys - i);
      LeftTiles groups[2];
      for (int64_t g = 0; g < 2; g++) {
        const int64_t at = i + g * TILE_ROWS, own = least(TILE_ROWS, keys - at);
        if (own <= 0) groups[g] = groups[0];
        else if (own == TILE_ROWS && dim_ % (2 * TILE_UNITS) == 0) groups[g] = left.place(at, 0);
        else {
          float* const to = keys_ + g * TILE_ROWS * units_;
          left.pack(at, static_cast<int>(own), 0, units_, to);
          groups[g] = packed(to);
        }
      }
      products(some > TILE_ROWS, groups[0], groups[1], queries_, units_ * NR, units_ / TILE_UNITS, scores_ + i * QUERIES, false);
    }
  }

  // Turns scores into pairs of weights, and what queries have met before into what it is beside these. Query i sees `limit` + 1 + i of the keys.
  void weigh(int64_t keys, int64_t limit, bool is_first) {
    const V scale = vset(1 / __builtin_sqrtf(static_cast<float>(dim_)));
    const int64_t pairs_of_keys = up((keys + 1) / 2, TILE_UNITS);
    for (int64_t j = 0; j < rows_; j += W) {
      const int v = static_cast<int>(j / W);
      const float* const column = scores_ + j;
      float* const to = weights_ + j / NR * NR * pairs_of_keys + j % NR;
      const int64_t own = limit + 1 + j;  // keys that the first query of the vector sees; the next one sees one more
      const int64_t all = own < 0 ? 0 : least(keys, own), some = own + W <= 1 ? 0 : least(keys, own + W - 1);
      const auto seen_by = [own](int64_t key) { return static_cast<__mmask16>(key < own ? 0xffff : 0xffff << (key - own + 1)); };
      V max[4] = {maxima_[v], maxima_[v], maxima_[v], maxima_[v]};
      int64_t i = 0;
      for (; i + 4 <= all; i += 4)
        for (int p = 0; p < 4; p++) max[p] = vmax(max[p], vload(column + (i + p) * QUERIES));
      for (; i < some; i++) max[0] = _mm512_mask_max_ps(max[0], seen_by(i), max[0], vload(column + i * QUERIES));
      const V top = vmax(vmax(max[0], max[1]), vmax(max[2], max[3])), offset = vneg(vmul(top, scale));
      const auto weight = [&](int64_t key) { return vexp_falling(vfma(vload(column + key * QUERIES), scale, offset)); };
      V sum = vset(0), other = vset(0);
      for (i = 0; i + 2 <= all; i += 2) {
        const V even = weight(i), odd = weight(i + 1);
        sum = vadd(sum, even);
        other = vadd(other, odd);
        vstore(to + i / 2 * NR, vrounded_pairs(even, odd));
      }
      for (; i < some; i += 2) {
        const V even = _mm512_maskz_mov_ps(seen_by(i), weight(i)), odd = i + 1 < some ? _mm512_maskz_mov_ps(seen_by(i + 1), weight(i + 1)) : vset(0);
        sum = vadd(sum, even);
        other = vadd(other, odd);
        vstore(to + i / 2 * NR, vrounded_pairs(even, odd));
      }
      for (i /= 2; i < pairs_of_keys; i++) vstore(to + i * NR, vset(0));
      const __mmask16 higher = is_first ? __mmask16{0} : _mm512_cmp_ps_mask(top, maxima_[v], _CMP_NEQ_UQ);
      if (higher) {
        const V kept = _mm512_mask_blend_ps(higher, vset(1), vexp_falling(vmul(vsub(maxima_[v], top), scale)));
        sums_[v] = vmul(sums_[v], kept);
        for (int64_t d = 0; d < dim_; d++) vstore(out_ + d * QUERIES + j, vmul(vload(out_ + d * QUERIES + j), kept));
      }
      sums_[v] = vadd(sums_[v], vadd(sum, other));
      maxima_[v] = top;
    }
  }

  // out[element][query] += values * weights.
  void add_values(const BF16* v, int64_t keys, bool is_first) {
    const int64_t terms = up((keys + 1) / 2, TILE_UNITS);
    const LeftOfTiles left{v, dim_, true, keys};
    for (int64_t i = 0; i < dim_; i += PAIR_ROWS) {
      const bool both = dim_ - i > TILE_ROWS;
      for (int64_t g = 0; g < (both ? 2 : 1); g++) left.pack(i + g * TILE_ROWS, static_cast<int>(least(TILE_ROWS, dim_ - i - g * TILE_ROWS)), 0, terms, values_ + g * TILE_ROWS * terms);
      products(both, packed(values_), packed(values_ + TILE_ROWS * terms), weights_, terms * NR, terms / TILE_UNITS, out_ + i * QUERIES, !is_first);
    }
  }

  void write(BF16* to) const {
    alignas(64) float turned[W * W];
    for (int64_t j = 0; j < rows_; j += W) {
      const V factor = vdiv(vset(1), sums_[j / W]);
      for (int64_t d = 0; d < dim_; d += W) {
        const int n = static_cast<int>(least(W, dim_ - d));
        alignas(64) float scaled[W * W];
        for (int e = 0; e < W; e++) vstore(scaled + e * W, e < n ? vmul(vload(out_ + (d + e) * QUERIES + j), factor) : vset(0));
        constexpr int SIDE = TILE<uint32_t>;
        for (int r = 0; r < W; r += SIDE)
          for (int c = 0; c < W; c += SIDE) transpose_tile(reinterpret_cast<const uint32_t*>(scaled + r * W + c), W, reinterpret_cast<uint32_t*>(turned + c * W + r), W);
        for (int64_t q = 0; q < least(W, rows_ - j); q++) vstore_n(rounded(to + (j + q) * dim_ + d), vload(turned + q * W), n);
      }
    }
  }

  // Of two vectors those of bf16, element by element beside each other.
  static V vrounded_pairs(V even, V odd) {
    __m512i narrow;
    __asm__("vcvtne2ps2bf16 %1, %2, %0" : "=v"(narrow) : "v"(even), "v"(odd));
    const __m512i beside = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return _mm512_castsi512_ps(_mm512_permutexvar_epi16(beside, narrow));
  }

  const int64_t dim_, units_;
  float *queries_, *keys_, *values_, *scores_, *weights_, *out_;
  int64_t rows_ = 0;
  V maxima_[VECTORS], sums_[VECTORS];
};

}  // namespace
#endif
