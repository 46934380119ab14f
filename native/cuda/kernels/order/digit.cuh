// Equal digits of eight bits within a warp.
#pragma once

// Lanes of the warp whose digit is the same as this one's: four instructions for each bit. __match_any_sync is slower (NOTES.md).
__device__ __forceinline__ unsigned same_digit(unsigned digit) {
  unsigned same = 0xffffffffu;
#pragma unroll
  for (int bit = 0; bit < 8; bit++)
    asm volatile(
        "{\n\t.reg .pred set;\n\t.reg .b32 own, votes;\n\t"
        "and.b32 own, %1, %2;\n\tsetp.ne.u32 set, own, 0;\n\tvote.sync.ballot.b32 votes, set, 0xffffffff;\n\t"
        "@!set not.b32 votes, votes;\n\tand.b32 %0, %0, votes;\n\t}"
        : "+r"(same)
        : "r"(digit), "r"(1u << bit));
  return same;
}
