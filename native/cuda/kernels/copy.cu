// copy: out[i] = x[i]. Moves bits, so every value survives. // How to build and run: scripts/gpu/kernels.sh.
#include "common/elementwise.cuh"

struct Copy {
  static constexpr bool is_copy = true;
};
OPSCOPE_UNARY(copy, Copy)
