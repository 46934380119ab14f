// sort and topk of rows that are longer than a tile, and of indices with their places for scatter_add, by order/radix.cuh.
//   radix_count_<t>    digits of one pass, from x or from keys; also i32
//   radix_scatter_<t>  moves keys to their places of the pass; the last pass writes values and their places, the first `keep` of each row
#include "order/radix.cuh"

namespace {

using radix::Places;

// Keys whose upper half has as many bits as the element: two passes for 16-bit types, four for f32.
template <class T>
__device__ __forceinline__ Key short_key(T x, unsigned place, int descending) {
  if constexpr (sizeof(T) == 4) {
    return keyed(x, place, descending);
  } else {
    const T plain = from_float<T>(to_float(x) + 0.0f);
    const unsigned bits = *reinterpret_cast<const unsigned short*>(&plain), ascending = bits >> 15 ? ~bits & 0xffffu : bits | 0x8000u;
    return static_cast<Key>(descending ? ~ascending & 0xffffu : ascending) << 32 | place;
  }
}

template <class T>
__device__ __forceinline__ T short_element(Key key, const T* row, int descending) {
  if constexpr (sizeof(T) == 4) {
    return element_of(key, row, descending);
  } else {
    const unsigned order = static_cast<unsigned>(key >> 32), ascending = (descending ? ~order : order) & 0xffffu;
    const unsigned short bits = static_cast<unsigned short>(ascending >> 15 ? ascending ^ 0x8000u : ~ascending);
    const T value = *reinterpret_cast<const T*>(&bits);
    const float plain = to_float(value);
    return plain != 0.0f && plain == plain ? value : row[static_cast<unsigned>(key)];
  }
}

// An index outside the table comes after all rows.
__device__ __forceinline__ Key index_key(int index, unsigned place, unsigned rows) { return static_cast<Key>(min(static_cast<unsigned>(index), rows)) << 32 | place; }

}  // namespace

extern "C" __global__ void __launch_bounds__(256) radix_count_i32(const int* x, const Key* from, unsigned* counts, unsigned* starts, unsigned* arrived, long long cols, int tiles, int shift, unsigned rows) {
  const Places places = {counts, starts, arrived};
  if (from) radix::count(places, cols, tiles, shift, [&](long long, long long i) { return from[i]; });
  else radix::count(places, cols, tiles, shift, [&](long long, long long i) { return index_key(x[i], static_cast<unsigned>(i), rows); });
}
extern "C" __global__ void __launch_bounds__(256, 3) radix_scatter_i32(const int* x, const Key* from, Key* to, unsigned* counts, unsigned* starts, long long cols, int tiles, int shift, unsigned rows) {
  radix::scatter({counts, starts, nullptr}, cols, tiles, shift, [&](long long, long long i) { return from ? from[i] : index_key(x[i], static_cast<unsigned>(i), rows); },
                 [&](long long, long long place, Key key) { to[place] = key; });
}

#define RADIX(T)                                                                                                                                                                           \
  extern "C" __global__ void __launch_bounds__(256) radix_count_##T(const T* x, const Key* from, unsigned* counts, unsigned* starts, unsigned* arrived, long long cols, int tiles, int shift, \
                                                                    int descending) {                                                                                                      \
    const Places places = {counts, starts, arrived};                                                                                                                                        \
    if (from) radix::count(places, cols, tiles, shift, [&](long long row, long long i) { return from[row * cols + i]; });                                                                    \
    else radix::count(places, cols, tiles, shift, [&](long long row, long long i) { return short_key(x[row * cols + i], static_cast<unsigned>(i), descending); });                           \
  }                                                                                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(256, 3) radix_scatter_##T(const T* x, const Key* from, Key* to, T* values, int* indices, unsigned* counts, unsigned* starts, long long cols,   \
                                                                         int tiles, int shift, long long keep, int descending) {                                                           \
    const auto at = [&](long long row, long long i) { return from ? from[row * cols + i] : short_key(x[row * cols + i], static_cast<unsigned>(i), descending); };                             \
    radix::scatter({counts, starts, nullptr}, cols, tiles, shift, at, [&](long long row, long long place, Key key) {                                                                         \
      if (to) to[row * cols + place] = key;                                                                                                                                                 \
      if (to || place >= keep) return;                                                                                                                                                      \
      values[row * keep + place] = short_element(key, x + row * cols, descending);                                                                                                          \
      indices[row * keep + place] = static_cast<int>(static_cast<unsigned>(key));                                                                                                           \
    });                                                                                                                                                                                    \
  }
RADIX(f32)
RADIX(f16)
RADIX(bf16)
