#include <algorithm>

#include "elementwise/launch.h"
#include "plan.h"

namespace opscope::cuda {
// Columns or rows of which a tile of 32 or 64 would be mostly empty, bytes of a block's part in shared memory, and how much of the long side it is at least.
constexpr int64_t most_narrow = 12, narrow_bytes = 16 << 10, least_narrow_part = 256;

// dims: [rows, cols].
static const Register registered({"transpose", real_dtypes, {2}, [](const OpKernels&, const Dims& d) { return std::vector{in(d[0] * d[1]), out(d[0] * d[1])}; }, [](Planner& p) {
  const auto rows = static_cast<long long>(p.dim(0)), cols = static_cast<long long>(p.dim(1));
  const auto bytes = static_cast<int64_t>(dtype_bytes(p.spec.dtype));
  if (rows == 1 || cols == 1) {
    launch_elementwise(p, "copy_" + p.dtype(), p.spec.dtype, rows * cols, p.input(0));
    return;
  }
  if (std::min(rows, cols) <= most_narrow && std::max(rows, cols) >= 4 * most_narrow) {
    const bool tall = cols < rows;
    const int64_t narrow = std::min(rows, cols), length = std::max(rows, cols);
    const int64_t part = std::clamp(ceil_div(length, int64_t{p.device.sm_count} * 4), least_narrow_part, narrow_bytes / bytes / narrow) / 8 * 8;
    p.launch(p.kernel((tall ? "transpose_tall_" : "transpose_wide_") + std::to_string(bytes)), {ceil_div(length, part)}, 256, static_cast<unsigned>(part * narrow * bytes), p.input(0), p.output(),
             static_cast<long long>(length), static_cast<int>(narrow), static_cast<int>(part));
    return;
  }
  // Whole vectors both ways, and a tile for each multiprocessor.
  const int64_t vector = 16 / bytes, wide = vector * 16, tiles = ceil_div(rows, wide) * ceil_div(cols, wide);
  if (rows % vector == 0 && cols % vector == 0 && tiles >= p.device.sm_count) {
    p.launch(p.kernel("transpose_" + std::to_string(bytes) + "_vectors"), {tiles}, 256, 0, p.input(0), p.output(), rows, cols, static_cast<long long>(ceil_div(cols, wide)));
    return;
  }
  // Where larger tiles would leave most of the GPU idle, four times as many blocks with a quarter of the work.
  const bool small = bytes == 2 && ceil_div(rows, 64) * ceil_div(cols, 64) * 4 <= p.device.sm_count;
  const int64_t side = bytes == 4 || small ? 32 : 64, across = ceil_div(cols, side);
  p.launch(p.kernel(bytes == 4 ? "transpose_4" : small ? "transpose_2_small" : rows % 2 == 0 && cols % 2 == 0 ? "transpose_pairs" : "transpose_2"), {ceil_div(rows, side) * across}, 256, 0, p.input(0), p.output(), rows, cols,
           static_cast<long long>(across));
}});
}
