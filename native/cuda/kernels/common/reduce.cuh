// Reductions over a warp and a block.
#pragma once
#include <cstdint>

struct AddOp {
  __device__ __forceinline__ float operator()(float a, float b) const { return a + b; }
};
struct MaxOp {
  __device__ __forceinline__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

template <class V, class Op>
__device__ __forceinline__ V warp_reduce(V v, Op op) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) v = op(v, __shfl_xor_sync(0xffffffffu, v, offset));
  return v;
}

// Two sums at a time.
__device__ __forceinline__ float2 sum_of_warp(float2 v) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    v.x += __shfl_xor_sync(0xffffffffu, v.x, offset);
    v.y += __shfl_xor_sync(0xffffffffu, v.y, offset);
  }
  return v;
}

// Every thread gets the result. `scratch` holds 32 values; two calls in a row need different scratch.
template <class V, class Op>
__device__ __forceinline__ V block_reduce(V v, V identity, V* scratch, Op op) {
  v = warp_reduce(v, op);
  const int warps = blockDim.x / 32;
  if (warps == 1) return v;
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x % 32 < warps ? scratch[threadIdx.x % 32] : identity;
  return warp_reduce(v, op);
}

// True in every thread of the block that arrives last of `total`; the counter is left at zero for the next launch.
// What the other blocks wrote before their call is visible to the last one.
__device__ __forceinline__ bool last_to_arrive(unsigned* counter, unsigned total) {
  __shared__ bool last;
  __syncthreads();
  // Release and acquire are cumulative: they hold for what the block wrote before the barrier, and for what it reads after the next.
  if (threadIdx.x == 0) {
    unsigned before;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(__cvta_generic_to_global(counter)), "r"(total - 1) : "memory");
    last = before == total - 1;
  }
  __syncthreads();
  return last;
}
