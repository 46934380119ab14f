// Strided views of x, each written one element after the other: out_v[i, j, k, l] = x[offset + v * distance + i * s0 + j * s1 + k * s2 + l].
//   copy_view_<bytes>            as bits: a thread for each vector of so many bytes, of a view below 2^31 vectors; the views lie along y of the grid
//   copy_view_bias_<dtype>_<lanes>   x is rows of s2 elements, to each of which a bias is added: a thread for so many elements
//   copy_view_far_...            the same of more vectors
#include "common/start_early.cuh"
#include "common/vec.cuh"
#include "copy_view/shape.h"

namespace {

template <bool FAR>
__device__ __forceinline__ long long divided_by(long long n, long long divisor, Divide by) {
  if constexpr (FAR) return n / divisor;
  else return divided(static_cast<int>(n), by);
}

// Vector `at` of this block's view: where it lies in x, and where in a row of x, before the place of the view.
struct Place {
  long long in_x, in_row;
};
template <bool FAR>
__device__ __forceinline__ Place place_of(long long at, const ViewShape& s) {
  const long long row = divided_by<FAR>(at, s.width, s.by_width), l = at - row * s.width;
  const long long plane = divided_by<FAR>(row, s.rows, s.by_rows), k = row - plane * s.rows;
  const long long i = divided_by<FAR>(plane, s.middle, s.by_middle), j = plane - i * s.middle;
  const long long in_row = s.offset + blockIdx.y * s.distance + j * s.strides[1] + l;
  return {in_row + i * s.strides[0] + k * s.strides[2], in_row};
}

template <class U>
__device__ __forceinline__ U* view_of(U* first, U* second, U* third) { return blockIdx.y == 0 ? first : blockIdx.y == 1 ? second : third; }

template <bool FAR, class U>
__device__ __forceinline__ void copy_view(const U* __restrict__ x, U* __restrict__ first, U* __restrict__ second, U* __restrict__ third, const ViewShape& s) {
  const long long at = thread_of_grid();
  start_early();
  if (at < s.count) view_of(first, second, third)[at] = x[place_of<FAR>(at, s).in_x];
}

template <bool FAR, bool VECTORS, class T>
__device__ __forceinline__ void copy_view_bias(const T* __restrict__ x, const T* __restrict__ bias, T* __restrict__ first, T* __restrict__ second, T* __restrict__ third, const ViewShape& s) {
  const long long at = thread_of_grid();
  start_early();
  if (at >= s.count) return;
  const Place place = place_of<FAR>(at, s);
  T* const out = view_of(first, second, third);
  if constexpr (VECTORS) {
    constexpr int L = LANES<T>;
    float p[L], q[L];
    const uint4 v = load16(x + place.in_x * L);
    unpack<T>(load16(bias + place.in_row * L), q);
    unpack<T>(v, p);
#pragma unroll
    for (int j = 0; j < L; j++) p[j] += q[j];
    store16(out + at * L, pack<T>(p));
  } else {
    out[at] = from_float<T>(to_float(x[place.in_x]) + to_float(bias[place.in_row]));
  }
}

}  // namespace

#define OPSCOPE_COPY_VIEW(bytes, type)                                                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) copy_view_##bytes(const type* x, type* first, type* second, type* third, ViewShape s) { copy_view<false>(x, first, second, third, s); } \
  extern "C" __global__ void __launch_bounds__(256) copy_view_far_##bytes(const type* x, type* first, type* second, type* third, ViewShape s) { copy_view<true>(x, first, second, third, s); }
#define OPSCOPE_COPY_VIEW_BIAS(type, lanes, vectors)                                                                                                                         \
  extern "C" __global__ void __launch_bounds__(256) copy_view_bias_##type##_##lanes(const type* x, const type* bias, type* first, type* second, type* third, ViewShape s) {     \
    copy_view_bias<false, vectors>(x, bias, first, second, third, s);                                                                                                        \
  }                                                                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(256) copy_view_far_bias_##type##_##lanes(const type* x, const type* bias, type* first, type* second, type* third, ViewShape s) { \
    copy_view_bias<true, vectors>(x, bias, first, second, third, s);                                                                                                         \
  }

OPSCOPE_COPY_VIEW(2, uint16_t)
OPSCOPE_COPY_VIEW(4, uint32_t)
OPSCOPE_COPY_VIEW(8, uint2)
OPSCOPE_COPY_VIEW(16, uint4)
OPSCOPE_COPY_VIEW_BIAS(f32, 1, false)
OPSCOPE_COPY_VIEW_BIAS(f32, 4, true)
OPSCOPE_COPY_VIEW_BIAS(f16, 1, false)
OPSCOPE_COPY_VIEW_BIAS(f16, 8, true)
OPSCOPE_COPY_VIEW_BIAS(bf16, 1, false)
OPSCOPE_COPY_VIEW_BIAS(bf16, 8, true)
