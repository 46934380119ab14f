// add: out[i] = a[i] + b[i], in f32, rounded once. // How to build and run: scripts/gpu/kernels.sh.
#include "common/elementwise.cuh"

struct Add {
  static constexpr bool is_copy = false;
  template <class T>
  static __device__ __forceinline__ float apply(float a, float b) { return __fadd_rn(a, b); }
};
OPSCOPE_BINARY(add, Add)
