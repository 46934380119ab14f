// Copies to shared memory that go on while the threads work: each waits for its own.
#pragma once
#include "vec.cuh"

// A copy that goes on while the thread works. Nothing that touches memory moves across: what a thread has read of its part is read before the copy into it starts.
__device__ __forceinline__ void fetch16(uint4* to, const void* from) {
#ifdef __CUDA_ARCH__
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(to))), "l"(from) : "memory");
#else
  *to = load16(from);
#endif
}
__device__ __forceinline__ void fetch_end() {
#ifdef __CUDA_ARCH__
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Until all fetches of this thread but the last N have arrived.
template <int N>
__device__ __forceinline__ void fetch_wait() {
#ifdef __CUDA_ARCH__
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}
