// Products whose k is so short that the bytes of the result bound them (matmul_shallow.cu). Pure; see plan_test.cc.
#pragma once

namespace opscope::cuda {

constexpr int shallow_rows = 4;  // of the result, of a thread

// `result_bytes`: smaller results are done sooner by tiles, whose operands a block reads together.
inline bool is_shallow(int k, long long result_bytes) { return k <= 8 && result_bytes >= 4LL << 20; }

}  // namespace opscope::cuda
