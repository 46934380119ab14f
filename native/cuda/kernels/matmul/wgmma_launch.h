// The launches of matmul_wgmma.plan.cc.
#pragma once
#include <algorithm>

#include "fit_choice.h"
#include "operands.h"
#include "resident.h"
#include "shifted.h"
#include "wgmma.h"

namespace opscope::cuda {

// Rows of an operand with k contiguous that copies bring for a tile of so many: no more than there are, as the copy engine takes longer for rows outside of a tensor than for others.
inline int rows_brought(int tile, int rows) { return std::min(tile, rows); }
// The same of the last tile.
inline int rows_of_last(int tile, int rows) { return (rows - 1) % tile + 1; }
// With stages of `line` elements of k; operands repeat after `batch_x` and `batch_y` products.
WgmmaTask wgmma_task(const WgmmaShape& s, const WgmmaPlan& plan, int64_t line, int64_t batch_x, int64_t batch_y);
// Where the blocks of a tile store their shares of k, 0 where they do not, and the launch that adds them up to `out` of `dtype`. `turned`: the result has Y's rows.
CUdeviceptr wgmma_shares(Planner& p, const WgmmaPlan& plan, const WgmmaTask& task);
void join_wgmma(Planner& p, const WgmmaPlan& plan, const WgmmaTask& task, CUdeviceptr shares, CUdeviceptr out, const std::string& dtype, bool turned);
// Blocks that are launched.
inline int64_t wgmma_blocks(const Planner& p, const WgmmaPlan& plan, const WgmmaTask& task) { return plan.joined ? task.work : std::min(task.work, p.device.sm_count); }
void launch_wgmma(Planner& p, const Product& product);
// By tiles that fit the result (matmul_fit.plan.cc).
void launch_fit(Planner& p, const Product& product, const FitPlan& plan);
void launch_resident(Planner& p, const Product& product, const ResidentPlan& plan);
void launch_shifted(Planner& p, const Product& product);

}  // namespace opscope::cuda
