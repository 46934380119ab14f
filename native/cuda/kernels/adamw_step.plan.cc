#include "adamw_step.h"

#include <cmath>

#include "plan.h"

namespace opscope::cuda {
// dims: [n]; scalars: [lr, beta1, beta2, eps, weightDecay, step]; param, grad, m, v.
static const Register registered({"adamw_step", real_dtypes, {1}, [](const OpKernels&, const Dims& d) { return std::vector{inout(d[0]), in(d[0]), inout(d[0]), inout(d[0])}; },
                                  [](Planner& p) {
                                    const auto n = static_cast<long long>(p.dim(0));
                                    const double lr = p.scalar(0), beta1 = p.scalar(1), beta2 = p.scalar(2), step = p.scalar(5);
                                    // 1 - beta^step without the cancellation where beta^step is near 1.
                                    const auto correction = [step](double beta) { return -std::expm1(step * std::log(beta)); };
                                    const auto number = [](double x) { return static_cast<float>(x); };
                                    const AdamwNumbers numbers{number(beta1), number(1 - beta1), number(beta2), number(1 - beta2), number(1 - lr * p.scalar(4)), number(-lr / correction(beta1)),
                                                               number(1 / std::sqrt(correction(beta2))), number(p.scalar(3))};
                                    p.launch(p.kernel("adamw_step_" + p.dtype()), {blocks_of(p.spec.dtype, n)}, 256, 0, p.input(0), p.input(1), p.input(2), p.input(3), n, numbers);
                                  },
                                  6});
}
