// sort and topk along rows. An element and its place in one 64-bit integer: the upper half orders as the values do (equal ones, -0 and 0
// among them, alike), the lower half is the place, so that ascending integers are the stable order of the row.
//
//   tiles_<t>   sorts tiles of a row in shared memory, from x or from candidates, and keeps the first `keep` of each
//   merge       one pass of merges of neighbouring runs: every element finds its rank in the other run
//   write_<t>   values and places of the first `keep` of each row
#include "common/vec.cuh"

namespace {

using Key = unsigned long long;
constexpr Key LAST = ~Key(0);  // above every element

template <class T>
__device__ __forceinline__ Key keyed(T x, unsigned place, int descending) {
  const unsigned bits = __float_as_uint(to_float(x) + 0.0f);
  const unsigned ascending = bits >> 31 ? ~bits : bits | 0x80000000u;
  return static_cast<Key>(descending ? ~ascending : ascending) << 32 | place;
}

// Bitonic sort of `size` (a power of two) keys in shared memory.
__device__ __forceinline__ void sort_tile(Key* keys, int size) {
  for (int width = 2; width <= size; width *= 2)
    for (int step = width / 2; step > 0; step /= 2) {
      __syncthreads();
      for (int i = threadIdx.x; i < size / 2; i += blockDim.x) {
        const int low = i / step * 2 * step + i % step, high = low + step;
        const Key a = keys[low], b = keys[high];
        if ((a > b) == ((low & width) == 0)) keys[low] = b, keys[high] = a;
      }
    }
  __syncthreads();
}

// grid: rows * tiles. A row holds `cols` elements of x, or where x is null that many keys of `from`. `size`: keys of a tile.
template <class T>
__device__ __forceinline__ void tiles(const T* x, const Key* from, Key* to, long long cols, int tiles_of_row, int size, int keep, long long to_stride, int descending) {
  extern __shared__ Key keys[];
  const long long row = blockIdx.x / tiles_of_row, tile = blockIdx.x % tiles_of_row, first = tile * size, n = min(static_cast<long long>(size), cols - first);
  for (int i = threadIdx.x; i < size; i += blockDim.x)
    keys[i] = i >= n ? LAST : x ? keyed(x[row * cols + first + i], static_cast<unsigned>(first + i), descending) : from[row * cols + first + i];
  sort_tile(keys, size);
  for (int i = threadIdx.x; i < keep && tile * keep + i < to_stride; i += blockDim.x) to[row * to_stride + tile * keep + i] = keys[i];
}

template <class T>
__device__ __forceinline__ void write(const T* x, const Key* keys, T* values, int* indices, long long rows, long long cols, long long stride, long long keep) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= rows * keep) return;
  const long long row = i / keep;
  const unsigned place = static_cast<unsigned>(keys[row * stride + (i - row * keep)]);
  indices[i] = static_cast<int>(place);
  values[i] = x[row * cols + place];
}

}  // namespace

// Runs of `width` keys, the last of a row may be shorter.
extern "C" __global__ void __launch_bounds__(256) merge(const unsigned long long* from, unsigned long long* to, long long rows, long long cols, long long width) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= rows * cols) return;
  const long long row = i / cols, at = i - row * cols, run = at / width, pair = run / 2 * 2 * width;
  const Key* keys = from + row * cols;
  const Key own = keys[at];
  const bool first = run % 2 == 0;
  const long long begin = first ? min(pair + width, cols) : pair, end = first ? min(pair + 2 * width, cols) : pair + width;
  long long low = begin, high = end;
  while (low < high) {
    const long long middle = (low + high) / 2;
    if (keys[middle] < own) low = middle + 1;
    else high = middle;
  }
  to[row * cols + pair + (at - run * width) + (low - begin)] = own;
}

#define ORDER(T)                                                                                                                                                               \
  extern "C" __global__ void __launch_bounds__(1024) tiles_##T(const T* x, const unsigned long long* from, unsigned long long* to, long long cols, int tiles_of_row, int size, \
                                                               int keep, long long to_stride, int descending) {                                                                \
    tiles(x, from, to, cols, tiles_of_row, size, keep, to_stride, descending);                                                                                                 \
  }                                                                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(256) write_##T(const T* x, const unsigned long long* keys, T* values, int* indices, long long rows, long long cols, long long stride, \
                                                              long long keep) {                                                                                                \
    write(x, keys, values, indices, rows, cols, stride, keep);                                                                                                                 \
  }
ORDER(f32)
ORDER(f16)
ORDER(bf16)
