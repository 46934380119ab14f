// out[i, j] = scaleA[i] * scaleB[j] * sum over l of a[i, l] * b[j, l], in bf16: int8 exactly in i32, fp8 e4m3 in f32. _mma_<64|128>: on tensor
// cores; fp8 before sm_89: 64 x 64 results of a block, 32 elements of l at a time, 4 x 4 results per thread.
#include <cuda_fp8.h>

#include "common/product.cuh"
#include "common/tiles.cuh"

namespace {

constexpr int TILE = 64, DEPTH = 32;

__device__ __forceinline__ float wide(__nv_fp8_e4m3 v) { return static_cast<float>(v); }

template <class T, class Sum>
__device__ __forceinline__ void multiply(const T* __restrict__ a, const T* __restrict__ b, const float* __restrict__ scale_a, const float* __restrict__ scale_b, bf16* __restrict__ out, long long m,
                                         long long n, long long k, long long tiles_across) {
  __shared__ Sum left[DEPTH][TILE + 4], right[DEPTH][TILE + 4];
  const long long row = blockIdx.x / tiles_across * TILE, column = blockIdx.x % tiles_across * TILE;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  Sum sum[4][4] = {};
  for (long long base = 0; base < k; base += DEPTH) {
    for (int i = threadIdx.x; i < TILE * DEPTH; i += 256) {
      const int l = i % DEPTH, r = i / DEPTH;
      const bool inside = base + l < k;
      left[l][r] = inside && row + r < m ? wide(a[(row + r) * k + base + l]) : Sum(0);
      right[l][r] = inside && column + r < n ? wide(b[(column + r) * k + base + l]) : Sum(0);
    }
    __syncthreads();
#pragma unroll 8
    for (int l = 0; l < DEPTH; l++) {
      Sum u[4], v[4];
#pragma unroll
      for (int i = 0; i < 4; i++) u[i] = left[l][ty + 16 * i], v[i] = right[l][tx + 16 * i];
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) sum[i][j] += u[i] * v[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const long long r = row + ty + 16 * i, c = column + tx + 16 * j;
      if (r < m && c < n) out[r * n + c] = from_float<bf16>(scale_a[r] * scale_b[c] * static_cast<float>(sum[i][j]));
    }
}

template <class T, int BM, int BN, int WM, int WN>
__device__ __forceinline__ void multiply_mma(const T* a, const T* b, const float* scale_a, const float* scale_b, bf16* out, int m, int n, int k, int tiles_m, int tiles_n) {
  using A = Operand<T, BM, true>;
  using B = Operand<T, BN, true>;
  constexpr int THREADS = WM * WN * 32, BK = A::BK;
  int tm, tn;
  tile_of(blockIdx.x, tiles_m, tiles_n, tm, tn);
  const int m0 = tm * BM, n0 = tn * BN;
  typename A::template Loader<THREADS> load_a(a, k, m0, m, 0, k);
  typename B::template Loader<THREADS> load_b(b, k, n0, n, 0, k);
  WarpTile<T, BM, BN, WM, WN> tile;
  tile.template multiply<A, B>((k + BK - 1) / BK, load_a, load_b);
  tile.each_pair([&](int i, int j, auto x, auto y) {
    const int row = m0 + i, column = n0 + j;
    if (row >= m || column >= n) return;
    const bool both = column + 1 < n;
    const float scale = scale_a[row];
    store_pair(out + static_cast<long long>(row) * n + column, scale * scale_b[column] * static_cast<float>(x), both ? scale * scale_b[column + 1] * static_cast<float>(y) : 0.0f, n % 2 == 0, both);
  });
}

}  // namespace

#define SCALED(T, dtype, TILE, WM, WN)                                                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(WM * WN * 32, 2) scaled_matmul_mma_##dtype##_##TILE(const T* a, const T* b, const float* scale_a, const float* scale_b, bf16* out, int m, \
                                                                                                   int n, int k, int tiles_m, int tiles_n) {                                                \
    multiply_mma<T, TILE, TILE, WM, WN>(a, b, scale_a, scale_b, out, m, n, k, tiles_m, tiles_n);                                                                                            \
  }
SCALED(int8, i8, 64, 2, 2)
SCALED(int8, i8, 128, 2, 4)
SCALED(e4m3, f8e4m3, 64, 2, 2)
SCALED(e4m3, f8e4m3, 128, 2, 4)

extern "C" __global__ void __launch_bounds__(256) scaled_matmul_f8e4m3(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, const float* scale_a, const float* scale_b, bf16* out, long long m, long long n,
                                                                       long long k, long long tiles_across) {
  multiply<__nv_fp8_e4m3, float>(a, b, scale_a, scale_b, out, m, n, k, tiles_across);
}
