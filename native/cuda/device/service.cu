// Kernels that serve the measuring itself: fill, count of unwritten elements, and the two that hold and settle a stream.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace {

// lowbias32, as in core/random.ts.
__device__ __forceinline__ uint32_t mix(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

// The value of element i by the rule in core/random.ts: integers, one f32 product.
__device__ __forceinline__ float value_at(uint32_t i, uint32_t key0, uint32_t key1, float factor, int positive) {
  const uint32_t a = mix(i + key0), b = mix(a ^ key1);
  const int k = static_cast<int>((a & 0xffff) + (a >> 16) + (b & 0xffff) + (b >> 16)) - 131070;
  return __fmul_rn(static_cast<float>(positive ? abs(k) + 1 : k), factor);
}

__device__ __forceinline__ void put(float* p, float v) { *p = v; }
__device__ __forceinline__ void put(__half* p, float v) { *p = __float2half_rn(v); }
__device__ __forceinline__ void put(__nv_bfloat16* p, float v) { *p = __float2bfloat16_rn(v); }

template <class T>
__device__ void fill(T* out, long long n, uint32_t key0, uint32_t key1, float factor, int positive) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    put(out + i, value_at(static_cast<uint32_t>(i), key0, key1, factor, positive));
}

template <class T>
__device__ void count(const T* data, long long n, T sentinel, unsigned long long* found) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  unsigned mine = 0;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) mine += data[i] == sentinel;
  if (mine) atomicAdd(found, static_cast<unsigned long long>(mine));
}

__device__ __forceinline__ unsigned long long now_ns() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

}  // namespace

extern "C" __global__ void fill_f32(float* out, long long n, uint32_t key0, uint32_t key1, float factor, int positive) {
  fill(out, n, key0, key1, factor, positive);
}
extern "C" __global__ void fill_f16(__half* out, long long n, uint32_t key0, uint32_t key1, float factor, int positive) {
  fill(out, n, key0, key1, factor, positive);
}
extern "C" __global__ void fill_bf16(__nv_bfloat16* out, long long n, uint32_t key0, uint32_t key1, float factor, int positive) {
  fill(out, n, key0, key1, factor, positive);
}

extern "C" __global__ void count_32(const uint32_t* data, long long n, uint32_t sentinel, unsigned long long* found) { count(data, n, sentinel, found); }
extern "C" __global__ void count_16(const uint16_t* data, long long n, uint32_t sentinel, unsigned long long* found) {
  count(data, n, static_cast<uint16_t>(sentinel), found);
}

// Holds the stream until the host writes `ticket` to flags[0], so that what is queued behind it starts without host gaps.
// Gives up after limit_ns and says so in flags[1]: a host that dies or a full queue must not hang the GPU.
extern "C" __global__ void hold(volatile uint32_t* flags, uint32_t ticket, unsigned long long limit_ns) {
  const unsigned long long start = now_ns();
  while (flags[0] != ticket) {
    if (now_ns() - start > limit_ns) {
      flags[1] = ticket;
      __threadfence_system();
      return;
    }
    __nanosleep(200);
  }
}

// Lets the memory system come to rest after the cache flush.
extern "C" __global__ void settle(unsigned long long ns) {
  const unsigned long long start = now_ns();
  while (now_ns() - start < ns) {
  }
}
