// out[c, r] = x[r, c], as bits: transpose_4 and transpose_2 (bytes of an element). A block moves a tile of 32 x 32 (4 bytes) or
// 64 x 64 (2 bytes) elements through shared memory, so that reads and writes are 128 bytes a warp.
#include <cstdint>

namespace {

template <class U, int SIDE>
__device__ __forceinline__ void transpose(const U* __restrict__ x, U* __restrict__ out, long long rows, long long cols, long long tiles_across) {
  constexpr int PER_LANE = SIDE / 32;
  __shared__ U tile[SIDE][SIDE + 4 / sizeof(U)];
  const long long top = blockIdx.x / tiles_across * SIDE, left = blockIdx.x % tiles_across * SIDE;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int r = warp; r < SIDE; r += 8)
#pragma unroll
    for (int k = 0; k < PER_LANE; k++) {
      const int c = lane + 32 * k;
      if (top + r < rows && left + c < cols) tile[r][c] = x[(top + r) * cols + left + c];
    }
  __syncthreads();
#pragma unroll
  for (int c = warp; c < SIDE; c += 8)
#pragma unroll
    for (int k = 0; k < PER_LANE; k++) {
      const int r = lane + 32 * k;
      if (left + c < cols && top + r < rows) out[(left + c) * rows + top + r] = tile[r][c];
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256) transpose_4(const uint32_t* x, uint32_t* out, long long rows, long long cols, long long tiles_across) {
  transpose<uint32_t, 32>(x, out, rows, cols, tiles_across);
}
extern "C" __global__ void __launch_bounds__(256) transpose_2(const uint16_t* x, uint16_t* out, long long rows, long long cols, long long tiles_across) {
  transpose<uint16_t, 64>(x, out, rows, cols, tiles_across);
}
