// C = A B for [batch, m, n, k], either operand stored transposed. dims: [batch, m, n, k, transA, transB].
//
// The blocking of Goto & van de Geijn ("Anatomy of high-performance matrix multiplication", 2008): a slab of KC rows of
// B is packed into panels of NR columns, blocks of A into panels of MR rows, and a register tile of MR x NR is computed
// from one panel of each. Many small products: every thread takes whole ones. Else the team packs each slab of B
// together into one of two buffers, so that one barrier per slab is enough, and shares the rows (or, where there are
// few, the columns).
#include "simd/simd.h"

namespace {

#if defined(OPSCOPE_ISA_avx512)
constexpr int MR = 14, NV = 2;
#elif defined(OPSCOPE_ISA_avx2)
constexpr int MR = 6, NV = 2;
#else
constexpr int MR = 4, NV = 2;
#endif
constexpr int NR = NV * W;
constexpr int64_t KC = 256;
constexpr int64_t MC = 168 / MR * MR;  // rows of A packed at a time: MC * KC floats stay in the second-level cache
constexpr int64_t NC = 4096 / NR * NR;

struct Size {
  int64_t batch, m, n, k;
  bool trans_a, trans_b;
};

Size size_of(const int64_t* d) { return {d[0], d[1], d[2], d[3], d[4] != 0, d[5] != 0}; }

inline int64_t up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// Floats of the buffers for one slab of B and one block of A, in whole cache lines.
int64_t b_floats(const Size& s) { return up(least(s.k, KC) * up(least(s.n, NC), NR), LINE); }
int64_t a_floats(const Size& s) { return up(least(s.k, KC) * up(least(s.m, MC), MR), LINE); }

bool whole(const Size& s, int threads) { return threads == 1 || s.batch >= threads; }

// Rows i .. i + rows (<= MR) and columns l .. l + kc of A as kc groups of MR, missing rows as zero.
void pack_a(const float* a, const Size& s, int64_t i, int rows, int64_t l, int64_t kc, float* to) {
  if (s.trans_a) {
    for (int64_t p = 0; p < kc; p++)
      for (int r = 0; r < MR; r++) to[p * MR + r] = r < rows ? a[(l + p) * s.m + i + r] : 0;
    return;
  }
  for (int r = 0; r < MR; r++) {
    const float* from = a + (i + r) * s.k + l;
    if (r < rows)
      for (int64_t p = 0; p < kc; p++) to[p * MR + r] = from[p];
    else
      for (int64_t p = 0; p < kc; p++) to[p * MR + r] = 0;
  }
}

// Columns j .. j + columns (<= NR) and rows l .. l + kc of B as kc groups of NR, missing columns as zero.
void pack_b(const float* b, const Size& s, int64_t j, int columns, int64_t l, int64_t kc, float* to) {
  if (s.trans_b) {
    for (int q = 0; q < NR; q++) {
      const float* from = b + (j + q) * s.k + l;
      if (q < columns)
        for (int64_t p = 0; p < kc; p++) to[p * NR + q] = from[p];
      else
        for (int64_t p = 0; p < kc; p++) to[p * NR + q] = 0;
    }
    return;
  }
  for (int64_t p = 0; p < kc; p++) {
    const float* from = b + (l + p) * s.n + j;
    if (columns == NR)
      for (int v = 0; v < NV; v++) vstore(to + p * NR + v * W, vload(from + v * W));
    else
      for (int q = 0; q < NR; q++) to[p * NR + q] = q < columns ? from[q] : 0;
  }
}

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

// Rows of C against a packed slab of B (columns jc + cols of it): packs A block by block.
void multiply(const float* a, const Size& s, float* c, Range rows, int64_t jc, Range cols, int64_t l, int64_t kc, const float* slab, float* block) {
  for (int64_t ic = rows.begin; ic < rows.end; ic += MC) {
    const int64_t end = least(ic + MC, rows.end);
    for (int64_t i = ic; i < end; i += MR) pack_a(a, s, i, static_cast<int>(least(MR, end - i)), l, kc, block + (i - ic) * kc);
    for (int64_t j = cols.begin; j < cols.end; j += NR) {
      const int columns = static_cast<int>(least(NR, cols.end - j));
      for (int64_t i = ic; i < end; i += MR) {
        const int height = static_cast<int>(least(MR, end - i));
        float* to = c + i * s.n + jc + j;
        if (l == 0) tile<true>(block + (i - ic) * kc, slab + j * kc, kc, to, s.n, height, columns);
        else tile<false>(block + (i - ic) * kc, slab + j * kc, kc, to, s.n, height, columns);
      }
    }
  }
}

// One product by `threads` threads, which share two slabs of B; alone, one slab is enough.
void product(const Call& call, const Size& s, const float* a, const float* b, float* c, float* slabs, float* block, int thread, int threads, int& phase) {
  const bool by_rows = s.m >= 2 * MR * threads || s.m > s.n;
  for (int64_t jc = 0; jc < s.n; jc += NC) {
    const int64_t nc = least(NC, s.n - jc);
    const Range rows = by_rows ? part(s.m, MR, thread, threads) : Range{0, s.m};
    const Range cols = by_rows ? Range{0, nc} : part(nc, NR, thread, threads);
    for (int64_t l = 0; l < s.k; l += KC) {
      const int64_t kc = least(KC, s.k - l);
      float* slab = slabs + (phase & (threads > 1)) * b_floats(s);
      phase++;
      const Range mine = part(nc, NR, thread, threads);
      for (int64_t j = mine.begin; j < mine.end; j += NR)
        pack_b(b, s, jc + j, static_cast<int>(least(NR, mine.end - j)), l, kc, slab + j * kc);
      if (threads > 1) call.barrier(call.team);
      multiply(a, s, c, rows, jc, cols, l, kc, slab, block);
    }
  }
}

void run(const Call& c) {
  const Size s = size_of(c.dims);
  const int64_t bf = b_floats(s), af = a_floats(s);
  int phase = 0;
  const auto one = [&](int64_t i, float* slabs, float* block, int thread, int threads) {
    product(c, s, input(c, 0) + i * s.m * s.k, input(c, 1) + i * s.k * s.n, output(c) + i * s.m * s.n, slabs, block, thread, threads, phase);
  };
  if (whole(s, c.threads)) {
    float* own = c.scratch + c.thread * (bf + af);
    const Range r = part(s.batch, 1, c.thread, c.threads);
    for (int64_t i = r.begin; i < r.end; i++) one(i, own, own + bf, 0, 1);
    return;
  }
  float* block = c.scratch + 2 * bf + c.thread * af;
  for (int64_t i = 0; i < s.batch; i++) one(i, c.scratch, block, c.thread, c.threads);
}

bool shape(const int64_t* d, int, int64_t* sizes) {
  const Size s = size_of(d);
  sizes[0] = times(times(s.batch, s.m), s.k);
  sizes[1] = times(times(s.batch, s.k), s.n);
  sizes[2] = times(times(s.batch, s.m), s.n);
  return true;
}

size_t scratch(const int64_t* d, int, int threads) {
  const Size s = size_of(d);
  const int64_t each = a_floats(s);
  return static_cast<size_t>(whole(s, threads) ? threads * (b_floats(s) + each) : 2 * b_floats(s) + threads * each);
}

}  // namespace

OPSCOPE_KERNEL(matmul, "ff>f", 6, 6, 0, shape, scratch, run)
