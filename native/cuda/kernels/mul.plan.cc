#include "common/elementwise.h"

namespace opscope::cuda {
static const Register registered("mul", real_dtypes, two_inputs, plan_elementwise);
}
