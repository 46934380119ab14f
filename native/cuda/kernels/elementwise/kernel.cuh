// out[i] = f(a[i], ...) over n elements, 16 bytes per thread and tensor, the elements behind the last vector by a thread each. One access in flight per thread and many threads
// move more than several in flight per thread (copy of 64M f32 on an H200: 4.17 against 3.95 TB/s), and start sooner.
#pragma once
#include "../common/divide.h"
#include "../common/start_early.cuh"
#include "../common/vec.cuh"

// Where the second input's element of i lies: at i, or as a row, a column or a scalar over rows of `cols` elements. The
// numbers are those of the dims (elementwise.plan.cc).
enum class Spread { none, row, column, scalar };

// `f(a, b, c)` gives one element in f32; the inputs beyond INPUTS are not read.
template <int INPUTS, class T, class F>
__device__ __forceinline__ void elementwise(const T* __restrict__ a, const T* __restrict__ b, const T* __restrict__ c, T* __restrict__ out, long long n, F f) {
  constexpr int L = LANES<T>;
  const long long t = thread_of_grid(), i = t * L;
  if (i + L <= n) {
    uint4 x;
    if constexpr (INPUTS > 0) x = load16(a + i);
    float p[L] = {}, q[L] = {}, r[L] = {};
    if constexpr (INPUTS > 1) unpack<T>(load16(b + i), q);
    if constexpr (INPUTS > 2) unpack<T>(load16(c + i), r);
    if constexpr (INPUTS > 0) unpack<T>(x, p);
#pragma unroll
    for (int j = 0; j < L; j++) p[j] = f(p[j], q[j], r[j]);
    store16(out + i, pack<T>(p));
  } else if (const long long j = element_behind<T>(t, n); j < n) {
    out[j] = from_float<T>(f(INPUTS > 0 ? to_float(a[j]) : 0.0f, INPUTS > 1 ? to_float(b[j]) : 0.0f, INPUTS > 2 ? to_float(c[j]) : 0.0f));
  }
}

template <class T>
__device__ __forceinline__ void copy_bits(const T* __restrict__ a, T* __restrict__ out, long long n) {
  const long long t = thread_of_grid(), i = t * LANES<T>;
  if (i + LANES<T> <= n)
    store16(out + i, load16(a + i));
  else if (const long long j = element_behind<T>(t, n); j < n)
    out[j] = a[j];
}

// The same with the second input spread over rows of `cols` elements.
template <Spread SPREAD, class T, class F>
__device__ __forceinline__ void spread(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ out, long long n, long long cols, F f) {
  constexpr int L = LANES<T>;
  const long long t = thread_of_grid();
  if constexpr (SPREAD == Spread::row) start_early();
  const bool whole = t * L + L <= n;
  const long long i = whole ? t * L : element_behind<T>(t, n);
  if (i >= n) return;
  // Row and column of the first element; 64-bit division takes several times as long.
  long long row = 0, column = 0;
  if constexpr (SPREAD != Spread::scalar) {
    row = (n >> 32) == 0 ? static_cast<uint32_t>(i) / static_cast<uint32_t>(cols) : i / cols;
    column = i - row * cols;
  }
  if (!whole) {
    out[i] = from_float<T>(f(to_float(a[i]), to_float(b[SPREAD == Spread::row ? column : SPREAD == Spread::column ? row : 0]), 0.0f));
    return;
  }
  const uint4 x = load16(a + i);
  float p[L], q[L];
  if (SPREAD == Spread::row && cols % L == 0) {
    unpack<T>(load16(b + column), q);
  } else {
#pragma unroll
    for (int j = 0; j < L; j++) {
      q[j] = to_float(b[SPREAD == Spread::row ? column : SPREAD == Spread::column ? row : 0]);
      // Behind the last element of `a` the last row stays: nothing of b lies behind it.
      if (SPREAD != Spread::scalar && ++column == cols) column = 0, row += i + j + 1 < n;
    }
  }
  unpack<T>(x, p);
#pragma unroll
  for (int j = 0; j < L; j++) p[j] = f(p[j], q[j], 0.0f);
  store16(out + i, pack<T>(p));
}

// The same by an element of each thread, where elements are few, over rows that are no whole vectors, or a column: fewer instructions, and no element of b after another.
template <Spread SPREAD, class T, class F>
__device__ __forceinline__ void spread_few(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ out, int n, int cols, Divide by_cols, F f) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if constexpr (SPREAD == Spread::row) start_early();
  if (i >= n) return;
  const float x = to_float(a[i]);
  const int row = divided(i, by_cols);
  out[i] = from_float<T>(f(x, to_float(b[SPREAD == Spread::row ? i - row * cols : row]), 0.0f));
}
