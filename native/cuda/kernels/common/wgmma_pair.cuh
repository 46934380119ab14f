// Products of warp groups: accumulators of N columns that start anew or go on, the left operand in shared memory or in
// registers, the right one with its columns (TB) or K contiguous. sm_90a only; wgmma.cuh has descriptors, barriers and copies.
#pragma once
#include "wgmma.cuh"

#ifdef OPSCOPE_WGMMA

#define OPSCOPE_D8(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define OPSCOPE_D16(i) OPSCOPE_D8(i), OPSCOPE_D8(i + 8)
#define OPSCOPE_D32(i) OPSCOPE_D8(i), OPSCOPE_D8(i + 8), OPSCOPE_D8(i + 16), OPSCOPE_D8(i + 24)
#define OPSCOPE_D40(i) OPSCOPE_D32(i), OPSCOPE_D8(i + 32)
#define OPSCOPE_D48(i) OPSCOPE_D32(i), OPSCOPE_D8(i + 32), OPSCOPE_D8(i + 40)
#define OPSCOPE_D64(i) OPSCOPE_D32(i), OPSCOPE_D32(i + 32)
#define OPSCOPE_D88(i) OPSCOPE_D32(i), OPSCOPE_D32(i + 32), OPSCOPE_D8(i + 64), OPSCOPE_D8(i + 72), OPSCOPE_D8(i + 80)
#define OPSCOPE_D96(i) OPSCOPE_D32(i), OPSCOPE_D32(i + 32), OPSCOPE_D32(i + 64)
#define OPSCOPE_D128(i) OPSCOPE_D32(i), OPSCOPE_D32(i + 32), OPSCOPE_D32(i + 64), OPSCOPE_D32(i + 96)

#define OPSCOPE_NAMES16 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}"
#define OPSCOPE_NAMES32 \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"
#define OPSCOPE_NAMES40 \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39}"
#define OPSCOPE_NAMES48 \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47}"
#define OPSCOPE_NAMES64 \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}"
#define OPSCOPE_NAMES88 \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87}"
#define OPSCOPE_NAMES96 \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}"
#define OPSCOPE_NAMES128 \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}"

// R accumulators of a thread: products 64 x 2R. `go_on`: add to what they hold.
template <int R>
struct WarpGroupProduct;

#define OPSCOPE_PRODUCT(R, N, I0, I1, I2, I3, I4, I5, TYPE)                                                                                        \
  template <int TB, int TA = 0>                                                                                                                  \
  static __device__ __forceinline__ void shared(float (&d)[R], uint64_t a, uint64_t b, int go_on, TYPE) {                                         \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " I2 ", 0;\nwgmma.mma_async.sync.aligned.m64n" N "k16.f32." #TYPE "." #TYPE " " OPSCOPE_NAMES##R \
                 ", " I0 ", " I1 ", p, 1, 1, " I4 ", " I3 ";\n}"                                                                                    \
                 : OPSCOPE_D##R(0)                                                                                                                 \
                 : "l"(a), "l"(b), "r"(go_on), "n"(TB), "n"(TA));                                                                                  \
  }                                                                                                                                                \
  template <int TB>                                                                                                                              \
  static __device__ __forceinline__ void registers(float (&d)[R], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint64_t b, TYPE) {           \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" N "k16.f32." #TYPE "." #TYPE " " OPSCOPE_NAMES##R ", {" I0 ", " I1 ", " I2 ", " I3 "}, " I4   \
                 ", 1, 1, 1, " I5 ";"                                                                                                              \
                 : OPSCOPE_D##R(0)                                                                                                                 \
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b), "n"(TB));                                                                           \
  }
// tf32 has k contiguous in shared memory.
#define OPSCOPE_PRODUCT_TF32(R, N, I0, I1, I2, I3, I4, I5)                                                                                         \
  template <int TB, int TA = 0>                                                                                                                  \
  static __device__ __forceinline__ void shared(float (&d)[R], uint64_t a, uint64_t b, int go_on, tf32) {                                         \
    static_assert(TA == 0 && TB == 0);                                                                                                            \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " I2 ", 0;\nwgmma.mma_async.sync.aligned.m64n" N "k8.f32.tf32.tf32 " OPSCOPE_NAMES##R ", " I0   \
                 ", " I1 ", p, 1, 1;\n}"                                                                                                          \
                 : OPSCOPE_D##R(0)                                                                                                                 \
                 : "l"(a), "l"(b), "r"(go_on));                                                                                                    \
  }                                                                                                                                                \
  static __device__ __forceinline__ void registers(float (&d)[R], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint64_t b, int go_on, tf32) { \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " I5 ", 0;\nwgmma.mma_async.sync.aligned.m64n" N "k8.f32.tf32.tf32 " OPSCOPE_NAMES##R ", {" I0  \
                 ", " I1 ", " I2 ", " I3 "}, " I4 ", p, 1, 1;\n}"                                                                                 \
                 : OPSCOPE_D##R(0)                                                                                                                 \
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b), "r"(go_on));                                                                        \
  }
#define OPSCOPE_PRODUCTS(R, N, I0, I1, I2, I3, I4, I5)       \
  template <>                                               \
  struct WarpGroupProduct<R> {                               \
    OPSCOPE_PRODUCT(R, N, I0, I1, I2, I3, I4, I5, f16)       \
    OPSCOPE_PRODUCT(R, N, I0, I1, I2, I3, I4, I5, bf16)      \
    OPSCOPE_PRODUCT_TF32(R, N, I0, I1, I2, I3, I4, I5)       \
  };
OPSCOPE_PRODUCTS(16, "32", "%16", "%17", "%18", "%19", "%20", "%21")
OPSCOPE_PRODUCTS(32, "64", "%32", "%33", "%34", "%35", "%36", "%37")
OPSCOPE_PRODUCTS(40, "80", "%40", "%41", "%42", "%43", "%44", "%45")
OPSCOPE_PRODUCTS(48, "96", "%48", "%49", "%50", "%51", "%52", "%53")
OPSCOPE_PRODUCTS(64, "128", "%64", "%65", "%66", "%67", "%68", "%69")
OPSCOPE_PRODUCTS(88, "176", "%88", "%89", "%90", "%91", "%92", "%93")
OPSCOPE_PRODUCTS(96, "192", "%96", "%97", "%98", "%99", "%100", "%101")
OPSCOPE_PRODUCTS(128, "256", "%128", "%129", "%130", "%131", "%132", "%133")

// What the tensor cores still write or read stays where it is until here.
template <int R>
__device__ __forceinline__ void settle(float (&d)[R]) {
#pragma unroll
  for (int i = 0; i < R; i++) asm volatile("" : "+f"(d[i])::"memory");
}
template <int R>
__device__ __forceinline__ void settle(uint32_t (&d)[R]) {
#pragma unroll
  for (int i = 0; i < R; i++) asm volatile("" : "+r"(d[i])::"memory");
}

template <int REGISTERS>
__device__ __forceinline__ void give_registers() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS)); }
template <int REGISTERS>
__device__ __forceinline__ void take_registers() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS)); }
// Named barriers: of `threads` in all, those that arrive go on at once.
__device__ __forceinline__ void turn_wait(int barrier, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory"); }
__device__ __forceinline__ void turn_arrive(int barrier, int threads) { asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory"); }

#endif
