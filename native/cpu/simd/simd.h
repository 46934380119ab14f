// The vector type V of W floats and its operations for the instruction set being compiled. Everything has internal
// linkage: a function compiled with AVX flags must never be the copy that other translation units call.
//
// Elements in memory are f32 or one of the 16-bit types below, which are widened to f32 by vload and rounded to nearest even by
// vstore. vload_n / vstore_n touch only the first n (< W) elements; loads put `pad` in the rest.
#pragma once
#include "../kernel.h"

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wignored-attributes"
#define OPSCOPE_APART __attribute__((noinline))
#define OPSCOPE_INLINE inline __attribute__((always_inline))
#else
#define OPSCOPE_APART __declspec(noinline)
#define OPSCOPE_INLINE __forceinline
#endif

namespace {

struct F16 {
  uint16_t bits;
};
struct BF16 {
  uint16_t bits;
};

inline float bits_float(uint32_t bits) { return __builtin_bit_cast(float, bits); }
inline uint32_t float_bits(float x) { return __builtin_bit_cast(uint32_t, x); }

// One element by itself. Subnormals of f16 stay exact although subnormal floats are off: no step makes one.
inline float to_float(float x) { return x; }
inline float to_float(BF16 x) { return bits_float(static_cast<uint32_t>(x.bits) << 16); }
inline float to_float(F16 x) {
  const uint32_t sign = (x.bits & 0x8000u) << 16, magnitude = (x.bits & 0x7fffu) << 13;
  if (magnitude >= 0x0f800000) return bits_float(sign | (magnitude + 0x70000000));
  if (magnitude >= 0x00800000) return bits_float(sign | (magnitude + 0x38000000));
  return bits_float(sign | float_bits(bits_float(magnitude + 0x38800000) - bits_float(0x38800000)));
}
inline void set(float* p, float x) { *p = x; }
inline void set(BF16* p, float x) {
  const uint32_t bits = float_bits(x);
  p->bits = static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline void set(F16* p, float x) {
  const uint32_t bits = float_bits(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  uint32_t out;
  if (magnitude > 0x7f800000) out = 0x7e00;
  else if (magnitude >= 0x477ff000) out = 0x7c00;
  // Subnormal or zero: adding 0.5 makes the adder round at bit 2^-24.
  else if (magnitude < 0x38800000) out = float_bits(bits_float(magnitude) + 0.5f) - 0x3f000000;
  else out = (magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000) >> 13;
  p->bits = static_cast<uint16_t>(sign | out);
}

}  // namespace

#if defined(OPSCOPE_ISA_avx512)
#include "avx512.h"
#elif defined(OPSCOPE_ISA_avx2)
#include "avx2.h"
#elif defined(OPSCOPE_ISA_sse2)
#include "sse2.h"
#elif defined(OPSCOPE_ISA_neon)
#include "neon.h"
#else
#include "scalar.h"
#endif

namespace {

using opscope::cpu::Call;
using opscope::cpu::MOST_PARTS;

// All but AVX-512: the tails of 16-bit elements go through a vector's worth of memory.
#if !defined(OPSCOPE_ISA_avx512)
template <class T>
inline V vload_n(const T* p, int n, float pad) {
  T part[W] = {};
  for (int i = 0; i < n; i++) part[i] = p[i];
  return vfirst(vload(part), n, pad);
}
template <class T>
inline void vstore_n(T* p, V v, int n) {
  T part[W];
  vstore(part, v);
  for (int i = 0; i < n; i++) p[i] = part[i];
}
// The elements p[from] .. p[to - 1] in their lanes, `pad`, which is the same in 16 bits, in the others; from and to are at most W.
template <class T>
inline V vload_between(const T* p, int from, int to, float pad) {
  T part[W], other;
  set(&other, pad);
  for (int i = 0; i < W; i++) part[i] = i >= from && i < to ? p[i] : other;
  return vload(part);
}
#endif

// Keeps the stores around it in this order. Compilers are free to change it, and two halves of a cache line that are not written
// one after the other are not joined on their way to the cache: with AVX2 an addition within the second cache took 1.5 times as long.
inline void in_order() {
#if defined(__GNUC__)
  __asm__ volatile("" ::: "memory");
#endif
}

// Two vectors that follow one another.
template <class T>
inline void vstore_two(T* p, V low, V high) {
  vstore(p, low);
  in_order();
  vstore(p + W, high);
}

// What is read from behind the second-level cache beside other tensors, for vload() and vload_n().
template <class T>
inline const T* from_far(const T* p) {
  return p;
}

// A vector of `count` elements.
template <class T>
inline V take(const T* p, int count) {
  return count == W ? vload(p) : vload_n(p, count, 0);
}

// p[0], p[2], p[4] .. of W elements; nothing behind the last of them is read.
template <class T>
inline V vload_even(const T* p) {
  return veven(vload(p), vload(p + W - 1));
}
// The same of elements from .. to - 1 of them, `pad` in the other lanes.
template <class T>
inline V vload_even_between(const T* p, int from, int to, float pad) {
  const auto limited = [](int place) { return place < 0 ? 0 : place < W ? place : W; };
  const int first = 2 * from, end = 2 * to - 1;
  return veven(vload_between(p, limited(first), limited(end), pad), vload_between(p + W - 1, limited(first - W + 1), limited(end - W + 1), pad));
}

constexpr int64_t LINE = 16;  // floats in a cache line

// Tensor `i` of those that are read / written.
template <class T = float>
inline const T* input(const Call& c, int i) {
  return static_cast<const T*>(c.in[i]);
}
template <class T = float>
inline T* output(const Call& c, int i = 0) {
  return static_cast<T*>(c.out[i]);
}

struct Range {
  int64_t begin, end;
};

// The part of 0..n that belongs to one thread, in whole multiples of `granule` but for the last.
inline Range part(int64_t n, int64_t granule, int thread, int threads) {
  const int64_t units = (n + granule - 1) / granule;
  const int64_t begin = units * thread / threads * granule;
  const int64_t end = units * (thread + 1) / threads * granule;
  return {begin < n ? begin : n, end < n ? end : n};
}

constexpr int MOST_SHARED_LOOPS = 64;

// Calls f(i) for the parts i of c.threads * `parts` that this thread takes: its own ones in their order, then those of threads that are late.
// `loop`: the loops that a kernel shares so are numbered in their order (below MOST_SHARED_LOOPS).
template <class F>
inline void each_part(const Call& c, int parts, F f, int loop = 0) {
  if (parts == 1) return f(c.thread);
  for (int taken; (taken = c.take(c.team, c.thread, parts, loop)) >= 0;) f(taken);
}
// Calls f(range) for the ranges of 0..n that this thread takes, in whole multiples of `granule` but for the last. They depend on the call alone, not
// on which thread takes them.
template <class F>
inline void each_range_in(const Call& c, int parts, int64_t n, int64_t granule, F f, int loop = 0) {
  const auto of_part = [&](int i) {
    if (const Range r = part(n, granule, i, c.threads * parts); r.begin < r.end) f(r);
  };
  each_part(c, parts, of_part, loop);
}
// The parts of a call of so many multiplications.
inline int parts_of_work(const Call& c, int64_t multiplications) {
  constexpr int64_t OF_PART = 1 << 17;
  const int64_t parts = multiplications / (OF_PART * c.threads);
  return static_cast<int>(parts < 1 ? 1 : parts < c.most_parts ? parts : c.most_parts);
}
template <class F>
inline void each_range(const Call& c, int64_t n, int64_t granule, F f) {
  each_range_in(c, c.parts, n, granule, f);
}

// Saturates: a size that does not fit is refused by the caller.
inline int64_t times(int64_t a, int64_t b) { return a != 0 && b > INT64_MAX / a ? INT64_MAX : a * b; }

inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

}  // namespace

// As OPSCOPE_TYPED, with bf16 rounded by the processor where it can.
#define OPSCOPE_ROUNDED(op, run, ...) OPSCOPE_KERNEL(op, __VA_ARGS__, OPSCOPE_ROUNDED_RUNS(run))
#if defined(OPSCOPE_ISA_avx512)
#define OPSCOPE_ROUNDED_RUNS(run) {run<float>, run<F16>, run<BF16>, nullptr, nullptr, run<RoundedBF16>}
#else
#define OPSCOPE_ROUNDED_RUNS(run) {run<float>, run<F16>, run<BF16>}
#endif
