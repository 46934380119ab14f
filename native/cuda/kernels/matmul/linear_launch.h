// The launch of a product whose store does more (matmul_wgmma.plan.cc), of those that composite/steps.h takes.
#pragma once
#include "linear.h"
#include "operands.h"

namespace opscope::cuda {

void launch_linear(Planner& p, const Product& product, LinearKind kind, const LinearStore& store);

}  // namespace opscope::cuda
