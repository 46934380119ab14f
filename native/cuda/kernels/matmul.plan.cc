// dims: [batch, m, n, k, transA, transB]. Which product kernel runs where:
//   f32               matmul_simt
//   f16, bf16, tf32   matmul_mma
#include "common/elementwise.h"

namespace opscope::cuda {

namespace {

struct Shape {
  int64_t batch;
  int m, n, k;
  bool trans_a, trans_b;
  std::string layout() const { return std::string(trans_a ? "t" : "n") + (trans_b ? "t" : "n"); }
};

// 128 x 128 tiles where they fill the GPU, else 64 x 64.
int tile_edge(const Shape& s, int sm_count) {
  return s.batch * ceil_div(s.m, 128) * ceil_div(s.n, 128) >= sm_count ? 128 : 64;
}

void launch_tiles(Planner& p, const Shape& s, const std::string& module, unsigned threads_128, unsigned threads_64, unsigned shared_128, unsigned shared_64) {
  const int edge = tile_edge(s, p.device.sm_count);
  const unsigned shared = edge == 128 ? shared_128 : shared_64;
  const CUfunction f = p.kernel_in(module, module + "_" + p.dtype() + "_" + std::to_string(edge) + "_" + s.layout(), shared);
  const auto tiles_m = static_cast<int>(ceil_div(s.m, edge)), tiles_n = static_cast<int>(ceil_div(s.n, edge));
  const auto blocks = static_cast<unsigned>(s.batch * tiles_m * tiles_n);
  p.launch(f, {blocks}, edge == 128 ? threads_128 : threads_64, shared, p.input(0), p.input(1), p.output(), s.m, s.n, s.k, tiles_m, tiles_n);
}

void plan(Planner& p) {
  const Shape s{p.dim(0), static_cast<int>(p.dim(1)), static_cast<int>(p.dim(2)), static_cast<int>(p.dim(3)), p.dim(4) != 0, p.dim(5) != 0};
  if (p.spec.dtype == Dtype::f32)
    launch_tiles(p, s, "matmul_simt", 256, 256, 3 * 16 * 2 * (128 + 4) * 4, 3 * 16 * 2 * (64 + 4) * 4);
  else
    launch_tiles(p, s, "matmul_mma", 256, 128, 4 * 2 * 128 * 64, 4 * 2 * 64 * 64);
}

}  // namespace

static const Register registered("matmul", {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::tf32}, plan);

}  // namespace opscope::cuda
