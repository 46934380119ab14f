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
