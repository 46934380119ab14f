// sort and topk along rows that fit the shared memory of one block, by digits (order/block.cuh).
//   order_block_<bits>_<r>  r words of a thread
// 16: f16 and bf16; 32: f32.
#include "order/block.cuh"

namespace {

template <class E, int R>
__device__ __forceinline__ void sort_row(const E* x, E* values, int* indices, int cols, int keep, words::Order order) {
  using W = words::Word<E>;
  extern __shared__ unsigned long long shared[];
  const E* const row = x + static_cast<long long>(blockIdx.x) * cols;
  W* const sorted = reinterpret_cast<W*>(shared);
  unsigned* const counts = reinterpret_cast<unsigned*>(sorted + R * blockDim.x);
  W k[R];
#pragma unroll
  for (int j = 0; j < R; j++) {
    const int i = (static_cast<int>(threadIdx.x) / 32 * R + j) * 32 + static_cast<int>(threadIdx.x) % 32;
    k[j] = i < cols ? words::word_of<E>(row[i], i, order) : words::LAST<E>;
  }
  block::sort<E, R>(k, sorted, counts);
  E* const to = values + static_cast<long long>(blockIdx.x) * keep;
  int* const places = indices + static_cast<long long>(blockIdx.x) * keep;
  for (int i = threadIdx.x; i < keep; i += blockDim.x) {
    const W word = sorted[i];
    to[i] = words::element_of<E>(word, row, order);
    places[i] = static_cast<int>(words::place_of<E>(word));
  }
}

}  // namespace

#define BLOCK(bits, E, R)                                                                                                                                                 \
  extern "C" __global__ void __launch_bounds__(1024) order_block_##bits##_##R(const E* x, E* values, int* indices, int cols, int keep, unsigned infinity, unsigned flip) { \
    sort_row<E, R>(x, values, indices, cols, keep, {infinity, flip});                                                                                                     \
  }
BLOCK(16, unsigned short, 8)
BLOCK(16, unsigned short, 16)
BLOCK(32, unsigned, 8)
BLOCK(32, unsigned, 16)
