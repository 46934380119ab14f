// spin: one chain of dependent multiply-adds per element, eight elements (core/ops/spin). A turn of the loop is 64 steps,
// so that its counter and branch hide behind their latency; WebGPU's kernel turns alike, and takes the same time. The
// counter has 32 bits as there: one of 64 costs five cycles more a turn.

extern "C" __global__ void __launch_bounds__(32) spin_f32(const float* x, float* out, long long n, long long iterations) {
  const float a = 0.999f, b = 0.001f;
  const long long i = threadIdx.x;
  if (i >= n) return;
  float y = x[i];
  const unsigned turns = static_cast<unsigned>(static_cast<unsigned long long>(iterations) / 64);
  const unsigned rest = static_cast<unsigned>(iterations % 64);
#pragma unroll 1
  for (unsigned turn = 0; turn < turns; turn++) {
#pragma unroll
    for (int step = 0; step < 64; step++) y = __fmaf_rn(y, a, b);
  }
#pragma unroll 1
  for (unsigned step = 0; step < rest; step++) y = __fmaf_rn(y, a, b);
  out[i] = y;
}
