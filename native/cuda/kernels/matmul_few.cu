// Products of few multiplications (matmul/few.h), where a call takes as long as it waits for memory and for its own instructions: no tiles, no shared memory. matmul_few_<t>_lanes:
// 1 << log2 lanes of a warp have a result, and read all of its terms at once; _block: a block has one; _linear: what follows a linear layer is in the store (matmul/linear.h). Sums in f32, in a fixed order; tf32 takes f32.
#include "common/reduce.cuh"
#include "common/start_early.cuh"
#include "common/vec.cuh"
#include "matmul/few.h"
#include "matmul/linear_one.cuh"

namespace {

using opscope::cuda::FewProduct;

// LINEAR: what is done with the results beside storing them, as `linear` says.
template <bool BLOCK, bool LINEAR, int few_terms, class T>
__device__ __forceinline__ void product(const FewProduct& p, const LinearStore& linear = {}) {
  const int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), own = BLOCK ? static_cast<int>(blockIdx.x) : thread >> p.log2;
  const int lane = BLOCK ? static_cast<int>(threadIdx.x) : thread & ((1 << p.log2) - 1), step = BLOCK ? static_cast<int>(blockDim.x) : 1 << p.log2;
  // Threads beyond the results stay for the others of their warp.
  const int result = min(own, p.results - 1), batch = divided(result, p.by_mn), of_batch = result - batch * p.mn, m = divided(of_batch, p.by_n), n = of_batch - m * p.n;
  const T* a = reinterpret_cast<const T*>(p.a) + (batch - divided(batch, p.by_batches_a) * p.batches_a) * p.a_batch + m * p.a_m;
  const T* b = reinterpret_cast<const T*>(p.b) + batch * p.b_batch + n * p.b_n;
  T u[few_terms], v[few_terms];
  float bias = 0, added = 0;
  if constexpr (LINEAR) {
    // Weights, which no launch before writes.
#pragma unroll
    for (int e = 0; e < few_terms; e++) v[e] = lane + e * step < p.k ? b[(lane + e * step) * p.b_k] : T(0.0f);
    if (lane == 0) bias = linear_bias<T>(linear, n);
  }
  start_early();
#pragma unroll
  for (int e = 0; e < few_terms; e++) {
    const int k = lane + e * step;
    u[e] = k < p.k ? a[k * p.a_k] : T(0.0f);
    if constexpr (!LINEAR) v[e] = k < p.k ? b[k * p.b_k] : T(0.0f);
  }
  if constexpr (LINEAR)
    if (lane == 0) added = linear_added<T>(linear, result);
  float sum = 0;
#pragma unroll
  for (int e = 0; e < few_terms; e++) sum = fmaf(to_float(u[e]), to_float(v[e]), sum);
  if constexpr (BLOCK) {
    __shared__ float scratch[32];
    sum = block_reduce(sum, 0.0f, scratch, AddOp());
  } else {
#pragma unroll
    for (int k = 4; k >= 0; k--)
      if (k < p.log2) sum += __shfl_xor_sync(0xffffffffu, sum, 1 << k);
  }
  if (lane > 0 || own >= p.results) return;
  if constexpr (LINEAR) linear_store(reinterpret_cast<T*>(p.c), linear, sum + bias, added, own, m, n);
  else reinterpret_cast<T*>(p.c)[own] = from_float<T>(sum);
}

}  // namespace

#define FEW_OF(T, NAME, THREADS, BLOCK)                                                                                                      \
  extern "C" __global__ void __launch_bounds__(THREADS) matmul_few_##T##_##NAME(const __grid_constant__ FewProduct p) { product<BLOCK, false, opscope::cuda::few_terms, T>(p); } \
  extern "C" __global__ void __launch_bounds__(THREADS) matmul_few_##T##_##NAME##_linear(const __grid_constant__ FewProduct p, const __grid_constant__ LinearStore linear) { product<BLOCK, true, opscope::cuda::few_terms, T>(p, linear); }
#define FEW_LONG(T) extern "C" __global__ void __launch_bounds__(1024) matmul_few_##T##_long(const __grid_constant__ FewProduct p) { product<true, false, opscope::cuda::few_long_terms, T>(p); }
#define FEW(T) FEW_OF(T, lanes, 128, false) FEW_OF(T, block, 512, true) FEW_LONG(T)
FEW(f32)
FEW(f16)
FEW(bf16)
