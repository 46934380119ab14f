// Sums on their way to memory.
#pragma once

// Sums times 1, as a number that the compiler cannot foresee, so that what is stored lies in other registers than what multiply-adds add to. A vector that is stored or loaded is in neighbouring
// registers that start at a multiple of its length: multiply-adds of such sums and such operands read two of their three operands from one bank of registers (NOTES.md). `positive`: any number above 0.
template <int ROWS, int COLUMNS>
__device__ __forceinline__ void to_be_stored(float (&sums)[ROWS][COLUMNS], int positive) {
  const float one = positive > 0 ? 1.0f : 0.0f;
#pragma unroll
  for (int i = 0; i < ROWS; i++)
#pragma unroll
    for (int j = 0; j < COLUMNS; j++) sums[i][j] *= one;
}
