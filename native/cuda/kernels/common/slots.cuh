// Words of 64 bits by which blocks hand each other results in one access: a value, and with it the mark that it is there. Such a word is 0 before; who takes it
// makes it 0 again.
#pragma once

__device__ __forceinline__ void leave_word(unsigned long long* slot, unsigned long long word) {
#ifdef __CUDA_ARCH__
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(slot)), "l"(word) : "memory");
#endif
}

// The words of the first `count` of the slots `step` apart, once none of them is below `mark`; the others are `mark`. All are read together.
template <int N>
__device__ __forceinline__ void await_words(unsigned long long (&word)[N], const unsigned long long* slots, int step, int count, unsigned long long mark) {
#ifdef __CUDA_ARCH__
  bool all;
  do {
    all = true;
#pragma unroll
    for (int u = 0; u < N; u++) {
      word[u] = mark;
      if (u < count) asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word[u]) : "l"(__cvta_generic_to_global(slots + u * step)) : "memory");
    }
#pragma unroll
    for (int u = 0; u < N; u++) all = all && word[u] >= mark;
  } while (!all);
#endif
}

// The same in 32 bits: a value and no mark, 0 where there is none. A NaN is the usual one.
__device__ __forceinline__ void leave_value(unsigned* slot, float value) {
#ifdef __CUDA_ARCH__
  const unsigned word = value != value ? ~0x7fc00000u : ~__float_as_uint(value);
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(slot)), "r"(word) : "memory");
#endif
}

// The values of four slots side by side, of which the first `count` are waited for; the others are 0.
__device__ __forceinline__ float4 await_values(const unsigned* slots, int count) {
  uint4 word = {};
#ifdef __CUDA_ARCH__
  do {
    asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w) : "l"(__cvta_generic_to_global(slots)) : "memory");
    if (count < 2) word.y = ~0u;
    if (count < 3) word.z = ~0u;
    if (count < 4) word.w = ~0u;
  } while (word.x == 0 || word.y == 0 || word.z == 0 || word.w == 0);
#endif
  return make_float4(__uint_as_float(~word.x), __uint_as_float(~word.y), __uint_as_float(~word.z), __uint_as_float(~word.w));
}
