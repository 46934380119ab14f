// peak_mma: chains of tensor-core products (core/ops/peak_mma). mma.sync everywhere; on sm_90a also wgmma, which alone
// reaches Hopper's rate: one m64n256k16 covers four iterations of a warp's eight 16x8x16 steps.
// How to build and run: scripts/gpu/kernels.sh.
#include "common/mma.cuh"
#include "common/reduce.cuh"
#include "common/wgmma.cuh"

namespace {

__device__ __forceinline__ uint32_t twice(float v, f16) { return pack_pair(v, v, f16()); }
__device__ __forceinline__ uint32_t twice(float v, bf16) { return pack_pair(v, v, bf16()); }
__device__ __forceinline__ uint32_t twice(float v, tf32) { return round_tf32(__float_as_uint(v)); }
__device__ __forceinline__ float to_float(tf32 v) { return v.value; }

// One warp per element; D is 16 x 8 per step, 4 values per lane.
template <class T>
__device__ __forceinline__ void chains(const T* x, T* out, long long n, int iterations) {
  const long long w = static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  if (w >= n) return;
  const uint32_t value = twice(to_float(x[w]), T()), one = twice(1.0f, T());
  const uint32_t a[4] = {value, value, value, value};
  float d[8][4] = {};
  for (int t = 0; t < iterations; t++) {
#pragma unroll
    for (int s = 0; s < 8; s++) {
      mma(d[s], a, one, one, T());
      if constexpr (sizeof(T) == 4) mma(d[s], a, one, one, T());  // k = 8 for tf32
    }
  }
  float sum = 0;
#pragma unroll
  for (int s = 0; s < 8; s++) sum += (d[s][0] + d[s][1]) + (d[s][2] + d[s][3]);
  sum = warp_reduce(sum / (16.0f * 32.0f * 32.0f * iterations), AddOp());
  if (threadIdx.x % 32 == 0) out[w] = from_float<T>(sum);
}

// A warpgroup of 128 threads takes four elements; B is a shared tile of ones, 256 rows of 128 bytes.
template <class T>
__device__ __forceinline__ void chains_wgmma(const T* x, T* out, long long n, int iterations) {
#ifdef OPSCOPE_WGMMA
  __shared__ __align__(1024) uint32_t ones[256 * 32];
  for (int i = threadIdx.x; i < 256 * 32; i += 128) ones[i] = twice(1.0f, T());
  fence_shared_for_async();
  __syncthreads();
  const long long w = static_cast<long long>(blockIdx.x) * 4 + threadIdx.x / 32;
  const uint32_t value = twice(w < n ? to_float(x[w]) : 0.0f, T());
  const uint64_t b = wgmma_descriptor(shared_address(ones), 16, 1024);
  float d[128];
#pragma unroll
  for (int i = 0; i < 128; i++) d[i] = 0;
  constexpr int per_step = sizeof(T) == 4 ? 2 : 1;  // k = 8 for tf32
  constexpr int batch = 8;
  const int wide = iterations / 4 * per_step;
  int t = 0;
  for (; t + batch <= wide; t += batch) {
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < batch; i++) wgmma_m64n256_registers(d, value, b, T());
    wgmma_commit();
    wgmma_wait<0>();
  }
  for (; t < wide; t++) {
    wgmma_fence();
    wgmma_m64n256_registers(d, value, b, T());
    wgmma_commit();
    wgmma_wait<0>();
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 128; i++) sum += d[i];
  // Up to three iterations more, at the width of one.
  float rest[32];
#pragma unroll
  for (int i = 0; i < 32; i++) rest[i] = 0;
  for (t = 0; t < iterations % 4 * per_step; t++) {
    wgmma_fence();
    wgmma_m64n64_registers(rest, value, b, T());
    wgmma_commit();
    wgmma_wait<0>();
  }
#pragma unroll
  for (int i = 0; i < 32; i++) sum += rest[i];
  sum = warp_reduce(sum / (16.0f * 32.0f * 32.0f * iterations), AddOp());
  if (threadIdx.x % 32 == 0 && w < n) out[w] = from_float<T>(sum);
#endif
}

}  // namespace

#define PEAK(T)                                                                                                                \
  extern "C" __global__ void __launch_bounds__(128) peak_mma_##T(const T* x, T* out, long long n, int iterations) {            \
    chains<T>(x, out, n, iterations);                                                                                          \
  }                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(128) peak_mma_##T##_wgmma(const T* x, T* out, long long n, int iterations) {    \
    chains_wgmma<T>(x, out, n, iterations);                                                                                    \
  }
PEAK(f16)
PEAK(bf16)
PEAK(tf32)
