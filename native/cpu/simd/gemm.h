// Matrix products in f32 from packed panels; what a matrix is made of is up to its operand.
//
// The blocking of Goto & van de Geijn ("Anatomy of high-performance matrix multiplication", 2008): a slab of KC rows of
// B is packed into panels of NR columns, blocks of A into panels of MR rows, and a register tile of MR x NR is computed
// from one panel of each. Many small products: every thread takes whole ones. Else the team packs each slab of B
// together into one of two buffers, so that one barrier per slab is enough, and shares the rows (or, where there are
// few, the columns).
#pragma once
#include "map.h"

namespace {

#if defined(OPSCOPE_ISA_avx512)
constexpr int MR = 14, NV = 2;
#elif defined(OPSCOPE_ISA_avx2)
constexpr int MR = 6, NV = 2;
#elif defined(OPSCOPE_ISA_neon)
constexpr int MR = 8, NV = 3;
#else
constexpr int MR = 4, NV = 2;
#endif
constexpr int NR = NV * W;
constexpr int64_t KC = 256;
constexpr int64_t MC = 168 / MR * MR;  // rows of A packed at a time: MC * KC floats stay in the second-level cache
constexpr int64_t NC = 4096 / NR * NR;

inline int64_t up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// A row-major matrix as the left operand: rows i .. i + rows (<= MR) and columns l .. l + kc as kc groups of MR, missing rows as zero.
template <class T>
struct LeftMatrix {
  const T* a;
  int64_t stride;  // between rows as stored
  bool transposed;
  void pack(int64_t i, int rows, int64_t l, int64_t kc, float* to) const {
    if (transposed) {
      for (int64_t p = 0; p < kc; p++)
        for (int r = 0; r < MR; r++) to[p * MR + r] = r < rows ? to_float(a[(l + p) * stride + i + r]) : 0;
      return;
    }
    for (int r = 0; r < MR; r++) {
      const T* from = a + (i + r) * stride + l;
      if (r < rows)
        for (int64_t p = 0; p < kc; p++) to[p * MR + r] = to_float(from[p]);
      else
        for (int64_t p = 0; p < kc; p++) to[p * MR + r] = 0;
    }
  }
};

// As the right operand: columns j .. j + columns (<= NR) and rows l .. l + kc as kc groups of NR, missing columns as zero.
template <class T>
struct RightMatrix {
  const T* b;
  int64_t stride;
  bool transposed;
  void pack(int64_t j, int columns, int64_t l, int64_t kc, float* to) const {
    if (transposed) {
      for (int q = 0; q < NR; q++) {
        const T* from = b + (j + q) * stride + l;
        if (q < columns)
          for (int64_t p = 0; p < kc; p++) to[p * NR + q] = to_float(from[p]);
        else
          for (int64_t p = 0; p < kc; p++) to[p * NR + q] = 0;
      }
      return;
    }
    for (int64_t p = 0; p < kc; p++) {
      const T* from = b + (l + p) * stride + j;
      if constexpr (sizeof(T) > 1) {
        if (columns == NR) {
          for (int v = 0; v < NV; v++) vstore(to + p * NR + v * W, vload(from + v * W));
          continue;
        }
      }
      for (int q = 0; q < NR; q++) to[p * NR + q] = q < columns ? to_float(from[q]) : 0;
    }
  }
};

// c[rows x columns] (+)= panel of A times panel of B. The tile lives in registers.
template <bool FIRST>
inline void tile(const float* a, const float* b, int64_t kc, float* c, int64_t stride, int rows, int columns) {
  V sum[MR][NV];
#pragma GCC unroll 16
  for (int i = 0; i < MR; i++)
#pragma GCC unroll 4
    for (int v = 0; v < NV; v++) sum[i][v] = vset(0);
  for (int64_t p = 0; p < kc; p++) {
    V row[NV];
#pragma GCC unroll 4
    for (int v = 0; v < NV; v++) row[v] = vload(b + v * W);
#pragma GCC unroll 16
    for (int i = 0; i < MR; i++) {
      const V x = vset(a[i]);
#pragma GCC unroll 4
      for (int v = 0; v < NV; v++) sum[i][v] = vfma(x, row[v], sum[i][v]);
    }
    a += MR;
    b += NR;
  }
#pragma GCC unroll 16
  for (int i = 0; i < MR; i++) {
    if (i >= rows) break;
#pragma GCC unroll 4
    for (int v = 0; v < NV; v++) {
      float* to = c + i * stride + v * W;
      const int left = columns - v * W;
      if (left >= W) vstore(to, FIRST ? sum[i][v] : vadd(vload(to), sum[i][v]));
      else if (left > 0) vstore_n(to, FIRST ? sum[i][v] : vadd(vload_n(to, left, 0), sum[i][v]), left);
    }
  }
}

// Products of the same extents.
struct Products {
  int64_t batch, m, n, k;

  // Floats of the buffers for one slab of B and one block of A, in whole cache lines, and of sums that wait to be rounded.
  int64_t b_floats() const { return up(least(k, KC) * up(least(n, NC), NR), LINE); }
  int64_t a_floats() const { return up(least(k, KC) * up(least(m, MC), MR), LINE); }
  int64_t sum_floats() const { return up(m * least(n, NC), LINE); }
  bool whole(int threads) const { return threads == 1 || batch >= threads; }
  // `rounded`: the output is no f32, or is not the sum itself.
  size_t scratch(int threads, bool rounded) const {
    const int64_t sums = rounded ? sum_floats() : 0;
    return static_cast<size_t>(whole(threads) ? threads * (b_floats() + a_floats() + sums) : 2 * b_floats() + threads * a_floats() + sums);
  }
};

// Where sums go: into the output itself..
struct Direct {
  float* out;
  int64_t stride;
  float* sums(int64_t j) const { return out + j; }
  int64_t sum_stride(int64_t) const { return stride; }
  void finish(Range, int64_t, Range, int64_t) const {}
};

// .. or into buffers until they are complete; then finished(i, j, sums, n) writes n columns of row i from j on.
template <class F>
struct Rounded {
  float* buffer;
  F finished;
  float* sums(int64_t) const { return buffer; }
  int64_t sum_stride(int64_t nc) const { return nc; }
  void finish(Range rows, int64_t jc, Range cols, int64_t nc) const {
    for (int64_t i = rows.begin; i < rows.end; i++) finished(i, jc + cols.begin, buffer + i * nc + cols.begin, cols.end - cols.begin);
  }
};

// Rows of C against a packed slab of B (columns jc + cols of it): packs A block by block.
template <class A, class Out>
void multiply(const A& a, const Out& out, Range rows, int64_t jc, int64_t nc, Range cols, int64_t l, int64_t kc, const float* slab, float* block) {
  float* const c = out.sums(jc);
  const int64_t stride = out.sum_stride(nc);
  for (int64_t ic = rows.begin; ic < rows.end; ic += MC) {
    const int64_t end = least(ic + MC, rows.end);
    for (int64_t i = ic; i < end; i += MR) a.pack(i, static_cast<int>(least(MR, end - i)), l, kc, block + (i - ic) * kc);
    for (int64_t j = cols.begin; j < cols.end; j += NR) {
      const int columns = static_cast<int>(least(NR, cols.end - j));
      for (int64_t i = ic; i < end; i += MR) {
        const int height = static_cast<int>(least(MR, end - i));
        if (l == 0) tile<true>(block + (i - ic) * kc, slab + j * kc, kc, c + i * stride + j, stride, height, columns);
        else tile<false>(block + (i - ic) * kc, slab + j * kc, kc, c + i * stride + j, stride, height, columns);
      }
    }
  }
}

// One product by `threads` threads, which share two slabs of B; alone, one slab is enough.
template <class A, class B, class Out>
void product(const Call& call, const Products& s, const A& a, const B& b, const Out& out, float* slabs, float* block, int thread, int threads, int& phase) {
  const bool by_rows = s.m >= 2 * MR * threads || s.m > s.n;
  for (int64_t jc = 0; jc < s.n; jc += NC) {
    const int64_t nc = least(NC, s.n - jc);
    const Range rows = by_rows ? part(s.m, MR, thread, threads) : Range{0, s.m};
    const Range cols = by_rows ? Range{0, nc} : part(nc, NR, thread, threads);
    for (int64_t l = 0; l < s.k; l += KC) {
      const int64_t kc = least(KC, s.k - l);
      float* slab = slabs + (phase & (threads > 1)) * s.b_floats();
      phase++;
      const Range mine = part(nc, NR, thread, threads);
      for (int64_t j = mine.begin; j < mine.end; j += NR)
        b.pack(jc + j, static_cast<int>(least(NR, mine.end - j)), l, kc, slab + j * kc);
      if (threads > 1) call.barrier(call.team);
      multiply(a, out, rows, jc, nc, cols, l, kc, slab, block);
    }
    out.finish(rows, jc, cols, nc);
  }
}

// All products. one(i, sums, multiply): calls multiply(left, right, out) for product i; `sums` is the buffer for a Rounded out.
template <class F>
void run_products(const Call& c, const Products& s, bool rounded, F one) {
  const int64_t bf = s.b_floats(), af = s.a_floats(), sums = rounded ? s.sum_floats() : 0;
  int phase = 0;
  if (s.whole(c.threads)) {
    float* own = c.scratch + c.thread * (bf + af + sums);
    const Range r = part(s.batch, 1, c.thread, c.threads);
    for (int64_t i = r.begin; i < r.end; i++)
      one(i, own + bf + af, [&](const auto& a, const auto& b, const auto& out) { product(c, s, a, b, out, own, own + bf, 0, 1, phase); });
    return;
  }
  float* block = c.scratch + 2 * bf + c.thread * af;
  float* shared = c.scratch + 2 * bf + c.threads * af;
  for (int64_t i = 0; i < s.batch; i++)
    one(i, shared, [&](const auto& a, const auto& b, const auto& out) { product(c, s, a, b, out, c.scratch, block, c.thread, c.threads, phase); });
}

// The same into a matrix of a storage type: f32 directly, others rounded. `out`: of product i, rows `stride` apart.
template <class A, class B, class M>
inline void multiply_into(float* out, int64_t stride, float*, const A& a, const B& b, const M& multiply_by) {
  multiply_by(a, b, Direct{out, stride});
}
template <class T, class A, class B, class M>
inline void multiply_into(T* out, int64_t stride, float* sums, const A& a, const B& b, const M& multiply_by) {
  const auto finished = [=](int64_t i, int64_t j, const float* row, int64_t n) { map1<false>(row, out + i * stride + j, 0, n, [](V v) { return v; }); };
  multiply_by(a, b, Rounded<decltype(finished)>{sums, finished});
}

}  // namespace
