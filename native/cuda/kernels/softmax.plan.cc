#include "common/row.h"
#include "softmax/shape.h"

namespace opscope::cuda {

namespace {

// dims: [rows, cols].
void plan_softmax(Planner& p) {
  const RowArguments a = arguments_of(p, p.dim(0), p.dim(1));
  if ((a.cols > 1 && launch_narrow_rows(p, a)) || launch_ragged_rows(p, a, ragged_softmax) || launch_several_rows(p, a, several_softmax) || launch_staying_rows(p, a, p.spec.op == "softmax" ? stay_softmax : stay_log_softmax)) return;
  if (const int64_t shared = long_shared(p.device.sm_count, p.device.shared_bytes_per_block, lanes_of(p.spec.dtype), p.dim(0), p.dim(1)); shared > 0) {
    const auto bytes = static_cast<unsigned>(shared);
    p.launch(p.kernel_in("softmax", p.spec.op + "_" + p.dtype() + "_long", bytes), {p.dim(0)}, long_threads, bytes, p.input(0), p.output(), static_cast<int>(p.dim(1)));
    return;
  }
  const ShortShape s = short_shape(p.device.sm_count, lanes_of(p.spec.dtype), p.dim(0), p.dim(1));
  if (s.each == 0 || p.dim(1) == 1) return plan_row_op(p, "softmax");
  const std::string name = p.spec.op + "_short_" + p.dtype() + short_kernel(s);
  p.launch(p.kernel_in("softmax_short", name), {s.blocks}, s.threads, 0, p.input(0), p.output(), static_cast<long long>(p.dim(0)), static_cast<int>(p.dim(1)));
}

const bool registered = [] {
  for (const char* op : {"softmax", "log_softmax"}) Register({op, real_dtypes, {2}, [](const OpKernels&, const Dims& d) { return std::vector{in(d[0] * d[1]), out(d[0] * d[1])}; }, plan_softmax});
  return true;
}();

}  // namespace

}  // namespace opscope::cuda
