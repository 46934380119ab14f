// The reductions of reduction/table.h along rows of some vectors (reduction/rows.h): <op>_rows_<t>_<V>. Lanes of a warp have a row, V vectors of 16 bytes each (6 and 8 of longer rows), from the boundary at or before its start,
// all on their way together. <op>_several_<t>: rows of fewer vectors, of which a lane has one of each of four rows. <op>_spread_<t>: where a result has such a row in each of several groups, a vector of a lane in each. A place is looked for where the largest element is known, by the lanes that hold it.
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

// Rows of up to eight vectors that start on 16 bytes: a lane has a vector of each of U rows, all on their way together. Rows of a thread lie as many apart as the grid has rows at a time.
template <class R, class T, int U>
__device__ __forceinline__ void reduce_several(const ReducedRows& a) {
  constexpr int L = LANES<T>;
  const int lane = static_cast<int>(threadIdx.x) & ((1 << a.log2) - 1), column = lane * L;
  const long long apart = static_cast<long long>(gridDim.x) * (blockDim.x >> a.log2), first = thread_of_grid() >> a.log2;
  const bool has = column < a.cols;
  const T* p = reinterpret_cast<const T*>(a.x) + first * a.cols + column;
  uint4 kept[U];
#pragma unroll
  for (int u = 0; u < U; u++) kept[u] = has && first + u * apart < a.rows ? load16_once(p + u * apart * a.cols) : uint4{0, 0, 0, 0};
#pragma unroll
  for (int u = 0; u < U; u++) {
    float v[L];
    unpack<T>(kept[u], v);
    typename R::Part total = R::start();
    if (has) {
      if constexpr (R::placed) {
        float most = R::value(v[0]);
        unsigned place = static_cast<unsigned>(column);
#pragma unroll
        for (int j = 1; j < L; j++) {
          const float x = R::value(v[j]);
          const bool more = x > most || (x != x && most == most);
          most = more ? x : most;
          place = more ? static_cast<unsigned>(column + j) : place;
        }
        // Zeros of either sign are equal.
        total = R::ranked(0.0f + most, place);
      } else {
#pragma unroll
        for (int j = 0; j < L; j++) total = R::join(total, R::element(v[j], 0.0f, 0));
      }
    }
#pragma unroll
    for (int k = 2; k >= 0; k--)
      if (k < a.log2) total = R::join(total, __shfl_xor_sync(0xffffffffu, total, 1 << k));
    const long long row = first + u * apart;
    if (lane != 0 || row >= a.rows) continue;
    if (a.parts) reinterpret_cast<typename R::Part*>(a.parts)[row] = total;
    else R::template put<T>(reinterpret_cast<typename R::template Out<T>*>(a.out) + row, total, a.count);
  }
}

template <class R, class T>
__device__ __forceinline__ void reduce_spread(const SpreadRows& a) {
  constexpr int L = LANES<T>, U = 8;
  const int lane = static_cast<int>(threadIdx.x) & ((1 << a.log2) - 1);
  const long long row = thread_of_grid() >> a.log2, apart = a.rows * a.cols;
  const T* p = reinterpret_cast<const T*>(a.x) + row * a.cols + lane * L;
  typename R::Part total = R::start();
  if (row < a.rows && lane * L < a.cols) {
    // Of places: elements are met in their order, so a later one leads where it is larger.
    [[maybe_unused]] float most = -INFINITY;
    [[maybe_unused]] unsigned place = static_cast<unsigned>(lane * L);
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
          for (int j = 0; j < L; j++) {
            if constexpr (R::placed) {
              const float x = R::value(v[j]);
              const bool more = x > most || (x != x && most == most);
              most = more ? x : most;
              place = more ? static_cast<unsigned>(g + u) * static_cast<unsigned>(a.cols) + static_cast<unsigned>(lane * L + j) : place;
            } else {
              total = R::join(total, R::element(v[j], 0.0f, 0));
            }
          }
        }
      }
    }
    // Zeros of either sign are equal.
    if constexpr (R::placed) total = R::ranked(0.0f + most, place);
  }
#pragma unroll
  for (int k = 4; k >= 0; k--)
    if (k < a.log2) total = R::join(total, __shfl_xor_sync(0xffffffffu, total, 1 << k));
  if (lane == 0 && row < a.rows) R::template put<T>(reinterpret_cast<typename R::template Out<T>*>(a.out) + row, total, a.count);
}

}  // namespace

#define SPREAD_OF(op, T) \
  extern "C" __global__ void __launch_bounds__(256) op##_several_##T(const __grid_constant__ ReducedRows a) { reduce_several<op##_of, T, 4>(a); } \
  extern "C" __global__ void __launch_bounds__(256) op##_spread_##T(const __grid_constant__ SpreadRows a) { reduce_spread<op##_of, T>(a); }
#define ROWS_OF(op, T, V) \
  extern "C" __global__ void __launch_bounds__(256) op##_rows_##T##_##V(const __grid_constant__ ReducedRows a) { reduce_rows<op##_of, T, V>(a); }
#define EACH_OF(op, T) ROWS_OF(op, T, 1) ROWS_OF(op, T, 2) ROWS_OF(op, T, 3) ROWS_OF(op, T, 4) ROWS_OF(op, T, 6) ROWS_OF(op, T, 8)
#define EACH(op) EACH_OF(op, f32) EACH_OF(op, f16) EACH_OF(op, bf16)
#define REDUCTION(op, ...) VALUES(op, __VA_ARGS__) }; EACH(op) SPREAD_OF(op, f32) SPREAD_OF(op, f16) SPREAD_OF(op, bf16)
#define POSITION(op, element_of) PLACES(op, element_of); EACH(op) SPREAD_OF(op, f32) SPREAD_OF(op, f16) SPREAD_OF(op, bf16)
#define PRODUCT(op, ...)
#include "reduction/table.h"
