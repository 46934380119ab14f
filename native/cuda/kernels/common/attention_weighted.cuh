// Weighted values of a key that a thread adds up in vectors of 16 bytes.
#pragma once
#include "vec.cuh"

// Adds `weight` times C vectors of L elements of T to `sum`.
template <class T, int C, int L>
__device__ __forceinline__ void add_weighted(float weight, const uint4 (&values)[C], float (&sum)[C][L]) {
#pragma unroll
  for (int c = 0; c < C; c++) {
    float part[L];
    unpack<T>(values[c], part);
#pragma unroll
    for (int j = 0; j < L; j++) sum[c][j] = fmaf(weight, part[j], sum[c][j]);
  }
}
