// The vector type V of W floats and its operations for the instruction set being compiled. Everything has internal
// linkage: a function compiled with AVX flags must never be the copy that other translation units call.
//
// vload_n / vstore_n touch only the first n (< W) elements; loads put `pad` in the rest.
#pragma once
#include "../kernel.h"

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wignored-attributes"
#endif

#if defined(OPSCOPE_ISA_avx512)
#include "avx512.h"
#elif defined(OPSCOPE_ISA_avx2)
#include "avx2.h"
#elif defined(OPSCOPE_ISA_sse2)
#include "sse2.h"
#else
#include "scalar.h"
#endif

namespace {

using opscope::cpu::Call;

constexpr int64_t LINE = 16;  // floats in a cache line

// Tensor `i` of those that are read / written.
template <class T = float>
inline const T* input(const Call& c, int i) {
  return static_cast<const T*>(c.in[i]);
}
template <class T = float>
inline T* output(const Call& c, int i = 0) {
  return static_cast<T*>(c.out[i]);
}

struct Range {
  int64_t begin, end;
};

// The part of 0..n that belongs to one thread, in whole multiples of `granule` but for the last.
inline Range part(int64_t n, int64_t granule, int thread, int threads) {
  const int64_t units = (n + granule - 1) / granule;
  const int64_t begin = units * thread / threads * granule;
  const int64_t end = units * (thread + 1) / threads * granule;
  return {begin < n ? begin : n, end < n ? end : n};
}

// Saturates: a size that does not fit is refused by the caller.
inline int64_t times(int64_t a, int64_t b) { return a != 0 && b > INT64_MAX / a ? INT64_MAX : a * b; }

inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

}  // namespace
