// out[i] = 0 with probability p, else x[i] / (1 - p). dims: [n]; scalars: [p]. Which elements, core/ops/dropout/op.ts states: element i
// takes word i mod 4 of Philox 4x32-10 (core/philox.ts) with counter floor(i / 4) and the seed as key.
#include "simd/map.h"

namespace {

constexpr int COUNTERS = 16, ELEMENTS = 4 * COUNTERS;

// The upper 24 bits of the words of COUNTERS counters from `first` on, as floats: u[i] belongs to element 4 * first + i.
inline void draw(uint64_t first, uint32_t seed, float* u) {
  uint32_t c[4][COUNTERS];
  for (int i = 0; i < COUNTERS; i++) {
    c[0][i] = static_cast<uint32_t>(first + static_cast<uint64_t>(i));
    c[1][i] = static_cast<uint32_t>((first + static_cast<uint64_t>(i)) >> 32);
    c[2][i] = c[3][i] = 0;
  }
  uint32_t key0 = seed, key1 = 0;
  for (int round = 0; round < 10; round++) {
    for (int i = 0; i < COUNTERS; i++) {
      const uint64_t a = uint64_t{0xd2511f53u} * c[0][i], b = uint64_t{0xcd9e8d57u} * c[2][i];
      const uint32_t c1 = c[1][i], c3 = c[3][i];
      c[0][i] = static_cast<uint32_t>(b >> 32) ^ c1 ^ key0;
      c[1][i] = static_cast<uint32_t>(b);
      c[2][i] = static_cast<uint32_t>(a >> 32) ^ c3 ^ key1;
      c[3][i] = static_cast<uint32_t>(a);
    }
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  for (int i = 0; i < COUNTERS; i++)
    for (int word = 0; word < 4; word++) u[4 * i + word] = static_cast<float>(static_cast<int32_t>(c[word][i] >> 8));
}

template <class T, bool STREAM>
void drop(const Call& c) {
  const float p = static_cast<float>(c.scalars[0]);
  const V threshold = vset(p * 16777216.0f), factor = vset(1 / (1 - p)), none = vset(0);
  const T* x = input<T>(c, 0);
  T* out = output<T>(c);
  const Range r = part(c.dims[0], ELEMENTS, c.thread, c.threads);
  alignas(64) float u[ELEMENTS];
  for (int64_t i = r.begin; i < r.end; i += ELEMENTS) {
    draw(static_cast<uint64_t>(i / 4), c.seed, u);
    map2<STREAM>(x + i, u, out + i, 0, least(ELEMENTS, r.end - i), [=](V v, V random) { return vless(random, threshold, none, vmul(v, factor)); });
  }
}

template <class T>
void run(const Call& c) {
  if (c.stream) drop<T, true>(c);
  else drop<T, false>(c);
  vfence();
}

bool shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[1] = d[0];
  return true;
}

}  // namespace

OPSCOPE_ROUNDED(dropout, run, "t>t", 1, 1, 1, shape, nullptr)
