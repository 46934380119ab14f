#include "common/row.h"
#include "softmax/shape.h"

namespace opscope::cuda {
// dims: [tokens, dim]; scalars: [eps]; inputs x, weight, bias.
static const Register registered({"layer_norm", real_dtypes, {2}, [](const OpKernels&, const Dims& d) { return std::vector{in(d[0] * d[1]), in(d[1]), in(d[1]), out(d[0] * d[1])}; },
                                  [](Planner& p) {
                                    const RowArguments a = arguments_of(p, p.dim(0), p.dim(1));
                                    if (launch_few_rows(p, a.rows, a.cols) || launch_narrow_rows(p, a) || launch_ragged_rows(p, a, ragged_layer_norm) || launch_several_rows(p, a, several_layer_norm)) return;
                                    const auto eps = static_cast<float>(p.scalar(0));
                                    const auto rows = static_cast<long long>(p.dim(0));
                                    if (const ShortShape s = short_shape(p.device.sm_count, lanes_of(p.spec.dtype), rows, p.dim(1)); s.each > 0 && (!s.vectors || s.each == 1)) {
                                      const bool early = few_wait(p.device.sm_count, s.blocks);
                                      Launch& launch = p.launch(p.kernel_in("layer_norm_short", "layer_norm_short_" + p.dtype() + short_kernel(s)), {s.blocks}, s.threads, 0, p.input(0), p.input(1), p.input(2), eps, p.output(), rows, static_cast<int>(p.dim(1)), static_cast<int>(early));
                                      if (early) launch.always_waits();
                                      return;
                                    }
                                    const StayShape s = layer_norm_stays(p.device.sm_count, lanes_of(p.spec.dtype), p.dim(0), p.dim(1));
                                    if (s.stages == 0) return plan_row_op(p, "layer_norm", p.input(1), p.input(2), eps);
                                    p.launch(p.kernel("layer_norm_" + p.dtype() + "_stay_" + std::to_string(s.stages)), {s.blocks}, s.threads, static_cast<unsigned>(s.shared), p.input(0), p.input(1), p.input(2), eps,
                                             p.output(), rows, static_cast<int>(p.dim(1))).always_waits();
                                  },
                                  1});
}
