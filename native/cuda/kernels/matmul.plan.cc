// dims: [batch, m, n, k, transA, transB]. Which product kernel runs where (matmul/shape.h):
//   matmul_skinny   m or n of a few elements
//   matmul_shallow  k of a few elements, and a large result
//   matmul_f32      f32 on sm_90, products that fill the GPU; operands whose rows do not start on 16 bytes are copied so first, and those with k
//                   contiguous turned, where the product is large enough to pay for it
//   matmul_simt     other f32
//   matmul_wgmma    f16, bf16, tf32 on sm_90; operands whose rows do not start on 16 bytes are copied so first, where the product is
//                   large enough to pay for it
//   matmul_mma      other f16, bf16, tf32
#include <algorithm>

#include "matmul/f32.h"
#include "matmul/launch.h"
#include "matmul/shallow.h"
#include "matmul/skinny.h"
#include "tensor_map.h"

namespace opscope::cuda {

namespace {

std::string layout_of(const ProductShape& s) { return std::string(s.trans_a ? "t" : "n") + (s.trans_b ? "t" : "n"); }

struct Tile {
  int m, n;
  unsigned threads, stages;
};

// A product of the case's dtype, and where its operands lie.
struct Product {
  ProductShape s;
  CUdeviceptr a, b, c;
  int64_t results() const { return s.batch * s.m * s.n; }
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

void launch_skinny(Planner& p, const ProductShape& s) {
  const auto bytes = static_cast<int64_t>(dtype_bytes(p.spec.dtype));
  const SkinnyPlan plan = skinny_plan(p.device.sm_count, bytes, s);
  SkinnyArguments a = {};
  const bool few_columns = plan.columns_are_few;
  const int64_t size_a = int64_t{s.m} * s.k, size_b = int64_t{s.k} * s.n;
  a.matrix = p.input(few_columns ? 0 : 1);
  a.vectors = p.input(few_columns ? 1 : 0);
  a.out = p.output();
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
  a.share = plan.share;
  a.tiles = plan.tiles;
  const int64_t cells = plan.tiles * s.batch;
  if (plan.splits > 1) {
    a.shares = p.workspace(cells * plan.splits * plan.tile * plan.vectors * 4);
    a.counters = p.workspace(cells * 4);
  }
  const std::string dtype = p.spec.dtype == Dtype::tf32 ? "f32" : p.dtype();
  p.launch(p.kernel_in("matmul_skinny", std::string(plan.k_contiguous ? "matmul_rows_" : "matmul_columns_") + dtype + "_" + std::to_string(plan.vectors) + (plan.wide ? "_wide" : "_one")), {cells, plan.splits}, 256, 0, a);
}

// An operand as the copy engine takes it: [batch, rows, cols] with rows `pitch` apart.
struct Operand {
  CUdeviceptr address;
  int rows, cols;
  int64_t pitch;
};

int64_t lanes_of(const Planner& p) { return 16 / static_cast<int64_t>(dtype_bytes(p.spec.dtype)); }
int64_t spaced_pitch(const Planner& p, int64_t cols) { return ceil_div(cols, lanes_of(p)) * lanes_of(p); }

// Its rows made to start on 16 bytes, by a copy where they do not.
Operand spaced(Planner& p, int64_t batch, Operand x) {
  const int64_t pitch = spaced_pitch(p, x.cols);
  if (pitch == x.cols) return x;
  const CUdeviceptr out = p.workspace(batch * x.rows * pitch * static_cast<int64_t>(dtype_bytes(p.spec.dtype)));
  p.launch(p.kernel_in("matmul_parts", "matmul_spaced_" + std::to_string(dtype_bytes(p.spec.dtype))), {ceil_div(batch * x.rows * (pitch / lanes_of(p)), 256)}, 256, 0, x.address, out,
           static_cast<long long>(batch * x.rows), x.cols, static_cast<int>(pitch));
  return {out, x.rows, x.cols, pitch};
}

// An f32 operand turned (and rounded, in tf32).
Operand turned(Planner& p, int64_t batch, const Operand& x) {
  const int64_t pitch = spaced_pitch(p, x.rows);
  const CUdeviceptr out = p.workspace(batch * x.cols * pitch * 4);
  p.launch(p.kernel_in("matmul_parts", "matmul_turned_" + p.dtype()), {ceil_div(x.cols, 32), ceil_div(x.rows, 32), batch}, 256, 0, x.address, out, x.rows, x.cols, static_cast<int>(pitch));
  return {out, x.cols, x.rows, pitch};
}

bool wgmma_fits(const Planner& p, const ProductShape& s) {
  if (p.device.major != 9 || p.device.minor != 0) return false;
  const int64_t lanes = lanes_of(p);
  const int lda = s.trans_a ? s.m : s.k, ldb = s.trans_b ? s.k : s.n;
  const double products = static_cast<double>(s.batch) * s.m * s.n * s.k;
  // Where operands are copied first, the product must be large enough to pay for that, and use each element often enough.
  constexpr double least_turned = 512.0 * 512 * 512, least_spaced = 640.0 * 640 * 640;
  constexpr int least_uses = 256;
  const bool pays = products >= least_spaced && (lda % lanes == 0 || s.n >= least_uses) && (ldb % lanes == 0 || s.m >= least_uses);
  if (p.spec.dtype == Dtype::tf32) {
    const bool turns = s.trans_a || !s.trans_b;
    return s.batch <= 65535 && (turns ? products >= least_turned && std::min(s.m, s.n) >= 64 && (s.trans_a || s.k % lanes == 0 || pays) : s.k % lanes == 0 || pays) && ceil_div(s.k, 32) <= 65535 && ceil_div(s.m, 32) <= 65535;
  }
  return (lda % lanes == 0 && ldb % lanes == 0) || pays;
}

void launch_wgmma(Planner& p, const Product& product) {
  ProductShape s = product.s;
  Operand a = s.trans_a ? Operand{product.a, s.k, s.m, s.m} : Operand{product.a, s.m, s.k, s.k}, b = s.trans_b ? Operand{product.b, s.n, s.k, s.k} : Operand{product.b, s.k, s.n, s.n};
  if (p.spec.dtype == Dtype::tf32) {
    if (s.trans_a) a = turned(p, s.batch_a, a);
    if (!s.trans_b) b = turned(p, s.batch, b);
    s.trans_a = false;
    s.trans_b = true;
  }
  // A turned operand has its pitch already.
  if (a.pitch % lanes_of(p) != 0) a = spaced(p, s.batch_a, a);
  if (b.pitch % lanes_of(p) != 0) b = spaced(p, s.batch, b);
  const auto box_64 = static_cast<unsigned>(128 / dtype_bytes(p.spec.dtype));
  const WgmmaPlan plan = wgmma_plan(p.device.sm_count, s, box_64);
  const int bn = plan.width;
  const unsigned stages = bn == 256 ? 4 : bn == 128 ? 6 : 8, shared = stages * static_cast<unsigned>(128 + bn) * 128 + 1024;
  const auto tiles_m = static_cast<int>(ceil_div(s.m, 128)), tiles_n = static_cast<int>(ceil_div(s.n, bn));
  const CUtensorMap map_a = tensor_map(a.address, p.spec.dtype, {s.batch_a, a.rows, a.cols, a.pitch}, s.trans_a ? box_64 : 128u);
  const CUtensorMap map_b = tensor_map(b.address, p.spec.dtype, {s.batch, b.rows, b.cols, b.pitch}, s.trans_b ? static_cast<unsigned>(bn) : box_64);
  const int64_t blocks = std::min<int64_t>(s.batch * tiles_m * tiles_n * plan.splits, p.device.sm_count);
  const CUdeviceptr shares = shares_of(p, product.results(), plan.splits);
  p.launch(p.kernel_in("matmul_wgmma", "matmul_wgmma_" + p.dtype() + "_" + std::to_string(bn) + "_" + layout_of(s), shared), {blocks}, 384, shared, map_a, map_b, product.c, s.m, s.n, s.k, tiles_m,
           tiles_n, static_cast<int>(s.batch), shares, static_cast<int>(plan.splits), static_cast<int>(s.batch_a));
  launch_join(p, shares, product.c, product.results(), plan.splits);
}

// A product in f32 by matmul_f32.
void launch_f32(Planner& p, const Product& product) {
  const ProductShape& s = product.s;
  const F32Plan plan = f32_plan(p.device.sm_count, s);
  Operand a = s.trans_a ? Operand{product.a, s.k, s.m, s.m} : Operand{product.a, s.m, s.k, s.k}, b = s.trans_b ? Operand{product.b, s.n, s.k, s.k} : Operand{product.b, s.k, s.n, s.n};
  if (plan.turns_a) a = turned(p, s.batch_a, a);
  else if (a.pitch % 4 != 0) a = spaced(p, s.batch_a, a);
  if (plan.turns_b) b = turned(p, s.batch, b);
  else if (b.pitch % 4 != 0) b = spaced(p, s.batch, b);
  const bool a_rows = !s.trans_a && !plan.turns_a, b_rows = s.trans_b && !plan.turns_b;  // of k
  const unsigned rows = static_cast<unsigned>(plan.rows), columns = static_cast<unsigned>(plan.columns), stages = plan.name == 256 ? 4 : plan.name == 128 ? 3 : 6, shared = stages * (rows + columns) * 128;
  const auto map = [](const Operand& x, int64_t batch, bool rows_of_k, unsigned tile) { return tensor_map(x.address, Dtype::f32, {batch, x.rows, x.cols, x.pitch}, rows_of_k ? tile : 32, rows_of_k ? 0 : tile); };
  const auto tiles_m = static_cast<int>(ceil_div(s.m, plan.rows)), tiles_n = static_cast<int>(ceil_div(s.n, plan.columns));
  const CUdeviceptr shares = shares_of(p, product.results(), plan.splits);
  const CUfunction f = p.kernel_in("matmul_f32", "matmul_f32_" + std::to_string(plan.name) + "_" + (a_rows ? "n" : "t") + (b_rows ? "t" : "n"), shared);
  p.launch(f, {s.batch * tiles_m * tiles_n * plan.splits}, plan.name == 128 ? 128 : 256, shared, map(a, s.batch_a, a_rows, rows), map(b, s.batch, b_rows, columns), product.c, s.m, s.n, s.k, tiles_m, tiles_n, shares,
           static_cast<int>(plan.splits), static_cast<int>(s.batch_a));
  launch_join(p, shares, product.c, product.results(), plan.splits);
}

void launch_shallow(Planner& p, const ProductShape& s) {
  const bool wide = s.n % lanes_of(p) == 0;
  const ShallowPairs pairs = !wide && dtype_bytes(p.spec.dtype) == 2 ? shallow_pairs(s.m, s.n) : ShallowPairs{};
  const int64_t across = wide ? s.n / lanes_of(p) : pairs.rows > 0 ? ceil_div(s.n / 2 + 1, pairs.pairs) : s.n, threads = s.batch * ceil_div(s.m, pairs.rows > 0 ? pairs.rows : shallow_rows) * across;
  const std::string kind = wide ? "wide" : pairs.rows > 0 ? "pairs_" + std::to_string(pairs.rows) : "one";
  p.launch(p.kernel_in("matmul_shallow", "matmul_shallow_" + p.dtype() + "_" + kind), {ceil_div(threads, 256)}, 256, 0, p.input(0), p.input(1), p.output(), s.m, s.n, s.k, static_cast<int>(s.trans_a),
           static_cast<int>(s.trans_b), static_cast<int>(s.batch_a), static_cast<long long>(across), static_cast<long long>(threads));
}

void plan(Planner& p) {
  for (size_t i = 1; i <= 3; i++)
    if (p.dim(i) > int64_t{1} << 30) throw Error("unsupported", "The CUDA kernels for matmul take m, n and k of up to 2^30.");
  const ProductShape s{p.dim(0), static_cast<int>(p.dim(1)), static_cast<int>(p.dim(2)), static_cast<int>(p.dim(3)), p.dim(4) != 0, p.dim(5) != 0};
  if (is_skinny(s, p.spec.dtype == Dtype::f32 || p.spec.dtype == Dtype::tf32)) launch_skinny(p, s);
  else if (p.spec.dtype != Dtype::tf32 && s.batch <= 1 << 30 && is_shallow(s.k, s.batch * s.m * s.n * static_cast<int64_t>(dtype_bytes(p.spec.dtype)))) launch_shallow(p, s);
  else launch_product(p, s, p.input(0), p.input(1), p.output());
}

}  // namespace

void launch_product(Planner& p, const ProductShape& s, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c) {
  const Product product = {s, a, b, c};
  if (p.spec.dtype == Dtype::f32 && p.device.major == 9 && p.device.minor == 0 && f32_plan(p.device.sm_count, s).rows > 0)
    launch_f32(p, product);
  else if (p.spec.dtype == Dtype::f32)
    // 32 rows of K, and their padding (matmul_simt.cu).
    launch_tiles(p, product, "matmul_simt", {{256, 128, 256, 3}, {128, 128, 256, 3}, {64, 64, 256, 6}}, 32 * 4 + 16, 32);
  else if (wgmma_fits(p, s))
    launch_wgmma(p, product);
  else
    launch_tiles(p, product, "matmul_mma", {{128, 128, 256, 4}, {64, 64, 128, 8}}, 64, static_cast<int64_t>(64 / dtype_bytes(p.spec.dtype)));
}

CUdeviceptr shares_of(Planner& p, int64_t elements, int64_t splits) { return splits > 1 ? p.workspace(splits * elements * 4) : 0; }

void launch_join(Planner& p, CUdeviceptr shares, CUdeviceptr out, int64_t elements, int64_t splits) {
  if (splits == 1) return;
  p.launch(p.kernel_in("matmul_parts", "matmul_join_" + (p.spec.dtype == Dtype::tf32 ? "f32" : p.dtype())), {ceil_div(elements, 128)}, 128, 0, shares, out, static_cast<long long>(elements),
           static_cast<int>(splits));
}

static const Register registered({"matmul",
                                  {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::tf32},
                                  {6},
                                  [](const OpKernels&, const Dims& d) { return std::vector{in(d[0] * d[1] * d[3]), in(d[0] * d[3] * d[2]), out(d[0] * d[1] * d[2])}; },
                                  plan});

}  // namespace opscope::cuda
