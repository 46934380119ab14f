// Launches of a long matrix and a few vectors: matmul_narrow, matmul_narrow_split, matmul_skinny, matmul_deep, matmul_slim_f32 and matmul_stream (matmul.plan.cc says which when).
#include "matmul/deep.h"
#include "matmul/launch.h"
#include "matmul/narrow.h"
#include "matmul/narrow_split.h"
#include "matmul/skinny.h"
#include "matmul/stream.h"
#include "matmul/stream_task.h"

namespace opscope::cuda {

namespace {

// What kernels of a long matrix and a few vectors take; `sides` says which is which.
SkinnyArguments skinny_arguments(const Product& product, const SkinnyPlan& sides) {
  const ProductShape& s = product.s;
  SkinnyArguments a = {};
  const bool few_columns = sides.columns_are_few;
  // A left operand that repeats is the same for all products.
  const int64_t size_a = s.batch_a == s.batch ? int64_t{s.m} * s.k : 0, size_b = int64_t{s.k} * s.n;
  a.matrix = few_columns ? product.a : product.b;
  a.vectors = few_columns ? product.b : product.a;
  a.out = product.c;
  a.length = few_columns ? s.m : s.n;
  a.few = few_columns ? s.n : s.m;
  a.k = s.k;
  a.matrix_batch = few_columns ? size_a : size_b;
  a.vectors_batch = few_columns ? size_b : size_a;
  a.out_batch = int64_t{s.m} * s.n;
  // The short operand is a [m, k] or b [k, n], or turned.
  const bool k_is_first = few_columns ? !s.trans_b : s.trans_a;
  a.vectors_k = k_is_first ? a.few : 1;
  a.vectors_few = k_is_first ? 1 : s.k;
  a.out_length = few_columns ? s.n : 1;
  a.out_few = few_columns ? 1 : s.n;
  return a;
}

// Of the kernels for `sides`: <t>_<S>_<wide|one>.
std::string skinny_name(const Planner& p, const SkinnyPlan& sides) { return scalar_dtype(p) + "_" + std::to_string(sides.vectors) + (sides.wide ? "_wide" : "_one"); }

}  // namespace

void launch_vectors(Planner& p, const Product& product, const VectorsPlan& plan) {
  SkinnyPlan sides = {};
  sides.columns_are_few = plan.columns_are_few;
  const SkinnyArguments a = skinny_arguments(product, sides);
  const VectorsTask task = {a.matrix,     a.vectors,   a.out, a.matrix_batch, a.vectors_batch, a.out_batch, a.vectors_k, a.vectors_few, a.out_length, a.out_few, static_cast<int>(a.length), product.s.k, a.few,
                            plan.share, plan.blocks, plan.width, plan.chunk};
  const auto shared = static_cast<unsigned>(plan.shared);
  const std::string kernel = std::string("matmul_vectors_") + (plan.rows ? "rows_" : "columns_") + scalar_dtype(p) + "_" + std::to_string(plan.vectors) + "_" + std::to_string(plan.each);
  Launch& launch = p.launch(p.kernel_in("matmul_vectors", kernel, shared), {plan.tiles * plan.blocks, product.s.batch}, vectors_threads, shared, task).always_waits();
  if (plan.blocks > 1) launch.cluster(static_cast<unsigned>(plan.blocks));
}

void launch_narrow(Planner& p, const Product& product, const NarrowPlan& plan) {
  const ProductShape& s = product.s;
  SkinnyArguments a = skinny_arguments(product, plan.sides);
  a.parts = plan.parts;
  a.tiles = plan.tiles;
  const bool rows = plan.sides.k_contiguous;
  const auto shared = static_cast<unsigned>(plan.shared);
  const CUfunction f = p.kernel_in("matmul_narrow", (rows ? "matmul_narrow_rows_" : "matmul_narrow_columns_") + skinny_name(p, plan.sides), shared);
  if (rows) p.launch(f, {plan.tiles * s.batch}, narrow_row_threads, shared, a, plan.tile_at, plan.sums_at);
  else p.launch(f, {plan.tiles * s.batch}, narrow_column_threads, shared, a, plan.sums_at);
}

void launch_narrow_split(Planner& p, const Product& product, const NarrowSplitPlan& plan) {
  const auto shared = static_cast<unsigned>(plan.shared);
  const CUfunction f = p.kernel_in("matmul_narrow_split", "matmul_narrow_split_" + scalar_dtype(p) + "_" + std::to_string(plan.vectors), shared);
  p.launch(f, {plan.blocks}, static_cast<unsigned>(plan.threads), shared, skinny_arguments(product, plan.sides), plan.task);
}

void launch_skinny(Planner& p, const Product& product) {
  const ProductShape& s = product.s;
  const SkinnyPlan plan = skinny_plan(p.device.sm_count, static_cast<int64_t>(dtype_bytes(p.spec.dtype)), s);
  SkinnyArguments a = skinny_arguments(product, plan);
  a.share = plan.share;
  a.tiles = plan.tiles;
  const int64_t cells = plan.tiles * s.batch;
  if (plan.splits > 1) {
    a.shares = p.workspace(cells * plan.splits * plan.tile * plan.vectors * 4);
    a.counters = p.workspace(cells * 4);
  }
  p.launch(p.kernel_in("matmul_skinny", (plan.k_contiguous ? "matmul_rows_" : "matmul_columns_") + skinny_name(p, plan)), {cells, plan.splits}, 256, 0, a).always_waits();
}

void launch_deep(Planner& p, const Product& product, const DeepPlan& plan) {
  const ProductShape& s = product.s;
  SkinnyArguments a = skinny_arguments(product, plan.sides);
  a.share = plan.share;
  const int64_t results = product.results();
  const bool joins = plan.splits > 1 && !plan.counted;
  if (joins) a.shares = shares_of(p, results, plan.splits);
  if (plan.splits > 1 && plan.counted) a.shares = p.workspace(s.batch * plan.splits * plan.results * 4), a.counters = p.workspace(s.batch * 4);
  const auto part = [](int side, bool wide) { return std::to_string(side) + (wide ? "v" : "e"); };
  const std::string kernel = "matmul_deep_" + scalar_dtype(p) + "_" + part(plan.x, plan.wide_x) + "_" + part(plan.y, plan.wide_y);
  p.launch(p.kernel_in("matmul_deep", kernel, plan.shared), {s.batch, plan.splits}, deep_threads, static_cast<unsigned>(plan.shared), a, plan.task);
  if (joins) launch_join(p, a.shares, a.out, results, plan.splits);
}

void launch_slim(Planner& p, const Product& product, const SlimPlan& plan) {
  const ProductShape& s = product.s;
  SkinnyArguments a = skinny_arguments(product, plan.sides);
  a.share = plan.share;
  a.tiles = plan.sides.tiles;
  const int64_t results = product.results();
  a.shares = shares_of(p, results, plan.splits);
  const unsigned shared = slim_shared(plan.few, plan.few_k, plan.sides.k_contiguous);
  const std::string kernel = "matmul_slim_f32_" + std::to_string(plan.few) + "_" + (plan.few_k ? "n" : "t") + (plan.sides.k_contiguous ? "n" : "t");
  p.launch(p.kernel_in("matmul_slim_f32", kernel, shared), {plan.sides.tiles * s.batch, plan.splits}, slim_threads, shared, a, plan.task);
  launch_join(p, a.shares, a.out, results, plan.splits);
}

void launch_stream(Planner& p, const Product& product, const StreamPlan& plan) {
  const ProductShape& s = product.s;
  SkinnyArguments a = skinny_arguments(product, plan.sides);
  a.share = plan.share;
  a.tiles = plan.tiles;
  const int64_t cells = plan.tiles * s.batch, results = product.results();
  const bool joins = plan.splits > 1 && !plan.counted;
  if (joins) a.shares = shares_of(p, results, plan.splits);
  if (plan.splits > 1 && plan.counted) a.shares = p.workspace(cells * plan.splits * plan.results * 4), a.counters = p.workspace(cells * 4);
  const std::string module = plan.scalar ? "matmul_stream_f32" : "matmul_stream", form = (plan.scalar ? scalar_dtype(p) : p.dtype()) + "_" + std::to_string(plan.vectors);
  StreamTask task = {0, plan.blocks, plan.period, plan.warp_rows, plan.window};
  if (plan.few_words > 0) {
    task.few = p.workspace(s.batch * plan.few_words * 4);
    p.launch(p.kernel_in(module, "matmul_stream_few_" + form), {ceil_div(plan.few_words, stream_warps * 32), s.batch}, stream_warps * 32, 0, a, task.few, static_cast<int>(plan.few_words));
  }
  const CUfunction f = p.kernel_in(module, "matmul_stream_" + std::string(plan.sides.k_contiguous ? "rows_" : "columns_") + form, stream_shared);
  Launch& launch = p.launch(f, {plan.blocks * s.batch, plan.splits}, stream_warps * 32, static_cast<unsigned>(stream_shared), a, task);
  if (plan.few_words > 0) launch.early(p.device);
  if (joins) launch_join(p, a.shares, a.out, results, plan.splits);
}

}  // namespace opscope::cuda
