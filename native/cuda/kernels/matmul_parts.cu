// What products need beside their kernels: operands as those want them, and the sum of shares of k.
#include "common/mma.cuh"

// out [batch, cols, pitch] = x [batch, rows, cols] turned, in tf32 rounded to it; pitch >= rows. grid: (columns / 32, rows / 32, batch), 256 threads.
template <bool ROUND>
__device__ __forceinline__ void turn(const float* __restrict__ x, float* __restrict__ out, int rows, int cols, int pitch) {
  __shared__ float tile[32][33];
  x += static_cast<long long>(blockIdx.z) * rows * cols;
  out += static_cast<long long>(blockIdx.z) * cols * pitch;
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
extern "C" __global__ void __launch_bounds__(256) matmul_turned_f32(const float* x, float* out, int rows, int cols, int pitch) { turn<false>(x, out, rows, cols, pitch); }
extern "C" __global__ void __launch_bounds__(256) matmul_turned_tf32(const float* x, float* out, int rows, int cols, int pitch) { turn<true>(x, out, rows, cols, pitch); }

// out [rows, pitch] = x [rows, cols], so that every row starts on 16 bytes; what lies behind a row is not read. One vector of out per thread.
template <class U>
__device__ __forceinline__ void spaced(const U* __restrict__ x, U* __restrict__ out, long long rows, int cols, int pitch) {
  constexpr int L = 16 / sizeof(U);
  const int vectors = pitch / L;
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= rows * vectors) return;
  const long long row = (i >> 32) == 0 ? static_cast<unsigned>(i) / static_cast<unsigned>(vectors) : i / vectors;
  const int column = static_cast<int>(i - row * vectors) * L;
  U part[L];
#pragma unroll
  for (int j = 0; j < L; j++) part[j] = column + j < cols ? x[row * cols + column + j] : U(0);
  store16(out + i * L, *reinterpret_cast<const uint4*>(part));
}
extern "C" __global__ void __launch_bounds__(256) matmul_spaced_2(const uint16_t* x, uint16_t* out, long long rows, int cols, int pitch) { spaced(x, out, rows, cols, pitch); }
extern "C" __global__ void __launch_bounds__(256) matmul_spaced_4(const uint32_t* x, uint32_t* out, long long rows, int cols, int pitch) { spaced(x, out, rows, cols, pitch); }

// out[i] = the sum of shares[s][i] over s, in order.
template <class T>
__device__ __forceinline__ void join(const float* __restrict__ shares, T* __restrict__ out, long long n, int splits) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
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
