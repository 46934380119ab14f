// sort and topk along rows that fit the shared memory of one block, by digits (order/block.cuh).
//   order_block_<bits>_<r>        r words of a thread
//   order_block_keys_<bits>_<r>   the first of a part of a row, as keys that another launch sorts with those of the other parts
// 16: f16 and bf16; 32: f32.
#include "order/block.cuh"

namespace {

// The words of the n elements of `row` in order, in shared memory.
template <class E, int R>
__device__ __forceinline__ const words::Word<E>* sorted_words(const E* row, int n, words::Order order) {
  using W = words::Word<E>;
  extern __shared__ unsigned long long shared[];
  W* const sorted = reinterpret_cast<W*>(shared);
  unsigned* const counts = reinterpret_cast<unsigned*>(sorted + R * blockDim.x);
  W k[R];
#pragma unroll
  for (int j = 0; j < R; j++) {
    const int i = (static_cast<int>(threadIdx.x) / 32 * R + j) * 32 + static_cast<int>(threadIdx.x) % 32;
    k[j] = i < n ? words::word_of<E>(row[i], i, order) : words::LAST<E>;
  }
  block::sort<E, R>(k, sorted, counts);
  return sorted;
}

template <class E, int R>
__device__ __forceinline__ void sort_row(const E* x, E* values, int* indices, int cols, int keep, words::Order order) {
  const E* const row = x + static_cast<long long>(blockIdx.x) * cols;
  const words::Word<E>* const sorted = sorted_words<E, R>(row, cols, order);
  E* const to = values + static_cast<long long>(blockIdx.x) * keep;
  int* const places = indices + static_cast<long long>(blockIdx.x) * keep;
  for (int i = threadIdx.x; i < keep; i += blockDim.x) {
    const words::Word<E> word = sorted[i];
    to[i] = words::element_of<E>(word, row, order);
    places[i] = static_cast<int>(words::place_of<E>(word));
  }
}

// grid: `parts` blocks for each row, of `part` elements.
template <class E, int R>
__device__ __forceinline__ void sort_part(const E* x, unsigned long long* keys, long long cols, int parts, int part, int keep, words::Order order) {
  const int number = static_cast<int>(blockIdx.x % static_cast<unsigned>(parts)), first = number * part, n = static_cast<int>(min(static_cast<long long>(part), cols - first));
  const words::Word<E>* const sorted = sorted_words<E, R>(x + blockIdx.x / static_cast<unsigned>(parts) * cols + first, n, order);
  for (int i = threadIdx.x; i < keep; i += blockDim.x) {
    const words::Word<E> word = sorted[i];
    // A last part may have fewer than are wanted.
    keys[static_cast<long long>(blockIdx.x) * keep + i] = i < n ? static_cast<unsigned long long>(word >> words::HALF<E>) << 32 | (first + words::place_of<E>(word)) : ~0ull;
  }
}

}  // namespace

#define BLOCK(bits, E, R)                                                                                                                                                 \
  extern "C" __global__ void __launch_bounds__(1024) order_block_##bits##_##R(const E* x, E* values, int* indices, int cols, int keep, unsigned infinity, unsigned flip) { \
    sort_row<E, R>(x, values, indices, cols, keep, {infinity, flip});                                                                                                     \
  }                                                                                                                                                                       \
  extern "C" __global__ void __launch_bounds__(1024) order_block_keys_##bits##_##R(const E* x, unsigned long long* keys, long long cols, int parts, int part, int keep, unsigned infinity, unsigned flip) { \
    sort_part<E, R>(x, keys, cols, parts, part, keep, {infinity, flip});                                                                                                   \
  }
BLOCK(16, unsigned short, 8)
BLOCK(16, unsigned short, 16)
BLOCK(32, unsigned, 8)
BLOCK(32, unsigned, 16)
