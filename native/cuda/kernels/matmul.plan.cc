// dims: [batch, m, n, k, transA, transB]. Which product kernel runs where:
//   f32               matmul_simt
//   f16, bf16, tf32   matmul_wgmma on sm_90 where every row starts on 16 bytes and n is a multiple of 8 (tf32: from
//                     256^3 up, because it may need operands turned first), else matmul_mma
#include <algorithm>

#include "plan.h"

namespace opscope::cuda {

namespace {

struct Shape {
  int64_t batch;
  int m, n, k;
  bool trans_a, trans_b;
  std::string layout() const { return std::string(trans_a ? "t" : "n") + (trans_b ? "t" : "n"); }
};

struct Tile {
  int m, n;
  unsigned threads, stages;
};

// Launches <module>_<dtype>_<rows of tile>_<layout> with the largest tile that gives every multiprocessor one.
void launch_tiles(Planner& p, const Shape& s, const std::string& module, const std::vector<Tile>& tiles, int64_t shared_per_row) {
  const auto count = [&](const Tile& t) { return s.batch * ceil_div(s.m, t.m) * ceil_div(s.n, t.n); };
  size_t choice = 0;
  // A full wave that is 90 % there is as good as one.
  while (choice + 1 < tiles.size() && count(tiles[choice]) * 10 < p.device.sm_count * 9) choice++;
  const Tile& t = tiles[choice];
  const auto shared = static_cast<unsigned>(t.stages * static_cast<unsigned>(t.m + t.n) * shared_per_row);
  const CUfunction f = p.kernel_in(module, module + "_" + p.dtype() + "_" + std::to_string(t.m) + "_" + s.layout(), shared);
  p.launch(f, {count(t)}, t.threads, shared, p.input(0), p.input(1), p.output(), s.m, s.n, s.k, static_cast<int>(ceil_div(s.m, t.m)),
           static_cast<int>(ceil_div(s.n, t.n)));
}

// A 3-d view [batch, rows, cols] for the copy engine: boxes of 128 bytes of columns by `box_rows`, swizzled for wgmma.
CUtensorMap tensor_map(CUdeviceptr address, Dtype dtype, int64_t batch, int64_t rows, int64_t cols, unsigned box_rows) {
  const auto size = static_cast<int64_t>(dtype_bytes(dtype));
  const CUtensorMapDataType type = dtype == Dtype::f16    ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                   : dtype == Dtype::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                          : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  const cuuint64_t dims[3] = {static_cast<cuuint64_t>(cols), static_cast<cuuint64_t>(rows), static_cast<cuuint64_t>(batch)};
  const cuuint64_t strides[2] = {static_cast<cuuint64_t>(cols * size), static_cast<cuuint64_t>(rows * cols * size)};
  const cuuint32_t box[3] = {static_cast<cuuint32_t>(128 / size), box_rows, 1}, steps[3] = {1, 1, 1};
  CUtensorMap map = {};
  check(api().TensorMapEncodeTiled(&map, type, 3, reinterpret_cast<void*>(address), dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
        "describing a matrix to the copy engine");
  return map;
}

bool wgmma_fits(const Planner& p, const Shape& s) {
  if (p.device.major != 9 || p.device.minor != 0) return false;
  const int64_t lanes = 16 / static_cast<int64_t>(dtype_bytes(p.spec.dtype));
  const int lda = s.trans_a ? s.m : s.k, ldb = s.trans_b ? s.k : s.n;
  if (p.spec.dtype == Dtype::tf32) {
    constexpr double least = 256.0 * 256 * 256;
    return s.k % lanes == 0 && s.n % 8 == 0 && static_cast<double>(s.batch) * s.m * s.n * s.k >= least && s.batch <= 65535;
  }
  return lda % lanes == 0 && ldb % lanes == 0 && s.n % 8 == 0;
}

// x [batch, rows, cols] turned into a workspace, for an operand whose K is not contiguous.
CUdeviceptr turned(Planner& p, CUdeviceptr x, int64_t batch, int rows, int cols) {
  const CUdeviceptr out = p.workspace(batch * rows * cols * 4);
  p.launch(p.kernel_in("matmul_wgmma", "turn_f32"), {ceil_div(cols, 32), ceil_div(rows, 32), batch}, 256, 0,
           x, out, rows, cols);
  return out;
}

void launch_wgmma(Planner& p, Shape s) {
  CUdeviceptr a = p.input(0), b = p.input(1);
  if (p.spec.dtype == Dtype::tf32) {
    if (s.trans_a) a = turned(p, a, s.batch, s.k, s.m);
    if (!s.trans_b) b = turned(p, b, s.batch, s.k, s.n);
    s.trans_a = false;
    s.trans_b = true;
  }
  // The wider tile does more per byte of shared memory; the narrower ones fill the GPU sooner. The factors are the cost of
  // a tile per column relative to the widest, seen on an H200; the narrowest lost where it would be cut at an edge.
  const auto cost = [&](int64_t width, double factor) {
    return static_cast<double>(ceil_div(s.batch * ceil_div(s.m, 128) * ceil_div(s.n, width), p.device.sm_count) * width) * factor;
  };
  const bool uncut = s.m % 128 == 0 && s.n % 64 == 0;
  const double wide = cost(256, 1), middle = cost(128, 1.15), narrow = cost(64, 1.6);
  const int bn = wide <= middle && (wide <= narrow || !uncut) ? 256 : middle <= narrow || !uncut ? 128 : 64;
  const unsigned stages = bn == 256 ? 4 : bn == 128 ? 6 : 8, shared = stages * static_cast<unsigned>(128 + bn) * 128 + 1024;
  const auto tiles_m = static_cast<int>(ceil_div(s.m, 128)), tiles_n = static_cast<int>(ceil_div(s.n, bn));
  const auto box_64 = static_cast<unsigned>(128 / dtype_bytes(p.spec.dtype));
  const CUtensorMap map_a = s.trans_a ? tensor_map(a, p.spec.dtype, s.batch, s.k, s.m, box_64) : tensor_map(a, p.spec.dtype, s.batch, s.m, s.k, 128);
  const CUtensorMap map_b =
      s.trans_b ? tensor_map(b, p.spec.dtype, s.batch, s.n, s.k, static_cast<unsigned>(bn)) : tensor_map(b, p.spec.dtype, s.batch, s.k, s.n, box_64);
  const int64_t blocks = std::min<int64_t>(s.batch * tiles_m * tiles_n, p.device.sm_count);
  p.launch(p.kernel_in("matmul_wgmma", "matmul_wgmma_" + p.dtype() + "_" + std::to_string(bn) + "_" + s.layout(), shared), {blocks}, 384, shared, map_a, map_b, p.output(), s.m,
           s.n, s.k, tiles_m, tiles_n, static_cast<int>(s.batch));
}

void plan(Planner& p) {
  for (size_t i = 1; i <= 3; i++)
    if (p.dim(i) > int64_t{1} << 30) throw Error("unsupported", "The CUDA kernels for matmul take m, n and k of up to 2^30.");
  const Shape s{p.dim(0), static_cast<int>(p.dim(1)), static_cast<int>(p.dim(2)), static_cast<int>(p.dim(3)), p.dim(4) != 0, p.dim(5) != 0};
  if (p.spec.dtype == Dtype::f32)
    // 32 rows of K, and their padding (matmul_simt.cu).
    launch_tiles(p, s, "matmul_simt", {{256, 128, 256, 3}, {128, 128, 256, 3}, {64, 64, 256, 6}}, 32 * 4 + 16);
  else if (wgmma_fits(p, s))
    launch_wgmma(p, s);
  else
    launch_tiles(p, s, "matmul_mma", {{128, 128, 256, 4}, {64, 64, 128, 8}}, 64);
}

}  // namespace

static const Register registered({"matmul",
                                  {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::tf32},
                                  {6},
                                  [](const OpKernels&, const Dims& d) { return std::vector{in(d[0] * d[1] * d[3]), in(d[0] * d[3] * d[2]), out(d[0] * d[1] * d[2])}; },
                                  plan});

}  // namespace opscope::cuda
