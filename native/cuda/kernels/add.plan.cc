#include "common/elementwise.h"

namespace opscope::cuda {
static const Register registered("add", real_dtypes, [](Planner& p) { plan_elementwise(p, 2); });
}
