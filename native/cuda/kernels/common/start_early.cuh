// The start of a kernel that may be early behind any launch (Launch::always_waits in plan.h).
#pragma once
#include "early.cuh"

// Before the kernel reads or writes memory.
__device__ __forceinline__ void start_early() {
  next_may_start();
  wait_for_last();
}
