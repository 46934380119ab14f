// sort and topk along rows that fit the registers of a warp or of a part of it (order/network.cuh).
//   order_network_<bits>_<k>  k words of a lane; a group of lanes for each row, a power of two
// 16: f16 and bf16; 32: f32. Values and their places leave by way of shared memory, so that neighbouring lanes write side by side.
#include "order/network.cuh"
#include "order/words.cuh"

namespace {

constexpr int WARPS = 4;

template <class E, int K>
__device__ __forceinline__ void sort_rows(const E* x, E* values, int* indices, long long rows, int cols, int group, int keep, words::Order order) {
  using W = words::Word<E>;
  // A gap after every K words spreads what lanes write together over all banks.
  __shared__ W sorted[WARPS][32 * (K + 1)];
  const int lane = threadIdx.x % 32, in_warp = 32 / group;
  const long long first = (static_cast<long long>(blockIdx.x) * WARPS + threadIdx.x / 32) * in_warp, row = first + lane / group;
  if (first >= rows) return;
  W k[K];
  const E* const own = x + row * cols;
#pragma unroll
  for (int j = 0; j < K; j++) {
    const int i = j * group + lane % group;
    k[j] = row < rows && i < cols ? words::word_of<E>(own[i], i, order) : words::LAST<E>;
  }
  network::sort_group(k, group);
  W* const mine = sorted[threadIdx.x / 32];
#pragma unroll
  for (int j = 0; j < K; j++) mine[lane * (K + 1) + j] = k[j];
  __syncwarp();
  const int total = static_cast<int>(min(static_cast<long long>(in_warp), rows - first)) * keep;
  // i / keep for i * keep < 65536, which holds where a warp has several rows.
  const unsigned inverse = 65536 / keep + 1;
  E* const to = values + first * keep;
  int* const places = indices + first * keep;
#pragma unroll 4
  for (int i = lane; i < total; i += 32) {
    const int r = in_warp == 1 ? 0 : static_cast<int>(i * inverse >> 16), rank = r * group * K + i - r * keep;
    const W word = mine[rank + rank / K];
    to[i] = words::element_of<E>(word, x + (first + r) * cols, order);
    places[i] = static_cast<int>(words::place_of<E>(word));
  }
}

}  // namespace

#define NETWORK(bits, E, K)                                                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(WARPS * 32) order_network_##bits##_##K(const E* x, E* values, int* indices, long long rows, int cols, int group, int keep,        \
                                                                                       unsigned infinity, unsigned flip) {                                                       \
    sort_rows<E, K>(x, values, indices, rows, cols, group, keep, {infinity, flip});                                                                                              \
  }
NETWORK(16, unsigned short, 4)
NETWORK(16, unsigned short, 8)
NETWORK(16, unsigned short, 16)
NETWORK(16, unsigned short, 32)
NETWORK(32, unsigned, 4)
NETWORK(32, unsigned, 8)
NETWORK(32, unsigned, 16)
