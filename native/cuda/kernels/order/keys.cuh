// Sorting of 64-bit keys by a block: eight keys per thread, sorted in registers, then merged in shared memory, each thread finding its eight
// of two runs by their diagonal (Green, McColl & Bader 2012, "GPU merge path").
#pragma once
#include "../common/vec.cuh"

using Key = unsigned long long;
constexpr Key LAST = ~Key(0);  // above every element
constexpr int EACH = 8;        // keys of a thread

// A place in shared memory: a gap after every eight keys spreads what threads read together over all banks.
__device__ __forceinline__ int spread(int i) { return i + i / EACH; }

// The upper half orders as the values do (equal ones, -0 and 0 among them, alike), the lower half is the place in the row: ascending keys are
// the stable order of the row.
template <class T>
__device__ __forceinline__ Key keyed(T x, unsigned place, int descending) {
  const unsigned bits = __float_as_uint(to_float(x) + 0.0f);
  const unsigned ascending = bits >> 31 ? ~bits : bits | 0x80000000u;
  return static_cast<Key>(descending ? ~ascending : ascending) << 32 | place;
}
__device__ __forceinline__ Key keyed(int index, unsigned place, int) { return static_cast<Key>(static_cast<unsigned>(index)) << 32 | place; }

// The element of a key; what several elements share a key for is read from its row.
template <class T>
__device__ __forceinline__ T element_of(Key key, const T* row, int descending) {
  const unsigned order = static_cast<unsigned>(key >> 32), ascending = descending ? ~order : order;
  const float value = __uint_as_float(ascending >> 31 ? ascending ^ 0x80000000u : ~ascending);
  return value != 0.0f && value == value ? from_float<T>(value) : row[static_cast<unsigned>(key)];
}

// Keys of [0, left) that are among the first `diagonal` of both runs merged; at(i), bt(i): the runs, of `left` and `right` keys.
template <class I, class A, class B>
__device__ __forceinline__ I merge_path(I diagonal, I left, I right, A at, B bt) {
  I low = diagonal > right ? diagonal - right : 0, high = diagonal < left ? diagonal : left;
  while (low < high) {
    const I middle = (low + high) / 2;
    if (at(middle) <= bt(diagonal - 1 - middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

// This thread's eight of the runs [a, a_end) and [b, b_end) in shared memory, from where its diagonal crosses.
__device__ __forceinline__ void merge_each(const Key* keys, int a, int a_end, int b, int b_end, Key (&out)[EACH]) {
  Key left = a < a_end ? keys[spread(a)] : LAST, right = b < b_end ? keys[spread(b)] : LAST;
#pragma unroll
  for (int j = 0; j < EACH; j++) {
    // A run that has ended gives LAST, which may be a key of the other as well.
    if (b >= b_end || (a < a_end && left <= right)) {
      out[j] = left;
      a++;
      left = a < a_end ? keys[spread(a)] : LAST;
    } else {
      out[j] = right;
      b++;
      right = b < b_end ? keys[spread(b)] : LAST;
    }
  }
}

// Sorts `size` keys, a power of two, where they lie in shared memory. PART: fewer than EACH * blockDim.x, of which the first threads have EACH.
template <bool PART>
__device__ __forceinline__ void sort_keys(Key* keys, int size) {
  const int own = static_cast<int>(threadIdx.x) * EACH;
  const bool has = !PART || own < size;
  Key k[EACH];
  __syncthreads();
#pragma unroll
  for (int j = 0; j < EACH; j++) k[j] = has ? keys[spread(own + j)] : LAST;
#pragma unroll
  for (int round = 0; round < EACH; round++)
#pragma unroll
    for (int j = round % 2; j + 1 < EACH; j += 2) {
      const Key low = min(k[j], k[j + 1]), high = max(k[j], k[j + 1]);
      k[j] = low, k[j + 1] = high;
    }
  for (int width = EACH; width < size; width *= 2) {
    __syncthreads();
    if (has) {
#pragma unroll
      for (int j = 0; j < EACH; j++) keys[spread(own + j)] = k[j];
    }
    __syncthreads();
    if (!has) continue;
    const int first = own / (2 * width) * 2 * width, second = first + width, diagonal = own - first;
    const int a = merge_path(diagonal, width, width, [&](int i) { return keys[spread(first + i)]; }, [&](int i) { return keys[spread(second + i)]; });
    merge_each(keys, first + a, second, second + diagonal - a, second + width, k);
  }
  __syncthreads();
  if (has) {
#pragma unroll
    for (int j = 0; j < EACH; j++) keys[spread(own + j)] = k[j];
  }
  __syncthreads();
}
__device__ __forceinline__ void sort_block(Key* keys) { sort_keys<false>(keys, static_cast<int>(blockDim.x) * EACH); }
