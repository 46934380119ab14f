#include "common/divide.h"
#include "elementwise/launch.h"
#include "plan.h"
#include "transpose/shape.h"

namespace opscope::cuda {

namespace {

// dims: [rows, cols].
void plan(Planner& p) {
  const auto rows = static_cast<long long>(p.dim(0)), cols = static_cast<long long>(p.dim(1)), length = std::max(rows, cols);
  const auto bytes = static_cast<int64_t>(dtype_bytes(p.spec.dtype));
  const TransposePlan s = transpose_plan(p.device.sm_count, bytes, rows, cols);
  const auto kernel = [&](const std::string& name) { return p.kernel("transpose_" + name + std::to_string(bytes)); };
  const auto narrow = static_cast<int>(std::min(rows, cols)), part = static_cast<int>(s.part);
  const auto tiles = [&](CUfunction function) {
    // The grid's y is short.
    const int down = s.down > s.across;
    p.launch(function, down ? Dim3{s.down, s.across} : Dim3{s.across, s.down}, 256, 0, p.input(0), p.output(), rows, cols, down);
  };
  switch (s.kind) {
    case Transposition::copy: return launch_elementwise(p, "copy_" + p.dtype(), p.spec.dtype, rows * cols, p.input(0));
    case Transposition::each:
      p.launch(kernel("each_"), {s.blocks}, 256, 0, p.input(0), p.output(), static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(rows * cols), divide_by(rows));
      return;
    case Transposition::narrow:
      p.launch(kernel(s.tall ? "tall_" : "wide_"), {s.blocks}, 256, static_cast<unsigned>(s.part * narrow * bytes), p.input(0), p.output(), length, narrow, part);
      return;
    case Transposition::between:
      p.launch(kernel(s.tall ? "slim_" : "broad_"), {s.blocks}, 256, static_cast<unsigned>(s.part * s.pitch * bytes), p.input(0), p.output(), length, narrow, part, s.pitch, s.places);
      return;
    case Transposition::vectors: return tiles(p.kernel("transpose_" + std::to_string(bytes) + "_vectors"));
    case Transposition::small: return tiles(p.kernel("transpose_2_small"));
    case Transposition::pairs: return tiles(p.kernel("transpose_pairs"));
    case Transposition::tiles: return tiles(kernel(""));
  }
}

const Register registered({"transpose", real_dtypes, {2}, [](const OpKernels&, const Dims& d) { return std::vector{in(d[0] * d[1]), out(d[0] * d[1])}; }, plan});

}  // namespace

}  // namespace opscope::cuda
