// Bulk copies of whole pieces to shared memory, and values sent to other blocks of a cluster: both complete on an mbarrier (sm_90 and newer; PTX ISA, "Asynchronous Data Movement").
// On older GPUs no plan launches what calls this.
#pragma once
#include <cstdint>

#if __CUDA_ARCH__ >= 900
#define OPSCOPE_BULK 1

using BulkBarrier = unsigned long long;

__device__ __forceinline__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
// Of one arrival. `bulk_ready` comes after the last, and a barrier of the block after it.
__device__ __forceinline__ void bulk_init(BulkBarrier* barrier) { asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory"); }
__device__ __forceinline__ void bulk_ready() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
// The arrival of this round, which is complete when `bytes` have come too.
__device__ __forceinline__ void bulk_expect(BulkBarrier* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}
// `bytes`: a multiple of 16, as both addresses.
__device__ __forceinline__ void bulk_fetch(void* to, const void* from, unsigned bytes, BulkBarrier* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(barrier)) : "memory");
}
// Until round `parity`, 0 for the first and 1 for the next, is complete.
__device__ __forceinline__ void bulk_wait(BulkBarrier* barrier, unsigned parity) {
  asm volatile("{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n@done bra over;\nbra again;\nover:\n}" ::"r"(shared_address(barrier)), "r"(parity) : "memory");
}
// Writes `v` where block `rank` of the cluster has `slot`, and counts its 16 bytes on that block's `barrier`.
__device__ __forceinline__ void send_to_block(uint4 v, void* slot, BulkBarrier* barrier, unsigned rank) {
  uint32_t to, on;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_address(slot)), "r"(rank));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(on) : "r"(shared_address(barrier)), "r"(rank));
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(on) : "memory");
}
#endif
