// Element-wise loops: f over one or two inputs, four vectors at a time. Whoever streams ends with vfence(), once per call:
// it waits for the stores, which a kernel's rows should not.
#pragma once
#include "simd.h"

namespace {

template <bool STREAM>
inline void put(float* p, V v) {
  if constexpr (STREAM) vstream(p, v);
  else vstore(p, v);
}

template <bool STREAM, class F>
inline void map1(const float* a, float* out, int64_t begin, int64_t end, F f) {
  int64_t i = begin;
  for (; i + 4 * W <= end; i += 4 * W) {
    const V v0 = f(vload(a + i)), v1 = f(vload(a + i + W)), v2 = f(vload(a + i + 2 * W)), v3 = f(vload(a + i + 3 * W));
    put<STREAM>(out + i, v0);
    put<STREAM>(out + i + W, v1);
    put<STREAM>(out + i + 2 * W, v2);
    put<STREAM>(out + i + 3 * W, v3);
  }
  for (; i + W <= end; i += W) put<STREAM>(out + i, f(vload(a + i)));
  if (i < end) vstore_n(out + i, f(vload_n(a + i, static_cast<int>(end - i), 0)), static_cast<int>(end - i));
}

template <bool STREAM, class F>
inline void map2(const float* a, const float* b, float* out, int64_t begin, int64_t end, F f) {
  int64_t i = begin;
  for (; i + 4 * W <= end; i += 4 * W) {
    const V v0 = f(vload(a + i), vload(b + i)), v1 = f(vload(a + i + W), vload(b + i + W));
    const V v2 = f(vload(a + i + 2 * W), vload(b + i + 2 * W)), v3 = f(vload(a + i + 3 * W), vload(b + i + 3 * W));
    put<STREAM>(out + i, v0);
    put<STREAM>(out + i + W, v1);
    put<STREAM>(out + i + 2 * W, v2);
    put<STREAM>(out + i + 3 * W, v3);
  }
  for (; i + W <= end; i += W) put<STREAM>(out + i, f(vload(a + i), vload(b + i)));
  if (i < end) {
    const int n = static_cast<int>(end - i);
    vstore_n(out + i, f(vload_n(a + i, n, 1), vload_n(b + i, n, 1)), n);
  }
}

inline void shape1(const int64_t* d, int64_t* sizes) { sizes[0] = sizes[1] = d[0]; }
inline void shape2(const int64_t* d, int64_t* sizes) { sizes[0] = sizes[1] = sizes[2] = d[0]; }

// out[i] = f(in0[i]); dims: [n].
template <class F>
inline void unary(const Call& c, F f) {
  const Range r = part(c.dims[0], LINE, c.thread, c.threads);
  if (c.stream) map1<true>(c.in[0], c.out, r.begin, r.end, f);
  else map1<false>(c.in[0], c.out, r.begin, r.end, f);
  vfence();
}

// out[i] = f(in0[i], in1[i]); dims: [n].
template <class F>
inline void binary(const Call& c, F f) {
  const Range r = part(c.dims[0], LINE, c.thread, c.threads);
  if (c.stream) map2<true>(c.in[0], c.in[1], c.out, r.begin, r.end, f);
  else map2<false>(c.in[0], c.in[1], c.out, r.begin, r.end, f);
  vfence();
}

}  // namespace
