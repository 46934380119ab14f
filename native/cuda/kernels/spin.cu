// spin: one chain of dependent multiply-adds per element, eight elements (core/ops/spin). A turn of the loop is 256 steps, as
// in WebGPU's kernel: a turn's branch costs 12 to 20 cycles beside the steps' four each, whichever way the compiler lays out
// the loop (seen on an H200), which is under 2 % of a turn. What is left over is taken by halves: a loop of single steps takes
// several times as long for each of them.

template <int count>
__device__ __forceinline__ float steps(float y) {
  const float a = 0.999f, b = 0.001f;
#pragma unroll
  for (int step = 0; step < count; step++) y = __fmaf_rn(y, a, b);
  return y;
}

extern "C" __global__ void __launch_bounds__(32) spin_f32(const float* x, float* out, long long n, long long iterations) {
  const long long i = threadIdx.x;
  if (i >= n) return;
  float y = x[i];
  const unsigned turns = static_cast<unsigned>(static_cast<unsigned long long>(iterations) / 256);
  const unsigned rest = static_cast<unsigned>(iterations % 256);
#pragma unroll 1
  for (unsigned turn = 0; turn < turns; turn++) y = steps<256>(y);
  if (rest & 128) y = steps<128>(y);
  if (rest & 64) y = steps<64>(y);
  if (rest & 32) y = steps<32>(y);
  if (rest & 16) y = steps<16>(y);
  if (rest & 8) y = steps<8>(y);
  if (rest & 4) y = steps<4>(y);
  if (rest & 2) y = steps<2>(y);
  if (rest & 1) y = steps<1>(y);
  out[i] = y;
}
