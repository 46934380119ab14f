// Sum over the middle of [outer, reduce, inner]. dims: [outer, reduce, inner].
//
// Contiguous (inner = 1): threads share the rows, or, when there are fewer rows than threads, parts of each row.
// Strided: threads share the columns; narrow tensors are split along the reduction instead and combined at the end.
#include "simd/reduce.h"

namespace {

// Columns whose sums stay in the first-level cache while rows stream by.
constexpr int64_t COLUMNS = 2048;

struct Plan {
  int64_t outer, reduce, inner;
  bool split;      // threads share the reduction, and partial sums go through the scratch
  int64_t stride;  // floats of one thread's partial sums
};

Plan plan(const int64_t* d, int threads) {
  Plan p{d[0], d[1], d[2], false, 0};
  const int64_t lines = p.inner == 1 ? 0 : p.inner / LINE;
  p.split = threads > 1 && p.outer < threads && lines < 4 * threads;
  p.stride = (p.outer * p.inner + LINE - 1) / LINE * LINE;
  return p;
}

template <int ROWS>
inline V rows_at(const float* x, int64_t stride) {
  if constexpr (ROWS == 1) return vload(x);
  else return vadd(rows_at<ROWS / 2>(x, stride), rows_at<ROWS / 2>(x + stride * (ROWS / 2), stride));
}

// out[j] (+)= sum of ROWS rows at column j, j < n.
template <int ROWS>
inline void add_rows(const float* x, int64_t stride, int64_t n, float* out, bool first) {
  int64_t j = 0;
  for (; j + W <= n; j += W) {
    const V sum = rows_at<ROWS>(x + j, stride);
    vstore(out + j, first ? sum : vadd(vload(out + j), sum));
  }
  for (; j < n; j++) {
    float sum = 0;
    for (int r = 0; r < ROWS; r++) sum += x[r * stride + j];
    out[j] = first ? sum : out[j] + sum;
  }
}

// Column sums of `rows` >= 0 rows.
void sum_columns(const float* x, int64_t rows, int64_t stride, int64_t columns, float* out) {
  for (int64_t from = 0; from < columns; from += COLUMNS) {
    const int64_t n = least(COLUMNS, columns - from);
    if (rows == 0)
      for (int64_t j = 0; j < n; j++) out[from + j] = 0;
    int64_t r = 0;
    for (; r + 8 <= rows; r += 8) add_rows<8>(x + r * stride + from, stride, n, out + from, r == 0);
    for (; r < rows; r++) add_rows<1>(x + r * stride + from, stride, n, out + from, r == 0);
  }
}

float sum_row(const float* x, int64_t n) {
  return sum_of(x, n, [](V v) { return v; });
}

void run_split(const Call& c, const Plan& p) {
  const Range r = part(p.reduce, p.inner == 1 ? LINE : 1, c.thread, c.threads);
  float* mine = c.scratch + c.thread * p.stride;
  for (int64_t o = 0; o < p.outer; o++) {
    const float* x = c.in[0] + (o * p.reduce + r.begin) * p.inner;
    if (p.inner == 1) mine[o] = sum_row(x, r.end - r.begin);
    else sum_columns(x, r.end - r.begin, p.inner, p.inner, mine + o * p.inner);
  }
  c.barrier(c.team);
  const Range out = part(p.outer * p.inner, LINE, c.thread, c.threads);
  for (int64_t j = out.begin; j < out.end; j++) {
    float sum = 0;
    for (int t = 0; t < c.threads; t++) sum += c.scratch[t * p.stride + j];
    c.out[j] = sum;
  }
}

void run(const Call& c) {
  const Plan p = plan(c.dims, c.threads);
  if (p.split) return run_split(c, p);
  if (p.inner == 1) {
    const Range r = part(p.outer, p.outer >= LINE * c.threads ? LINE : 1, c.thread, c.threads);
    for (int64_t o = r.begin; o < r.end; o++) c.out[o] = sum_row(c.in[0] + o * p.reduce, p.reduce);
    return;
  }
  const bool by_outer = p.outer >= c.threads;
  const Range o = by_outer ? part(p.outer, 1, c.thread, c.threads) : Range{0, p.outer};
  const Range j = by_outer ? Range{0, p.inner} : part(p.inner, LINE, c.thread, c.threads);
  for (int64_t i = o.begin; i < o.end; i++)
    sum_columns(c.in[0] + i * p.reduce * p.inner + j.begin, p.reduce, p.inner, j.end - j.begin, c.out + i * p.inner + j.begin);
}

void shape(const int64_t* d, int64_t* sizes) {
  sizes[0] = times(times(d[0], d[1]), d[2]);
  sizes[1] = times(d[0], d[2]);
}

size_t scratch(const int64_t* d, int threads) {
  const Plan p = plan(d, threads);
  return p.split ? static_cast<size_t>(p.stride * threads) : 0;
}

}  // namespace

OPSCOPE_KERNEL(sum, 3, 1, shape, scratch, run)
