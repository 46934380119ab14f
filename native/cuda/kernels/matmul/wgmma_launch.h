// The launches of matmul_wgmma.plan.cc.
#pragma once
#include "operands.h"
#include "shifted.h"
#include "wgmma.h"

namespace opscope::cuda {

// Of tiles of `rows` by `columns`, with stages of `line` elements of k; operands repeat after `batch_x` and `batch_y` products.
WgmmaTask wgmma_task(const WgmmaShape& s, int rows, int columns, int64_t splits, int64_t line, int64_t batch_x, int64_t batch_y);
void launch_wgmma(Planner& p, const Product& product);
void launch_shifted(Planner& p, const Product& product);

}  // namespace opscope::cuda
