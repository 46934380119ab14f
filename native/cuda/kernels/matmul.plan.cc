// dims: [batch, m, n, k, transA, transB]. Which product kernel runs where (matmul/shape.h):
//   matmul_few      few multiplications
//   matmul_deep     few results and a long k
//   matmul_narrow   m or n of a few elements and a short k
//   matmul_stream, matmul_stream_f32  m or n of a few elements, and a large operand whose rows other kernels do not read as fast
//   matmul_skinny   m or n of a few elements
//   matmul_slim_f32  f32 with m or n of up to 64
//   matmul_short    f16, bf16 and tf32 with a short k and a large result
//   matmul_short_f32  f32 with a short k, and tf32 with up to 4 of it
//   matmul_shallow  f16 and bf16 with up to 8 of k and few rows, or whole vectors in rows
//   matmul_each     other narrow results of a short k
//   matmul_long     f16, bf16 and tf32 on sm_90 with one long side, a short k and rows that do not start on 16 bytes
//   matmul_f32      f32 on sm_90, products that fill the GPU; operands whose rows do not start on 16 bytes are copied so first, and those with k
//                   contiguous turned, where the product is large enough to pay for it
//   matmul_f32_words  the same with operands as they lie, where it is not
//   matmul_f32_small  f32 of a few tiles
//   matmul_simt     other f32
//   matmul_small    f16 and bf16 whose rows do not start on 16 bytes, of a few tiles and a short k, or with a large operand that few blocks use
//   matmul_shifted  f16, bf16, tf32 on sm_90 with a large operand whose rows do not start on 16 bytes and a shorter other side; a kernel file for each dtype
//   matmul_wgmma    f16, bf16, tf32 on sm_90; operands whose rows do not start on 16 bytes are copied so first, where the product is
//                   large enough to pay for it; a kernel file for each dtype
//   matmul_mma      other f16, bf16, tf32
#include <algorithm>

#include "matmul/deep.h"
#include "matmul/each.h"
#include "matmul/f32.h"
#include "matmul/few.h"
#include "matmul/launch.h"
#include "matmul/long.h"
#include "matmul/narrow.h"
#include "matmul/operands.h"
#include "matmul/shallow.h"
#include "matmul/short.h"
#include "matmul/small.h"
#include "matmul/spaced.h"
#include "matmul/stream.h"
#include "matmul/wgmma_launch.h"
#include "tensor_map.h"

namespace opscope::cuda {

namespace {

struct Tile {
  int m, n;
  unsigned threads, stages;
};

// Launches <module>_<dtype>_<rows of tile>_<layout> with the largest tile that gives every multiprocessor one. `step`: of k.
void launch_tiles(Planner& p, const Product& product, const std::string& module, const std::vector<Tile>& tiles, int64_t shared_per_row, int64_t step) {
  const ProductShape& s = product.s;
  const auto count = [&](const Tile& t) { return s.batch * ceil_div(s.m, t.m) * ceil_div(s.n, t.n); };
  size_t choice = 0;
  // A full wave that is 90 % there is as good as one.
  while (choice + 1 < tiles.size() && count(tiles[choice]) * 10 < p.device.sm_count * 9) choice++;
  const Tile& t = tiles[choice];
  const int64_t splits = k_splits(p.device.sm_count * 2, count(t), ceil_div(s.k, step), 4);
  const CUdeviceptr shares = shares_of(p, product.results(), splits);
  const auto shared = static_cast<unsigned>(t.stages * static_cast<unsigned>(t.m + t.n) * shared_per_row);
  const CUfunction f = p.kernel_in(module, module + "_" + p.dtype() + "_" + std::to_string(t.m) + "_" + layout_of(s), shared);
  p.launch(f, {count(t) * splits}, t.threads, shared, product.a, product.b, product.c, s.m, s.n, s.k, static_cast<int>(ceil_div(s.m, t.m)), static_cast<int>(ceil_div(s.n, t.n)), shares,
           static_cast<int>(splits), static_cast<int>(s.batch_a));
  launch_join(p, shares, product.c, product.results(), splits);
}

// Narrow results of a short k by matmul_each.
void launch_each(Planner& p, const ProductShape& s) {
  const int64_t threads = s.batch * up(s.m, each_rows) * s.n;
  p.launch(p.kernel_in("matmul_each", "matmul_each_" + scalar_dtype(p)), {ceil_div(threads, 128)}, 128, 0, p.input(0), p.input(1), p.output(), s.m, s.n, s.k, static_cast<int>(s.trans_a), static_cast<int>(s.trans_b),
           static_cast<int>(s.batch), static_cast<int>(s.batch_a), static_cast<unsigned>(threads));
}

void launch_long(Planner& p, const LongPlan& plan) {
  const auto shared = static_cast<unsigned>(plan.shared);
  const CUfunction f = p.kernel_in("matmul_long", "matmul_long_" + p.dtype() + (plan.k_contiguous ? "_k_" : "_l_") + std::to_string(plan.row_groups), shared);
  p.launch(f, {plan.blocks}, long_threads, shared, p.input(plan.long_m ? 0 : 1), p.input(plan.long_m ? 1 : 0), p.output(), plan.task);
}

// A product in f32 by matmul_f32.
void launch_f32(Planner& p, const Product& product) {
  const ProductShape& s = product.s;
  const F32Plan plan = f32_plan(p.device.sm_count, s);
  Operand a = left(product), b = right(product);
  if (plan.turns_a) turn(p, a);
  if (plan.turns_b) turn(p, b);
  if (!plan.words) space(p, a, b);
  const bool a_rows = !s.trans_a && !plan.turns_a, b_rows = s.trans_b && !plan.turns_b;  // of k
  const unsigned rows = static_cast<unsigned>(plan.rows), columns = static_cast<unsigned>(plan.columns), shared = f32_shared_bytes(plan);
  const auto map = [](const Operand& x, bool rows_of_k, unsigned tile) { return tensor_map(x.address, Dtype::f32, {x.batch, x.rows, x.cols, x.pitch}, rows_of_k ? tile : 32, rows_of_k ? 0 : tile); };
  const auto tiles_m = static_cast<int>(ceil_div(s.m, plan.rows)), tiles_n = static_cast<int>(ceil_div(s.n, plan.columns));
  const CUdeviceptr shares = shares_of(p, product.results(), plan.splits);
  const std::string module = plan.words ? "matmul_f32_words" : "matmul_f32";
  const CUfunction f = p.kernel_in(module, module + "_" + std::to_string(plan.rows) + "_" + std::to_string(plan.columns) + "_" + (a_rows ? "n" : "t") + (b_rows ? "t" : "n"), shared);
  const auto launch = [&](const auto& left, const auto& right) {
    p.launch(f, {s.batch * tiles_m * tiles_n * plan.splits}, f32_threads(plan), shared, left, right, product.c, s.m, s.n, s.k, tiles_m, tiles_n, shares, static_cast<int>(plan.splits), static_cast<int>(s.batch_a));
  };
  if (plan.words) launch(a.address, b.address);
  else launch(map(a, a_rows, rows), map(b, b_rows, columns));
  launch_join(p, shares, product.c, product.results(), plan.splits);
}

void launch_f32_small(Planner& p, const Product& product) {
  const ProductShape& s = product.s;
  const auto tiles_m = static_cast<int>(ceil_div(s.m, f32_small_tile)), tiles_n = static_cast<int>(ceil_div(s.n, f32_small_tile));
  const auto panel = [](bool k_contiguous) { return k_contiguous ? f32_small_tile * (f32_small_step + 4) : f32_small_step * f32_small_tile; };
  const auto shared = static_cast<unsigned>(f32_small_stages * (panel(!s.trans_a) + panel(s.trans_b)) * 4);
  p.launch(p.kernel_in("matmul_f32_small", "matmul_f32_small_" + layout_of(s), shared), {s.batch * tiles_m * tiles_n}, 256, shared, product.a, product.b, product.c, s.m, s.n, s.k, tiles_m, tiles_n,
           static_cast<int>(s.batch_a));
}

// Whether matmul_few takes the case.
bool launch_few(Planner& p, const Product& product) {
  const ProductShape& s = product.s;
  const auto bytes = static_cast<int64_t>(dtype_bytes(p.spec.dtype));
  const bool aligned = bytes == 2 && rows_aligned_a(s, 2) && rows_aligned_b(s, 2), streamed = is_skinny(s, bytes == 4) && skinny_plan(p.device.sm_count, bytes, s).k_contiguous;
  const FewLaunch few = few_product(p.device.sm_count, product.results(), s.k, aligned, streamed);
  if (!few.taken) return false;
  const auto whole = [](int64_t n) { return static_cast<int>(n); };
  const FewProduct f = {product.a, product.b, product.c, whole(product.results()), s.k, few.log2, s.n, s.m * s.n, whole(s.batch_a), s.m * s.k, s.trans_a ? 1 : s.k, s.trans_a ? s.m : 1, s.k * s.n,
                        s.trans_b ? s.k : 1, s.trans_b ? 1 : s.n, divide_by(s.n), divide_by(int64_t{s.m} * s.n), divide_by(s.batch_a)};
  p.launch(p.kernel_in("matmul_few", "matmul_few_" + scalar_dtype(p) + (few.blocks_each ? "_block" : "_lanes")), {few.blocks}, few.threads, 0, f);
  return true;
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

void launch_shallow(Planner& p, const ProductShape& s) {
  const bool wide = s.n % 8 == 0;
  const ShallowPairs pairs = wide ? ShallowPairs{} : shallow_pairs(s.m, s.n);
  const int64_t across = wide ? s.n / 8 : pairs.rows > 0 ? ceil_div(s.n / 2 + 1, pairs.pairs) : s.n, threads = s.batch * ceil_div(s.m, pairs.rows > 0 ? pairs.rows : shallow_rows) * across;
  const std::string kind = wide ? "wide" : pairs.rows > 0 ? "pairs_" + std::to_string(pairs.rows) : "one";
  p.launch(p.kernel_in("matmul_shallow", "matmul_shallow_" + p.dtype() + "_" + kind), {ceil_div(threads, 256)}, 256, 0, p.input(0), p.input(1), p.output(), s.m, s.n, s.k, static_cast<int>(s.trans_a),
           static_cast<int>(s.trans_b), static_cast<int>(s.batch_a), static_cast<long long>(across), static_cast<long long>(threads));
}

void launch_short(Planner& p, const ProductShape& s) {
  const ShortPlan plan = short_plan(p.device.sm_count, static_cast<int64_t>(dtype_bytes(p.spec.dtype)), s);
  const auto shared = static_cast<unsigned>(plan.task.staged) * (short_threads / 32);
  const std::string kernel = "matmul_short_" + p.dtype() + "_" + std::to_string(plan.blocks) + "_" + std::to_string(plan.steps) + (plan.run ? "_run" : "_pieces");
  p.launch(p.kernel_in("matmul_short", kernel, shared), {plan.launched}, short_threads, shared, p.input(0), p.input(1), p.output(), plan.task);
}

void launch_short_f32(Planner& p, const ProductShape& s) {
  const ShortPlanF32 plan = short_plan_f32(p.device.sm_count, s);
  const auto shared = static_cast<unsigned>(plan.shared);
  p.launch(p.kernel_in("matmul_short_f32", "matmul_short_f32_" + std::to_string(plan.k), shared), {plan.launched}, short_f32_threads, shared, p.input(0), p.input(1), p.output(), plan.task);
}

void plan(Planner& p) {
  for (size_t i = 1; i <= 3; i++)
    if (p.dim(i) > int64_t{1} << 30) throw Error("unsupported", "The CUDA kernels for matmul take m, n and k of up to 2^30.");
  const ProductShape s{p.dim(0), static_cast<int>(p.dim(1)), static_cast<int>(p.dim(2)), static_cast<int>(p.dim(3)), p.dim(4) != 0, p.dim(5) != 0};
  const auto bytes = static_cast<int64_t>(dtype_bytes(p.spec.dtype));
  const bool tf32 = p.spec.dtype == Dtype::tf32;
  const LongPlan long_side = long_plan(p.device.sm_count, bytes, s);
  const NarrowPlan narrow = narrow_plan(p.device.sm_count, bytes, s);
  const StreamPlan stream = stream_plan(p.device.sm_count, bytes, p.spec.dtype != Dtype::f32, s);
  const DeepPlan deep = deep_plan(p.device.sm_count, bytes, p.spec.dtype != Dtype::f32, stream.vectors > 0, s);
  if (launch_few(p, {s, p.input(0), p.input(1), p.output()})) return;
  const SlimPlan slim = slim_plan(p.device.sm_count, s);
  const bool slims = p.spec.dtype == Dtype::f32 && slim.few > 0;
  if (deep.x > 0) launch_deep(p, s, deep);
  else if (p.spec.dtype != Dtype::f32 && is_short(bytes, s)) launch_short(p, s);
  else if (bytes == 4 && is_short_f32(s, tf32)) launch_short_f32(p, s);
  else if (stream.vectors > 0) launch_stream(p, s, stream);
  else if (slims && std::min(s.m, s.n) > most_vectors && s.k >= slim_before_narrow) launch_slim(p, s, slim);
  else if (narrow.parts > 0 && !(tf32 && narrow_suits_wgmma(s))) launch_narrow(p, s, narrow);
  else if (p.spec.dtype != Dtype::f32 && is_short(bytes, s, true)) launch_short(p, s);
  else if (slims) launch_slim(p, s, slim);
  else if (is_skinny(s, bytes == 4)) launch_skinny(p, s);
  else if (bytes == 2 && is_shallow_16(s)) launch_shallow(p, s);
  else if (is_each(s, bytes)) launch_each(p, s);
  else if (p.spec.dtype != Dtype::f32 && p.device.major == 9 && p.device.minor == 0 && long_side.row_groups > 0 && ((bytes == 2 && s.k <= long_before_shifted) || !shifted_pays(s, bytes))) launch_long(p, long_side);
  else launch_product(p, s, p.input(0), p.input(1), p.output());
}

}  // namespace

void launch_product(Planner& p, const ProductShape& s, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c) {
  const Product product = {s, a, b, c};
  if (launch_few(p, product)) return;
  if (p.spec.dtype == Dtype::f32 && p.device.major == 9 && p.device.minor == 0 && f32_plan(p.device.sm_count, s).rows > 0)
    launch_f32(p, product);
  else if (p.spec.dtype == Dtype::f32 && is_f32_small(p.device.sm_count, s))
    launch_f32_small(p, product);
  else if (p.spec.dtype == Dtype::f32)
    // 32 rows of K, and their padding (matmul_simt.cu).
    launch_tiles(p, product, "matmul_simt", {{256, 128, 256, 3}, {128, 128, 256, 3}, {64, 64, 256, 6}}, 32 * 4 + 16, 32);
  else if (p.device.major == 9 && p.device.minor == 0 && shifted_pays(s, static_cast<int64_t>(dtype_bytes(p.spec.dtype))))
    launch_shifted(p, product);
  else if (p.spec.dtype != Dtype::tf32 && is_middle(p.device.sm_count, s))
    launch_small(p, product, middle_tile);
  else if (p.spec.dtype != Dtype::tf32 && is_small(p.device.sm_count, s.batch, s.m, s.n, s.k, rows_aligned_a(s, 2), rows_aligned_b(s, 2)))
    launch_small(p, product, small_tile);
  else if (p.device.major == 9 && p.device.minor == 0 && wgmma_pays(s, p.spec.dtype == Dtype::tf32))
    launch_wgmma(p, product);
  else
    launch_tiles(p, product, "matmul_mma", {{128, 128, 256, 4}, {64, 64, 128, 8}}, 64, static_cast<int64_t>(64 / dtype_bytes(p.spec.dtype)));
}

CUdeviceptr shares_of(Planner& p, int64_t elements, int64_t splits) { return splits > 1 ? p.workspace(splits * elements * 4) : 0; }

void launch_join(Planner& p, CUdeviceptr shares, CUdeviceptr out, int64_t elements, int64_t splits, const std::string& dtype) {
  if (splits == 1) return;
  const bool parts = splits >= join_parts;
  p.launch(p.kernel_in("matmul_parts", (parts ? "matmul_join_parts_" : "matmul_join_") + dtype), {ceil_div(elements, parts ? 32 : 128)}, parts ? 256 : 128, 0, shares, out, static_cast<long long>(elements),
           static_cast<int>(splits))
      .early(p.device);
}

static const Register registered({"matmul",
                                  {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::tf32},
                                  {6},
                                  [](const OpKernels&, const Dims& d) { return std::vector{in(d[0] * d[1] * d[3]), in(d[0] * d[3] * d[2]), out(d[0] * d[1] * d[2])}; },
                                  plan});

}  // namespace opscope::cuda
