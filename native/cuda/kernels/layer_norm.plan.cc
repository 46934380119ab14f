#include "common/row.h"

namespace opscope::cuda {
// dims: [tokens, dim]; inputs x, weight, bias.
static const Register registered("layer_norm", real_dtypes, {2, [](const std::vector<int64_t>& d) { return std::vector<int64_t>{d[0] * d[1], d[1], d[1], d[0] * d[1]}; }},
                                 [](Planner& p) { plan_row_op(p, p.input(1), p.input(2)); });
}
