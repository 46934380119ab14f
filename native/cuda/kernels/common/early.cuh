// A launch that starts while the one before it ends (sm_90 and newer; Launch::early in plan.h). Elsewhere neither does anything.
#pragma once

// From here on, what the next launch does before `wait_for_last` may run.
__device__ __forceinline__ void next_may_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
// Until the launch before has ended and its writes are seen.
__device__ __forceinline__ void wait_for_last() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
