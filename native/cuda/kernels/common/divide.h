// Division of numbers below 2^31 by a number that the host knows, as a product and a shift (Granlund & Montgomery 1994): a cold call of a few microseconds ends sooner
// without the twenty instructions of a division.
#pragma once
#include <cstdint>

struct Divide {
  unsigned factor, shift;
};

inline Divide divide_by(int64_t divisor) {
  unsigned bits = 0;
  while (bits < 31 && (int64_t{1} << bits) < divisor) bits++;
  return {static_cast<unsigned>(((uint64_t{1} << (31 + bits)) + static_cast<uint64_t>(divisor) - 1) / static_cast<uint64_t>(divisor)), bits};
}

#ifdef __CUDACC__
__device__ __forceinline__ int divided(int n, Divide d) { return static_cast<int>(__umulhi(static_cast<unsigned>(n) << 1, d.factor) >> d.shift); }
#endif
