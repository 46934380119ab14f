// The launches of products by wgmma (sm_90a): of operands whose rows start on 16 bytes or are copied so first (matmul_wgmma_<dtype>.cu), and of a large one that is
// read as it lies (matmul_shifted_<dtype>.cu). Tiles and shares of k: matmul/shape.h, matmul/shifted.h.
#include <algorithm>

#include "matmul/launch.h"
#include "matmul/linear_launch.h"
#include "matmul/operands.h"
#include "matmul/wgmma_launch.h"
#include "tensor_map.h"

namespace opscope::cuda {

WgmmaTask wgmma_task(const WgmmaShape& s, const WgmmaPlan& plan, int64_t line, int64_t batch_x, int64_t batch_y) {
  const int64_t tiles_x = ceil_div(s.x, plan.rows), tiles_y = ceil_div(s.y, plan.columns), parts = s.batch * tiles_x * tiles_y - plan.whole, work = plan.whole + parts * plan.splits;
  if (work > Launch::max_blocks_x || tiles_y * wgmma_group > Launch::max_blocks_x) throw Error("unsupported", "This product has more tiles than a launch can pass. Choose a smaller size.");
  const auto divisor = [](int64_t by) { return divisor_of(static_cast<unsigned>(by)); };
  WgmmaTask task = {};
  task.x = s.x, task.y = s.y, task.k = s.k, task.batches = static_cast<int>(s.batch);
  task.steps = static_cast<int>(ceil_div(s.k, line)), task.each = static_cast<int>(ceil_div(task.steps, plan.splits));
  task.whole = static_cast<int>(plan.whole), task.parts = static_cast<int>(parts), task.joined = plan.joined;
  task.tail = static_cast<int>(ceil_div((s.k - 1) % line + 1, line / 4));
  task.work = static_cast<int>(work), task.tiles_x = static_cast<int>(tiles_x);
  task.splits = divisor(plan.splits), task.tiles = divisor(tiles_x * tiles_y), task.group = divisor(wgmma_group * tiles_y), task.last = divisor((tiles_x - 1) % wgmma_group + 1);
  task.batches_x = divisor(batch_x), task.batches_y = divisor(batch_y);
  return task;
}

CUdeviceptr wgmma_shares(Planner& p, const WgmmaPlan& plan, const WgmmaTask& task) {
  const int64_t results = int64_t{task.batches} * task.x * task.y;
  return plan.joined ? 0 : shares_of(p, plan.whole > 0 ? int64_t{task.parts} * plan.rows * plan.columns : results, plan.splits);
}

void join_wgmma(Planner& p, const WgmmaPlan& plan, const WgmmaTask& task, CUdeviceptr shares, CUdeviceptr out, const std::string& dtype, bool turned) {
  if (plan.joined || plan.splits == 1) return;
  if (plan.whole == 0) return launch_join(p, shares, out, int64_t{task.batches} * task.x * task.y, plan.splits, dtype);
  const CUfunction f = p.kernel_in("matmul_parts", std::string("matmul_join_") + (turned ? "turned_" : "") + "tiles_" + dtype);
  p.launch(f, {int64_t{task.parts} * (plan.rows * plan.columns / join_tile_elements)}, 256, 0, shares, out, task, plan.rows, plan.columns).early(p.device);
}

void launch_shifted(Planner& p, const Product& product) {
  const ProductShape& s = product.s;
  const auto bytes = static_cast<int64_t>(dtype_bytes(p.spec.dtype));
  const bool x_is_b = shifted_x_is_b(s, bytes);
  const ShiftedPlan plan = shifted_plan(p.device.sm_count, bytes, s);
  const Operand x = x_is_b ? right(product) : left(product);
  Operand y = x_is_b ? left(product) : right(product), none = {};
  const bool k_x = x_is_b ? s.trans_b : !s.trans_a;
  bool k_y = x_is_b ? !s.trans_a : s.trans_b, copied = false;
  if (p.spec.dtype == Dtype::tf32 && !k_y) turn(p, y), k_y = copied = true;
  copied = space(p, y, none) || copied;
  const auto line = static_cast<unsigned>(128 / dtype_bytes(p.spec.dtype));
  const WgmmaShape shape = {s.batch, x_is_b ? s.n : s.m, x_is_b ? s.m : s.n, s.k};
  const WgmmaTask task = wgmma_task(shape, {plan.tile_rows, plan.columns, plan.splits, false}, line, x.batch, y.batch);
  const CUtensorMap map_y = tensor_map(y.address, p.spec.dtype, {y.batch, y.rows, y.cols, y.pitch}, k_y ? static_cast<unsigned>(plan.columns) : line);
  const CUdeviceptr shares = shares_of(p, product.results(), plan.splits);
  const unsigned shared = shifted_shared_bytes(plan.columns);
  const std::string module = "matmul_shifted_" + p.dtype();
  const CUfunction f = p.kernel_in(module, module + "_" + std::to_string(plan.columns) + (x_is_b ? "_b" : "_a") + (k_x ? "_k" : "_l") + (k_y ? "_k" : "_l"), shared);
  Launch& launch = p.launch(f, {std::min(task.work, p.device.sm_count)}, 384, shared, x.address, map_y, product.c, shares, task, plan.tile_rows);
  if (copied) launch.early(p.device);
  launch_join(p, shares, product.c, product.results(), plan.splits);
}

namespace {

// A 16-bit product by pairs of blocks; X and Y as the copy engine takes them.
void launch_pairs(Planner& p, const Product& product, const Operand& x, const Operand& y, bool copied) {
  constexpr int line = 64;
  const ProductShape& s = product.s;
  const bool k_rows_x = s.trans_a, k_rows_y = !s.trans_b;
  const WgmmaShape shape = {s.batch, s.m, s.n, s.k};
  const WgmmaTask task = wgmma_task(shape, {2 * pairs_rows, pairs_columns, 1, false}, line, x.batch, y.batch);
  const auto boxes = [&](const Operand& o, bool k_rows, int rows) { return tensor_map(o.address, p.spec.dtype, {o.batch, o.rows, o.cols, o.pitch}, static_cast<unsigned>(k_rows ? line : rows), 0, false); };
  // Each block brings half of the columns.
  constexpr int half = pairs_columns / 2;
  const unsigned shared = wgmma_shared_bytes({pairs_rows, pairs_columns, 1, false});
  const std::string module = "matmul_pairs_" + p.dtype();
  const CUfunction f = p.kernel_in(module, module + "_" + std::to_string(pairs_columns) + "_" + layout_of(s), shared);
  Launch& launch = p.launch(f, {std::min<int64_t>(2 * int64_t{task.work}, p.device.sm_count / 2 * 2)}, 384, shared, boxes(x, k_rows_x, rows_brought(pairs_rows, shape.x)), boxes(y, k_rows_y, rows_brought(half, shape.y)),
                            boxes(x, k_rows_x, rows_of_last(pairs_rows, shape.x)), boxes(y, k_rows_y, rows_of_last(half, shape.y)), product.c, task);
  launch.cluster(2).always_waits();
  if (copied) launch.early(p.device);
}

}  // namespace

void launch_wgmma(Planner& p, const Product& product) {
  ProductShape s = product.s;
  Operand a = left(product), b = right(product);
  const bool tf32 = p.spec.dtype == Dtype::tf32;
  bool copied = false;
  if (tf32 && s.trans_a && !s.trans_b) {
    // One has K contiguous (matmul_wgmma_tf32.cu): the smaller one is turned.
    copied = true;
    if (s.m <= s.n) turn(p, a), s.trans_a = false;
    else turn(p, b), s.trans_b = true;
  }
  copied = space(p, a, b) || copied;
  // Of tf32, the operand without K contiguous is X.
  const bool turned = tf32 && !s.trans_a && !s.trans_b;
  const Operand &x = turned ? b : a, &y = turned ? a : b;
  const bool k_rows_x = turned || s.trans_a, k_rows_y = !turned && !s.trans_b;
  const WgmmaShape shape = {s.batch, turned ? s.n : s.m, turned ? s.m : s.n, s.k};
  const auto line = static_cast<unsigned>(128 / dtype_bytes(p.spec.dtype));
  const WgmmaPlan turns = tf32 || copied ? WgmmaPlan{} : turns_plan(p.device.sm_count, shape), plan = turns.turns ? turns : wgmma_plan(p.device.sm_count, shape, line);
  if (!tf32 && !copied) {
    if (const FitPlan fit = fit_plan(p.device.sm_count, s); fit_pays(p.device.sm_count, s, fit, plan)) return launch_fit(p, product, fit);
  }
  constexpr int sector = 16;  // 32 bytes
  if (!tf32 && !plan.turns && (x.pitch % sector != 0 || y.pitch % sector != 0) && pairs_pay(p.device.sm_count, shape, plan)) return launch_pairs(p, product, x, y, copied);
  const auto map = [&](const Operand& o, int rows) { return tensor_map(o.address, p.spec.dtype, {o.batch, o.rows, o.cols, o.pitch}, static_cast<unsigned>(rows)); };
  const CUtensorMap map_x = map(x, k_rows_x ? static_cast<int>(line) : rows_brought(plan.rows, shape.x)), map_y = map(y, k_rows_y ? static_cast<int>(line) : rows_brought(plan.columns, shape.y));
  const WgmmaTask task = wgmma_task(shape, plan, line, x.batch, y.batch);
  // Kernels that take turns bring no lines behind the end of k.
  const int lines = plan.turns ? task.tail * static_cast<int>(line) / 4 : static_cast<int>(line);
  const CUtensorMap last_x = map(x, k_rows_x ? lines : rows_of_last(plan.rows, shape.x)), last_y = map(y, k_rows_y ? lines : rows_of_last(plan.columns, shape.y));
  const CUdeviceptr shares = wgmma_shares(p, plan, task);
  const unsigned shared = wgmma_shared_bytes(plan), threads = plan.turns ? 384 : 128 + 2 * static_cast<unsigned>(plan.rows);
  const std::string module = (plan.turns ? "matmul_turns_" : "matmul_wgmma_") + p.dtype(), tile = std::to_string(plan.rows) + "_" + std::to_string(plan.columns);
  const CUfunction f = p.kernel_in(module, module + "_" + tile + "_" + layout_of(s), shared);
  const auto launched = [&](const auto&... last) -> Launch& { return p.launch(f, {wgmma_blocks(p, plan, task)}, threads, shared, map_x, map_y, last_x, last_y, product.c, last...); };
  Launch& launch = plan.turns ? launched(task) : launched(shares, task);
  if (plan.joined) launch.cluster(static_cast<unsigned>(plan.splits));
  launch.always_waits();
  if (copied) launch.early(p.device);
  join_wgmma(p, plan, task, shares, product.c, scalar_dtype(p), turned);
}

void launch_resident(Planner& p, const Product& product, const ResidentPlan& plan) {
  const Operand x = plan.columns ? right(product) : left(product);
  const CUtensorMap map = tensor_map(x.address, p.spec.dtype, {x.batch, x.rows, x.cols, x.pitch}, static_cast<unsigned>(plan.box_rows));
  const Operand few = plan.columns ? left(product) : right(product);
  const CUtensorMap few_map = plan.task.brought > 0 ? tensor_map(few.address, p.spec.dtype, {few.batch, few.rows, few.cols, few.pitch}, static_cast<unsigned>(plan.task.few)) : map;
  const auto shared = static_cast<unsigned>(plan.shared);
  const std::string kernel = "matmul_resident_" + p.dtype() + (plan.columns ? "_n" : "_m") + (plan.k_contiguous ? "_k_" : "_l_") + std::to_string(plan.lines);
  p.launch(p.kernel_in("matmul_resident", kernel, shared), {plan.blocks}, resident_threads, shared, map, few_map, plan.columns ? product.a : product.b, product.c, plan.task);
}

void launch_linear_wgmma(Planner& p, const Product& product, const LinearStore& store) {
  constexpr unsigned line = 64;
  constexpr const char* names[] = {"", "gelu", "residual", "heads"};
  const Operand a = left(product), b = right(product);
  const WgmmaShape shape = {1, product.s.m, product.s.n, product.s.k};
  const WgmmaPlan plan = wgmma_plan(p.device.sm_count, shape, line, 256, false);
  const auto map = [&](const Operand& x, int rows) { return tensor_map(x.address, p.spec.dtype, {1, x.rows, x.cols, x.pitch}, static_cast<unsigned>(rows)); };
  const WgmmaTask task = wgmma_task(shape, plan, line, 1, 1);
  const unsigned shared = wgmma_shared_bytes(plan), threads = 128 + 2 * static_cast<unsigned>(plan.rows);
  const std::string module = "matmul_linear_" + p.dtype();
  const CUfunction f = p.kernel_in(module, module + "_" + std::to_string(plan.rows) + "_" + std::to_string(plan.columns) + "_" + names[static_cast<int>(store.kind)], shared);
  Launch& launch = p.launch(f, {wgmma_blocks(p, plan, task)}, threads, shared, map(a, rows_brought(plan.rows, shape.x)), map(b, rows_brought(plan.columns, shape.y)), map(a, rows_of_last(plan.rows, shape.x)), map(b, rows_of_last(plan.columns, shape.y)), product.c, task, store);
  launch.always_waits();
  if (plan.joined) launch.cluster(static_cast<unsigned>(plan.splits));
}

}  // namespace opscope::cuda
