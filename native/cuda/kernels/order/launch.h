// Sorted keys for other operations (order.plan.cc).
#pragma once
#include "../plan.h"

namespace opscope::cuda {

// Keys of i32 `indices` with their places, in ascending order; returns where they lie.
CUdeviceptr sort_indices(Planner& p, CUdeviceptr indices, int64_t count);

}  // namespace opscope::cuda
