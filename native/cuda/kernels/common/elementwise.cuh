// out[i] = f(a[i], ...) over n elements at 16 bytes a thread and access, U accesses in flight per thread and input.
// `F::apply<T>(x)` or `F::apply<T>(x, y)` gives one element in f32.
#pragma once
#include "vec.cuh"

template <class T, int U, int ARITY, class F>
__device__ __forceinline__ void elementwise(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ out, long long n) {
  constexpr int L = LANES<T>;
  const long long vectors = n / L;
  const long long first = static_cast<long long>(blockIdx.x) * (blockDim.x * U) + threadIdx.x;
  const uint4* va = reinterpret_cast<const uint4*>(a) + first;
  const uint4* vb = reinterpret_cast<const uint4*>(b) + first;
  uint4* vout = reinterpret_cast<uint4*>(out) + first;
  uint4 x[U], y[U];
  const bool whole = first - threadIdx.x + blockDim.x * U <= vectors;
#pragma unroll
  for (int u = 0; u < U; u++)
    if (whole || first + u * blockDim.x < vectors) {
      x[u] = load_stream(va + u * blockDim.x);
      if constexpr (ARITY == 2) y[u] = load_stream(vb + u * blockDim.x);
    }
#pragma unroll
  for (int u = 0; u < U; u++)
    if (whole || first + u * blockDim.x < vectors) {
      if constexpr (F::is_copy) {
        store_stream(vout + u * blockDim.x, x[u]);
      } else {
        float p[L], q[L];
        unpack<T>(x[u], p);
        if constexpr (ARITY == 2) unpack<T>(y[u], q);
#pragma unroll
        for (int j = 0; j < L; j++) {
          if constexpr (ARITY == 2)
            p[j] = F::template apply<T>(p[j], q[j]);
          else
            p[j] = F::template apply<T>(p[j]);
        }
        store_stream(vout + u * blockDim.x, pack<T>(p));
      }
    }
  // The last n % L elements, one thread each.
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x < n - vectors * L) {
    const long long i = vectors * L + threadIdx.x;
    if constexpr (F::is_copy)
      out[i] = a[i];
    else if constexpr (ARITY == 2)
      out[i] = from_float<T>(F::template apply<T>(to_float(a[i]), to_float(b[i])));
    else
      out[i] = from_float<T>(F::template apply<T>(to_float(a[i])));
  }
}

#define OPSCOPE_UNARY_KERNEL(op, T, U, F)                                                                         \
  extern "C" __global__ void __launch_bounds__(256) op##_##T##_##U(const T* a, T* out, long long n) {             \
    elementwise<T, U, 1, F>(a, nullptr, out, n);                                                                  \
  }
#define OPSCOPE_BINARY_KERNEL(op, T, U, F)                                                                        \
  extern "C" __global__ void __launch_bounds__(256) op##_##T##_##U(const T* a, const T* b, T* out, long long n) { \
    elementwise<T, U, 2, F>(a, b, out, n);                                                                        \
  }
// Kernels <op>_<dtype>_<U> for every dtype; `f32` names float.
using f32 = float;
#define OPSCOPE_UNARY(op, F)                                                                             \
  OPSCOPE_UNARY_KERNEL(op, f32, 1, F) OPSCOPE_UNARY_KERNEL(op, f32, 2, F) OPSCOPE_UNARY_KERNEL(op, f32, 4, F)    \
  OPSCOPE_UNARY_KERNEL(op, f16, 1, F) OPSCOPE_UNARY_KERNEL(op, f16, 2, F) OPSCOPE_UNARY_KERNEL(op, f16, 4, F)    \
  OPSCOPE_UNARY_KERNEL(op, bf16, 1, F) OPSCOPE_UNARY_KERNEL(op, bf16, 2, F) OPSCOPE_UNARY_KERNEL(op, bf16, 4, F)
#define OPSCOPE_BINARY(op, F)                                                                            \
  OPSCOPE_BINARY_KERNEL(op, f32, 1, F) OPSCOPE_BINARY_KERNEL(op, f32, 2, F) OPSCOPE_BINARY_KERNEL(op, f32, 4, F) \
  OPSCOPE_BINARY_KERNEL(op, f16, 1, F) OPSCOPE_BINARY_KERNEL(op, f16, 2, F) OPSCOPE_BINARY_KERNEL(op, f16, 4, F) \
  OPSCOPE_BINARY_KERNEL(op, bf16, 1, F) OPSCOPE_BINARY_KERNEL(op, bf16, 2, F) OPSCOPE_BINARY_KERNEL(op, bf16, 4, F)
