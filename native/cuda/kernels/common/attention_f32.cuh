// Products of f32 on tensor cores, of a tf32 number and what is left for each operand, and tiles of rows for attention_f32.cu and attention_f32_wide.cu.
#pragma once
#include "mma.cuh"

// Rows of D elements in shared memory; four more spread what a warp reads over all banks, along rows and, two rows at a time, along columns.
template <int D>
constexpr int PITCH = D + 4;

// Rows first .. first + ROWS of [rows, dim] into shared memory; zeroes beyond.
template <int D, int ROWS, int THREADS>
__device__ __forceinline__ void load_rows(float* shared, const float* x, long long first, long long rows, int dim, bool aligned) {
  constexpr int CHUNKS = D / 4;
#pragma unroll 4
  for (int e = threadIdx.x; e < ROWS * CHUNKS; e += THREADS) {
    const int row = e / CHUNKS, column = e % CHUNKS * 4, valid = first + row < rows ? min(4, max(0, dim - column)) : 0;
    const float* from = valid > 0 ? x + (first + row) * dim + column : x;
    const uint32_t to = shared_address(shared + row * PITCH<D> + column);
    if (aligned) {
      copy_async_16(to, from, valid * 4);
    } else {
#pragma unroll
      for (int j = 0; j < 4; j++) copy_async_4(to + 4 * j, j < valid ? from + j : x, j < valid ? 4 : 0);
    }
  }
}

// The nearest tf32 number, and the rest, of which tensor cores read as many bits.
__device__ __forceinline__ void split(uint32_t x, uint32_t& high, uint32_t& low) {
  high = (x + 0x1000u) & 0xffffe000u;
  low = __float_as_uint(__uint_as_float(x) - __uint_as_float(high));
}

// sums += a b; those of the same sums lie apart, so that none waits for the one before.
template <int MT, int NT>
__device__ __forceinline__ void three_products(float (&sums)[MT][NT][4], const uint32_t (&a_high)[MT][4], const uint32_t (&a_low)[MT][4], const uint32_t (&b_high)[NT][2], const uint32_t (&b_low)[NT][2]) {
#pragma unroll
  for (int kind = 0; kind < 3; kind++)
#pragma unroll
    for (int m = 0; m < MT; m++)
#pragma unroll
      for (int n = 0; n < NT; n++) {
        const auto& b = kind == 1 ? b_low[n] : b_high[n];
        mma(sums[m][n], kind == 0 ? a_low[m] : a_high[m], b[0], b[1], tf32());
      }
}
