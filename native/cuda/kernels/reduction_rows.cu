// The reductions of reduction/table.h along rows of some vectors (reduction/rows.h): <op>_rows_<t>_<V>. Lanes of a warp have a row, V vectors of 16 bytes each (6 and 8 of longer rows), from the boundary at or before its start,
// all on their way together. <op>_spread_<t>: of values, where a result has such a row in each of several groups, a vector of a lane in each. A place is looked for where the largest element is known, by the lanes that hold it.
#include "common/vec.cuh"
#include "reduction/operations.cuh"
#include "reduction/rows.h"

namespace {

using opscope::cuda::ReducedRows;
using opscope::cuda::SpreadRows;

template <class R, class T, int V>
__device__ __forceinline__ void reduce_rows(const ReducedRows& a) {
  using Part = typename R::Part;
  constexpr int L = LANES<T>;
  const int lane = static_cast<int>(threadIdx.x) & ((1 << a.log2) - 1);
  const long long row = thread_of_grid() >> a.log2;
  // Threads beyond the rows stay for the others of their warp.
  const long long start = min(row, a.rows - 1) * a.cols;
  const int first = lane * L - static_cast<int>(static_cast<unsigned>(start) % L), step = L << a.log2;
  const T* p = reinterpret_cast<const T*>(a.x) + (start + first);
  uint4 kept[V];
#pragma unroll
  for (int u = 0; u < V; u++) kept[u] = first + u * step < a.cols ? load16_once(p + u * step) : uint4{0, 0, 0, 0};
  // f(element, column) for those of the row.
  const auto each = [&](auto f) {
#pragma unroll
    for (int u = 0; u < V; u++) {
      float v[L];
      unpack<T>(kept[u], v);
      const int column = first + u * step;
      if (column >= 0 && column + L <= a.cols) {
#pragma unroll
        for (int j = 0; j < L; j++) f(v[j], column + j);
      } else {
#pragma unroll
        for (int j = 0; j < L; j++)
          if (static_cast<unsigned>(column + j) < static_cast<unsigned>(a.cols)) f(v[j], column + j);
      }
    }
  };
  const auto join = [&](auto v, auto op) {
#pragma unroll
    for (int k = 4; k >= 0; k--)
      if (k < a.log2) v = op(v, __shfl_xor_sync(0xffffffffu, v, 1 << k));
    return v;
  };
  Part total = R::start();
  if constexpr (R::placed) {
    float most = -INFINITY;
    each([&](float v, int) { most = max_or_nan(most, R::value(v)); });
    most = join(most, [](float p, float q) { return max_or_nan(p, q); });
    unsigned place = ~0u;
    each([&](float v, int column) {
      const float x = R::value(v);
      if (x == most || (x != x && most != most)) place = min(place, static_cast<unsigned>(column));
    });
    total = R::ranked(most, join(place, [](unsigned p, unsigned q) { return min(p, q); }));
  } else {
    each([&](float v, int) { total = R::join(total, R::element(v, 0.0f, 0)); });
    total = join(total, [](float p, float q) { return R::join(p, q); });
  }
  if (lane != 0 || row >= a.rows) return;
  if (a.parts) reinterpret_cast<Part*>(a.parts)[row] = total;
  else R::template put<T>(reinterpret_cast<typename R::template Out<T>*>(a.out) + row, total, a.count);
}

template <class R, class T>
__device__ __forceinline__ void reduce_spread(const SpreadRows& a) {
  constexpr int L = LANES<T>, U = 8;
  const int lane = static_cast<int>(threadIdx.x) & ((1 << a.log2) - 1);
  const long long row = thread_of_grid() >> a.log2, apart = a.rows * a.cols;
  const T* p = reinterpret_cast<const T*>(a.x) + row * a.cols + lane * L;
  typename R::Part total = R::start();
  if (row < a.rows && lane * L < a.cols) {
    for (long long g = 0; g < a.groups; g += U) {
      uint4 kept[U];
#pragma unroll
      for (int u = 0; u < U; u++) kept[u] = g + u < a.groups ? load16_once(p + (g + u) * apart) : uint4{0, 0, 0, 0};
#pragma unroll
      for (int u = 0; u < U; u++) {
        float v[L];
        unpack<T>(kept[u], v);
        if (g + u < a.groups) {
#pragma unroll
          for (int j = 0; j < L; j++) total = R::join(total, R::element(v[j], 0.0f, 0));
        }
      }
    }
  }
#pragma unroll
  for (int k = 4; k >= 0; k--)
    if (k < a.log2) total = R::join(total, __shfl_xor_sync(0xffffffffu, total, 1 << k));
  if (lane == 0 && row < a.rows) R::template put<T>(reinterpret_cast<typename R::template Out<T>*>(a.out) + row, total, a.count);
}

}  // namespace

#define SPREAD_OF(op, T) \
  extern "C" __global__ void __launch_bounds__(256) op##_spread_##T(const __grid_constant__ SpreadRows a) { reduce_spread<op##_of, T>(a); }
#define ROWS_OF(op, T, V) \
  extern "C" __global__ void __launch_bounds__(256) op##_rows_##T##_##V(const __grid_constant__ ReducedRows a) { reduce_rows<op##_of, T, V>(a); }
#define EACH_OF(op, T) ROWS_OF(op, T, 1) ROWS_OF(op, T, 2) ROWS_OF(op, T, 3) ROWS_OF(op, T, 4) ROWS_OF(op, T, 6) ROWS_OF(op, T, 8)
#define EACH(op) EACH_OF(op, f32) EACH_OF(op, f16) EACH_OF(op, bf16)
#define REDUCTION(op, ...) VALUES(op, __VA_ARGS__) }; EACH(op) SPREAD_OF(op, f32) SPREAD_OF(op, f16) SPREAD_OF(op, bf16)
#define POSITION(op, element_of) PLACES(op, element_of); EACH(op)
#define PRODUCT(op, ...)
#include "reduction/table.h"
