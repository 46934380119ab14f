// One piece of memory that comes to shared memory for all threads of a block: by the copy engine, or before sm_90 a vector at a time.
#pragma once
#include <cstdint>

// Begins to fetch `vectors` of 16 bytes. A barrier of the block lies between this and `await_piece`.
__device__ __forceinline__ void begin_piece([[maybe_unused]] unsigned long long* barrier, uint4* to, const uint4* from, int vectors) {
#if __CUDA_ARCH__ >= 900
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(at) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(vectors * 16) : "memory");
    if (vectors > 0) asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "l"(from), "r"(vectors * 16), "r"(at) : "memory");
  }
#else
#pragma unroll 4
  for (int v = threadIdx.x; v < vectors; v += blockDim.x) to[v] = from[v];
#endif
}
// Until all has come; before sm_90, what other threads have fetched is there after another barrier of the block.
__device__ __forceinline__ void await_piece([[maybe_unused]] unsigned long long* barrier) {
#if __CUDA_ARCH__ >= 900
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
  asm volatile("{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n@done bra over;\nbra again;\nover:\n}" ::"r"(at) : "memory");
#endif
}
