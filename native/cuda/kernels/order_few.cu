// sort and topk of few rows, a thread for each word: little code, for a call of few rows waits for its instructions too.
//   order_rank_<bits>     rows of up to 256: each thread counts the words below its own
//   order_threads_<bits>  rows of up to 512: a bitonic sort, between lanes by shuffles, between warps through shared memory
//   order_single_<bits>   rows of one element, of any number: a copy, whose places are zero
// 16: f16 and bf16; 32: f32. grid: rows; of order_single vectors of 16 bytes, and the elements behind the last.
#include "common/vec.cuh"
#include "order/network.cuh"
#include "order/words.cuh"

namespace {

template <class E>
__device__ __forceinline__ words::Word<E> own_word(const E* row, int cols, words::Order order) {
  const int i = threadIdx.x;
  return i < cols ? words::word_of<E>(row[i], i, order) : words::LAST<E>;
}

template <class E>
__device__ __forceinline__ void rank_row(const E* x, E* values, int* indices, int cols, int keep, words::Order order) {
  using W = words::Word<E>;
  constexpr int AT_ONCE = 16 / sizeof(W);
  struct alignas(16) Several {
    W word[AT_ONCE];
  };
  __shared__ Several all[256 / AT_ONCE];
  const E* const row = x + static_cast<long long>(blockIdx.x) * cols;
  const W own = own_word(row, cols, order);
  reinterpret_cast<W*>(all)[threadIdx.x] = own;
  __syncthreads();
  int rank = 0;
#pragma unroll 4
  for (int i = 0; i < static_cast<int>(blockDim.x) / AT_ONCE; i++) {
    const Several some = all[i];
#pragma unroll
    for (int j = 0; j < AT_ONCE; j++) rank += some.word[j] < own;
  }
  if (static_cast<int>(threadIdx.x) >= cols || rank >= keep) return;
  const long long to = static_cast<long long>(blockIdx.x) * keep + rank;
  values[to] = words::element_of<E>(own, row, order);
  indices[to] = static_cast<int>(threadIdx.x);
}

// blockDim.x: a power of two.
template <class E>
__device__ __forceinline__ void sort_threads(const E* x, E* values, int* indices, int cols, int keep, words::Order order) {
  using W = words::Word<E>;
  __shared__ W passed[2][512];
  const E* const row = x + static_cast<long long>(blockIdx.x) * cols;
  W own = own_word(row, cols, order);
  const int t = threadIdx.x, size = blockDim.x;
  int side = 0;
  for (int width = 1; width < size; width *= 2) {
    // The first step compares each word with its mirror image, so that all runs ascend.
    for (int distance = width, partner = 2 * width - 1; distance > 0; distance /= 2, partner = distance) {
      W other;
      if (partner < 32) {
        other = __shfl_xor_sync(0xffffffffu, own, partner);
      } else {
        // Two sides in turn, so that one barrier is enough.
        passed[side][t] = own;
        __syncthreads();
        other = passed[side][t ^ partner];
        side ^= 1;
      }
      own = network::keep(own, other, t & distance);
    }
  }
  if (t >= keep) return;
  const long long to = static_cast<long long>(blockIdx.x) * keep + t;
  values[to] = words::element_of<E>(own, row, order);
  indices[to] = static_cast<int>(words::place_of<E>(own));
}

// Rows of one element.
template <class E>
__device__ __forceinline__ void copy_rows(const E* __restrict__ x, E* __restrict__ values, int* __restrict__ indices, long long rows) {
  constexpr int L = 16 / sizeof(E);
  const long long t = thread_of_grid();
  if (t < rows / L) {
    store16(values + t * L, load16(x + t * L));
#pragma unroll
    for (int i = 0; i < L; i += 4) store16(indices + t * L + i, make_uint4(0, 0, 0, 0));
  }
  if (const long long i = element_behind<E>(t, rows); i < rows) values[i] = x[i], indices[i] = 0;
}

}  // namespace

#define FEW(bits, E)                                                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) order_rank_##bits(const E* x, E* values, int* indices, int cols, int keep, unsigned infinity, unsigned flip) {      \
    rank_row(x, values, indices, cols, keep, {infinity, flip});                                                                                                         \
  }                                                                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(512) order_threads_##bits(const E* x, E* values, int* indices, int cols, int keep, unsigned infinity, unsigned flip) {  \
    sort_threads(x, values, indices, cols, keep, {infinity, flip});                                                                                                     \
  }                                                                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(256) order_single_##bits(const E* x, E* values, int* indices, long long rows) { copy_rows(x, values, indices, rows); }
FEW(16, unsigned short)
FEW(32, unsigned)
