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

// As timing/clock.h reads it.
struct Stamp {
  unsigned long long cycles, ns;
  unsigned sm, unused;
};

// Waits `ns`, for the memory system to come to rest after a flush, and notes the clocks when asked to.
extern "C" __global__ void settle(unsigned long long ns, Stamp* stamp) {
  const unsigned long long start = now_ns();
  while (now_ns() - start < ns) {
  }
  if (!stamp) return;
  unsigned sm;
  asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
  const unsigned long long time = now_ns();
  *stamp = {static_cast<unsigned long long>(clock64()), time, sm, 0};
}

// Reads `count` vectors of 16 bytes: what was in the L2 cache leaves it, and what was written there goes to memory.
extern "C" __global__ void __launch_bounds__(256) drain(const uint4* data, long long count, uint32_t never, uint32_t* sink) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  uint32_t seen = 0;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    const uint4 v = __ldcg(data + i);
    seen |= v.x ^ v.y ^ v.z ^ v.w;
  }
  if (seen == never) *sink = seen;
}

// Does nothing: what is left of a measured time when the kernel takes none.
extern "C" __global__ void empty() {}

// The smallest step of the global timer seen over 64 of its changes.
extern "C" __global__ void timer_step(unsigned long long* step) {
  unsigned long long least = ~0ull, last = now_ns();
  for (int changes = 0; changes < 64;) {
    const unsigned long long now = now_ns();
    if (now == last) continue;
    least = min(least, now - last);
    last = now;
    changes++;
  }
  *step = least;
}
