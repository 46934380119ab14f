// Strided views of x, each written one element after the other, as bits: out_v[i, j, k, l] = x[offset + v * distance + i * s0 + j * s1 + k * s2 + l].
//   copy_view_<bytes>       a thread for each vector of so many bytes, of a view below 2^31 vectors; the views lie along y of the grid
//   copy_view_far_<bytes>   the same of more
#include "common/vec.cuh"
#include "copy_view/shape.h"

namespace {

template <bool FAR>
__device__ __forceinline__ long long divided_by(long long n, long long divisor, Divide by) {
  if constexpr (FAR) return n / divisor;
  else return divided(static_cast<int>(n), by);
}

template <bool FAR, class U>
__device__ __forceinline__ void copy_view(const U* __restrict__ x, U* __restrict__ first, U* __restrict__ second, U* __restrict__ third, const ViewShape& s) {
  const long long at = thread_of_grid();
  if (at >= s.count) return;
  const long long row = divided_by<FAR>(at, s.width, s.by_width), l = at - row * s.width;
  const long long plane = divided_by<FAR>(row, s.rows, s.by_rows), k = row - plane * s.rows;
  const long long i = divided_by<FAR>(plane, s.middle, s.by_middle), j = plane - i * s.middle;
  U* const out = blockIdx.y == 0 ? first : blockIdx.y == 1 ? second : third;
  out[at] = x[s.offset + blockIdx.y * s.distance + i * s.strides[0] + j * s.strides[1] + k * s.strides[2] + l];
}

}  // namespace

#define OPSCOPE_COPY_VIEW(bytes, type)                                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(256) copy_view_##bytes(const type* x, type* first, type* second, type* third, ViewShape s) { copy_view<false>(x, first, second, third, s); } \
  extern "C" __global__ void __launch_bounds__(256) copy_view_far_##bytes(const type* x, type* first, type* second, type* third, ViewShape s) { copy_view<true>(x, first, second, third, s); }

OPSCOPE_COPY_VIEW(2, uint16_t)
OPSCOPE_COPY_VIEW(4, uint32_t)
OPSCOPE_COPY_VIEW(8, uint2)
OPSCOPE_COPY_VIEW(16, uint4)
