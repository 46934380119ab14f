#include "common/row.h"

namespace opscope::cuda {
// dims: [rows, cols].
static const bool registered = [] {
  for (const char* op : {"softmax", "log_softmax"})
    Register({op, real_dtypes, {2}, [](const OpKernels&, const Dims& d) { return std::vector{in(d[0] * d[1]), out(d[0] * d[1])}; }, [](Planner& p) { plan_row_op(p, "softmax"); }});
  return true;
}();
}
