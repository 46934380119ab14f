// Cases of every operation, drawn from a seed: sizes from one to what plans take, odd, whole and next to powers of two.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/plan.h"

namespace opscope::cuda {

// `count` cases of `op`, in turn of each of its dtypes, all of which check_shape takes.
std::vector<CaseSpec> drawn_cases(const OpKernels& op, int count, uint64_t seed = 1);

// The case as `matmul bf16 1 64 64 64 0 1`.
std::string words_of(const CaseSpec& spec);

}  // namespace opscope::cuda
