// gelu: out[i] = x/2 (1 + erf(x / sqrt 2)). // How to build and run: scripts/gpu/kernels.sh.
#include "common/elementwise.cuh"

struct Gelu {
  static constexpr bool is_copy = false;
  template <class T>
  static __device__ __forceinline__ float apply(float x) {
    if constexpr (sizeof(T) == 4) {
      return 0.5f * x * (1.0f + erff(x * 0.70710678f));
    } else {
      // erff would make 16-bit data arithmetic bound. Abramowitz & Stegun 7.1.26 (absolute error 1.5e-7) gives
      // erfc(z), z >= 0, with one division and one exponential; 16-bit rounding is 1000 times coarser.
      const float z = fabsf(x) * 0.70710678f;
      const float t = __fdividef(1.0f, fmaf(0.3275911f, z, 1.0f));
      float p = fmaf(1.061405429f, t, -1.453152027f);
      p = fmaf(p, t, 1.421413741f);
      p = fmaf(p, t, -0.284496736f);
      p = fmaf(p, t, 0.254829592f);
      const float tail = 0.5f * p * t * exp2f(-1.44269504f * z * z);  // erfc(z) / 2
      return x * (x < 0.0f ? tail : 1.0f - tail);
    }
  }
};
OPSCOPE_UNARY(gelu, Gelu)
