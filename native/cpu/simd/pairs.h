// Products of bf16 by pairs of terms (AVX512_BF16): two neighbouring terms are a unit of 32 bits, which is moved as a float would be. One
// instruction multiplies and adds twice as many of them; a last term without a neighbour has zero beside it.
#pragma once
#include "fetch.h"
#include "gemm.h"

#if defined(OPSCOPE_ISA_avx512)
#define OPSCOPE_PAIRS 1

namespace {

struct Pairs {
  // Not by its intrinsic: it would be compiled for processors that have the instruction alone, and the rest of the file with it.
  static inline V fma(V x, V y, V sum) {
#if defined(__GNUC__)
    __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y));
    return sum;
#else
    return _mm512_dpbf16_ps(sum, __builtin_bit_cast(__m512bh, x), __builtin_bit_cast(__m512bh, y));
#endif
  }
};

inline RoundedBF16* rounded(BF16* p) { return static_cast<RoundedBF16*>(p); }

inline int64_t pairs(int64_t terms) { return (terms + 1) / 2; }

// The pairs of n <= W elements of two rows; `odd` null: zero.
inline V vpairs(const BF16* even, const BF16* odd, int n) {
  const __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(vmask_n(n), even));
  if (!odd) return _mm512_castsi512_ps(low);
  return _mm512_castsi512_ps(_mm512_or_si512(low, _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(vmask_n(n), odd)), 16)));
}

// The pairs of two vectors that were widened to floats, and of two elements.
inline V vpaired(V even, V odd) { return _mm512_castsi512_ps(_mm512_or_si512(_mm512_srli_epi32(_mm512_castps_si512(even), 16), _mm512_castps_si512(odd))); }
inline float pair_of(BF16 even, BF16 odd) { return bits_float(static_cast<uint32_t>(odd.bits) << 16 | even.bits); }

// `units` pairs of a row of `left` elements.
inline void copy_pairs(const BF16* from, int64_t units, int64_t left, float* to) {
  for (int64_t p = 0; p < units; p += W) {
    const int64_t some = least(2 * W, left - 2 * p);
    const __mmask32 met = static_cast<__mmask32>((uint64_t{1} << some) - 1);
    _mm512_mask_storeu_epi32(to + p, vmask_n(static_cast<int>(least(W, units - p))), _mm512_maskz_loadu_epi16(met, from + 2 * p));
  }
}

// As LeftMatrix and RightMatrix (simd/operand.h) of `terms` terms, but terms of what follows are pairs.
struct LeftPairs {
  const BF16* a;
  int64_t stride;  // between rows as stored
  bool transposed;
  int64_t terms;

  LeftMatrix<float> as_floats() const { return {reinterpret_cast<const float*>(a), stride / 2, transposed}; }
  bool lies(int64_t rows) const { return stride % 2 == 0 && terms % 2 == 0 && as_floats().lies(rows); }
  int64_t block_rows(int64_t kc) const { return lies(MC) ? as_floats().block_rows(kc) : MC * 2 / 3; }
  Left source(int64_t i, int64_t l) const { return lies(MC) ? as_floats().source(i, l) : Left{reinterpret_cast<const float*>(a), 0, false}; }
  // As that of LeftMatrix, of what is larger than a second-level cache of 1 MiB: fetching others takes up to an eighth of a narrow product.
  Lines copied(int64_t i, int64_t rows, int64_t l, int64_t kc) const {
    constexpr int64_t FAR = 1 << 19;
    return transposed && stride > NARROW_STRIDE && times(terms, stride) >= FAR ? lines_of(a + 2 * l * stride + i, stride, least(2 * kc, terms - 2 * l), rows) : Lines{};
  }
  Left block(int64_t i, int64_t rows, int64_t l, int64_t kc, float* to) const {
    if (lies(rows)) return as_floats().block(i, rows, l, kc, to);
    if (transposed) {
      for (int64_t p = 0; p < kc; p++) {
        const int64_t term = 2 * (l + p);
        const BF16 *const even = a + term * stride + i, *const odd = term + 1 < terms ? even + stride : nullptr;
        for (int64_t r = 0; r < rows; r += W) {
          const int n = static_cast<int>(least(W, rows - r));
          vstore_n(to + p * MC + r, vpairs(even + r, odd ? odd + r : nullptr, n), n);
        }
      }
      return {to, MC, true};
    }
    if (kc <= W && l == 0) {
      // Short rows as one vector each, later ones fetched: between blocks the processor stops reading ahead.
      const auto met = static_cast<__mmask32>((uint64_t{1} << terms) - 1);
      for (int64_t r = 0; r < rows; r++) {
        const BF16* const from = a + (i + r) * stride;
        vprefetch(from + FETCHED_AHEAD<BF16>);
        _mm512_storeu_si512(to + r * block_stride(kc), _mm512_maskz_loadu_epi16(met, from));
      }
      return {to, block_stride(kc), false};
    }
    for (int64_t r = 0; r < rows; r++) {
      const BF16* const from = a + (i + r) * stride + 2 * l;
      for (int64_t p = 0; p < 2 * kc; p += 2 * LINE) vprefetch(from + ROWS_COPIED_AHEAD * stride + p);
      copy_pairs(from, kc, terms - 2 * l, to + r * block_stride(kc));
    }
    return {to, block_stride(kc), false};
  }
};

// Rows of bf16 as the panel of a right operand, read as they lie, `stride` apart: two rows are a row of pairs. Of two vectors of pairs each has every
// other four columns, and their sums are put in order.
struct LyingPairs {
  const BF16* even;
  int64_t stride, terms;  // that are left
  __mmask32 met;          // of the columns, which are fewer than two vectors in the last panel
  using Unit = Pairs;
  static constexpr bool FETCHED = true, LISTED = false;

  template <int VECTORS>
  OPSCOPE_INLINE V vector(int v) const {
    // Beside the last of an odd number of terms is zero.
    const __mmask32 odd = terms > 1 ? met : 0;
    const BF16* const from = even + v / 2 * NR;
    if constexpr (VECTORS == 1) return _mm512_castsi512_ps(_mm512_or_si512(wide(_mm256_maskz_loadu_epi16(static_cast<__mmask16>(met), from)), _mm512_slli_epi32(wide(_mm256_maskz_loadu_epi16(static_cast<__mmask16>(odd), from + stride)), 16)));
    const __m512i x = _mm512_maskz_loadu_epi16(met, from), y = _mm512_maskz_loadu_epi16(odd, from + stride);
    return _mm512_castsi512_ps(v % 2 == 0 ? _mm512_unpacklo_epi16(x, y) : _mm512_unpackhi_epi16(x, y));
  }
  template <int VECTORS>
  static OPSCOPE_INLINE void put_in_order(V (&sum)[VECTORS]) {
    const __m512i low = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23), high = _mm512_setr_epi32(8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
#pragma GCC unroll 4
    for (int v = 0; v + 1 < VECTORS; v += 2) {
      const V x = sum[v], y = sum[v + 1];
      sum[v] = _mm512_permutex2var_ps(x, low, y);
      sum[v + 1] = _mm512_permutex2var_ps(x, high, y);
    }
  }
  const BF16* row_ahead() const { return even + ROWS_AHEAD * stride; }
  const BF16* odd_row_ahead() const { return even + (ROWS_AHEAD + 1) * stride; }
  void step() {
    even += 2 * stride;
    terms -= 2;
  }

 private:
  static __m512i wide(__m256i half) { return _mm512_cvtepu16_epi32(half); }
};

struct RightPairs {
  using Panel = PanelOf<Pairs>;
  const BF16* b;
  int64_t stride;
  bool transposed;
  int64_t terms;

  // Panels that few tiles meet are read as they lie: joining two rows takes each of them as long as four multiplications. Rows about a multiple of
  // 1 KiB apart take one another's places in the caches before a second tile meets them.
  bool stays(int64_t rows, int64_t units, int64_t) const {
    constexpr int64_t FEW_TILES = 4, LEAST_UNITS = 32, LEAST_OF_TILES = 48, APART = 512, ABOUT = 8;
    const bool meet = (stride + ABOUT) % APART <= 2 * ABOUT;
    return !transposed && rows <= (meet ? 1 : FEW_TILES) * MR && units >= (rows > MR ? LEAST_OF_TILES : LEAST_UNITS);
  }
  int64_t lying(int64_t, int64_t kc, int) const { return kc; }
  LyingPairs place(int64_t j, int64_t l) const { return {b + 2 * l * stride + j, stride, terms - 2 * l, static_cast<__mmask32>((uint64_t{1} << least(NR, stride - j)) - 1)}; }
  Lines source(int64_t j, int columns, int64_t l, int64_t kc) const {
    const int64_t some = least(2 * kc, terms - 2 * l);
    return transposed ? lines_of(b + j * stride + 2 * l, stride, columns, some) : lines_of(b + 2 * l * stride + j, stride, some, columns);
  }
  void pack(int64_t j, int columns, int64_t l, int64_t kc, float* to) const {
    if (transposed) return pack_transposed(b + j * stride + 2 * l, columns, kc, terms - 2 * l, to);
    for (int64_t p = 0; p < kc; p++) {
      const int64_t term = 2 * (l + p);
      const BF16 *const even = b + term * stride + j, *const odd = term + 1 < terms ? even + stride : nullptr;
      vprefetch(even + ROWS_AHEAD * stride);
      vprefetch(even + (ROWS_AHEAD + 1) * stride);
      for (int v = 0; v < NR; v += W) {
        const int left = columns - v;
        vstore(to + p * NR + v, left > 0 ? vpairs(even + v, odd ? odd + v : nullptr, left < W ? left : W) : vset(0));
      }
    }
  }

 private:
  void pack_transposed(const BF16* from, int columns, int64_t kc, int64_t left, float* to) const {
    constexpr int SIDE = TILE<uint32_t>;
    float rows[SIDE * SIDE];
    for (int64_t i = 0; i < SIDE * SIDE; i++) rows[i] = 0;
    for (int q = 0; q < NR; q += SIDE)
      for (int64_t p = 0; p < kc; p += SIDE) {
        const int64_t units = least(SIDE, kc - p);
        if (units == SIDE && q + SIDE <= columns && left - 2 * p >= 2 * SIDE) {
          const BF16* const tile = from + q * stride + 2 * p;
          transpose_rows([&](int row, int half) { return four_floats(reinterpret_cast<const float*>(tile + row * stride + 8 * half)); }, reinterpret_cast<uint32_t*>(to + p * NR + q), NR);
          continue;
        }
        for (int r = 0; r < SIDE; r++) {
          if (q + r < columns) copy_pairs(from + (q + r) * stride + 2 * p, units, left - 2 * p, rows + r * SIDE);
          else
            for (int64_t i = 0; i < units; i++) rows[r * SIDE + i] = 0;
        }
        float* const there = to + p * NR + q;
        if (units == SIDE) transpose_tile(reinterpret_cast<const uint32_t*>(rows), SIDE, reinterpret_cast<uint32_t*>(there), NR);
        else
          for (int64_t i = 0; i < units; i++)
            for (int r = 0; r < SIDE; r++) there[i * NR + r] = rows[r * SIDE + i];
      }
  }
};

}  // namespace
#endif
