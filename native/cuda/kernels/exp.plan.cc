#include "common/elementwise.h"

namespace opscope::cuda {
static const Register registered("exp", real_dtypes, one_input, plan_elementwise);
}
