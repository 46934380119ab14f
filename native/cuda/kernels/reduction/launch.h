// Reductions in the plans of other operations.
#pragma once
#include <string>

#include "../plan.h"

namespace opscope::cuda {

// `op` of reduction/table.h (sum, mean, max ...) over each of `rows` rows of `cols` elements of the first input, to the first output in the same dtype. `counted`: what a mean is over, where that
// is not `cols`.
void launch_row_reduction(Planner& p, const std::string& op, int64_t rows, int64_t cols, int64_t counted = 0);

}  // namespace opscope::cuda
