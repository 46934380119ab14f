// Thread-block clusters (sm_90 and newer): blocks that run at the same time and read each other's shared memory. On older GPUs no plan
// launches what calls this.
#pragma once
#include <cstdint>

// Number of this block in its cluster.
__device__ __forceinline__ unsigned cluster_rank() {
  unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return rank;
}

// Every thread of the cluster arrives, and none passes the wait before all have. What a thread wrote before it arrived is seen after the wait.
__device__ __forceinline__ void cluster_arrive() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
#endif
}
__device__ __forceinline__ void cluster_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#endif
}

// `own`, a variable in shared memory, as block `rank` of the cluster has it. S: of 32-bit words.
template <class S>
__device__ __forceinline__ S of_block(const S& own, unsigned rank) {
  static_assert(sizeof(S) % 4 == 0);
  S s = own;
#if __CUDA_ARCH__ >= 900
  unsigned remote, word;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&own))), "r"(rank));
#pragma unroll
  for (unsigned k = 0; k < sizeof(S) / 4; k++) {
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(word) : "r"(remote + 4 * k) : "memory");
    memcpy(reinterpret_cast<char*>(&s) + 4 * k, &word, 4);
  }
#endif
  return s;
}

// The values of all `blocks` of the cluster joined in their order, in every thread. `slot`: one S in shared memory, which thread 0 fills. A block must not end
// before the others have read it: cluster_wait() comes after this, once, at the end.
template <class S, class Op>
__device__ __forceinline__ S join_cluster(S s, S& slot, int blocks, Op op) {
  if (threadIdx.x == 0) slot = s;
  cluster_arrive();
  cluster_wait();
  S total = of_block(slot, 0);
  for (int rank = 1; rank < blocks; rank++) total = op(total, of_block(slot, rank));
  cluster_arrive();
  return total;
}
