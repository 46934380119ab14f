// out[c, r] = x[r, c], as bits: transpose_4 and transpose_2 (bytes of an element). A block moves a tile of 32 x 32 (4 bytes) or
// 64 x 64 (2 bytes) elements through shared memory, so that reads and writes are 128 bytes a warp. transpose_2_small: 32 x 32 elements of 2 bytes. transpose_pairs: two elements of 2 bytes at a time, where rows and columns are even.
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

// 64 x 64 elements as 64 rows of 32 pairs.
__device__ __forceinline__ void transpose_of_pairs(const uint16_t* __restrict__ x, uint16_t* __restrict__ out, long long rows, long long cols, long long tiles_across) {
  __shared__ uint32_t tile[64][33];
  const long long top = blockIdx.x / tiles_across * 64, left = blockIdx.x % tiles_across * 64;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int r = warp; r < 64; r += 8)
    if (top + r < rows && left + 2 * lane < cols) tile[r][lane] = *reinterpret_cast<const uint32_t*>(x + (top + r) * cols + left + 2 * lane);
  __syncthreads();
  // Two columns at a time: this lane's rows 2 * lane and the next.
#pragma unroll
  for (int c = warp; c < 32; c += 8) {
    if (left + 2 * c >= cols || top + 2 * lane >= rows) continue;
    const uint32_t upper = tile[2 * lane][c], lower = tile[2 * lane + 1][c];
    uint16_t* to = out + (left + 2 * c) * rows + top + 2 * lane;
    *reinterpret_cast<uint32_t*>(to) = __byte_perm(upper, lower, 0x5410);
    *reinterpret_cast<uint32_t*>(to + rows) = __byte_perm(upper, lower, 0x7632);
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256) transpose_pairs(const uint16_t* x, uint16_t* out, long long rows, long long cols, long long tiles_across) {
  transpose_of_pairs(x, out, rows, cols, tiles_across);
}
extern "C" __global__ void __launch_bounds__(256) transpose_4(const uint32_t* x, uint32_t* out, long long rows, long long cols, long long tiles_across) {
  transpose<uint32_t, 32>(x, out, rows, cols, tiles_across);
}
extern "C" __global__ void __launch_bounds__(256) transpose_2_small(const uint16_t* x, uint16_t* out, long long rows, long long cols, long long tiles_across) {
  transpose<uint16_t, 32>(x, out, rows, cols, tiles_across);
}
extern "C" __global__ void __launch_bounds__(256) transpose_2(const uint16_t* x, uint16_t* out, long long rows, long long cols, long long tiles_across) {
  transpose<uint16_t, 64>(x, out, rows, cols, tiles_across);
}
