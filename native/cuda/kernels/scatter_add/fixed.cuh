// Elements of f32, f16 and bf16 as multiples of one unit, so that their sums are exact and their order does not matter. For scatter_fixed.cu and scatter_spans.cu.
// The unit follows from the largest of the first elements, so that nearly all others are multiples of it, of few enough bits for n of them. One that is not is added to words of 32 bits of its
// cell, each in a sum of 64 bits of its own, which hold every finite f32; infinities and NaN are noted as bits.
#pragma once
#include "../scatter_fixed.h"
#include "mantissa.cuh"

using Sum = unsigned long long;
enum Special : unsigned { plus = 1, minus = 2, none = 4, specials = 1u << sum_words, all_words = 2 * specials - 1 };

// Sums of the cells in units of 2^(unit - 150), words of those that are no multiples [sum_words, cells], bits of infinities [cells], and the unit, followed by the words that any of some cells has, or null where no one asks.
struct Sums {
  Sum* own;
  Sum* words;
  unsigned* special;
  unsigned* notes;
  long long cells;
};
__device__ __forceinline__ void note(const Sums& s, long long cell, unsigned bits) {
  if (s.notes == nullptr) return;
  unsigned* const own = s.notes + 1 + cell / noted_cells;
  if ((__ldcg(own) & bits) != bits) atomicOr(own, bits);
}
static __device__ __noinline__ void add_words(const Sums& s, unsigned bits, long long cell) {
  const unsigned exponent = bits >> 23 & 0xff;
  const bool negative = bits >> 31 != 0;
  if (exponent == 0xff) {
    atomicOr(s.special + cell, (bits & 0x7fffff) != 0 ? none : negative ? minus : plus);
    return note(s, cell, specials);
  }
  const unsigned place = max(exponent, 1u) - 1, word = place / 32;
  const Sum all = static_cast<Sum>((bits & 0x7fffff) | (exponent > 0 ? 0x800000 : 0)) << place % 32, low = all & 0xffffffffu, high = all >> 32;
  atomicAdd(s.words + word * s.cells + cell, negative ? 0 - low : low);
  if (high > 0) atomicAdd(s.words + (word + 1) * s.cells + cell, negative ? 0 - high : high);
  note(s, cell, (high > 0 ? 3u : 1u) << word);
}

// The exponent of the unit. `bits`: of the magnitude of what is added to a sum.
template <class T>
__device__ __forceinline__ int unit_of(const T* __restrict__ src, int elements, int bits) {
  __shared__ unsigned most;
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  // One element of each thread, the same in every block.
  unsigned own = threadIdx.x < static_cast<unsigned>(elements) ? __float_as_uint(to_float(src[threadIdx.x])) & 0x7fffffff : 0;
  if (own >= 0x7f800000) own = 0;
  own = __reduce_max_sync(0xffffffffu, own);
  if (threadIdx.x % 32 == 0) atomicMax(&most, own);
  __syncthreads();
  // Values of up to four times as much have the bits; of none but zeros, of four.
  return (most == 0 ? 127 : static_cast<int>(most >> 23)) + 2 - (bits - 24);
}

// Adds `value` to the sum of its cell by add(cell, multiple of the unit). False where it went to words.
template <class T, class Add>
__device__ __forceinline__ bool add_element(const Sums& s, float value, int cell, int unit, int bits, const Add& add) {
  constexpr int REST = 24 - MANTISSA<T>;
  const unsigned own = __float_as_uint(value);
  const int exponent = static_cast<int>(own >> 23 & 0xff), shift = exponent - unit + REST;
  if (exponent > 0 && shift >= 0 && shift <= bits - MANTISSA<T>) {
    const Sum multiple = static_cast<Sum>(((own & 0x7fffff) | 0x800000) >> REST) << shift;
    add(cell, own >> 31 ? 0 - multiple : multiple);
    return true;
  }
  if ((own & 0x7fffffff) == 0) return true;
  add_words(s, own, cell);
  return false;
}

// 2 to the power of `exponent`, a normal number.
__device__ __forceinline__ double power_of_two(int exponent) { return __hiloint2double((exponent + 1023) << 20, 0); }

// What the words of a cell come to, which are left at zero.
static __device__ __noinline__ double of_words(const Sums& s, unsigned used, long long cell) {
  double total = 0;
  for (int w = 0; w < sum_words; w++)
    if (used >> w & 1) {
      Sum* const word = s.words + w * s.cells + cell;
      total += static_cast<double>(static_cast<long long>(__ldcg(word))) * power_of_two(32 * w - 149);
      *word = 0;
    }
  if (used & specials) {
    const unsigned special = __ldcg(s.special + cell);
    s.special[cell] = 0;
    if (special != 0) total = __hiloint2double(special == plus ? 0x7ff00000 : special == minus ? static_cast<int>(0xfff00000) : 0x7ff80000, 0);
  }
  return total;
}
