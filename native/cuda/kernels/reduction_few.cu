// The reductions of reduction/table.h of few elements (reduction/few.h), where a call takes as long as it waits for memory and for its own instructions: all elements of a
// result are read at once, in whatever pieces they lie, and the code is short. <op>_few_<t>_lanes: lanes of a warp have a result; _block: a block has one.
#include "common/reduce.cuh"
#include "reduction/few.h"
#include "reduction/operations.cuh"

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

}  // namespace

#define FEW(op, T)                                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(128) op##_few_##T##_lanes(const __grid_constant__ FewCells a) { reduce_few<op##_of, T, false>(a); }      \
  extern "C" __global__ void __launch_bounds__(1024) op##_few_##T##_block(const __grid_constant__ FewCells a) { reduce_few<op##_of, T, true>(a); }
#define EACH(op) FEW(op, f32) FEW(op, f16) FEW(op, bf16)
#define REDUCTION(op, ...) VALUES(op, __VA_ARGS__) }; EACH(op)
#define POSITION(op, element_of) PLACES(op, element_of); EACH(op)
#define PRODUCT(op, ...)
#include "reduction/table.h"
