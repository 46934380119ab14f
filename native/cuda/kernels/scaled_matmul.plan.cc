// dims: [m, n, k]; a [m, k], b [n, k], scaleA [m], scaleB [n]; out in bf16.
//   scaled_matmul_few    a long matrix and up to 32 rows of the other, whose rows start on 16 bytes
//   scaled_matmul_wgmma  on sm_90; operands whose rows do not start on 16 bytes are copied so first, where the product is large enough to pay for it
//   scaled_matmul        other products on tensor cores by mma.sync, and fp8 without them before sm_89
#include <algorithm>

#include "matmul/launch.h"
#include "matmul/operands.h"
#include "matmul/scaled_few.h"
#include "matmul/wgmma_launch.h"
#include "tensor_map.h"

namespace opscope::cuda {

namespace {

struct ScaledShape {
  int64_t m, n, k;
};

void launch_scaled_wgmma(Planner& p, const ScaledShape& s) {
  constexpr int64_t line = 128;  // of k in a stage
  const WgmmaShape shape = {1, static_cast<int>(s.m), static_cast<int>(s.n), static_cast<int>(s.k)};
  // Of fp8, a stage has its own sums beside those of the tile.
  const WgmmaPlan plan = wgmma_plan(p.device.sm_count, shape, line, p.spec.dtype == Dtype::i8 ? 256 : 192);
  Operand a = {p.input(0), 1, shape.x, shape.k, s.k}, b = {p.input(1), 1, shape.y, shape.k, s.k};
  const bool copied = space(p, a, b);
  const auto map = [&](const Operand& x, int rows) { return tensor_map(x.address, p.spec.dtype, {x.batch, x.rows, x.cols, x.pitch}, static_cast<unsigned>(rows)); };
  const WgmmaTask task = wgmma_task(shape, plan, line, 1, 1);
  const CUdeviceptr shares = wgmma_shares(p, plan, task);
  const unsigned shared = wgmma_shared_bytes(plan), threads = 128 + 2 * static_cast<unsigned>(plan.rows);
  const CUfunction f = p.kernel_in("scaled_matmul_wgmma", "scaled_matmul_wgmma_" + p.dtype() + "_" + std::to_string(plan.rows) + "_" + std::to_string(plan.columns), shared);
  Launch& launch = p.launch(f, {wgmma_blocks(p, plan, task)}, threads, shared, map(a, rows_brought(plan.rows, shape.x)), map(b, rows_brought(plan.columns, shape.y)), map(a, rows_of_last(plan.rows, shape.x)), map(b, rows_of_last(plan.columns, shape.y)), p.input(2), p.input(3), p.output(), shares, task);
  if (plan.joined) launch.cluster(static_cast<unsigned>(plan.splits));
  if (copied) launch.early(p.device);
  join_wgmma(p, plan, task, shares, p.output(), "bf16", false);
}

void launch_scaled_few(Planner& p, int64_t k, const ScaledFewPlan& plan) {
  const std::string kernel = "scaled_matmul_few_" + p.dtype() + "_" + std::to_string(plan.vectors) + (plan.rows_few ? "_rows" : "_columns");
  const size_t matrix = plan.rows_few ? 1 : 0, few = 1 - matrix;
  p.launch(p.kernel_in("scaled_matmul_few", kernel), {plan.blocks}, scaled_few_warps * 32, 0, p.input(matrix), p.input(few), p.input(2 + matrix), p.input(2 + few), p.output(), static_cast<int>(plan.length),
           static_cast<int>(plan.few), static_cast<int>(k), plan.parts, plan.share);
}

void launch_scaled_mma(Planner& p, const ScaledShape& s) {
  const auto tiles = [&](int64_t side) { return ceil_div(s.m, side) * ceil_div(s.n, side); };
  const bool large = tiles(128) * 10 >= p.device.sm_count * 9;
  const int64_t side = large ? 128 : 64;
  // Stages of 64 bytes of k (common/product.cuh).
  const unsigned shared = (large ? 4 : 8) * 2 * static_cast<unsigned>(side) * 64;
  p.launch(p.kernel("scaled_matmul_mma_" + p.dtype() + "_" + std::to_string(side), shared), {tiles(side)}, large ? 256 : 128, shared, p.input(0), p.input(1), p.input(2), p.input(3), p.output(),
           static_cast<int>(s.m), static_cast<int>(s.n), static_cast<int>(s.k), static_cast<int>(ceil_div(s.m, side)), static_cast<int>(ceil_div(s.n, side)));
}

void plan(Planner& p) {
  const ScaledShape s = {p.dim(0), p.dim(1), p.dim(2)};
  if (p.spec.dtype == Dtype::f8e4m3 && p.device.major * 10 + p.device.minor < 89) {
    constexpr int64_t side = 64;
    const int64_t across = ceil_div(s.n, side);
    p.launch(p.kernel("scaled_matmul_f8e4m3"), {ceil_div(s.m, side) * across}, 256, 0, p.input(0), p.input(1), p.input(2), p.input(3), p.output(), static_cast<long long>(s.m), static_cast<long long>(s.n),
             static_cast<long long>(s.k), static_cast<long long>(across));
    return;
  }
  if (s.m > int64_t{1} << 30 || s.n > int64_t{1} << 30) throw Error("unsupported", "The CUDA kernels for scaled_matmul take m and n of up to 2^30.");
  if (const ScaledFewPlan few = scaled_few_plan(p.device.sm_count, s.m, s.n, s.k, p.spec.dtype == Dtype::f8e4m3); few.vectors > 0) return launch_scaled_few(p, s.k, few);
  if (p.device.major == 9 && p.device.minor == 0 && scaled_wgmma_pays(s.m, s.n, s.k)) launch_scaled_wgmma(p, s);
  else launch_scaled_mma(p, s);
}

const Register registered({"scaled_matmul", {Dtype::i8, Dtype::f8e4m3}, {3},
                           // core/ops/product/table.ts keeps k so small that sums of int8 products stay in i32.
                           [](const OpKernels&, const Dims& d) { return std::vector{in(d[0] * d[2]), in(d[1] * d[2]), in(d[0], Storage::f32), in(d[1], Storage::f32), out(d[0] * d[1], Storage::bf16)}; },
                           plan});

}  // namespace

}  // namespace opscope::cuda
