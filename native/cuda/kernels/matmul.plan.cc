// dims: [batch, m, n, k, transA, transB]. Which kernel runs where: matmul/choice.h.
#include <algorithm>

#include "matmul/choice.h"
#include "matmul/f32_task.h"
#include "matmul/launch.h"
#include "matmul/linear_launch.h"
#include "matmul/operands.h"
#include "matmul/spaced.h"
#include "matmul/wgmma_launch.h"
#include "tensor_map.h"

namespace opscope::cuda {

namespace {

// Launches <module>_<dtype>_<tile>_<layout>. `step`: of k.
void launch_tiles(Planner& p, const Product& product, const std::string& module, const ProductTile& t, int64_t step) {
  const ProductShape& s = product.s;
  const auto tiles_m = static_cast<int>(ceil_div(s.m, t.m)), tiles_n = static_cast<int>(ceil_div(s.n, t.n));
  const int64_t tiles = s.batch * tiles_m * tiles_n, splits = k_splits(p.device.sm_count * 2, tiles, ceil_div(s.k, step), 4);
  const CUdeviceptr shares = shares_of(p, product.results(), splits);
  const CUfunction f = p.kernel_in(module, module + "_" + p.dtype() + "_" + t.name + "_" + layout_of(s), t.shared());
  p.launch(f, {tiles * splits}, t.threads, t.shared(), product.a, product.b, product.c, s.m, s.n, s.k, tiles_m, tiles_n, shares, static_cast<int>(splits), static_cast<int>(s.batch_a));
  launch_join(p, shares, product.c, product.results(), splits);
}

// Narrow results of a short k by matmul_each.
void launch_each(Planner& p, const Product& product) {
  const ProductShape& s = product.s;
  if (is_each_row(s, static_cast<int64_t>(dtype_bytes(p.spec.dtype)))) {
    const int64_t tiles = up(s.n, each_columns * 128);
    p.launch(p.kernel_in("matmul_each", "matmul_each_row"), {s.batch * tiles}, 128, 0, product.a, product.b, product.c, s.n, s.k, static_cast<int>(s.trans_b), static_cast<int>(s.batch_a), static_cast<unsigned>(tiles));
    return;
  }
  const int64_t threads = s.batch * up(s.m, each_rows) * s.n;
  p.launch(p.kernel_in("matmul_each", "matmul_each_" + scalar_dtype(p)), {ceil_div(threads, 128)}, 128, 0, product.a, product.b, product.c, s.m, s.n, s.k, static_cast<int>(s.trans_a), static_cast<int>(s.trans_b),
           static_cast<int>(s.batch), static_cast<int>(s.batch_a), static_cast<unsigned>(threads));
}

void launch_long(Planner& p, const Product& product, const LongPlan& plan) {
  const auto shared = static_cast<unsigned>(plan.shared);
  const CUfunction f = p.kernel_in("matmul_long", "matmul_long_" + p.dtype() + (plan.k_contiguous ? "_k_" : "_l_") + std::to_string(plan.row_groups), shared);
  p.launch(f, {plan.blocks}, long_threads, shared, plan.long_m ? product.a : product.b, plan.long_m ? product.b : product.a, product.c, plan.task);
}

F32Product f32_product(const ProductShape& s, int rows, int columns) {
  return {s.m, s.n, s.k, static_cast<int>(up(s.m, rows)), static_cast<int>(up(s.n, columns)), static_cast<int>(s.batch_a)};
}

// A product in f32 whose operands threads copy.
void launch_f32_copied(Planner& p, const Product& product, const F32Plan& plan) {
  const ProductShape& s = product.s;
  const F32Product task = f32_product(s, plan.rows, plan.columns);
  const int64_t tiles = s.batch * task.tiles_m * task.tiles_n;
  const unsigned shared = f32_shared_bytes(plan);
  const int wide_a = rows_aligned_a(s, 4), wide_b = rows_aligned_b(s, 4);
  const std::string module = plan.even ? "matmul_f32_even" : "matmul_f32_copied";
  const CUfunction f = p.kernel_in(module, module + "_" + std::to_string(plan.rows) + "_" + std::to_string(plan.columns) + "_" + layout_of(s), shared);
  if (!plan.even) {
    const CUdeviceptr shares = shares_of(p, product.results(), plan.splits);
    p.launch(f, {tiles * plan.splits}, f32_threads, shared, product.a, product.b, product.c, task, shares, static_cast<int>(plan.splits), wide_a, wide_b);
    return launch_join(p, shares, product.c, product.results(), plan.splits);
  }
  const int64_t size = int64_t{plan.rows} * plan.columns;
  const F32Even even = {p.device.sm_count, static_cast<int>(plan.shared)};
  const CUdeviceptr pieces = p.workspace(2 * even.blocks * size * 4);
  p.launch(f, {even.blocks + tiles - even.shared}, f32_threads, shared, product.a, product.b, product.c, task, wide_a, wide_b, pieces, even);
  p.launch(p.kernel_in(module, "matmul_f32_even_join"), {even.shared * (size / join_tile_elements)}, 256, 0, pieces, product.c, task, even, plan.rows, plan.columns).early(p.device);
}

// A product in f32 by matmul_f32.
void launch_f32(Planner& p, const Product& product) {
  const ProductShape& s = product.s;
  const F32Plan plan = f32_plan(p.device.sm_count, s);
  if (plan.copied) return launch_f32_copied(p, product, plan);
  Operand a = left(product), b = right(product);
  if (plan.turns_a) turn(p, a);
  if (plan.turns_b) turn(p, b);
  space(p, a, b);
  const bool a_rows = !s.trans_a && !plan.turns_a, b_rows = s.trans_b && !plan.turns_b;  // of k
  const unsigned rows = static_cast<unsigned>(plan.rows), columns = static_cast<unsigned>(plan.columns), shared = f32_shared_bytes(plan);
  const auto map = [](const Operand& x, bool rows_of_k, unsigned tile) { return tensor_map(x.address, Dtype::f32, {x.batch, x.rows, x.cols, x.pitch}, rows_of_k ? tile : 32, rows_of_k ? 0 : tile); };
  const F32Product task = f32_product(s, plan.rows, plan.columns);
  const CUdeviceptr shares = shares_of(p, product.results(), plan.splits);
  const CUfunction f = p.kernel_in("matmul_f32", "matmul_f32_" + std::to_string(plan.rows) + "_" + std::to_string(plan.columns) + "_" + (a_rows ? "n" : "t") + (b_rows ? "t" : "n"), shared);
  p.launch(f, {s.batch * task.tiles_m * task.tiles_n * plan.splits}, f32_threads, shared, map(a, a_rows, rows), map(b, b_rows, columns), product.c, task, shares, static_cast<int>(plan.splits));
  launch_join(p, shares, product.c, product.results(), plan.splits);
}

void launch_several(Planner& p, const Product& product) {
  const ProductShape& s = product.s;
  const SeveralPlan plan = several_plan(p.device.sm_count, s);
  const SeveralTile& t = *plan.tile;
  const unsigned shared = several_shared_bytes(t, s);
  const CUfunction f = p.kernel_in("matmul_f32_several", "matmul_f32_several_" + std::to_string(t.rows) + "_" + std::to_string(t.columns) + "_" + std::to_string(t.threads) + (plan.splits > 1 ? "_shares_" : "_") + layout_of(s) + (several_vectors(t, s) ? "_vectors" : ""), shared);
  const CUdeviceptr shares = shares_of(p, product.results(), plan.splits);
  p.launch(f, {plan.blocks, plan.splits}, static_cast<unsigned>(t.threads), shared, product.a, product.b, product.c, f32_product(s, t.rows, t.columns), static_cast<int>(rows_aligned_a(s, 4)), static_cast<int>(rows_aligned_b(s, 4)), shares);
  launch_join(p, shares, product.c, product.results(), plan.splits);
}

void launch_runs(Planner& p, const Product& product) {
  const ProductShape& s = product.s;
  const RunsPlan plan = runs_plan(p.device.sm_count, s);
  const RunsTile& t = *plan.tile;
  const unsigned shared = runs_shared_bytes(t);
  const CUfunction f = p.kernel_in("matmul_f32_runs", "matmul_f32_runs_" + std::to_string(t.rows) + "_" + std::to_string(t.columns) + "_" + layout_of(s), shared);
  const bool whole = plan.blocks == plan.tiles && plan.runs.longer == 0;
  const CUdeviceptr pieces = whole ? 0 : p.workspace(2 * plan.blocks * t.rows * t.columns * 4), arrivals = whole ? 0 : p.workspace((plan.tiles - plan.runs.rounds * plan.blocks) * 4);
  p.launch(f, {plan.blocks}, runs_threads, shared, product.a, product.b, product.c, f32_product(s, t.rows, t.columns), static_cast<int>(rows_aligned_a(s, 4)), static_cast<int>(rows_aligned_b(s, 4)), pieces, arrivals, plan.runs);
}

void launch_slab(Planner& p, const Product& product) {
  const SlabPlan plan = slab_plan(product.s);
  const auto shared = static_cast<unsigned>(plan.shared);
  p.launch(p.kernel_in("matmul_slab_f32", "matmul_slab_f32_" + std::to_string(plan.rows) + "_" + layout_of(product.s), shared), {plan.blocks}, slab_threads, shared, product.a, product.b, product.c, plan.task);
}

// A 16-bit product by matmul_small with blocks of `side` x `side` results.
void launch_small(Planner& p, const Product& product, int side) {
  const ProductShape& s = product.s;
  const auto tiles_m = static_cast<int>(ceil_div(s.m, side)), tiles_n = static_cast<int>(ceil_div(s.n, side));
  const int64_t tiles = s.batch * tiles_m * tiles_n, splits = side == small_tile ? 1 : middle_splits(p.device.sm_count, s);
  const CUdeviceptr shares = shares_of(p, product.results(), splits);
  p.launch(p.kernel_in("matmul_small", "matmul_small_" + p.dtype() + "_" + std::to_string(side) + "_" + layout_of(s)), {tiles * splits}, 256, 0, product.a, product.b, product.c, s.m, s.n, s.k, tiles_m, tiles_n, shares,
           static_cast<int>(splits), static_cast<int>(s.batch_a));
  launch_join(p, shares, product.c, product.results(), splits);
}

// The same with k shared by the blocks of a cluster.
void launch_small_joined(Planner& p, const Product& product) {
  const ProductShape& s = product.s;
  const auto tiles_m = static_cast<int>(ceil_div(s.m, small_tile)), tiles_n = static_cast<int>(ceil_div(s.n, small_tile));
  const int blocks = small_joined(p.device.sm_count, p.device.major >= 9, s);
  p.launch(p.kernel_in("matmul_small", "matmul_small_" + p.dtype() + "_32_" + layout_of(s) + "_joined"), {s.batch * tiles_m * tiles_n * blocks}, 256, 0, product.a, product.b, product.c, s.m, s.n, s.k, tiles_m, tiles_n, blocks,
           static_cast<int>(s.batch_a))
      .cluster(static_cast<unsigned>(blocks));
}

void launch_small_tf32(Planner& p, const Product& product) {
  const ProductShape& s = product.s;
  const SmallPlanTf32 plan = small_plan_tf32(p.device.sm_count, p.device.major >= 9, p.device.shared_bytes_per_block, s);
  const auto shared = static_cast<unsigned>(plan.shared);
  const std::string kernel = "matmul_small_tf32_" + std::to_string(plan.rows) + "_" + std::to_string(plan.columns) + "_" + layout_of(s);
  Launch& launch = p.launch(p.kernel_in("matmul_small_tf32", kernel, shared), {plan.blocks, s.batch}, 256, shared, product.a, product.b, product.c, plan.task).always_waits();
  if (plan.task.blocks > 1) launch.cluster(static_cast<unsigned>(plan.task.blocks));
}

void launch_wide(Planner& p, const Product& product, const WidePlan& plan) {
  const auto shared = static_cast<unsigned>(plan.shared);
  const std::string kernel = "matmul_wide_" + p.dtype() + "_" + std::to_string(plan.words) + "_" + layout_of(product.s);
  p.launch(p.kernel_in("matmul_wide", kernel, shared), {plan.blocks, product.s.batch}, panels_threads, shared, product.a, product.b, product.c, plan.task).always_waits();
}

void launch_direct(Planner& p, const Product& product) {
  const ProductShape& s = product.s;
  const DirectPlan plan = direct_plan(p.device.sm_count, s);
  const std::string kernel = "matmul_direct_" + p.dtype() + "_" + std::to_string(plan.rows) + "_" + std::to_string(plan.warps) + "_" + layout_of(s);
  p.launch(p.kernel_in("matmul_direct", kernel, plan.shared()), {ceil_div(s.n, direct_columns), ceil_div(s.m, plan.rows), s.batch}, static_cast<unsigned>(plan.warps * 32), plan.shared(), product.a, product.b, product.c, s.m, s.n, s.k,
           static_cast<int>(s.batch_a))
      .always_waits();
}

void launch_panels(Planner& p, const Product& product) {
  const PanelsPlan plan = panels_plan(static_cast<int64_t>(dtype_bytes(p.spec.dtype)), product.s);
  const std::string module = "matmul_panels_" + p.dtype();
  p.launch(p.kernel_in(module, module + "_" + std::to_string(plan.rows) + "_" + std::to_string(plan.columns) + "_" + std::to_string(plan.words) + "_" + layout_of(product.s)), {plan.blocks}, panels_threads, 0, product.a, product.b, product.c,
           plan.task);
}

void launch_shallow(Planner& p, const Product& product) {
  const ProductShape& s = product.s;
  const bool wide = s.n % 8 == 0;
  const ShallowPairs pairs = wide ? ShallowPairs{} : shallow_pairs(s.m, s.n);
  const int64_t across = wide ? s.n / 8 : pairs.rows > 0 ? ceil_div(s.n / 2 + 1, pairs.pairs) : s.n, threads = s.batch * ceil_div(s.m, pairs.rows > 0 ? pairs.rows : shallow_rows) * across;
  const std::string kind = wide ? "wide" : pairs.rows > 0 ? "pairs_" + std::to_string(pairs.rows) : "one";
  p.launch(p.kernel_in("matmul_shallow", "matmul_shallow_" + p.dtype() + "_" + kind), {ceil_div(threads, 256)}, 256, 0, product.a, product.b, product.c, s.m, s.n, s.k, static_cast<int>(s.trans_a),
           static_cast<int>(s.trans_b), static_cast<int>(s.batch_a), static_cast<long long>(across), static_cast<long long>(threads));
}

void launch_unaligned(Planner& p, const Product& product) {
  const UnalignedPlan plan = unaligned_plan(p.device.sm_count, static_cast<int64_t>(dtype_bytes(p.spec.dtype)), product.s);
  const std::string module = "matmul_unaligned_" + p.dtype();
  const auto shared = static_cast<unsigned>(plan.shared);
  const CUdeviceptr shares = shares_of(p, product.results(), plan.task.splits);
  const ProductShape& s = product.s;
  const bool a_rows = plan.turned ? s.trans_b : !s.trans_a, b_rows = plan.turned ? !s.trans_a : s.trans_b;  // of k
  const std::string name = module + "_" + std::to_string(plan.tile.rows) + "_" + std::to_string(plan.tile.columns) + "_" + (a_rows ? "n" : "t") + (b_rows ? "t" : "n");
  p.launch(p.kernel_in(module, name, shared), {plan.blocks}, static_cast<unsigned>(plan.tile.threads()), shared, plan.turned ? product.b : product.a, plan.turned ? product.a : product.b, product.c, shares, plan.task);
  launch_join(p, shares, product.c, product.results(), plan.task.splits);
}

void launch_short(Planner& p, const Product& product) {
  const ProductShape& s = product.s;
  const ShortPlan plan = short_plan(p.device.sm_count, static_cast<int64_t>(dtype_bytes(p.spec.dtype)), s);
  const auto shared = static_cast<unsigned>(plan.task.staged) * (short_threads / 32);
  const std::string kernel = "matmul_short_" + p.dtype() + "_" + std::to_string(plan.blocks) + "_" + std::to_string(plan.steps) + (plan.run ? "_run" : "_pieces") + (plan.columns ? "_columns" : "");
  p.launch(p.kernel_in("matmul_short", kernel, shared), {plan.launched}, short_threads, shared, product.a, product.b, product.c, plan.task);
}

void launch_short_f32(Planner& p, const Product& product) {
  const ProductShape& s = product.s;
  const ShortPlanF32 plan = short_plan_f32(p.device.sm_count, s);
  const auto shared = static_cast<unsigned>(plan.shared);
  p.launch(p.kernel_in("matmul_short_f32", "matmul_short_f32_" + std::to_string(plan.k), shared), {plan.launched}, short_f32_threads, shared, product.a, product.b, product.c, plan.task);
}

void launch_tall(Planner& p, const Product& product, const TallPlan& plan) {
  const auto shared = static_cast<unsigned>(plan.shared);
  const std::string tile = plan.pairs > 0 ? std::to_string(plan.pairs) + "_rounds" : std::to_string(plan.chunks), kernel = "matmul_tall_" + p.dtype() + "_" + tile + (plan.columns ? "_n" : "_m") + (plan.k_contiguous ? "_k" : "_l");
  p.launch(p.kernel_in(plan.pairs > 0 ? "matmul_tall_rounds" : "matmul_tall", kernel, shared), {plan.blocks}, tall_threads, shared, plan.columns ? product.b : product.a, plan.columns ? product.a : product.b, product.c, plan.task);
}

}  // namespace

void launch_f32_small(Planner& p, const Product& product, const LinearStore* store) {
  const ProductShape& s = product.s;
  const auto tiles_m = static_cast<int>(ceil_div(s.m, f32_small_tile)), tiles_n = static_cast<int>(ceil_div(s.n, f32_small_tile));
  const auto panel = [](bool k_contiguous) { return k_contiguous ? f32_small_tile * (f32_small_step + 4) : f32_small_step * f32_small_tile; };
  const auto shared = static_cast<unsigned>(f32_small_stages * (panel(!s.trans_a) + panel(s.trans_b)) * 4);
  const int64_t splits = store ? 1 : f32_small(p.device.sm_count, p.device.major >= 9, s).splits;
  const CUfunction f = p.kernel_in("matmul_f32_small", "matmul_f32_small_" + (store ? "linear" : layout_of(s)) + (splits > 1 ? "_shares" : ""), shared);
  const auto launch = [&](const auto&... last) -> Launch& { return p.launch(f, {s.batch * tiles_m * tiles_n * splits}, 256, shared, product.a, product.b, product.c, s.m, s.n, s.k, tiles_m, tiles_n, last...).always_waits(); };
  if (store) launch(*store);
  else if (splits > 1) launch(static_cast<int>(s.batch_a), static_cast<int>(splits)).cluster(static_cast<unsigned>(splits));
  else launch(static_cast<int>(s.batch_a));
}

void launch_few(Planner& p, const Product& product, const FewLaunch& few, const LinearStore* store) {
  const ProductShape& s = product.s;
  const auto whole = [](int64_t n) { return static_cast<int>(n); };
  const FewProduct f = {product.a, product.b, product.c, whole(product.results()), s.k, few.log2, s.n, s.m * s.n, whole(s.batch_a), s.m * s.k, s.trans_a ? 1 : s.k, s.trans_a ? s.m : 1, s.k * s.n,
                        s.trans_b ? s.k : 1, s.trans_b ? 1 : s.n, divide_by(s.n), divide_by(int64_t{s.m} * s.n), divide_by(s.batch_a)};
  const CUfunction kernel = p.kernel_in("matmul_few", "matmul_few_" + scalar_dtype(p) + (few.long_sum ? "_long" : few.blocks_each ? "_block" : "_lanes") + (store ? "_linear" : ""));
  (store ? p.launch(kernel, {few.blocks}, few.threads, 0, f, *store) : p.launch(kernel, {few.blocks}, few.threads, 0, f)).always_waits();
}

void launch_matmul(Planner& p, const Product& product) {
  const ProductShape& s = product.s;
  const ProductChoice choice = product_choice(p.device, p.spec.dtype, s);
  switch (choice.kernel) {
    case ProductKernel::few: return launch_few(p, product, choice.few);
    case ProductKernel::vectors: return launch_vectors(p, product, choice.vectors);
    case ProductKernel::wide: return launch_wide(p, product, choice.wide);
    case ProductKernel::deep: return launch_deep(p, product, choice.deep);
    case ProductKernel::slab: return launch_slab(p, product);
    case ProductKernel::short_k: return launch_short(p, product);
    case ProductKernel::short_f32: return launch_short_f32(p, product);
    case ProductKernel::tall: return launch_tall(p, product, choice.tall);
    case ProductKernel::resident: return launch_resident(p, product, choice.resident);
    case ProductKernel::stream: return launch_stream(p, product, choice.stream);
    case ProductKernel::slim: return launch_slim(p, product, choice.slim);
    case ProductKernel::narrow_split: return launch_narrow_split(p, product, choice.narrow_split);
    case ProductKernel::narrow: return launch_narrow(p, product, choice.narrow);
    case ProductKernel::skinny: return launch_skinny(p, product);
    case ProductKernel::shallow: return launch_shallow(p, product);
    case ProductKernel::each: return launch_each(p, product);
    case ProductKernel::long_side: return launch_long(p, product, choice.long_side);
    case ProductKernel::tiles: return launch_product(p, s, product.a, product.b, product.c);
  }
}

void launch_product(Planner& p, const ProductShape& s, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c) {
  const Product product = {s, a, b, c};
  if (const FewLaunch few = few_choice(p.device, p.spec.dtype, s); few.taken) return launch_few(p, product, few);
  switch (tile_kernel(p.device, p.spec.dtype, s)) {
    case TileKernel::slab: return launch_slab(p, product);
    case TileKernel::runs: return launch_runs(p, product);
    case TileKernel::several: return launch_several(p, product);
    case TileKernel::f32: return launch_f32(p, product);
    case TileKernel::f32_small: return launch_f32_small(p, product);
    case TileKernel::simt: return launch_tiles(p, product, "matmul_simt", product_tile(p.device, simt_tiles, s), 32);
    case TileKernel::direct: return launch_direct(p, product);
    case TileKernel::unaligned: return launch_unaligned(p, product);
    case TileKernel::panels: return launch_panels(p, product);
    case TileKernel::shifted: return launch_shifted(p, product);
    case TileKernel::middle: return launch_small(p, product, middle_tile);
    case TileKernel::small: return launch_small(p, product, small_tile);
    case TileKernel::small_joined: return launch_small_joined(p, product);
    case TileKernel::small_tf32: return launch_small_tf32(p, product);
    case TileKernel::wgmma: return launch_wgmma(p, product);
    case TileKernel::mma: return launch_tiles(p, product, "matmul_mma", product_tile(p.device, mma_tiles, s), static_cast<int64_t>(64 / dtype_bytes(p.spec.dtype)));
  }
}

CUdeviceptr shares_of(Planner& p, int64_t elements, int64_t splits) { return splits > 1 ? p.workspace(splits * elements * 4) : 0; }

void launch_join(Planner& p, CUdeviceptr shares, CUdeviceptr out, int64_t elements, int64_t splits, const std::string& dtype) {
  if (splits == 1) return;
  const bool parts = splits >= join_parts;
  p.launch(p.kernel_in("matmul_parts", (parts ? "matmul_join_parts_" : "matmul_join_") + dtype), {ceil_div(elements, parts ? 32 : 128)}, parts ? 256 : 128, 0, shares, out, static_cast<long long>(elements),
           static_cast<int>(splits))
      .early(p.device);
}

namespace {

void plan(Planner& p) {
  for (size_t i = 1; i <= 3; i++)
    if (p.dim(i) > int64_t{1} << 30) throw Error("unsupported", "The CUDA kernels for matmul take m, n and k of up to 2^30.");
  const ProductShape s{p.dim(0), static_cast<int>(p.dim(1)), static_cast<int>(p.dim(2)), static_cast<int>(p.dim(3)), p.dim(4) != 0, p.dim(5) != 0};
  launch_matmul(p, {s, p.input(0), p.input(1), p.output()});
}

}  // namespace

static const Register registered({"matmul",
                                  {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::tf32},
                                  {6},
                                  [](const OpKernels&, const Dims& d) { return std::vector{in(d[0] * d[1] * d[3]), in(d[0] * d[3] * d[2]), out(d[0] * d[1] * d[2])}; },
                                  plan});

}  // namespace opscope::cuda
