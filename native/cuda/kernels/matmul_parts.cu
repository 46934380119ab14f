// What products need beside their kernels: operands as those want them, and the sum of shares of k.
#include "common/early.cuh"
#include "common/mma.cuh"
#include "matmul/sizes.h"
#include "matmul/spaced.h"
#include "matmul/wgmma_place.cuh"

// out [batch, cols, pitch] = x [batch, rows, cols] turned, in tf32 rounded to it; pitch >= rows. grid: (columns / 32, rows / 32, batch), 256 threads.
template <bool ROUND>
__device__ __forceinline__ void turn(const float* __restrict__ x, float* __restrict__ out, int rows, int cols, int pitch) {
  __shared__ float tile[32][33];
  x += static_cast<long long>(blockIdx.z) * rows * cols;
  out += static_cast<long long>(blockIdx.z) * cols * pitch;
  next_may_start();
  const int lane = threadIdx.x % 32, line = threadIdx.x / 32, r0 = blockIdx.y * 32, c0 = blockIdx.x * 32;
#pragma unroll
  for (int i = line; i < 32; i += 8)
    if (r0 + i < rows && c0 + lane < cols) {
      const float v = x[static_cast<long long>(r0 + i) * cols + c0 + lane];
      tile[i][lane] = ROUND ? __uint_as_float(round_tf32(__float_as_uint(v))) : v;
    }
  __syncthreads();
#pragma unroll
  for (int i = line; i < 32; i += 8)
    if (c0 + i < cols && r0 + lane < rows) out[static_cast<long long>(c0 + i) * pitch + r0 + lane] = tile[lane][i];
}

// The same in tiles of 64 x 64 and vectors of 16 bytes, for cols of whole vectors. In the tile, the vectors of a row stand in the order of their number xor that of
// the row's four, so that reads down a column meet different banks.
template <bool ROUND>
__device__ __forceinline__ void turn_wide(const float* __restrict__ x, float* __restrict__ out, int rows, int cols, int pitch) {
  constexpr int ACROSS = 16;
  __shared__ uint4 tile[64 * ACROSS];
  next_may_start();
  x += static_cast<long long>(blockIdx.z) * rows * cols;
  out += static_cast<long long>(blockIdx.z) * cols * pitch;
  const int lane = threadIdx.x % ACROSS, row = threadIdx.x / ACROSS, top = blockIdx.y * 64, left = blockIdx.x * 64;
  // A row or vector outside takes the last inside, and is not written.
  const int from = min(left + lane * 4, cols - 4);
  uint4 v[4];
#pragma unroll
  for (int k = 0; k < 4; k++) v[k] = load16(x + static_cast<long long>(min(top + row + 16 * k, rows - 1)) * cols + from);
#pragma unroll
  for (int k = 0; k < 4; k++) tile[(row + 16 * k) * ACROSS + (lane ^ ((row + 16 * k) / 4))] = v[k];
  __syncthreads();
  if (top + lane * 4 >= rows) return;
#pragma unroll
  for (int q = row; q < ACROSS * 4; q += 16) {
    const int c = q / 4, w = q % 4;
    if (left + q >= cols) continue;
    uint32_t turned[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
      turned[j] = reinterpret_cast<const uint32_t*>(tile + (lane * 4 + j) * ACROSS + (c ^ lane))[w];
      if (ROUND) turned[j] = round_tf32(turned[j]);
    }
    store16(out + static_cast<long long>(left + q) * pitch + top + lane * 4, make_uint4(turned[0], turned[1], turned[2], turned[3]));
  }
}
extern "C" __global__ void __launch_bounds__(256) matmul_turned_f32_wide(const float* x, float* out, int rows, int cols, int pitch) { turn_wide<false>(x, out, rows, cols, pitch); }
extern "C" __global__ void __launch_bounds__(256) matmul_turned_tf32_wide(const float* x, float* out, int rows, int cols, int pitch) { turn_wide<true>(x, out, rows, cols, pitch); }
extern "C" __global__ void __launch_bounds__(256) matmul_turned_f32(const float* x, float* out, int rows, int cols, int pitch) { turn<false>(x, out, rows, cols, pitch); }
extern "C" __global__ void __launch_bounds__(256) matmul_turned_tf32(const float* x, float* out, int rows, int cols, int pitch) { turn<true>(x, out, rows, cols, pitch); }

// Operands copied so that every row starts on 16 bytes; what lies behind a row is not read. A thread has `spaced_each` vectors on their way, each made of the two
// aligned ones that it lies in.
template <int BYTES>
__device__ __forceinline__ void space_rows(const SpacedOperand& x, long long block) {
  using opscope::cuda::spaced_each, opscope::cuda::spaced_threads;
  const long long first = block * (spaced_each * spaced_threads) + threadIdx.x, all = x.rows * x.vectors;
  uint4 low[spaced_each], high[spaced_each];
  int shift[spaced_each];
#pragma unroll
  for (int e = 0; e < spaced_each; e++) {
    const long long i = min(first + e * spaced_threads, all - 1);
    const long long row = (all >> 31) == 0 ? static_cast<unsigned>(i) / static_cast<unsigned>(x.vectors) : i / x.vectors;
    const int column = static_cast<int>(i - row * x.vectors) * (16 / BYTES);
    const unsigned long long start = x.from + (row * x.cols + column) * BYTES, from = start & ~15ull;
    shift[e] = static_cast<int>(start & 15);
    low[e] = load16(reinterpret_cast<const void*>(from));
    high[e] = shift[e] + min(16, (x.cols - column) * BYTES) > 16 ? load16(reinterpret_cast<const void*>(from + 16)) : make_uint4(0, 0, 0, 0);
  }
#pragma unroll
  for (int e = 0; e < spaced_each; e++) {
    const long long i = first + e * spaced_threads;
    if (i >= all) return;
    // By 8, 4, 2 bytes and one.
    const uint4 v = low[e], u = high[e];
    uint32_t w[7] = {v.x, v.y, v.z, v.w, u.x, u.y, u.z};
    if (shift[e] & 8) w[0] = w[2], w[1] = w[3], w[2] = w[4], w[3] = w[5], w[4] = w[6], w[5] = u.w;
    if (shift[e] & 4) w[0] = w[1], w[1] = w[2], w[2] = w[3], w[3] = w[4], w[4] = w[5];
    if (BYTES <= 2 && (shift[e] & 2)) {
#pragma unroll
      for (int k = 0; k < 4; k++) w[k] = __funnelshift_r(w[k], w[k + 1], 16);
      w[4] >>= 16;
    }
    if (BYTES == 1 && (shift[e] & 1)) {
#pragma unroll
      for (int k = 0; k < 4; k++) w[k] = __funnelshift_r(w[k], w[k + 1], 8);
    }
    store16(reinterpret_cast<void*>(x.out + i * 16), make_uint4(w[0], w[1], w[2], w[3]));
  }
}
// Fields of the operand that is chosen are read from the constants of the launch: a reference to either would copy both to local memory.
template <int BYTES>
__device__ __forceinline__ void spaced(const SpacedOperand& a, const SpacedOperand& b) {
  next_may_start();
  if (blockIdx.x < a.blocks) space_rows<BYTES>(a, blockIdx.x);
  else space_rows<BYTES>(b, blockIdx.x - a.blocks);
}
extern "C" __global__ void __launch_bounds__(opscope::cuda::spaced_threads) matmul_spaced_1(const SpacedOperand a, const SpacedOperand b) { spaced<1>(a, b); }
extern "C" __global__ void __launch_bounds__(opscope::cuda::spaced_threads) matmul_spaced_2(const SpacedOperand a, const SpacedOperand b) { spaced<2>(a, b); }
extern "C" __global__ void __launch_bounds__(opscope::cuda::spaced_threads) matmul_spaced_4(const SpacedOperand a, const SpacedOperand b) { spaced<4>(a, b); }

// out[i] = the sum of shares[s][i] over s, in order.
template <class T>
__device__ __forceinline__ void join(const float* __restrict__ shares, T* __restrict__ out, long long n, int splits) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  wait_for_last();
  float total = 0;
#pragma unroll 8
  for (int s = 0; s < splits; s++) total += shares[s * n + i];
  out[i] = from_float<T>(total);
}
#define JOIN(T) \
  extern "C" __global__ void __launch_bounds__(128) matmul_join_##T(const float* shares, T* out, long long n, int splits) { join(shares, out, n, splits); }
JOIN(f32)
JOIN(f16)
JOIN(bf16)

// The same by eight warps for 32 results, each a part of the shares, where there are many of these.
template <class T>
__device__ __forceinline__ void join_parts(const float* __restrict__ shares, T* __restrict__ out, long long n, int splits) {
  constexpr int PARTS = 8;
  __shared__ float sums[PARTS][32];
  const int lane = threadIdx.x % 32, part = threadIdx.x / 32, each = (splits + PARTS - 1) / PARTS, end = min(splits, (part + 1) * each);
  const long long i = static_cast<long long>(blockIdx.x) * 32 + lane;
  wait_for_last();
  float total = 0;
  if (i < n) {
#pragma unroll 8
    for (int s = part * each; s < end; s++) total += shares[s * n + i];
  }
  sums[part][lane] = total;
  __syncthreads();
  if (part > 0 || i >= n) return;
#pragma unroll
  for (int p = 1; p < PARTS; p++) total += sums[p][lane];
  out[i] = from_float<T>(total);
}
#define JOIN_PARTS(T) \
  extern "C" __global__ void __launch_bounds__(256) matmul_join_parts_##T(const float* shares, T* out, long long n, int splits) { join_parts(shares, out, n, splits); }
JOIN_PARTS(f32)
JOIN_PARTS(f16)
JOIN_PARTS(bf16)

// The same of the tiles of a product by warp groups whose k is split (matmul/wgmma.h): share, tile and its rows by columns. TURNED: the result has Y's rows.
template <bool TURNED, class T>
__device__ __forceinline__ void join_tiles(const float* __restrict__ shares, T* __restrict__ out, const WgmmaTask& s, int rows, int columns) {
  const int pieces = rows * columns / opscope::cuda::join_tile_elements, part = blockIdx.x / pieces, i = (blockIdx.x - part * pieces) * opscope::cuda::join_tile_elements + threadIdx.x * 4;
  const Place at = tile_at(s, s.whole + part);
  const int across = TURNED ? rows : columns, row = i / across, column = i - row * across;
  const int to_row = (TURNED ? at.y * columns : at.x * rows) + row, to_column = (TURNED ? at.x * rows : at.y * columns) + column, width = TURNED ? s.x : s.y;
  if (to_row >= (TURNED ? s.y : s.x) || to_column >= width) return;
  wait_for_last();
  float total[4] = {};
#pragma unroll 4
  for (int split = 0; split < static_cast<int>(s.splits.by); split++) {
    const float4 v = *reinterpret_cast<const float4*>(shares + (static_cast<long long>(split) * s.parts + part) * (rows * columns) + i);
    total[0] += v.x, total[1] += v.y, total[2] += v.z, total[3] += v.w;
  }
  T* to = out + (static_cast<long long>(at.batch) * (TURNED ? s.y : s.x) + to_row) * width + to_column;
#pragma unroll
  for (int e = 0; e < 4; e++)
    if (to_column + e < width) to[e] = from_float<T>(total[e]);
}
#define JOIN_TILES(T)                                                                                                                                                                      \
  extern "C" __global__ void __launch_bounds__(256) matmul_join_tiles_##T(const float* shares, T* out, const __grid_constant__ WgmmaTask task, int rows, int columns) {                      \
    join_tiles<false>(shares, out, task, rows, columns);                                                                                                                                   \
  }                                                                                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(256) matmul_join_turned_tiles_##T(const float* shares, T* out, const __grid_constant__ WgmmaTask task, int rows, int columns) {               \
    join_tiles<true>(shares, out, task, rows, columns);                                                                                                                                    \
  }
JOIN_TILES(f32)
JOIN_TILES(f16)
JOIN_TILES(bf16)
