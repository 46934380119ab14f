// Functions of one element in f32 that the table of element-wise operations and others share. f32 takes the library's
// function (2 ulp or less); 16-bit dtypes take the processor's approximation, whose error is far below their rounding.
#pragma once
#include "../common/arithmetic.cuh"
#include "../common/vec.cuh"

// The larger / smaller of two; NaN where one is NaN, as in PyTorch.
__device__ __forceinline__ float max_or_nan(float a, float b) {
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
__device__ __forceinline__ float min_or_nan(float a, float b) {
  float y;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}

template <class T>
__device__ __forceinline__ float exponential(float x) { return sizeof(T) == 4 ? expf(x) : __expf(x); }
template <class T>
__device__ __forceinline__ float logarithm(float x) { return sizeof(T) == 4 ? logf(x) : __logf(x); }
template <class T>
__device__ __forceinline__ float quotient(float a, float b) { return sizeof(T) == 4 ? __fdiv_rn(a, b) : __fdividef(a, b); }

template <class T>
__device__ __forceinline__ float square_root(float x) {
  if constexpr (sizeof(T) == 4) return __fsqrt_rn(x);
  float y;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

template <class T>
__device__ __forceinline__ float hyperbolic_tangent(float x) {
  if constexpr (sizeof(T) == 4) return tanhf(x);
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

template <class T>
__device__ __forceinline__ float sigmoid(float x) { return quotient<T>(1.0f, 1.0f + exponential<T>(-x)); }

template <class T>
__device__ __forceinline__ float silu(float x) { return quotient<T>(x, 1.0f + exponential<T>(-x)); }

// d silu / dx = s (1 + x (1 - s)), s the sigmoid.
template <class T>
__device__ __forceinline__ float silu_slope(float x) {
  const float s = sigmoid<T>(x);
  return s * fmaf(x, 1.0f - s, 1.0f);
}

// erfc(|x| / sqrt 2) / 2 and e^(-x^2 / 2). erff would make 16-bit data arithmetic bound: Abramowitz & Stegun 7.1.26 (absolute
// error 1.5e-7) takes one reciprocal and one exponential, and 16-bit rounding is 1000 times coarser. Its factors 1 / sqrt 2 and 1 / 2 stand in the
// constants, and the processor's functions are taken without what they do for numbers below the normal ones.
__device__ __forceinline__ float normal_tail(float x, float& bell) {
  float t;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(t) : "f"(fmaf(0.23164189f, fabsf(x), 1.0f)));
  float p = fmaf(0.5307027145f, t, -0.7265760135f);
  p = fmaf(p, t, 0.7107068705f);
  p = fmaf(p, t, -0.142248368f);
  p = fmaf(p, t, 0.127414796f);
  bell = exp2_fast(-0.72134752f * x * x);
  return p * t * bell;
}

// x/2 (1 + erf(x / sqrt 2)).
template <class T>
__device__ __forceinline__ float gelu(float x) {
  if constexpr (sizeof(T) == 4) return 0.5f * x * (1.0f + erff(x * 0.70710678f));
  float bell;
  const float tail = normal_tail(x, bell);
  return x * (x < 0.0f ? tail : 1.0f - tail);
}

// d gelu / dx = Phi(x) + x phi(x), Phi and phi the normal distribution and its density.
template <class T>
__device__ __forceinline__ float gelu_slope(float x) {
  constexpr float density = 0.39894228f;  // 1 / sqrt(2 pi)
  if constexpr (sizeof(T) == 4) return fmaf(x * density, expf(-0.5f * x * x), 0.5f * (1.0f + erff(x * 0.70710678f)));
  float bell;
  const float tail = normal_tail(x, bell);
  return fmaf(x * density, bell, x < 0.0f ? tail : 1.0f - tail);
}
