#include "common/elementwise.h"

namespace opscope::cuda {
static const Register registered("copy", real_dtypes, one_input, plan_elementwise);
}
