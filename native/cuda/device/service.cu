// Kernels that serve the measuring itself: fill, scan of an output and of guard bands, and those that hold and settle a stream.
#include "service.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

using opscope::cuda::FillRule;
using opscope::cuda::ScanCounts;
using opscope::cuda::ScanRule;

namespace {

struct E4m3 {
  uint8_t bits;
};

// lowbias32, as in core/random.ts.
__device__ __forceinline__ uint32_t mix(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

// A bijection on [0, below), by cycle walking.
__device__ uint32_t permuted(uint32_t x, const FillRule& rule) {
  const int bits = max(1, 32 - __clz(static_cast<int>(rule.below - 1)));
  const uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
  const int shift = max(1, bits >> 1);
  do {
    for (int round = 0; round < 2; round++) {
      x = (x * 0x9e3779b1u + rule.key0) & mask;
      x ^= x >> shift;
      x = (x * 0x85ebca77u + rule.key1) & mask;
      x ^= x >> shift;
    }
  } while (x >= rule.below);
  return x;
}

__device__ __forceinline__ void put(float* p, float v) { *p = v; }
__device__ __forceinline__ void put(__half* p, float v) { *p = __float2half_rn(v); }
__device__ __forceinline__ void put(__nv_bfloat16* p, float v) { *p = __float2bfloat16_rn(v); }
__device__ __forceinline__ void put(E4m3* p, float v) { p->bits = __nv_cvt_float_to_fp8(v, __NV_SATFINITE, __NV_E4M3); }
__device__ __forceinline__ void put(int32_t* p, float v) { *p = static_cast<int32_t>(v); }
__device__ __forceinline__ void put(int8_t* p, float v) { *p = static_cast<int8_t>(static_cast<int32_t>(v)); }
__device__ __forceinline__ void put(uint8_t* p, float v) { *p = static_cast<uint8_t>(static_cast<int32_t>(v)); }

__device__ __forceinline__ void put_integer(int32_t* p, int32_t v) { *p = v; }
__device__ __forceinline__ void put_integer(int8_t* p, int32_t v) { *p = static_cast<int8_t>(v); }
__device__ __forceinline__ void put_integer(uint8_t* p, int32_t v) { *p = static_cast<uint8_t>(v); }
template <class T>
__device__ __forceinline__ void put_integer(T* p, int32_t v) {
  put(p, static_cast<float>(v));
}

// Element i by the rule in core/random.ts, where the kinds and their numbers stand.
template <class T>
__device__ __forceinline__ void put_element(T* p, unsigned long long i, const FillRule& rule) {
  if (rule.kind == 5) return put(p, rule.factor);
  if (rule.kind == 4) return put_integer(p, static_cast<int32_t>(permuted(static_cast<uint32_t>(i % rule.below), rule)));
  const uint32_t high = static_cast<uint32_t>(i >> 32);
  const uint32_t a = mix(static_cast<uint32_t>(i) + (high == 0 ? rule.key0 : mix(rule.key0 ^ mix(high))));
  if (rule.kind == 3) return put_integer(p, static_cast<int32_t>(static_cast<uint32_t>(rule.low) + __umulhi(a, rule.below)));
  if (rule.kind == 2) return put(p, __fmul_rn(static_cast<float>(a >> 8), rule.factor));
  const uint32_t b = mix(a ^ rule.key1);
  const int k = static_cast<int>((a & 0xffff) + (a >> 16) + (b & 0xffff) + (b >> 16)) - 131070;
  put(p, __fmul_rn(static_cast<float>(rule.kind == 1 ? abs(k) + 1 : k), rule.factor));
}

template <class T>
__device__ __forceinline__ void fill(T* out, long long n, const FillRule& rule) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) put_element(out + i, static_cast<unsigned long long>(i), rule);
}

template <class W>
__device__ __forceinline__ void look_at(uint32_t bits, const ScanRule& rule, unsigned& unwritten, unsigned& non_finite) {
  const bool untouched = rule.poisoned && bits == rule.sentinel;
  unwritten += untouched;
  non_finite += !untouched && rule.finite_mask && (bits & rule.finite_mask) == rule.finite_mask;
}

__device__ __forceinline__ void add_up(unsigned mine, unsigned long long* total) {
  mine = __reduce_add_sync(~0u, mine);
  if (mine && threadIdx.x % 32 == 0) atomicAdd(total, static_cast<unsigned long long>(mine));
}

// Changed bytes of the guard bands: `guard_bytes` before `begin`, and `after` bytes from `end`; this thread looks at every `step`th from `first`.
__device__ __forceinline__ unsigned changed_bands(const unsigned char* begin, const unsigned char* end, int after, long long first, long long step) {
  unsigned changed = 0;
  for (long long i = first; i < opscope::cuda::guard_bytes; i += step) changed += begin[-1 - i] != opscope::cuda::guard_byte;
  for (long long i = first; i < after; i += step) changed += end[i] != opscope::cuda::guard_byte;
  return changed;
}

// Looks at n elements of sizeof(W) bytes from a 16-byte boundary, and at the guard bands: `guard_bytes` before them, and
// `after` bytes behind the last.
template <class W>
__device__ __forceinline__ void scan(const W* data, long long n, ScanRule rule, int after, ScanCounts* counts) {
  constexpr int L = 16 / sizeof(W), per_word = 4 / sizeof(W);
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x, first = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long vectors = n / L;
  unsigned unwritten = 0, non_finite = 0;
  const uint4* v = reinterpret_cast<const uint4*>(data);
  for (long long i = first; i < vectors; i += step) {
    const uint4 x = __ldcs(v + i);
    const uint32_t words[4] = {x.x, x.y, x.z, x.w};
#pragma unroll
    for (int w = 0; w < 4; w++)
#pragma unroll
      for (int j = 0; j < per_word; j++) look_at<W>(static_cast<W>(words[w] >> (j * 8 * static_cast<int>(sizeof(W)) % 32)), rule, unwritten, non_finite);
  }
  for (long long i = vectors * L + first; i < n; i += step) look_at<W>(data[i], rule, unwritten, non_finite);
  const unsigned outside = changed_bands(reinterpret_cast<const unsigned char*>(data), reinterpret_cast<const unsigned char*>(data + n), after, first, step);
  __syncwarp();
  add_up(unwritten, &counts->unwritten);
  add_up(non_finite, &counts->non_finite);
  add_up(outside, &counts->outside);
}

__device__ __forceinline__ unsigned long long now_ns() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

}  // namespace

#define FILL(name, T) \
  extern "C" __global__ void __launch_bounds__(256) fill_##name(T* out, long long n, FillRule rule) { fill(out, n, rule); }
FILL(f32, float)
FILL(f16, __half)
FILL(bf16, __nv_bfloat16)
FILL(f8e4m3, E4m3)
FILL(i8, int8_t)
FILL(i32, int32_t)
FILL(u8, uint8_t)

#define SCAN(bits)                                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(256) scan_##bits(const uint##bits##_t* data, long long n, ScanRule rule, int after, ScanCounts* counts) { \
    scan(data, n, rule, after, counts);                                                                                                                       \
  }
SCAN(8)
SCAN(16)
SCAN(32)

// The guard bands alone, around `bytes` that may be anything. One block.
extern "C" __global__ void __launch_bounds__(256) scan_bands(const unsigned char* data, long long bytes, int after, ScanCounts* counts) {
  const unsigned outside = changed_bands(data, data + bytes, after, threadIdx.x, blockDim.x);
  __syncwarp();
  add_up(outside, &counts->outside);
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
