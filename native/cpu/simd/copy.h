// Short runs of elements, copied as bits.
#pragma once
#include "simd.h"

namespace {

// Copies from STEP bytes on in such steps, the last of which ends with the bytes; fewer in half the steps.
template <int64_t STEP>
inline bool copied(const char* a, char* b, int64_t bytes) {
  if (bytes < STEP) {
    if constexpr (STEP > 4) return copied<STEP / 2>(a, b, bytes);
    else return false;
  }
  int64_t i = 0;
  for (; i + STEP <= bytes; i += STEP) __builtin_memcpy(b + i, a + i, STEP);
  if (i < bytes) __builtin_memcpy(b + bytes - STEP, a + bytes - STEP, STEP);
  return true;
}

// Copies an even number of bytes, whatever they mean, at least two.
inline void copy_bytes(const void* from, void* to, int64_t bytes) {
  const char* a = static_cast<const char*>(from);
  char* b = static_cast<char*>(to);
  if (!copied<(W > 1 ? W * 4 : 8)>(a, b, bytes)) __builtin_memcpy(b, a, 2);
}

}  // namespace
