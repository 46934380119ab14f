// dims: [outer, reduce, inner]; see sum.cu for the kernels.
#include <algorithm>

#include "common/elementwise.h"

namespace opscope::cuda {

namespace {

// inner = 1: rows are contiguous.
void plan_rows(Planner& p, int64_t rows, int64_t cols) {
  const int64_t width = 16 / static_cast<int64_t>(dtype_bytes(p.spec.dtype));
  if (cols <= 128 * width && rows > 1) {
    constexpr unsigned threads = 256;
    p.launch(p.kernel("sum_" + p.dtype() + "_warp"), {static_cast<unsigned>(ceil_div(rows, threads / 32))}, threads, 0, p.input(0), p.output(),
             static_cast<long long>(rows), static_cast<long long>(cols));
    return;
  }
  const int64_t vectors = ceil_div(cols, width);
  const unsigned threads = static_cast<unsigned>(std::clamp<int64_t>(ceil_div(vectors, 4 * 32) * 32, 32, 512));
  // About four blocks of 512 threads per multiprocessor in all, each with at least four vectors per thread.
  const int64_t wanted = std::max<int64_t>(1, p.device.sm_count * 4 / rows);
  const int64_t splits = std::clamp<int64_t>(std::min(wanted, ceil_div(vectors, static_cast<int64_t>(threads) * 4)), 1, 65535);
  const int64_t chunk = ceil_div(ceil_div(vectors, splits), 1) * width;
  const int64_t used = ceil_div(cols, chunk);
  const CUdeviceptr partial = used > 1 ? p.workspace(rows * used * 4) : 0;
  const CUdeviceptr counters = used > 1 ? p.workspace(rows * 4) : 0;
  // Rows sit in the grid's y dimension, which is limited; longer lists go row by row through several launches.
  constexpr int64_t most_rows = 65535;
  const auto size = static_cast<int64_t>(dtype_bytes(p.spec.dtype));
  for (int64_t first = 0; first < rows; first += most_rows) {
    const auto count = static_cast<unsigned>(std::min(most_rows, rows - first));
    p.launch(p.kernel("sum_" + p.dtype() + "_row"), {static_cast<unsigned>(used), count}, threads, 0, p.input(0) + static_cast<CUdeviceptr>(first * cols * size),
             p.output() + static_cast<CUdeviceptr>(first * size), static_cast<long long>(cols), static_cast<long long>(chunk),
             partial + static_cast<CUdeviceptr>(first * used * 4), counters + static_cast<CUdeviceptr>(first * 4));
  }
}

void plan_columns(Planner& p, int64_t outer, int64_t reduce, int64_t inner) {
  const int64_t lanes = 16 / static_cast<int64_t>(dtype_bytes(p.spec.dtype));
  const bool wide = inner % lanes == 0;
  const int64_t tile = 32 * (wide ? lanes : 1);
  const int64_t tiles = ceil_div(inner, tile);
  // Eight blocks of 256 threads fill a multiprocessor; a split has at least four rows for each of its eight groups.
  const int64_t wanted = ceil_div(p.device.sm_count * 8, tiles * outer);
  const int64_t most = std::max<int64_t>(1, reduce / 32);
  const int64_t rows = ceil_div(reduce, std::clamp<int64_t>(std::min(wanted, most), 1, 256));
  const int64_t splits = ceil_div(reduce, rows);
  const CUdeviceptr partial = splits > 1 ? p.workspace(outer * tiles * splits * tile * 4) : 0;
  const CUdeviceptr counters = splits > 1 ? p.workspace(outer * tiles * 4) : 0;
  p.launch(p.kernel("sum_" + p.dtype() + (wide ? "_col_wide" : "_col_one")),
           {static_cast<unsigned>(tiles), static_cast<unsigned>(splits), static_cast<unsigned>(outer)}, 256, 0, p.input(0), p.output(), static_cast<long long>(reduce),
           static_cast<long long>(inner), static_cast<long long>(rows), partial, counters);
}

void plan(Planner& p) {
  if (p.dim(2) == 1)
    plan_rows(p, p.dim(0), p.dim(1));
  else
    plan_columns(p, p.dim(0), p.dim(1), p.dim(2));
}

}  // namespace

static const Register registered("sum", real_dtypes, {3, [](const std::vector<int64_t>& d) { return std::vector<int64_t>{d[0] * d[1] * d[2], d[0] * d[2]}; }}, plan);

}  // namespace opscope::cuda
