// Stores to the shared memory of another block of a cluster (sm_90 and newer).
#pragma once
#include "cluster.cuh"

// Stores to `own`, a variable in shared memory, as block `rank` of the cluster has it. That block must have begun, and sees the store when both have met at a barrier of the cluster.
__device__ __forceinline__ void store_to_block(float& own, unsigned rank, float value) {
#if __CUDA_ARCH__ >= 900
  unsigned remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&own))), "r"(rank));
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(remote), "f"(value) : "memory");
#endif
}
