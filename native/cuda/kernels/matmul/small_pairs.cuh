// What warps that share the k of a small product leave of their sums (matmul_small.cu, matmul_small_tf32.cu).
#pragma once

// Leaves what a warp has of 32 x 32 sums in shared memory as pairs of neighbouring columns: [16 of a lane][lane].
__device__ __forceinline__ void leave_pairs(float2* parts, const float (&sums)[2][4][4], int lane) {
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int half = 0; half < 2; half++) parts[((i * 4 + j) * 2 + half) * 32 + lane] = make_float2(sums[i][j][half * 2], sums[i][j][half * 2 + 1]);
}
