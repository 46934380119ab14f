// Products of warp groups of operands of one byte, K contiguous in both and both in shared memory: m64nNk32, fp8 e4m3 into f32 and int8 into i32. sm_90a only.
#pragma once
#include "wgmma_pair.cuh"

#ifdef OPSCOPE_WGMMA

#define OPSCOPE_I8(i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3]), "+r"(d[i + 4]), "+r"(d[i + 5]), "+r"(d[i + 6]), "+r"(d[i + 7])
#define OPSCOPE_I32(i) OPSCOPE_I8(i), OPSCOPE_I8(i + 8), OPSCOPE_I8(i + 16), OPSCOPE_I8(i + 24)
#define OPSCOPE_I64(i) OPSCOPE_I32(i), OPSCOPE_I32(i + 32)
#define OPSCOPE_I96(i) OPSCOPE_I64(i), OPSCOPE_I32(i + 64)
#define OPSCOPE_I128(i) OPSCOPE_I64(i), OPSCOPE_I64(i + 64)

// `go_on`: add to what the accumulators hold.
#define OPSCOPE_PRODUCT_BYTES(R, N, I0, I1, I2)                                                                                                             \
  __device__ __forceinline__ void multiply_bytes(float (&d)[R], uint64_t a, uint64_t b, int go_on, e4m3) {                                                    \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " I2 ", 0;\nwgmma.mma_async.sync.aligned.m64n" N "k32.f32.e4m3.e4m3 " OPSCOPE_NAMES##R ", " I0 ", " I1 ", p, 1, 1;\n}" \
                 : OPSCOPE_D##R(0)                                                                                                                          \
                 : "l"(a), "l"(b), "r"(go_on));                                                                                                             \
  }                                                                                                                                                         \
  __device__ __forceinline__ void multiply_bytes(int (&d)[R], uint64_t a, uint64_t b, int go_on, int8) {                                                      \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " I2 ", 0;\nwgmma.mma_async.sync.aligned.m64n" N "k32.s32.s8.s8 " OPSCOPE_NAMES##R ", " I0 ", " I1 ", p;\n}" \
                 : OPSCOPE_I##R(0)                                                                                                                          \
                 : "l"(a), "l"(b), "r"(go_on));                                                                                                             \
  }
OPSCOPE_PRODUCT_BYTES(32, "64", "%32", "%33", "%34")
OPSCOPE_PRODUCT_BYTES(64, "128", "%64", "%65", "%66")
OPSCOPE_PRODUCT_BYTES(96, "192", "%96", "%97", "%98")
OPSCOPE_PRODUCT_BYTES(128, "256", "%128", "%129", "%130")

template <int R>
__device__ __forceinline__ void settle(int (&d)[R]) {
#pragma unroll
  for (int i = 0; i < R; i++) asm volatile("" : "+r"(d[i])::"memory");
}

#endif
