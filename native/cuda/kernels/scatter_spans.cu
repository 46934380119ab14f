// scatter_add (scatter_add.cu) of many indices for each row, where no block has a table of all cells: a block has a table of sums in integers (scatter_add/fixed.cuh) for a span of rows, whose indices come in a bin.
//   scatter_spans_<t>               the bin has places of indices and rows (scatter_bin of scatter_range.cu)
//   scatter_spans_<t>_<dim>_packed  rows and elements (scatter_pack of scatter_packed.cu)
// A bin that had no room for all of its indices is left: its block looks through all of them.
#include "scatter_spans.h"
#include "common/divide.h"
#include "common/early.cuh"
#include "scatter_add/fixed.cuh"
#include "scatter_add/packed.cuh"

namespace {

constexpr int THREADS = span_threads;

// A block's span of rows, and its table: the lower and the upper halves of sums, and a bit for each cell that has words.
struct Span {
  unsigned *lower, *upper, *marks;
  long long begin;  // row
  int own, cells, first;  // rows, cells, and the number of the first among all cells

  __device__ __forceinline__ Span(unsigned* memory, long long rows, int dim, int span) : lower(memory), upper(memory + span * dim), marks(memory + 2 * span * dim), begin(static_cast<long long>(blockIdx.x) * span) {
    own = static_cast<int>(min(static_cast<long long>(span), rows - begin)), cells = own * dim, first = static_cast<int>(begin * dim);
    for (int i = threadIdx.x; i < cells; i += THREADS) lower[i] = upper[i] = 0;
    for (int i = threadIdx.x; i < (cells + 31) / 32; i += THREADS) marks[i] = 0;
  }
  // `cell`: of the table.
  template <class T>
  __device__ __forceinline__ void add(const Sums& s, float value, int cell, int unit, int bits) const {
    const bool whole = add_element<T>(s, value, first + cell, unit, bits, [&](int, Sum multiple) {
      const unsigned low = static_cast<unsigned>(multiple), before = atomicAdd(lower + cell, low), high = static_cast<unsigned>(multiple >> 32) + (before + low < low ? 1 : 0);
      if (high != 0) atomicAdd(upper + cell, high);
    });
    if (!whole) atomicOr(marks + cell / 32, 1u << cell % 32);
  }
  // All indices of the rows of the span, whatever its bin has.
  template <class T>
  __device__ __forceinline__ void add_all(const Sums& s, const int* __restrict__ index, const T* __restrict__ src, int dim, int n, int unit, int bits) const {
    for (int i = threadIdx.x; i < n; i += THREADS) {
      const long long row = index[i] - begin;
      if (row < 0 || row >= own) continue;
      for (int c = 0; c < dim; c++) add<T>(s, to_float(src[static_cast<long long>(i) * dim + c]), static_cast<int>(row) * dim + c, unit, bits);
    }
  }
  // out = x + sums, once all have been added.
  template <class T>
  __device__ __forceinline__ void write(const Sums& s, const T* __restrict__ x, T* __restrict__ out, int unit) const {
    const double scale = power_of_two(unit - 150);
#pragma unroll 4
    for (int i = threadIdx.x; i < cells; i += THREADS) {
      const long long cell = first + i;
      double total = static_cast<double>(static_cast<long long>(static_cast<Sum>(upper[i]) << 32 | lower[i])) * scale;
      if (marks[i / 32] >> i % 32 & 1) total += of_words(s, all_words, cell);
      out[cell] = from_float<T>(static_cast<float>(static_cast<double>(to_float(x[cell])) + total));
    }
  }
};

// grid: spans of rows. Shared memory: two stages of indices [2, span_staged], and the table [2, span, dim] with its marks. counts, bins [.., room]: a place of src and a row of the span.
template <class T>
__device__ __forceinline__ void by_places(const T* __restrict__ x, const int* __restrict__ index, const T* __restrict__ src, T* __restrict__ out, const Sums& s, unsigned* counts, const uint2* bins, long long rows, int dim, int n, int span,
                                          int room, int bits, Divide by_dim) {
  constexpr int STAGED = span_staged, K = STAGED / THREADS, U = 4;
  extern __shared__ uint2 staged[];
  const int t = threadIdx.x;
  const Span table(reinterpret_cast<unsigned*>(staged + 2 * STAGED), rows, dim, span);
  const int unit = unit_of(src, n * dim, bits);
  wait_for_last();
  const unsigned all = __ldcg(counts + blockIdx.x);
  const uint2* const bin = bins + static_cast<long long>(blockIdx.x) * room;
  const int has = all > static_cast<unsigned>(room) ? 0 : static_cast<int>(all);
  uint2 next[K];
  const auto fetch = [&](int from) {
#pragma unroll
    for (int k = 0; k < K; k++)
      if (from + k * THREADS + t < has) next[k] = __ldcs(bin + from + k * THREADS + t);
  };
  const auto stage = [&](uint2* to) {
#pragma unroll
    for (int k = 0; k < K; k++) to[k * THREADS + t] = next[k];
  };
#pragma unroll
  for (int k = 0; k < K; k++) next[k] = make_uint2(0, 0);
  fetch(0);
  stage(staged);
  __syncthreads();
  if (t == 0) counts[blockIdx.x] = 0;
  for (int from = 0, round = 0; from < has; from += STAGED, round ^= 1) {
    fetch(from + STAGED);
    const uint2* const own = staged + round * STAGED;
    const int elements = min(STAGED, has - from) * dim;
    for (int e = t; e < elements; e += U * THREADS) {
      int cell[U];
      T value[U];
#pragma unroll
      for (int u = 0; u < U; u++) {
        const int at = min(e + u * THREADS, elements - 1), entry = divided(at, by_dim), column = at - entry * dim;
        const uint2 v = own[entry];
        cell[u] = static_cast<int>(v.y) * dim + column, value[u] = src[v.x * static_cast<unsigned>(dim) + static_cast<unsigned>(column)];
      }
#pragma unroll
      for (int u = 0; u < U; u++)
        if (e + u * THREADS < elements) table.template add<T>(s, to_float(value[u]), cell[u], unit, bits);
    }
    stage(staged + (round ^ 1) * STAGED);
    __syncthreads();
  }
  if (all > static_cast<unsigned>(room)) table.add_all(s, index, src, dim, n, unit, bits);
  __threadfence();
  __syncthreads();
  table.write(s, x, out, unit);
}

// The same of words that have their elements. Shared memory: the table with its marks.
template <int DIM, class T>
__device__ __forceinline__ void by_words(const T* __restrict__ x, const int* __restrict__ index, const T* __restrict__ src, T* __restrict__ out, const Sums& s, unsigned* counts, const Packed<DIM * sizeof(T)>* bins, long long rows, int n,
                                         int span, int room, int bits) {
  using Word = Packed<DIM * sizeof(T)>;
  constexpr int U = 4;
  extern __shared__ uint2 memory[];
  const int t = threadIdx.x;
  const Span table(reinterpret_cast<unsigned*>(memory), rows, DIM, span);
  const int unit = unit_of(src, n * DIM, bits);
  wait_for_last();
  const unsigned all = __ldcg(counts + blockIdx.x);
  const Word* const bin = bins + static_cast<long long>(blockIdx.x) * room;
  const int has = all > static_cast<unsigned>(room) ? 0 : static_cast<int>(all);
  __syncthreads();
  if (t == 0) counts[blockIdx.x] = 0;
  for (int from = t; from < has; from += U * THREADS) {
    Word w[U];
#pragma unroll
    for (int u = 0; u < U; u++) w[u] = Word::load_once(bin + min(from + u * THREADS, has - 1));
#pragma unroll
    for (int u = 0; u < U; u++) {
      if (from + u * THREADS >= has) break;
#pragma unroll
      for (int c = 0; c < DIM; c++) table.template add<T>(s, value_of<T>(w[u].template bits<T>(c)), static_cast<int>(w[u].row()) * DIM + c, unit, bits);
    }
  }
  if (all > static_cast<unsigned>(room)) table.add_all(s, index, src, DIM, n, unit, bits);
  __threadfence();
  __syncthreads();
  table.write(s, x, out, unit);
}

}  // namespace

#define SPANS(T)                                                                                                                                                                                                               \
  extern "C" __global__ void __launch_bounds__(span_threads, span_blocks) scatter_spans_##T(const T* x, const int* index, const T* src, T* out, Sum* words, unsigned* special, unsigned* counts, const uint2* bins, \
                                                                                            long long rows, int dim, int n, int span, int room, int bits, Divide by_dim) {                                                  \
    by_places(x, index, src, out, Sums{nullptr, words, special, nullptr, rows * dim}, counts, bins, rows, dim, n, span, room, bits, by_dim);                                                                                     \
  }
#define PACKED(T, DIM)                                                                                                                                                                                                 \
  extern "C" __global__ void __launch_bounds__(span_threads, span_blocks) scatter_spans_##T##_##DIM##_packed(const T* x, const int* index, const T* src, T* out, Sum* words, unsigned* special, \
                                                                                                             unsigned* counts, const Packed<DIM * sizeof(T)>* bins, long long rows, int n, int span, int room, int bits) { \
    by_words<DIM>(x, index, src, out, Sums{nullptr, words, special, nullptr, rows * DIM}, counts, bins, rows, n, span, room, bits);                                                                                      \
  }
SPANS(f32) PACKED(f32, 1)
SPANS(f16) PACKED(f16, 1) PACKED(f16, 2) PACKED(f16, 3)
SPANS(bf16) PACKED(bf16, 1) PACKED(bf16, 2) PACKED(bf16, 3)
