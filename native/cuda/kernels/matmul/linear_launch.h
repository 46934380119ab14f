// Launches of products whose store does more (matmul.plan.cc, matmul_wgmma.plan.cc), of those that composite/steps.h takes; of others where `store` is none.
#pragma once
#include "../common/few_launch.h"
#include "linear.h"
#include "operands.h"

namespace opscope::cuda {

void launch_linear_wgmma(Planner& p, const Product& product, const LinearStore& store);
void launch_few(Planner& p, const Product& product, const FewLaunch& few, const LinearStore* store = nullptr);
void launch_f32_small(Planner& p, const Product& product, const LinearStore* store = nullptr);

}  // namespace opscope::cuda
