// The plan that every element-wise op shares. dims: [n].
#pragma once
#include "../plan.h"

namespace opscope::cuda {

inline const std::vector<Dtype> real_dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16};

inline constexpr OpShape one_input{1, [](const std::vector<int64_t>& d) { return std::vector<int64_t>{d[0], d[0]}; }};
inline constexpr OpShape two_inputs{1, [](const std::vector<int64_t>& d) { return std::vector<int64_t>{d[0], d[0], d[0]}; }};

inline void plan_elementwise(Planner& p) {
  constexpr unsigned threads = 256;
  const auto n = static_cast<long long>(p.dim(0));
  const int64_t lanes = 16 / static_cast<int64_t>(dtype_bytes(p.spec.dtype));
  const CUfunction f = p.kernel(p.spec.op + "_" + p.dtype());
  const Dim3 grid{static_cast<unsigned>(ceil_div(ceil_div(n, lanes), threads))};
  if (p.spec.inputs.size() == 2)
    p.launch(f, grid, threads, 0, p.input(0), p.input(1), p.output(), n);
  else
    p.launch(f, grid, threads, 0, p.input(0), p.output(), n);
}

}  // namespace opscope::cuda
