// Poolings. dims: [planes, height, width, outHeight, outWidth] and, but for adaptive windows, [.., kernel, stride, padding]; signals have
// height 1, and windows along their width alone.
#include <algorithm>

#include "elementwise/launch.h"
#include "pooling/few.h"
#include "pooling/shape.h"
#include "reduction/launch.h"

namespace opscope::cuda {

namespace {

struct Row {
  const char* op;
  bool max, signals;
  size_t dims;
};
constexpr Row table[] = {{"max_pool1d", true, true, 8}, {"avg_pool1d", false, true, 8}, {"max_pool2d", true, false, 8}, {"avg_pool2d", false, false, 8}, {"adaptive_max_pool2d", true, false, 5}, {"adaptive_avg_pool2d", false, false, 5}};

// Whether every window of an axis has an element of the input.
bool fits(int64_t input, int64_t output, int64_t kernel, int64_t stride, int64_t padding) {
  return stride >= 1 && kernel >= 1 && 2 * padding <= kernel && (output - 1) * stride + kernel <= input + 2 * padding;
}

std::vector<TensorShape> tensors(const OpKernels& kernels, const Dims& d) {
  const bool signals = table[kernels.row].signals;
  const bool sensible = d[1] >= 1 && d[2] >= 1 && d[3] >= 1 && d[4] >= 1 && (d.size() == 5 || (fits(d[2], d[4], d[5], d[6], d[7]) && (signals ? d[1] == 1 && d[3] == 1 : fits(d[1], d[3], d[5], d[6], d[7]))));
  return {in(sensible ? d[0] * d[1] * d[2] : 0), out(sensible ? d[0] * d[3] * d[4] : 0)};
}

// Few outputs (pooling_few.cu). Whether they are.
bool plan_few(Planner& p, const Row& row, const PoolSizes& s) {
  const bool adaptive = row.dims == 5;
  const int64_t planes = p.dim(0), elements = planes * s.height * s.width;
  // A window that is not a whole number of times as small as the input can touch two elements more than its share.
  const auto most = [&](int64_t input, int64_t output) { return input % output == 0 ? input / output : std::min(input, (input - 1) / output + 2); };
  const int64_t down = adaptive ? most(s.height, s.out_height) : row.signals ? 1 : s.kernel, across = adaptive ? most(s.width, s.out_width) : s.kernel;
  const bool together = !adaptive && (s.kernel == 2 || s.kernel == 3) && (row.signals || s.kernel_down == s.kernel);
  const FewLaunch f = few_pooling(elements, s.outputs, down * across, together);
  const auto beyond = [](int64_t input, int64_t output) { return (output + 1) * (input + 1) >= int64_t{1} << 31; };
  if (!f.taken || (adaptive && (beyond(s.height, s.out_height) || beyond(s.width, s.out_width)))) return false;
  const auto whole = [](int64_t n) { return static_cast<int>(n); };
  const FewWindows w = {p.input(0), p.output(), whole(s.outputs), f.log2, whole(s.height), whole(s.width), whole(s.out_height), whole(s.out_width), whole(down), row.signals ? 1 : whole(s.stride_down),
                        row.signals ? 0 : whole(s.padding_down), whole(across), whole(s.stride), whole(s.padding), divide_by(s.out_width), divide_by(s.out_height), divide_by(across)};
  const std::string kind = adaptive ? "_adaptive" : !together ? "_any" : "_" + std::to_string(down) + "_" + std::to_string(across);
  p.launch(p.kernel_in("pooling_few", std::string("pool_few_") + (row.max ? "max_" : "avg_") + p.dtype() + kind + (f.blocks_each ? "_block" : "")), {f.blocks}, f.threads, 0, w);
  return true;
}

void plan(Planner& p) {
  const Row& row = table[find_op(p.spec.op)->row];
  const auto dim = [&](size_t i) { return static_cast<long long>(p.dim(i)); };
  // Windows of one element are a copy, and a window of the whole plane is a reduction of it.
  if (row.dims == 8 ? dim(5) == 1 && dim(6) == 1 && dim(7) == 0 : dim(3) == dim(1) && dim(4) == dim(2)) return launch_elementwise(p, "copy_" + p.dtype(), p.spec.dtype, dim(0) * dim(1) * dim(2), p.input(0));
  if (row.dims == 5 && dim(3) == 1 && dim(4) == 1) return launch_row_reduction(p, row.max ? "max" : "mean", dim(0), dim(1) * dim(2));
  PoolSizes s = {dim(0) * dim(3) * dim(4), dim(1), dim(2), dim(3), dim(4), 0, 1, 0, 0, 1, 0, 0, 0, 0};
  if (row.dims == 8) {
    s.kernel = dim(5), s.stride = dim(6), s.padding = dim(7);
    if (!row.signals) s.kernel_down = s.kernel, s.stride_down = s.stride, s.padding_down = s.padding;
  }
  // Elements of a window, about.
  const int64_t window = row.dims == 8 ? dim(5) * (row.signals ? 1 : dim(5)) : ceil_div(dim(1), dim(3)) * ceil_div(dim(2), dim(4));
  if (plan_few(p, row, s)) return;
  // Threads of several outputs, and tiles, count with 32 bits.
  constexpr int64_t most = (int64_t{1} << 31) - pool_outputs * pool_threads - 1;
  const int64_t plane = std::max<int64_t>(dim(1) * dim(2), dim(3) * dim(4)), size = static_cast<int64_t>(dtype_bytes(p.spec.dtype));
  const bool warp = window >= 64 && (row.dims != 8 || s.outputs < int64_t{1} << 17), four = !warp && row.dims == 8 && s.outputs >= int64_t{1} << (window >= 64 ? 17 : 18) && plane <= most;
  const std::string name = std::string("pool_") + (row.max ? "max_" : "avg_") + p.dtype();
  if (row.dims == 8 && plane <= most && s.outputs > pool_few_outputs) {
    const auto whole = [&](size_t i) { return static_cast<int>(p.dim(i)); };
    const bool signals = row.signals;
    const PoolTiling tiling = pool_tiling(size, {dim(0), whole(1), whole(2), whole(3), whole(4), signals ? 1 : whole(5), signals ? 1 : whole(6), signals ? 0 : whole(7), whole(5), whole(6), whole(7), 0, 0, 0, 0, 0, 0, 0}, p.device.shared_bytes_per_block - pool_own_shared);
    if (tiling.blocks > 0) {
      p.launch(p.kernel_in("pooling", name + pool_tile_kernel(tiling.tile), static_cast<unsigned>(tiling.shared)), {tiling.blocks}, pool_tile_threads, static_cast<unsigned>(tiling.shared), p.input(0), p.output(), tiling.tile);
      return;
    }
  }
  if (!four) {
    const PoolThreads t = pool_threads_of(p.device.sm_count, dim(0) * dim(1) * dim(2), dim(1) * dim(3) + dim(1) + dim(3), dim(2) * dim(4) + dim(2) + dim(4), s.outputs, window);
    if (const int64_t count = dim(0) * ceil_div(dim(3), pool_rows) * dim(4); row.dims == 5 && t.small && t.group == 1 && pool_adaptive(dim(0), dim(1), dim(2), dim(3), dim(4))) {
      s.next_down = static_cast<int>(dim(1) / dim(3)), s.next_across = static_cast<int>(dim(1) % dim(3));
      p.launch(p.kernel_in("pooling", name + "_adaptive"), {ceil_div(count, pool_threads)}, pool_threads, 0, p.input(0), p.output(), s);
      return;
    }
    p.launch(p.kernel_in("pooling", name + (!t.small ? (t.group == 32 ? "_warp" : "") : t.group == 1 ? "_few" : "_few_" + std::to_string(t.group))), {ceil_div(s.outputs * t.group, pool_threads)}, pool_threads, 0, p.input(0),
             p.output(), s);
    return;
  }
  // More planes take further launches.
  const int64_t lines = pool_threads / dim(4), together = most / plane;
  s.next_across = static_cast<int>(pool_threads % dim(4)), s.next_down = static_cast<int>(lines % dim(3)), s.next_planes = static_cast<int>(lines / dim(3));
  for (int64_t from = 0; from < dim(0); from += together) {
    s.outputs = std::min<int64_t>(together, dim(0) - from) * dim(3) * dim(4);
    p.launch(p.kernel_in("pooling", name + (s.kernel == 2 ? "_four_2" : s.kernel == 3 ? "_four_3" : "_four")), {ceil_div(s.outputs, pool_outputs * pool_threads)}, pool_threads, 0,
             p.input(0) + static_cast<CUdeviceptr>(from * dim(1) * dim(2) * size), p.output() + static_cast<CUdeviceptr>(from * dim(3) * dim(4) * size), s);
  }
}

const bool registered = [] {
  for (size_t i = 0; i < std::size(table); i++) Register({table[i].op, real_dtypes, {table[i].dims}, tensors, plan, 0, i});
  return true;
}();

}  // namespace

}  // namespace opscope::cuda
