// One step of AdamW; the formula stands in core/ops/adamw_step/op.ts. 16 bytes of each tensor per thread.
#include "adamw_step.h"
#include "common/vec.cuh"

namespace {

template <class T>
__device__ __forceinline__ void step(const AdamwNumbers& a, float& param, float grad, float& m, float& v) {
  m = fmaf(a.keep1, m, a.new1 * grad);
  v = fmaf(a.keep2, v, a.new2 * grad * grad);
  param = fmaf(a.rate, m / fmaf(sqrtf(v), a.spread, a.eps), param * a.decay);
}

template <class T>
__device__ __forceinline__ void adamw(T* __restrict__ param, const T* __restrict__ grad, T* __restrict__ m, T* __restrict__ v, long long n, const AdamwNumbers& a) {
  constexpr int L = LANES<T>;
  const long long t = thread_of_grid(), i = t * L;
  if (i + L <= n) {
    float p[L], g[L], first[L], second[L];
    unpack<T>(load16(param + i), p);
    unpack<T>(load16(grad + i), g);
    unpack<T>(load16(m + i), first);
    unpack<T>(load16(v + i), second);
#pragma unroll
    for (int j = 0; j < L; j++) step<T>(a, p[j], g[j], first[j], second[j]);
    store16(param + i, pack<T>(p));
    store16(m + i, pack<T>(first));
    store16(v + i, pack<T>(second));
  } else if (const long long j = element_behind<T>(t, n); j < n) {
    float p = to_float(param[j]), first = to_float(m[j]), second = to_float(v[j]);
    step<T>(a, p, to_float(grad[j]), first, second);
    param[j] = from_float<T>(p);
    m[j] = from_float<T>(first);
    v[j] = from_float<T>(second);
  }
}

}  // namespace

#define ADAMW(T) \
  extern "C" __global__ void __launch_bounds__(256) adamw_step_##T(T* param, const T* grad, T* m, T* v, long long n, const AdamwNumbers a) { adamw(param, grad, m, v, n, a); }
ADAMW(f32)
ADAMW(f16)
ADAMW(bf16)
