// Kernels of elementwise/table.h in the plans of other operations.
#pragma once
#include <string>

#include "../plan.h"

namespace opscope::cuda {

// `name`: as in elementwise.cu, with the dtype that it has, without scalars. To the first output.
inline void launch_elementwise(Planner& p, const std::string& name, Dtype dtype, int64_t n, CUdeviceptr a, CUdeviceptr b = 0) {
  constexpr CUdeviceptr absent = 0;
  p.launch(p.kernel_in("elementwise", name), {blocks_of(dtype, n)}, 256, 0, a, b, absent, p.output(), static_cast<long long>(n), 0.0f, 0.0f);
}

}  // namespace opscope::cuda
