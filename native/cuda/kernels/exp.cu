// exp: out[i] = e^x[i]. f32: expf (2 ulp). 16-bit: ex2.approx, whose error is far below their rounding. // How to build and run: scripts/gpu/kernels.sh.
#include "common/elementwise.cuh"

struct Exp {
  static constexpr bool is_copy = false;
  template <class T>
  static __device__ __forceinline__ float apply(float x) {
    return sizeof(T) == 4 ? expf(x) : __expf(x);
  }
};
OPSCOPE_UNARY(exp, Exp)
