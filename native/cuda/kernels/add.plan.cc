#include "common/elementwise.h"

namespace opscope::cuda {
static const Register registered("add", real_dtypes, two_inputs, plan_elementwise);
}
