// The plan that every element-wise op shares. dims: [n].
#pragma once
#include <algorithm>

#include "../plan.h"

namespace opscope::cuda {

inline const std::vector<Dtype> real_dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16};

// `widest`: accesses in flight per thread and input at large sizes (a kernel <op>_<dtype>_<widest> exists).
inline void plan_elementwise(Planner& p, int widest) {
  constexpr unsigned threads = 256;
  const auto n = static_cast<long long>(p.dim(0));
  const int64_t vectors = n * static_cast<int64_t>(dtype_bytes(p.spec.dtype)) / 16;
  // Below about four full waves of blocks more blocks beat more work per thread.
  int unroll = widest;
  while (unroll > 1 && vectors < static_cast<int64_t>(threads) * unroll * p.device.sm_count * 8) unroll /= 2;
  const CUfunction f = p.kernel(p.spec.op + "_" + p.dtype() + "_" + std::to_string(unroll));
  const Dim3 grid{static_cast<unsigned>(std::max<int64_t>(1, ceil_div(vectors, static_cast<int64_t>(threads) * unroll)))};
  if (p.spec.inputs.size() == 2)
    p.launch(f, grid, threads, 0, p.input(0), p.input(1), p.output(), n);
  else
    p.launch(f, grid, threads, 0, p.input(0), p.output(), n);
}

}  // namespace opscope::cuda
