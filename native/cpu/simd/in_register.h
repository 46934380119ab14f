#pragma once
#include "simd.h"

namespace {

// The same vector. Compilers load what two or three multiplications meet once for each of them, and loads are then what takes the time (AVX-512).
OPSCOPE_INLINE V in_register(V v) {
#if defined(OPSCOPE_ISA_avx512) && defined(__GNUC__)
  __asm__("" : "+v"(v));
#endif
  return v;
}

// Whether they would, for vectors that meet so many rows.
constexpr bool is_loaded_again(int rows) { return rows == 2 || rows == 3; }

}  // namespace
