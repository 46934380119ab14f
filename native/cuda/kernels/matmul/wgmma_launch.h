// The launches of matmul_wgmma.plan.cc.
#pragma once
#include "operands.h"
#include "shifted.h"

namespace opscope::cuda {

void launch_wgmma(Planner& p, const Product& product);
void launch_shifted(Planner& p, const Product& product);

}  // namespace opscope::cuda
