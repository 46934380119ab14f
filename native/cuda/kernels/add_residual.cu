// out[i, j] = a[i, j] + b[j] + c[i, j].
//   add_residual_<dtype>          16 bytes of each tensor for a thread, of rows that are whole vectors
//   add_residual_any_<dtype>      an element for a thread
#include "common/divide.h"
#include "common/start_early.cuh"
#include "common/vec.cuh"

namespace {

// The place in its row of the element or vector `at`; `by_cols` where there are fewer than 2^31.
__device__ __forceinline__ long long column_of(long long at, long long count, long long cols, Divide by_cols) {
  if (count >> 31 == 0) return at - static_cast<long long>(divided(static_cast<int>(at), by_cols)) * cols;
  return at % cols;
}

// `n` vectors in rows of `cols`.
template <class T>
__device__ __forceinline__ void add_vectors(const T* __restrict__ a, const T* __restrict__ b, const T* __restrict__ c, T* __restrict__ out, long long n, long long cols, Divide by_cols) {
  constexpr int L = LANES<T>;
  const long long at = thread_of_grid();
  start_early();
  if (at >= n) return;
  const uint4 x = load16(a + at * L), z = load16(c + at * L), y = load16(b + column_of(at, n, cols, by_cols) * L);
  float p[L], q[L], r[L];
  unpack<T>(x, p), unpack<T>(y, q), unpack<T>(z, r);
#pragma unroll
  for (int j = 0; j < L; j++) p[j] = __fadd_rn(__fadd_rn(p[j], q[j]), r[j]);
  store16(out + at * L, pack<T>(p));
}

template <class T>
__device__ __forceinline__ void add_elements(const T* __restrict__ a, const T* __restrict__ b, const T* __restrict__ c, T* __restrict__ out, long long n, long long cols, Divide by_cols) {
  const long long at = thread_of_grid();
  start_early();
  if (at < n) out[at] = from_float<T>(__fadd_rn(__fadd_rn(to_float(a[at]), to_float(b[column_of(at, n, cols, by_cols)])), to_float(c[at])));
}

}  // namespace

#define OPSCOPE_ADD_RESIDUAL(T)                                                                                                                                                                                       \
  extern "C" __global__ void __launch_bounds__(256) add_residual_##T(const T* a, const T* b, const T* c, T* out, long long n, long long cols, Divide by_cols) { add_vectors(a, b, c, out, n, cols, by_cols); } \
  extern "C" __global__ void __launch_bounds__(256) add_residual_any_##T(const T* a, const T* b, const T* c, T* out, long long n, long long cols, Divide by_cols) { add_elements(a, b, c, out, n, cols, by_cols); }

OPSCOPE_ADD_RESIDUAL(f32)
OPSCOPE_ADD_RESIDUAL(f16)
OPSCOPE_ADD_RESIDUAL(bf16)
