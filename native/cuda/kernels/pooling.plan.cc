// Poolings. dims: [planes, height, width, outHeight, outWidth] and, but for adaptive windows, [.., kernel, stride, padding]; signals have
// height 1, and windows along their width alone.
#include <algorithm>
#include <utility>

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

// Planes and their windows.
struct Planes {
  int64_t count, height, width, out_height, out_width;
  bool adaptive, signals;  // signals: windows along the width alone
  int64_t kernel, stride, padding, counted;  // counted: what a mean is over; 0: an adaptive window
  int64_t kernel_down() const { return signals ? 1 : kernel; }
  int64_t stride_down() const { return signals ? 1 : stride; }
  int64_t padding_down() const { return signals ? 0 : padding; }
  int64_t outputs() const { return count * out_height * out_width; }
};

Planes planes_of(const Planner& p, const Row& row) {
  Planes q = {p.dim(0), p.dim(1), p.dim(2), p.dim(3), p.dim(4), row.dims == 5, row.signals, 0, 1, 0, 0};
  // Planes of one row or column, where one output has it, are signals.
  if (!q.signals && q.width == 1 && q.out_width == 1) std::swap(q.height, q.width), std::swap(q.out_height, q.out_width);
  if (q.adaptive) return q;
  q.kernel = p.dim(5), q.stride = p.dim(6), q.padding = p.dim(7), q.counted = q.kernel * (row.signals ? 1 : q.kernel);
  q.signals = q.signals || (q.height == 1 && q.out_height == 1);
  return q;
}

// Whether each plane has one window, which has all of it, and several elements.
bool holds_all(const Planes& q) {
  return !q.adaptive && q.out_height * q.out_width == 1 && q.height * q.width > 1 && q.kernel_down() - q.padding_down() >= q.height && q.kernel - q.padding >= q.width;
}

int whole(int64_t n) { return static_cast<int>(n); }

// Few outputs (pooling_few.cu). Whether they are.
bool plan_few(Planner& p, const Row& row, const Planes& q) {
  // A window that is not a whole number of times as small as the input can touch two elements more than its share.
  const auto most = [&](int64_t input, int64_t output) { return input % output == 0 ? input / output : std::min(input, (input - 1) / output + 2); };
  const bool together = !q.adaptive && (q.kernel == 2 || q.kernel == 3);
  const int64_t down = q.adaptive ? most(q.height, q.out_height) : together ? q.kernel_down() : std::min(q.height, q.kernel_down()),
                across = q.adaptive ? most(q.width, q.out_width) : together ? q.kernel : std::min(q.width, q.kernel);
  const bool line = q.adaptive && q.height == q.out_height && across <= few_line;
  const FewLaunch f = few_pooling(q.count * q.height * q.width, q.outputs(), down * across, together || line, q.stride > 1);
  const auto beyond = [](int64_t input, int64_t output) { return (output + 1) * (input + 1) >= int64_t{1} << 31; };
  if (!f.taken || (q.adaptive && (beyond(q.height, q.out_height) || beyond(q.width, q.out_width)))) return false;
  const FewWindows w = {p.input(0), p.output(), whole(q.outputs()), f.log2, whole(q.height), whole(q.width), whole(q.out_height), whole(q.out_width), whole(down), whole(q.kernel_down()), whole(q.stride_down()),
                        whole(q.padding_down()), whole(across), whole(q.kernel), whole(q.stride), whole(q.padding), divide_by(q.out_width), divide_by(q.out_height), divide_by(across), static_cast<float>(q.counted)};
  const std::string kind = line ? (across <= 4 ? "_line_4" : "_line_8") : q.adaptive ? "_adaptive" : !together ? "_any" : "_" + std::to_string(down) + "_" + std::to_string(across);
  p.launch(p.kernel_in("pooling_few", std::string("pool_few_") + (row.max ? "max_" : "avg_") + p.dtype() + kind + (f.blocks_each ? "_block" : "")), {f.blocks}, f.threads, 0, w);
  return true;
}

// Extents and windows of planes.
PoolTile tile_of(const Planes& q) {
  return {q.count, whole(q.height), whole(q.width), whole(q.out_height), whole(q.out_width), whole(q.kernel_down()), whole(q.stride_down()), whole(q.padding_down()), whole(q.kernel), whole(q.stride), whole(q.padding), 0, 0, 0, 0, 0, 0, 0, static_cast<float>(q.counted)};
}

// Tiles of windows, adaptive or not. Whether some kernel for them takes the case; `name`: of kind and dtype.
bool plan_tiles(Planner& p, const std::string& name, bool max, const Planes& q) {
  const int64_t size = static_cast<int64_t>(dtype_bytes(p.spec.dtype));
  PoolTile t = tile_of(q);
  const auto launch = [&](const std::string& kernel, const PoolTiling& tiling, const auto& sizes) {
    const auto shared = static_cast<unsigned>(tiling.shared);
    p.launch(p.kernel_in("pooling", name + kernel, shared), {tiling.blocks}, pool_tile_threads, shared, p.input(0), p.output(), sizes);
  };
  if (!q.adaptive) {
    if (q.outputs() <= pool_few_outputs) return false;
    const PoolTiling tiling = pool_tiling(size, t, !max, p.device.shared_bytes_per_block - pool_own_shared);
    if (tiling.blocks > 0) launch(pool_pairs(size, tiling.tile) ? "_tile_pairs" : pool_tile_kernel(tiling.tile), tiling, tiling.tile);
    return tiling.blocks > 0;
  }
  if (!adaptive_tiles(q.outputs(), q.height, q.width, q.out_height, q.out_width)) return false;
  const PoolTiling tiling = adaptive_tiling(size, t, pool_tile_bytes(q.count * std::max(q.height * q.width, q.out_height * q.out_width) * size));
  if (tiling.blocks == 0) return false;
  t = tiling.tile;
  launch("_adaptive_tile", tiling, AdaptiveTile{t, whole(q.height / q.out_height), whole(q.height % q.out_height), divide_by(q.out_height), divide_by(q.out_width), divide_by(t.cols), divide_by(ceil_div(t.rows, t.chunk))});
  return true;
}

// Windows of planes whose rows are too long for tiles. Whether there is a kernel for them.
bool plan_walk(Planner& p, const Row& row, const Planes& q) {
  constexpr int64_t most_rows = 16, threads = 512;  // threads of a multiprocessor, at least, before one has several rows
  const std::string windows = q.adaptive || q.signals ? "" : pool_tile_kernel(tile_of(q));
  if (windows.empty() || q.outputs() <= pool_few_outputs) return false;
  const int64_t rows = std::min(std::clamp<int64_t>(q.outputs() / (int64_t{p.device.sm_count} * threads), 1, most_rows), q.out_height), chunks = ceil_div(q.out_height, rows), items = q.count * chunks * q.out_width;
  if (items > (int64_t{1} << 31) - pool_threads - 1) return false;
  const PoolWalk w = {whole(items), whole(q.height), whole(q.width), whole(q.out_height), whole(q.out_width), whole(q.padding), whole(rows), whole(chunks), divide_by(q.out_width), divide_by(chunks), static_cast<float>(q.counted)};
  p.launch(p.kernel_in("pooling_walk", std::string("pool_walk_") + (row.max ? "max_" : "avg_") + p.dtype() + "_" + std::to_string(q.kernel) + "_" + std::to_string(q.stride)), {ceil_div(items, pool_threads)}, pool_threads, 0, p.input(0),
           p.output(), w);
  return true;
}

void plan(Planner& p) {
  const Row& row = table[find_op(p.spec.op)->row];
  Planes q = planes_of(p, row);
  const int64_t outputs = q.outputs();
  int64_t plane = q.height * q.width, out_plane = q.out_height * q.out_width;
  // Windows of one element are a copy, and a window of the whole plane is a reduction of it.
  if (q.adaptive ? q.out_height == q.height && q.out_width == q.width : q.kernel == 1 && q.stride == 1 && q.padding == 0) return launch_elementwise(p, "copy_" + p.dtype(), p.spec.dtype, q.count * plane, p.input(0));
  if (q.adaptive && out_plane == 1) return launch_row_reduction(p, row.max ? "max" : "mean", q.count, plane);
  if (holds_all(q) && outputs > pool_few_outputs) {
    // Planes of a few elements, of which there is a kernel for signals of such windows side by side, are one signal (H200: avg_pool1d f16 2x1232983 of 2 by rows of a reduction 13.3 us).
    constexpr int64_t least_reduced = 8;
    if (plane >= least_reduced) return launch_row_reduction(p, row.max ? "max" : "mean", q.count, plane, q.counted);
    if ((plane == 2 || plane == 3 || plane == 5 || plane == 7) && q.count * plane < int64_t{1} << 31) q = {1, 1, q.count * plane, 1, q.count, false, true, plane, plane, 0, q.counted}, out_plane = q.out_width, plane = q.width;
  }
  if (plan_few(p, row, q)) return;
  // Elements of a window, about.
  const int64_t window = q.adaptive ? ceil_div(q.height, q.out_height) * ceil_div(q.width, q.out_width) : std::min(q.kernel, q.width) * std::min(q.kernel_down(), q.height);
  // Threads of several outputs, and tiles, count with 32 bits.
  constexpr int64_t most = (int64_t{1} << 31) - pool_outputs * pool_threads - 1;
  const bool fits = std::max(plane, out_plane) <= most, warp = window >= 64 && (q.adaptive || outputs < int64_t{1} << 17), four = !warp && !q.adaptive && outputs >= int64_t{1} << (window >= 64 ? 17 : 18) && fits;
  const std::string name = std::string("pool_") + (row.max ? "max_" : "avg_") + p.dtype();
  // Windows that share rows, and rows too long for tiles of several blocks on a multiprocessor, or that a wide tile has just room for and windows share much of (H200: avg_pool2d bf16 5x17x4096, 7x7 17.1 to 8.4 us, f32 4x4000x5001, 3x3
  // 342 to 206, bf16 9x1300x2049, 5x5 83 to 70, max_pool2d f32 48x700x1001, 7x7, stride 2 114 to 77; avg_pool2d bf16 12x2160x3840, 3x3, stride 2 81 to 116, f32 4x2000x3001, 2x2, stride 2 31.9 to 32.6).
  const bool wide = fits && !q.adaptive && !q.signals && std::min(q.kernel, q.height) * q.width * static_cast<int64_t>(dtype_bytes(p.spec.dtype)) > most_of_pool_tile;
  if (wide && q.kernel > 2 * q.stride && plan_walk(p, row, q)) return;
  if (fits && plan_tiles(p, name, row.max, q)) return;
  if (wide && q.kernel > q.stride && plan_walk(p, row, q)) return;
  const int64_t kernel_down = q.signals ? 0 : q.kernel;
  PoolSizes s = {outputs, q.height, q.width, q.out_height, q.out_width, kernel_down, q.stride_down(), q.padding_down(), q.kernel, q.stride, q.padding, 0, 0, 0, static_cast<float>(q.counted)};
  if (!four) {
    const auto divided_most = [](int64_t input, int64_t output) { return input * output + input + output; };
    const PoolThreads t = pool_threads_of(p.device.sm_count, q.count * plane, divided_most(q.height, q.out_height), divided_most(q.width, q.out_width), outputs, window);
    if (const int64_t count = q.count * ceil_div(q.out_height, pool_rows) * q.out_width; q.adaptive && t.small && t.group == 1 && pool_adaptive(q.count, q.height, q.width, q.out_height, q.out_width)) {
      s.next_down = whole(q.height / q.out_height), s.next_across = whole(q.height % q.out_height);
      p.launch(p.kernel_in("pooling", name + "_adaptive"), {ceil_div(count, pool_threads)}, pool_threads, 0, p.input(0), p.output(), s);
      return;
    }
    p.launch(p.kernel_in("pooling", name + (!t.small ? (t.group == 32 ? "_warp" : "") : t.group == 1 ? "_few" : "_few_" + std::to_string(t.group))), {ceil_div(outputs * t.group, pool_threads)}, pool_threads, 0, p.input(0),
             p.output(), s);
    return;
  }
  // More planes take further launches.
  const int64_t lines = pool_threads / q.out_width, together = most / std::max(plane, out_plane), size = static_cast<int64_t>(dtype_bytes(p.spec.dtype));
  s.next_across = whole(pool_threads % q.out_width), s.next_down = whole(lines % q.out_height), s.next_planes = whole(lines / q.out_height);
  for (int64_t from = 0; from < q.count; from += together) {
    s.outputs = std::min<int64_t>(together, q.count - from) * out_plane;
    p.launch(p.kernel_in("pooling", name + (s.kernel == 2 ? "_four_2" : s.kernel == 3 ? "_four_3" : "_four")), {ceil_div(s.outputs, pool_outputs * pool_threads)}, pool_threads, 0,
             p.input(0) + static_cast<CUdeviceptr>(from * plane * size), p.output() + static_cast<CUdeviceptr>(from * out_plane * size), s);
  }
}

const bool registered = [] {
  for (size_t i = 0; i < std::size(table); i++) Register({table[i].op, real_dtypes, {table[i].dims}, tensors, plan, 0, i});
  return true;
}();

}  // namespace

}  // namespace opscope::cuda
