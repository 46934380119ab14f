#include "common/elementwise.h"

namespace opscope::cuda {
static const Register registered("gelu", real_dtypes, one_input, plan_elementwise);
}
