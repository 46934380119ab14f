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
  const int count_x = 1 << plan.log_x, count_y = 1 << plan.log_y, blocks = count_x * count_y;
  const WgmmaTask task = wgmma_task(fit_shape(s, plan.turned), {plan.rows * count_x, plan.columns * count_y, 1, false}, line, x.batch, y.batch);
  // L2 fetches lines of 128 bytes together where all rows start on 32.
  const bool ahead = x.pitch % sector == 0 && y.pitch % sector == 0;
  const auto boxes = [&](const Operand& o, bool lines, int rows, int log) { return tensor_map(o.address, p.spec.dtype, {o.batch, o.rows, o.cols, o.pitch}, static_cast<unsigned>((lines ? line : rows) >> log), 0, ahead); };
  const CUtensorMap map_x = boxes(x, lines_x, plan.rows, plan.log_y), map_y = boxes(y, lines_y, plan.columns, plan.log_x);
  const CUtensorMap map_c = plan.turned ? tensor_map(product.c, p.spec.dtype, {s.batch, s.m, s.n, s.n}, static_cast<unsigned>(plan.columns)) : map_x;
  const int64_t clusters = std::min<int64_t>(task.work, fit_room(p.device.sm_count, blocks) / blocks);
  const FitTask fit = {plan.log_x, plan.log_y, static_cast<int>(task.work / clusters), static_cast<int>(task.work % clusters)};
  const auto shared = static_cast<unsigned>(fit_shared_bytes(plan.rows, plan.columns, lines_y, plan.turned));
  const std::string module = "matmul_fit_" + std::to_string(plan.rows) + "_" + p.dtype();
  const CUfunction f = p.kernel_in(module, "matmul_fit_" + p.dtype() + "_" + std::to_string(plan.rows) + "_" + std::to_string(plan.columns) + "_" + layout_of(s) + (plan.turned ? "_turned" : "") + (blocks > 1 ? "_several" : ""), shared);
  Launch& launch = p.launch(f, {clusters * blocks}, static_cast<unsigned>(fit_threads(plan.rows, plan.columns)), shared, map_x, map_y, map_c, product.c, task, fit);
  launch.always_waits();
  if (blocks > 1) launch.cluster(static_cast<unsigned>(blocks));
}

}  // namespace opscope::cuda
