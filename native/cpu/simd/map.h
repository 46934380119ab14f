// Element-wise loops: f over none to three inputs, some vectors at a time. Whoever streams ends with vfence(), once per call:
// it waits for the stores, which a kernel's rows should not.
#pragma once
#include "fetch.h"

namespace {

template <bool STREAM, class T>
inline void put(T* p, V v) {
  if constexpr (STREAM) vstream(p, v);
  else vstore(p, v);
}

template <bool STREAM, class T>
inline void put_two(T* p, V low, V high) {
  if constexpr (!STREAM) return vstore_two(p, low, high);
  put<STREAM>(p, low);
  in_order();
  put<STREAM>(p + W, high);
}

// Whether a streamed loop over one input fetches what it reads, four vectors of it 8 KiB on, into the second-level cache: where the last-level one is far.
enum class Fetching { none, ahead };
template <bool STREAM, class A>
OPSCOPE_INLINE void fetch_streamed([[maybe_unused]] const A* at, [[maybe_unused]] Fetching ahead) {
#if defined(OPSCOPE_ISA_avx512)
  constexpr int64_t BYTES = 8192, LINE_BYTES = 64;
  if (!STREAM || ahead == Fetching::none) return;
  for (int64_t i = 0; i < 4 * W * static_cast<int64_t>(sizeof(A)); i += LINE_BYTES) fetch_line(reinterpret_cast<const char*>(at) + BYTES + i, Far{});
#endif
}
inline Fetching fetching_of(const Call& c) { return c.distant_cache ? Fetching::ahead : Fetching::none; }

template <bool STREAM, class O, class F>
inline void map0(O* out, int64_t begin, int64_t end, F f) {
  const V v = f();
  int64_t i = begin;
  for (; i + 4 * W <= end; i += 4 * W) {
    put_two<STREAM>(out + i, v, v);
    in_order();
    put_two<STREAM>(out + i + 2 * W, v, v);
  }
  for (; i + W <= end; i += W) put<STREAM>(out + i, v);
  if (i < end) vstore_n(out + i, v, static_cast<int>(end - i));
}

template <bool STREAM, class A, class O, class F>
inline void map1(const A* a, O* out, int64_t begin, int64_t end, F f, Fetching ahead = Fetching::none) {
  int64_t i = begin;
  for (; i + 4 * W <= end; i += 4 * W) {
    fetch_streamed<STREAM>(a + i, ahead);
    const V v0 = f(vload(a + i)), v1 = f(vload(a + i + W)), v2 = f(vload(a + i + 2 * W)), v3 = f(vload(a + i + 3 * W));
    put_two<STREAM>(out + i, v0, v1);
    in_order();
    put_two<STREAM>(out + i + 2 * W, v2, v3);
  }
  for (; i + W <= end; i += W) put<STREAM>(out + i, f(vload(a + i)));
  if (i < end) vstore_n(out + i, f(vload_n(a + i, static_cast<int>(end - i), 1)), static_cast<int>(end - i));
}

template <bool STREAM, class A, class B, class O, class F>
inline void map2(const A* a, const B* b, O* out, int64_t begin, int64_t end, F f) {
  int64_t i = begin;
  for (; i + 4 * W <= end; i += 4 * W) {
    const V v0 = f(vload(a + i), vload(b + i)), v1 = f(vload(a + i + W), vload(b + i + W));
    const V v2 = f(vload(a + i + 2 * W), vload(b + i + 2 * W)), v3 = f(vload(a + i + 3 * W), vload(b + i + 3 * W));
    put_two<STREAM>(out + i, v0, v1);
    in_order();
    put_two<STREAM>(out + i + 2 * W, v2, v3);
  }
  for (; i + W <= end; i += W) put<STREAM>(out + i, f(vload(a + i), vload(b + i)));
  if (i < end) {
    const int n = static_cast<int>(end - i);
    vstore_n(out + i, f(vload_n(a + i, n, 1), vload_n(b + i, n, 1)), n);
  }
}

template <bool STREAM, class A, class B, class C, class O, class F>
inline void map3(const A* a, const B* b, const C* c, O* out, int64_t begin, int64_t end, F f) {
  int64_t i = begin;
  for (; i + 4 * W <= end; i += 4 * W) {
    const V v0 = f(vload(a + i), vload(b + i), vload(c + i)), v1 = f(vload(a + i + W), vload(b + i + W), vload(c + i + W));
    const V v2 = f(vload(a + i + 2 * W), vload(b + i + 2 * W), vload(c + i + 2 * W)), v3 = f(vload(a + i + 3 * W), vload(b + i + 3 * W), vload(c + i + 3 * W));
    put_two<STREAM>(out + i, v0, v1);
    in_order();
    put_two<STREAM>(out + i + 2 * W, v2, v3);
  }
  for (; i + W <= end; i += W) put<STREAM>(out + i, f(vload(a + i), vload(b + i), vload(c + i)));
  if (i < end) {
    const int n = static_cast<int>(end - i);
    vstore_n(out + i, f(vload_n(a + i, n, 1), vload_n(b + i, n, 1), vload_n(c + i, n, 1)), n);
  }
}

// f, which works on bits alone, over n elements of one input: 16-bit elements in pairs.
template <class T, class F>
inline void map_bits(const Call& c, int64_t n, F f) {
  constexpr int64_t TOGETHER = sizeof(float) / sizeof(T);
  const auto* const x = static_cast<const float*>(c.in[0]);
  auto* const out = static_cast<float*>(c.out[0]);
  if (c.stream) {
    each_range(c, n / TOGETHER, LINE, [&](Range r) { map1<true>(x, out, r.begin, r.end, f); });
  } else {
    const Range r = part(n / TOGETHER, LINE, c.thread, c.threads);
    map1<false>(x, out, r.begin, r.end, f);
  }
  vfence();
  if (n % TOGETHER == 0 || c.thread != 0) return;
  uint32_t last = 0;
  __builtin_memcpy(&last, input<T>(c, 0) + n - 1, sizeof(T));
  float lanes[W];
  vstore(lanes, f(vset(bits_float(last))));
  __builtin_memcpy(output<T>(c) + n - 1, lanes, sizeof(T));
}

}  // namespace
