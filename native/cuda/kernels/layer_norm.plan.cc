#include "common/row.h"

namespace opscope::cuda {
// dims: [tokens, dim]; inputs x, weight, bias.
static const Register registered("layer_norm", real_dtypes, [](Planner& p) { plan_row_op(p, p.input(1), p.input(2)); });
}
