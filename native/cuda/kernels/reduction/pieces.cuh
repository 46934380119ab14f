// Reductions of x [groups, outer, reduce, inner], where what is reduced does not lie in one piece.
//   reduce_groups   joins the results of groups, each reduced by a kernel of kernel.cuh
//   reduce_pieces   reads all groups at once, where elements are few
#pragma once
#include "kernel.cuh"

// parts [groups, cells] to out [cells]; group g's elements stand behind those of g - 1, `reduce` each. `lanes` threads per
// cell: 1 or 32.
template <class R, class T>
__device__ __forceinline__ void reduce_groups(const typename R::Part* parts, Results<R, T> results, long long groups, long long cells, long long reduce, int lanes) {
  const long long cell = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / lanes;
  if (cell >= cells) return;
  auto total = R::start();
  for (long long g = threadIdx.x % lanes; g < groups; g += lanes) total = R::join(total, R::moved(parts[g * cells + cell], static_cast<unsigned>(g * reduce)));
  if (lanes == 32) total = warp_reduce(total, Join<R>());
  if (threadIdx.x % lanes == 0) results.put(cell, total);
}

// x [groups, outer, reduce, inner] to out [outer, inner]; `lanes` threads per cell: 1 or 32.
template <class R, class T>
__device__ __forceinline__ void reduce_pieces(const T* x, Results<R, T> results, long long groups, long long outer, long long reduce, long long inner, int lanes) {
  const long long cells = outer * inner, cell = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / lanes;
  if (cell >= cells) return;
  const unsigned of = static_cast<unsigned>(reduce), all = static_cast<unsigned>(groups) * of;
  const T* own = x + cell / inner * reduce * inner + cell % inner;
  auto total = R::start();
#pragma unroll 4
  for (unsigned e = threadIdx.x % lanes; e < all; e += lanes) {
    const unsigned g = e / of;
    total = R::join(total, R::element(to_float(own[g * cells * reduce + (e - g * of) * inner]), 0.0f, e));
  }
  if (lanes == 32) total = warp_reduce(total, Join<R>());
  if (threadIdx.x % lanes == 0) results.put(cell, total);
}
