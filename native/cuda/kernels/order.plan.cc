// sort: [rows, cols, descending]; topk: [rows, cols, k]. See order.cu for the kernels.
#include <algorithm>
#include <utility>

#include "plan.h"

namespace opscope::cuda {

namespace {

constexpr int64_t most_tile = 4096;  // keys: 32 KB of shared memory

int64_t tile_of(int64_t cols) {
  int64_t size = 32;
  while (size < most_tile && size < cols) size *= 2;
  return size;
}

// One launch of tiles_<t> over rows of `cols`: from x, or from keys. Returns the keys of a row that are left.
int64_t launch_tiles(Planner& p, CUdeviceptr x, CUdeviceptr from, CUdeviceptr to, int64_t rows, int64_t cols, int64_t keep, bool descending) {
  const int64_t size = tile_of(cols), tiles = ceil_div(cols, size), kept = std::min(keep, size), last = std::min(kept, cols - (tiles - 1) * size);
  const int64_t stride = (tiles - 1) * kept + last;
  const auto threads = static_cast<unsigned>(std::clamp<int64_t>(size / 2, 32, 1024));
  p.launch(p.kernel_in("order", "tiles_" + p.dtype()), {rows * tiles}, threads, static_cast<unsigned>(size * 8), x, from, to, static_cast<long long>(cols), static_cast<int>(tiles), static_cast<int>(size),
           static_cast<int>(kept), static_cast<long long>(stride), static_cast<int>(descending));
  return stride;
}

void launch_write(Planner& p, CUdeviceptr keys, int64_t rows, int64_t cols, int64_t stride, int64_t keep) {
  p.launch(p.kernel_in("order", "write_" + p.dtype()), {ceil_div(rows * keep, 256)}, 256, 0, p.input(0), keys, p.output(0), p.output(1), static_cast<long long>(rows), static_cast<long long>(cols),
           static_cast<long long>(stride), static_cast<long long>(keep));
}

// All of every row, in order; returns where.
CUdeviceptr sort_rows(Planner& p, int64_t rows, int64_t cols, bool descending) {
  CUdeviceptr keys = p.workspace(rows * cols * 8);
  launch_tiles(p, p.input(0), 0, keys, rows, cols, cols, descending);
  if (cols <= most_tile) return keys;
  CUdeviceptr other = p.workspace(rows * cols * 8);
  for (int64_t width = most_tile; width < cols; width *= 2) {
    p.launch(p.kernel_in("order", "merge"), {ceil_div(rows * cols, 256)}, 256, 0, keys, other, static_cast<long long>(rows), static_cast<long long>(cols), static_cast<long long>(width));
    std::swap(keys, other);
  }
  return keys;
}

void refuse_long(const Planner& p) {
  if (p.dim(1) >= int64_t{1} << 31) throw Error("unsupported", "The CUDA kernels for " + p.spec.op + " take rows of less than 2^31 elements.");
}

void plan_sort(Planner& p) {
  refuse_long(p);
  const int64_t rows = p.dim(0), cols = p.dim(1);
  launch_write(p, sort_rows(p, rows, cols, p.dim(2) != 0), rows, cols, cols, cols);
}

// The best k of tiles, of what is left of them, and so on; where a tile keeps too much of itself, all is sorted.
void plan_topk(Planner& p) {
  refuse_long(p);
  const int64_t rows = p.dim(0), cols = p.dim(1), k = p.dim(2);
  if (k > most_tile / 4) return launch_write(p, sort_rows(p, rows, cols, true), rows, cols, cols, k);
  const int64_t size = tile_of(cols), left_at_most = ceil_div(cols, size) * std::min(k, size);
  CUdeviceptr from = 0, to = p.workspace(rows * left_at_most * 8);
  int64_t left = launch_tiles(p, p.input(0), 0, to, rows, cols, k, true);
  if (cols > size) from = p.workspace(rows * left_at_most * 8);
  for (int64_t before = cols; before > tile_of(before); ) {
    std::swap(from, to);
    before = left;
    left = launch_tiles(p, 0, from, to, rows, before, k, true);
  }
  launch_write(p, to, rows, cols, left, k);
}

using Shapes = std::vector<TensorShape>;

const bool registered = [] {
  Register({"sort", real_dtypes, {3}, [](const OpKernels&, const Dims& d) { return Shapes{in(d[0] * d[1]), out(d[0] * d[1]), out(d[0] * d[1], Storage::i32)}; }, plan_sort});
  Register({"topk", real_dtypes, {3}, [](const OpKernels&, const Dims& d) {
    const int64_t n = d[2] <= d[1] ? d[0] * d[2] : 0;
    return Shapes{in(d[0] * d[1]), out(n), out(n, Storage::i32)};
  }, plan_topk});
  return true;
}();

}  // namespace

}  // namespace opscope::cuda
