// The kernels of elementwise/table.h: <op>_<dtype>(a, b, c, out, n, s, t), with null for inputs that the op has not; for
// BROADCAST also <op>_<dtype>_row, _column and _scalar(a, b, out, n, cols). Of few elements also _few_row and _few_column.
#include "elementwise/functions.cuh"
#include "elementwise/kernel.cuh"

#define EACH_DTYPE(X, ...) X(f32, __VA_ARGS__) X(f16, __VA_ARGS__) X(bf16, __VA_ARGS__)

#define ELEMENTWISE_KERNEL(T, op, inputs)                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(256) op##_##T(const T* a, const T* b, const T* c, T* out, long long n, float s, float t) {            \
    elementwise<inputs>(a, b, c, out, n, [=](float x, float y, float z) { return of_##op<T>(x, y, z, s, t); });                                        \
  }
#define SPREAD_KERNEL(T, op, spreading)                                                                                                            \
  extern "C" __global__ void __launch_bounds__(256) op##_##T##_##spreading(const T* a, const T* b, T* out, long long n, long long cols) {          \
    spread<Spread::spreading>(a, b, out, n, cols, [=](float x, float y, float z) { return of_##op<T>(x, y, z, 0.0f, 0.0f); });                         \
  }
#define SPREAD_FEW_KERNEL(T, op, spreading)                                                                                                        \
  extern "C" __global__ void __launch_bounds__(256) op##_##T##_few_##spreading(const T* a, const T* b, T* out, int n, int cols, Divide by_cols) {      \
    spread_few<Spread::spreading>(a, b, out, n, cols, by_cols, [=](float x, float y, float z) { return of_##op<T>(x, y, z, 0.0f, 0.0f); });            \
  }
#define COPY_KERNEL(T, op)                                                                                                                         \
  extern "C" __global__ void __launch_bounds__(256) op##_##T(const T* a, const T*, const T*, T* out, long long n, float, float) { copy_bits(a, out, n); }

#define ELEMENTWISE(op, inputs, scalars, ...)                                                                                                      \
  template <class T>                                                                                                                               \
  __device__ __forceinline__ float of_##op([[maybe_unused]] float a, [[maybe_unused]] float b, [[maybe_unused]] float c, [[maybe_unused]] float s, [[maybe_unused]] float t) { \
    return __VA_ARGS__;                                                                                                                            \
  }                                                                                                                                                \
  EACH_DTYPE(ELEMENTWISE_KERNEL, op, inputs)
#define BROADCAST(op, ...)                                                                                                                         \
  ELEMENTWISE(op, 2, 0, __VA_ARGS__)                                                                                                               \
  EACH_DTYPE(SPREAD_KERNEL, op, row) EACH_DTYPE(SPREAD_KERNEL, op, column) EACH_DTYPE(SPREAD_KERNEL, op, scalar) \
  EACH_DTYPE(SPREAD_FEW_KERNEL, op, row) EACH_DTYPE(SPREAD_FEW_KERNEL, op, column)
#define COPY(op) EACH_DTYPE(COPY_KERNEL, op)
#include "elementwise/table.h"
