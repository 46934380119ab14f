// spin_ns: waits until the GPU's global timer has moved by `ns`, then copies eight elements (core/ops/spin_ns).

namespace {

__device__ __forceinline__ unsigned long long now_ns() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(32) spin_ns_f32(const float* x, float* out, long long n, unsigned long long ns) {
  const unsigned long long start = now_ns();
  const long long i = threadIdx.x;
  const float value = i < n ? x[i] : 0.f;
  while (now_ns() - start < ns) {
  }
  if (i < n) out[i] = value;
}
