// peak_fma: eight chains of fused multiply-adds per element (core/ops/peak_fma). How to build and run: scripts/gpu/kernels.sh.

extern "C" __global__ void __launch_bounds__(256) peak_fma_f32(const float* x, float* out, long long n, int iterations) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float a = 0.999f, b = 0.001f, start = x[i];
  float y[8];
#pragma unroll
  for (int c = 0; c < 8; c++) y[c] = start + static_cast<float>(c);
#pragma unroll 8
  for (int t = 0; t < iterations; t++) {
#pragma unroll
    for (int c = 0; c < 8; c++) y[c] = __fmaf_rn(y[c], a, b);
  }
  float sum = y[0];
#pragma unroll
  for (int c = 1; c < 8; c++) sum = __fadd_rn(sum, y[c]);
  out[i] = sum;
}
