// 16-byte vectors of f32, f16 and bf16 elements, and the plain conversions between them and f32.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

using f32 = float;  // kernels name their dtype by it
using f16 = __half;
using bf16 = __nv_bfloat16;

// Elements of T in 16 bytes.
template <class T>
constexpr int LANES = 16 / sizeof(T);

__device__ __forceinline__ float to_float(float v) { return v; }
__device__ __forceinline__ float to_float(f16 v) { return __half2float(v); }
__device__ __forceinline__ float to_float(bf16 v) { return __bfloat162float(v); }

template <class T>
__device__ __forceinline__ T from_float(float v);
template <>
__device__ __forceinline__ float from_float<float>(float v) { return v; }
template <>
__device__ __forceinline__ f16 from_float<f16>(float v) { return __float2half_rn(v); }
template <>
__device__ __forceinline__ bf16 from_float<bf16>(float v) { return __float2bfloat16_rn(v); }

__device__ __forceinline__ void unpack_pair(uint32_t w, float& low, float& high, f16) {
  const float2 f = __half22float2(*reinterpret_cast<const __half2*>(&w));
  low = f.x, high = f.y;
}
__device__ __forceinline__ void unpack_pair(uint32_t w, float& low, float& high, bf16) {
  low = __uint_as_float(w << 16);
  high = __uint_as_float(w & 0xffff0000u);
}
__device__ __forceinline__ uint32_t pack_pair(float low, float high, f16) {
  const __half2 h = __floats2half2_rn(low, high);
  return *reinterpret_cast<const uint32_t*>(&h);
}
__device__ __forceinline__ uint32_t pack_pair(float low, float high, bf16) {
  const __nv_bfloat162 h = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const uint32_t*>(&h);
}

template <class T>
__device__ __forceinline__ void unpack(const uint4& v, float (&f)[LANES<T>]) {
  if constexpr (sizeof(T) == 4) {
    f[0] = __uint_as_float(v.x), f[1] = __uint_as_float(v.y), f[2] = __uint_as_float(v.z), f[3] = __uint_as_float(v.w);
  } else {
    unpack_pair(v.x, f[0], f[1], T());
    unpack_pair(v.y, f[2], f[3], T());
    unpack_pair(v.z, f[4], f[5], T());
    unpack_pair(v.w, f[6], f[7], T());
  }
}

template <class T>
__device__ __forceinline__ uint4 pack(const float (&f)[LANES<T>]) {
  if constexpr (sizeof(T) == 4)
    return make_uint4(__float_as_uint(f[0]), __float_as_uint(f[1]), __float_as_uint(f[2]), __float_as_uint(f[3]));
  else
    return make_uint4(pack_pair(f[0], f[1], T()), pack_pair(f[2], f[3], T()), pack_pair(f[4], f[5], T()), pack_pair(f[6], f[7], T()));
}

// Number of this thread in a grid of one dimension.
__device__ __forceinline__ long long thread_of_grid() { return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; }

// Where a thread has a whole vector of n elements, each of the n % L elements behind the last vector has a thread too: this one is thread t's, n or more where
// it has none. These threads have a warp of their own (blocks_of in plan.h): in one warp, they would read when the vectors have come, one latency of the
// memory later.
template <class T>
__device__ __forceinline__ long long element_behind(long long t, long long n) {
  const long long vectors = n / LANES<T>, first = (vectors + 31) / 32 * 32;
  return t < first ? n : vectors * LANES<T> + (t - first);
}

// Plain 16-byte accesses: on an H200, hints that keep data out of L1 or evict it first cost kernels that also write up to
// 10 % of the bandwidth.
__device__ __forceinline__ uint4 load16(const void* p) { return *static_cast<const uint4*>(p); }
__device__ __forceinline__ void store16(void* p, const uint4& v) { *static_cast<uint4*>(p) = v; }
// Fetches what is read later, so that a call whose data are in no cache waits for memory once. Of the first blocks alone: later ones find it in L2.
__device__ __forceinline__ void fetch_ahead(const void* p) {
  if (blockIdx.x < 512) asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}
// For kernels that only read, the hint gains up to 10 %.
__device__ __forceinline__ uint4 load16_once(const void* p) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}

// The compiler would keep the unpacked elements for what comes next, in twice the registers.
template <int V>
__device__ __forceinline__ void keep_packed(uint4 (&kept)[V]) {
#ifdef __CUDA_ARCH__
#pragma unroll
  for (int u = 0; u < V; u++) asm volatile("" : "+r"(kept[u].x), "+r"(kept[u].y), "+r"(kept[u].z), "+r"(kept[u].w));
#endif
}
