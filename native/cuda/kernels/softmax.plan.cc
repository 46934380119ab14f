#include "common/row.h"

namespace opscope::cuda {
// dims: [rows, cols].
static const Register registered("softmax", real_dtypes, [](Planner& p) { plan_row_op(p); });
}
