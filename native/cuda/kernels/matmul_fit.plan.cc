// The launch of 16-bit products by tiles that fit their result (sm_90a): matmul/wgmma_fit.cuh. Tiles: matmul/fit_choice.h.
#include <algorithm>

#include "matmul/fit_choice.h"
#include "matmul/launch.h"
#include "matmul/operands.h"
#include "matmul/wgmma_launch.h"
#include "tensor_map.h"

namespace opscope::cuda {

void launch_fit(Planner& p, const Product& product, const FitPlan& plan) {
  constexpr int line = 64, sector = 16;  // elements
  const ProductShape& s = product.s;
  const Operand a = left(product), b = right(product);
  const bool lines_a = s.trans_a, lines_b = !s.trans_b;
  const Operand &x = plan.turned ? b : a, &y = plan.turned ? a : b;
  const bool lines_x = plan.turned ? lines_b : lines_a, lines_y = plan.turned ? lines_a : lines_b;
  const WgmmaShape shape = fit_shape(s, plan.turned);
  const int count_x = plan.along_x ? plan.blocks : 1, count_y = plan.along_x ? 1 : plan.blocks, groups = fit_groups(plan.rows);
  const WgmmaTask task = wgmma_task(shape, {plan.rows * count_x, plan.columns * count_y, 1, false}, line, x.batch, y.batch);
  // L2 fetches lines of 128 bytes together where all rows start on 32.
  const bool ahead = x.pitch % sector == 0 && y.pitch % sector == 0;
  const auto boxes = [&](const Operand& o, bool lines, int rows) { return tensor_map(o.address, p.spec.dtype, {o.batch, o.rows, o.cols, o.pitch}, static_cast<unsigned>(lines ? line : rows), 0, ahead); };
  const int part_x = plan.rows / count_y, part_y = fit_rows_y(plan.columns, lines_y) / count_x;
  const CUtensorMap map_x = boxes(x, lines_x, rows_brought(part_x, shape.x)), map_y = boxes(y, lines_y, rows_brought(part_y, shape.y)), last_x = boxes(x, lines_x, rows_of_last(part_x, shape.x)), last_y = boxes(y, lines_y, rows_of_last(part_y, shape.y));
  const CUtensorMap map_c = plan.turned ? tensor_map(product.c, p.spec.dtype, {s.batch, s.m, s.n, s.n}, static_cast<unsigned>(plan.columns)) : map_x;
  const auto shared = static_cast<unsigned>(fit_shared_bytes(plan.rows, plan.columns, groups, lines_y, plan.turned));
  const std::string module = "matmul_fit_wide_" + p.dtype();
  const CUfunction f = p.kernel_in(module, "matmul_fit_" + p.dtype() + "_" + std::to_string(plan.rows) + "_" + std::to_string(plan.columns) + "_" + layout_of(s) + (plan.turned ? "_turned" : ""), shared);
  Launch& launch = p.launch(f, {std::min<int64_t>(int64_t{task.work} * plan.blocks, fit_room(p.device.sm_count, plan.blocks))}, static_cast<unsigned>(128 + 128 * groups), shared, map_x, map_y, last_x, last_y, map_c, product.c, task, static_cast<int>(plan.along_x));
  launch.always_waits();
  if (plan.blocks > 1) launch.cluster(static_cast<unsigned>(plan.blocks));
}

}  // namespace opscope::cuda
