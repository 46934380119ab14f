// Kernels of elementwise/table.h in the plans of other operations.
#pragma once
#include <string>

#include "../plan.h"

namespace opscope::cuda {

// `name`: as in elementwise.cu, with the dtype that it has, without scalars. To the first output.
inline void launch_elementwise(Planner& p, const std::string& name, Dtype dtype, int64_t n, CUdeviceptr a, CUdeviceptr b = 0) {
  constexpr CUdeviceptr absent = 0;
  const int64_t lanes = 16 / static_cast<int64_t>(dtype_bytes(dtype));
  p.launch(p.kernel_in("elementwise", name), {ceil_div(n, lanes * 256)}, 256, 0, a, b, absent, p.output(), static_cast<long long>(n), 0.0f, 0.0f);
}

}  // namespace opscope::cuda
