// Sorted keys for other operations (order.plan.cc).
#pragma once
#include "../plan.h"

namespace opscope::cuda {

// Keys of i32 `indices` of a table of `rows` rows with their places, in ascending order, those outside the table last; returns where they lie.
CUdeviceptr sort_indices(Planner& p, CUdeviceptr indices, int64_t count, int64_t rows);

}  // namespace opscope::cuda
