// Matrix products in f32, a register tile at a time; what a matrix is made of is up to its operand.
//
// The blocking of Goto & van de Geijn ("Anatomy of high-performance matrix multiplication", 2008): blocks of A and panels of B of up to
// KC * 3 / 2 terms. Where the left operand's rows can be read as they lie they are not copied; the right operand is copied into panels
// of NR columns where many rows meet them. Rows are shared out evenly over tiles of up to MR, and the last panel has one vector of
// columns where that is enough. Many small products: every thread takes whole ones. Else the team packs each slab of B together into
// one of two buffers, so that one barrier per slab is enough, and shares the rows (or, where there are few, the columns).
#pragma once
#include "map.h"
#include "transpose.h"

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
constexpr int64_t KC = 384;
constexpr int64_t MC = 168;  // rows of A at a time: with KC terms each they stay in the second-level cache
constexpr int64_t NC = 4096 / NR * NR;

inline int64_t up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
// The largest part where `n` is cut into equal parts of about `most`, of at most one and a half times that.
inline int64_t even_part(int64_t n, int64_t most) {
  const int64_t parts = (n + most / 2) / most;
  return parts <= 1 ? n : (n + parts - 1) / parts;
}

template <class T>
inline void copy_row(const T* from, float* to, int64_t n) {
  if constexpr (sizeof(T) > 1) map1<false>(from, to, 0, n, [](V v) { return v; });
  else
    for (int64_t i = 0; i < n; i++) to[i] = to_float(from[i]);
}

// A block of the left operand as tiles read it: the term p of row i lies at data[i * stride + p], or where by_terms at data[p * stride + i].
struct Left {
  const float* data;
  int64_t stride;
  bool by_terms;
  const float* row(int64_t i) const { return data + (by_terms ? i : i * stride); }
};

constexpr int64_t block_stride(int64_t terms) { return (terms + LINE - 1) / LINE * LINE + LINE; }  // rows start in different sets of the first cache

// A row-major matrix as the left operand.
template <class T>
struct LeftMatrix {
  const T* a;
  int64_t stride;  // between rows as stored
  bool transposed;
  // Rows i .. i + rows (<= MC) and terms l .. l + kc, copied to `to` where tiles could not read them well as they lie.
  Left block(int64_t i, int64_t rows, int64_t l, int64_t kc, float* to) const {
    if constexpr (sizeof(T) == sizeof(float)) {
      // Rows half a page apart meet in the same sets of the first cache.
      if (!transposed && (stride % 512 != 0 || rows < 8)) return {a + i * stride + l, stride, false};
    }
    if (transposed) {
      for (int64_t p = 0; p < kc; p++) copy_row(a + (l + p) * stride + i, to + p * MC, rows);
      return {to, MC, true};
    }
    for (int64_t r = 0; r < rows; r++) copy_row(a + (i + r) * stride + l, to + r * block_stride(kc), kc);
    return {to, block_stride(kc), false};
  }
};

constexpr int64_t ROWS_AHEAD = 8;  // of the right operand, fetched before they are met

// A panel of the right operand: kc rows of NR columns, `stride` apart.
struct Right {
  const float* data;
  int64_t stride;
};

// Of the left operand, and of the right one (about half of a second-level cache of 1 MiB).
constexpr int64_t FEW_ROWS = 130, FEW_FLOATS = 150000;

// As the right operand. pack(): columns j .. j + columns (<= NR) and rows l .. l + kc as kc groups of NR, missing columns as zero.
template <class T>
struct RightMatrix {
  const T* b;
  int64_t stride;
  bool transposed;
  // Whether whole panels are read as they lie: what copying costs is then not won back.
  bool stays(int64_t rows, int64_t terms, int64_t columns) const { return sizeof(T) == sizeof(float) && !transposed && (rows <= FEW_ROWS || terms * columns <= FEW_FLOATS); }
  Right place(int64_t j, int64_t l) const { return {reinterpret_cast<const float*>(b + l * stride + j), stride}; }

  void pack(int64_t j, int columns, int64_t l, int64_t kc, float* to) const {
    if (transposed) return pack_transposed(b + j * stride + l, columns, kc, to);
    for (int64_t p = 0; p < kc; p++) {
      const T* from = b + (l + p) * stride + j;
      if constexpr (sizeof(T) > 1) {
        if (columns == NR) {
          for (int v = 0; v < NV; v++) {
            if (v * W % LINE == 0) vprefetch(from + ROWS_AHEAD * stride + v * W);
            vstore(to + p * NR + v * W, vload(from + v * W));
          }
        } else {
          for (int v = 0; v < NV; v++) {
            const int left = columns - v * W;
            vstore(to + p * NR + v * W, left >= W ? vload(from + v * W) : left > 0 ? vload_n(from + v * W, left, 0) : vset(0));
          }
        }
      } else {
        for (int q = 0; q < NR; q++) to[p * NR + q] = q < columns ? to_float(from[q]) : 0;
      }
    }
  }

 private:
  void pack_transposed(const T* from, int columns, int64_t kc, float* to) const {
    int q = 0;
#if defined(OPSCOPE_TRANSPOSE_TILE)
    constexpr int SIDE = TILE<uint32_t>;
    for (; q < columns; q += SIDE) {
      const int some = columns - q < SIDE ? columns - q : SIDE;
      int64_t p = 0;
      for (; p + SIDE <= kc; p += SIDE) {
        auto* const there = reinterpret_cast<uint32_t*>(to + p * NR + q);
        if (sizeof(T) == sizeof(float) && some == SIDE) {
          transpose_tile(reinterpret_cast<const uint32_t*>(from + q * stride + p), stride, there, NR);
        } else {
          float rows[SIDE * SIDE] = {};
          for (int r = 0; r < some; r++) {
            if constexpr (sizeof(T) == sizeof(float)) __builtin_memcpy(rows + r * SIDE, from + (q + r) * stride + p, SIDE * sizeof(float));
            else copy_row(from + (q + r) * stride + p, rows + r * SIDE, SIDE);
          }
          transpose_tile(reinterpret_cast<const uint32_t*>(rows), SIDE, there, NR);
        }
      }
      for (; p < kc; p++)
        for (int r = 0; r < SIDE; r++) to[p * NR + q + r] = r < some ? to_float(from[(q + r) * stride + p]) : 0;
    }
    if (q < NR)
      for (int64_t p = 0; p < kc; p++)
        for (int r = q; r < NR; r++) to[p * NR + r] = 0;
#else
    for (; q < NR; q++)
      for (int64_t p = 0; p < kc; p++) to[p * NR + q] = q < columns ? to_float(from[q * stride + p]) : 0;
#endif
  }
};

// Rows of the left operand that share a pointer; the others are reached from it by once and twice the stride.
constexpr int SHARED_POINTER = 3;

// c[ROWS x columns] = (`first`) or += rows of A times a panel of B of VECTORS vectors. The tile lives in registers.
template <int ROWS, int VECTORS, bool BY_TERMS>
OPSCOPE_APART void tile_of(const float* a, int64_t a_stride, const float* b, int64_t b_stride, int64_t kc, float* c, int64_t c_stride, int columns, bool first) {
  constexpr int POINTERS = BY_TERMS ? 1 : (ROWS + SHARED_POINTER - 1) / SHARED_POINTER;
  const float* at[POINTERS];
#pragma GCC unroll 16
  for (int r = 0; r < POINTERS; r++) at[r] = a + r * SHARED_POINTER * a_stride;
  V sum[ROWS][VECTORS];
#pragma GCC unroll 16
  for (int i = 0; i < ROWS; i++) {
    vprefetch(c + i * c_stride);
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) sum[i][v] = vset(0);
  }
  for (int64_t p = 0; p < kc; p++) {
    V row[VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) {
      row[v] = vload(b + v * W);
      if (v * W % LINE == 0) vprefetch(b + ROWS_AHEAD * b_stride + v * W);
    }
#pragma GCC unroll 16
    for (int i = 0; i < ROWS; i++) {
      const V x = vset(BY_TERMS ? at[0][i] : at[i / SHARED_POINTER][i % SHARED_POINTER * a_stride]);
#pragma GCC unroll 4
      for (int v = 0; v < VECTORS; v++) sum[i][v] = vfma(x, row[v], sum[i][v]);
    }
    b += b_stride;
#pragma GCC unroll 16
    for (int r = 0; r < POINTERS; r++) {
      at[r] += BY_TERMS ? a_stride : 1;
#if defined(__GNUC__)
      // Else compilers keep one pointer a row, more than there are registers.
      __asm__("" : "+r"(at[r]));
#endif
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < ROWS; i++) {
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) {
      float* to = c + i * c_stride + v * W;
      const int left = columns - v * W;
      if (left >= W) vstore(to, first ? sum[i][v] : vadd(vload(to), sum[i][v]));
      else if (left > 0) vstore_n(to, first ? sum[i][v] : vadd(vload_n(to, left, 0), sum[i][v]), left);
    }
  }
}

template <int ROWS, int VECTORS, bool BY_TERMS>
inline void tile_rows(int rows, const float* a, int64_t a_stride, const Right& b, int64_t kc, float* c, int64_t c_stride, int columns, bool first) {
  if constexpr (ROWS > 1)
    if (rows < ROWS) return tile_rows<ROWS - 1, VECTORS, BY_TERMS>(rows, a, a_stride, b, kc, c, c_stride, columns, first);
  tile_of<ROWS, VECTORS, BY_TERMS>(a, a_stride, b.data, b.stride, kc, c, c_stride, columns, first);
}

// c[rows x columns (<= NR)] = (`first`) or += kc terms of `rows` rows of A times a panel of B.
inline void multiply_panel(const Left& a, int64_t rows, const Right& b, int64_t kc, float* c, int64_t c_stride, int columns, bool first) {
  const int64_t tiles = (rows + MR - 1) / MR;
  for (int64_t t = 0; t < tiles; t++) {
    const int64_t i = rows * t / tiles;
    const int height = static_cast<int>(rows * (t + 1) / tiles - i);
    if (a.by_terms) {
      if (columns > W) tile_rows<MR, NV, true>(height, a.row(i), a.stride, b, kc, c + i * c_stride, c_stride, columns, first);
      else tile_rows<MR, 1, true>(height, a.row(i), a.stride, b, kc, c + i * c_stride, c_stride, columns, first);
    } else {
      if (columns > W) tile_rows<MR, NV, false>(height, a.row(i), a.stride, b, kc, c + i * c_stride, c_stride, columns, first);
      else tile_rows<MR, 1, false>(height, a.row(i), a.stride, b, kc, c + i * c_stride, c_stride, columns, first);
    }
  }
}

// Products of the same extents.
struct Products {
  int64_t batch, m, n, k;

  int64_t terms() const { return even_part(k, KC); }
  // Floats of the buffers for one slab of B and one block of A, in whole cache lines, and of sums that wait to be rounded.
  int64_t b_floats() const { return up(terms() * up(least(n, NC), NR), LINE); }
  int64_t a_floats() const { return block_stride(terms()) * MC; }
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

// Rows of C against a slab of B (columns jc + cols of it, packed but for panels that stay where they lie).
template <class A, class B, class Out>
void multiply(const A& a, const B& b, bool stays, const Out& out, Range rows, int64_t jc, int64_t nc, Range cols, int64_t l, int64_t kc, const float* slab, float* block) {
  float* const c = out.sums(jc);
  const int64_t stride = out.sum_stride(nc), height = even_part(rows.end - rows.begin, MC * 2 / 3);
  for (int64_t i = rows.begin; i < rows.end; i += height) {
    const int64_t count = least(height, rows.end - i);
    const Left left = a.block(i, count, l, kc, block);
    for (int64_t j = cols.begin; j < cols.end; j += NR) {
      const int columns = static_cast<int>(least(NR, cols.end - j));
      multiply_panel(left, count, stays && columns == NR ? b.place(jc + j, l) : Right{slab + j * kc, NR}, kc, c + i * stride + j, stride, columns, l == 0);
    }
  }
}

// One product by `threads` threads, which share two slabs of B; alone, one slab is enough.
template <class A, class B, class Out>
void product(const Call& call, const Products& s, const A& a, const B& b, const Out& out, float* slabs, float* block, int thread, int threads, int& phase) {
  const bool by_rows = s.m >= 2 * MR * threads || s.m > s.n, stays = b.stays(s.m, s.k, s.n);
  const int64_t terms = s.terms();
  for (int64_t jc = 0; jc < s.n; jc += NC) {
    const int64_t nc = least(NC, s.n - jc);
    const Range rows = by_rows ? part(s.m, MR, thread, threads) : Range{0, s.m};
    const Range cols = by_rows ? Range{0, nc} : part(nc, NR, thread, threads);
    for (int64_t l = 0; l < s.k; l += terms) {
      const int64_t kc = least(terms, s.k - l);
      float* slab = slabs + (phase & (threads > 1)) * s.b_floats();
      phase++;
      const Range mine = part(nc, NR, thread, threads);
      for (int64_t j = mine.begin; j < mine.end; j += NR)
        if (!stays || mine.end - j < NR) b.pack(jc + j, static_cast<int>(least(NR, mine.end - j)), l, kc, slab + j * kc);
      if (threads > 1) call.barrier(call.team);
      multiply(a, b, stays, out, rows, jc, nc, cols, l, kc, slab, block);
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
