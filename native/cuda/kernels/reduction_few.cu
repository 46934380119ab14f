// The reductions of reduction/table.h of few elements (reduction/few.h), where a call takes as long as it waits for memory and for its own instructions: all elements of a
// result are read at once, in whatever pieces they lie, and the code is short. <op>_few_<t>_lanes: lanes of a warp have a result; _block: a block has one. Of results whose elements lie
// in one piece, _whole_<log2>: so many lanes, which the kernel knows; _row: a block. Few arguments and no divisions: each instruction of a cold call is waited for.
#include "common/reduce.cuh"
#include "reduction/few.h"
#include "reduction/operations.cuh"
#include "reduction/range.cuh"

namespace {

using opscope::cuda::FewCells;

template <class R>
struct Joined {
  __device__ __forceinline__ typename R::Part operator()(typename R::Part p, typename R::Part q) const { return R::join(p, q); }
};

template <class R, class T, bool BLOCK>
__device__ __forceinline__ void reduce_few(const FewCells& a) {
  using Part = typename R::Part;
  constexpr int E = opscope::cuda::few_cell_each;
  const int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int own = BLOCK ? static_cast<int>(blockIdx.x) : thread >> a.log2, first = BLOCK ? static_cast<int>(threadIdx.x) : thread & ((1 << a.log2) - 1), step = BLOCK ? static_cast<int>(blockDim.x) : 1 << a.log2;
  // Threads beyond the results stay for the others of their warp.
  const int cell = BLOCK ? own : min(own, a.cells - 1), outer = divided(cell, a.by_inner);
  const T* x = reinterpret_cast<const T*>(a.x) + outer * a.of_cell + (cell - outer * a.inner);
  T read[E];
#pragma unroll
  for (int e = 0; e < E; e++) {
    const int k = first + e * step;
    read[e] = k < a.count ? x[k * a.inner + divided(k, a.by_reduce) * a.jump] : T(0.0f);
  }
  Part total = R::start();
#pragma unroll
  for (int e = 0; e < E; e++) {
    const int k = first + e * step;
    const Part p = R::element(to_float(read[e]), 0.0f, static_cast<unsigned>(k));
    total = k < a.count ? R::join(total, p) : total;
  }
  if constexpr (BLOCK) {
    __shared__ Part scratch[32];
    total = block_reduce(total, R::start(), scratch, Joined<R>());
  } else {
#pragma unroll
    for (int k = 4; k >= 0; k--)
      if (k < a.log2) total = R::join(total, __shfl_xor_sync(0xffffffffu, total, 1 << k));
  }
  if (first == 0 && own < a.cells) R::template put<T>(reinterpret_cast<typename R::template Out<T>*>(a.out) + own, total, a.count);
}

// A row of `count` elements for 1 << LOG2 lanes.
template <class R, class T, int LOG2>
__device__ __forceinline__ void reduce_whole(const T* x, typename R::template Out<T>* out, int cells, int count) {
  constexpr int E = opscope::cuda::few_cell_each, step = 1 << LOG2;
  const int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), own = thread >> LOG2, first = thread & (step - 1);
  // Threads beyond the results stay for the others of their warp.
  x += min(own, cells - 1) * count + first;
  T read[E];
#pragma unroll
  for (int e = 0; e < E; e++) read[e] = first + e * step < count ? x[e * step] : T(0.0f);
  typename R::Part total = R::start();
#pragma unroll
  for (int e = 0; e < E; e++) {
    const int k = first + e * step;
    const auto p = R::element(to_float(read[e]), 0.0f, static_cast<unsigned>(k));
    total = k < count ? R::join(total, p) : total;
  }
#pragma unroll
  for (int k = LOG2 - 1; k >= 0; k--) total = R::join(total, __shfl_xor_sync(0xffffffffu, total, 1 << k));
  if (first == 0 && own < cells) R::template put<T>(out + own, total, count);
}

// A row for a block. y: the second vector of a product.
template <class R, class T>
__device__ __forceinline__ void reduce_few_row(const T* x, const T* y, typename R::template Out<T>* out, int count) {
  using Part = typename R::Part;
  constexpr int E = opscope::cuda::few_cell_each;
  __shared__ Part scratch[32];
  const int first = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x), at = static_cast<int>(blockIdx.x) * count + first;
  T read[E], other[E] = {};
#pragma unroll
  for (int e = 0; e < E; e++) {
    const bool inside = first + e * step < count;
    read[e] = inside ? x[at + e * step] : T(0.0f);
    if constexpr (R::pair) other[e] = inside ? y[at + e * step] : T(0.0f);
  }
  Part total = R::start();
#pragma unroll
  for (int e = 0; e < E; e++) {
    const int k = first + e * step;
    const Part p = R::element(to_float(read[e]), to_float(other[e]), static_cast<unsigned>(k));
    total = k < count ? R::join(total, p) : total;
  }
  if constexpr (R::placed) total = largest_word(total, scratch);
  else total = block_reduce(total, R::start(), scratch, Joined<R>());
  if (first == 0) R::template put<T>(out + blockIdx.x, total, count);
}

}  // namespace

#define WHOLE(op, T, log2) \
  extern "C" __global__ void __launch_bounds__(128) op##_few_##T##_whole_##log2(const T* x, op##_of::Out<T>* out, int cells, int count) { reduce_whole<op##_of, T, log2>(x, out, cells, count); }
#define FEW(op, T)                                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(128) op##_few_##T##_lanes(const __grid_constant__ FewCells a) { reduce_few<op##_of, T, false>(a); }      \
  extern "C" __global__ void __launch_bounds__(1024) op##_few_##T##_block(const __grid_constant__ FewCells a) { reduce_few<op##_of, T, true>(a); }      \
  extern "C" __global__ void __launch_bounds__(1024) op##_few_##T##_row(const T* x, op##_of::Out<T>* out, int count) { reduce_few_row<op##_of, T>(x, x, out, count); } \
  WHOLE(op, T, 0) WHOLE(op, T, 1) WHOLE(op, T, 2) WHOLE(op, T, 3) WHOLE(op, T, 4) WHOLE(op, T, 5)
#define PAIR(op, T) extern "C" __global__ void __launch_bounds__(1024) op##_few_##T##_row(const T* x, const T* y, T* out, int count) { reduce_few_row<op##_of, T>(x, y, out, count); }
#define EACH(op) FEW(op, f32) FEW(op, f16) FEW(op, bf16)
#define REDUCTION(op, ...) VALUES(op, __VA_ARGS__) }; EACH(op)
#define POSITION(op, element_of) PLACES(op, element_of); EACH(op)
#define PRODUCT(op, ...) VALUES(op, __VA_ARGS__) static constexpr bool pair = true; }; PAIR(op, f32) PAIR(op, f16) PAIR(op, bf16)
#include "reduction/table.h"
