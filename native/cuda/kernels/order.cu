// topk of long rows and sorted indices, by keys of an element and its place (order/keys.cuh). Every element of the order is different, so results are too.
//   order_select_<t>  the first `keep` of parts of a row: what is above the last of the best so far is passed over
//   order_tile_<t>    sorts keys in shared memory: what parts leave; i32: indices, for scatter_add
// Results go to keys, or where those are null to values and their places, the first `keep` of each row.
#include <type_traits>

#include "order/keys.cuh"

namespace {

// What is sorted, and where it goes.
template <class T>
struct Rows {
  const T* x;
  const Key* from;  // instead of x
  Key* to;
  T* values;
  int* indices;
  long long cols;
  int descending;

  __device__ __forceinline__ Key at(long long row, long long i) const { return from ? from[row * cols + i] : keyed(x[row * cols + i], static_cast<unsigned>(i), descending); }
};

// `length`: of the rows of x, which `cols` is not where keys are sorted. Values come from their places: kernels that leave keys have orders of their own.
template <class T>
__device__ __forceinline__ void put(const Rows<T>& r, long long row, long long length, long long at, Key key) {
  const unsigned place = static_cast<unsigned>(key);
  r.values[at] = r.x[row * length + place];
  r.indices[at] = static_cast<int>(place);
}

// grid: rows. A row has at most as many keys as a block, eight per thread.
template <class T>
__device__ __forceinline__ void tile(const Rows<T>& r, long long length, int keep) {
  extern __shared__ Key keys[];
  const long long row = blockIdx.x;
  const int n = static_cast<int>(r.cols);
#pragma unroll
  for (int j = 0; j < EACH; j++) {
    const int i = j * blockDim.x + threadIdx.x;
    keys[spread(i)] = i < n ? r.at(row, i) : LAST;
  }
  sort_block(keys);
  for (int i = threadIdx.x; i < min(n, keep); i += blockDim.x) {
    const Key key = keys[spread(i)];
    if (r.to) r.to[row * r.cols + i] = key;
    else if constexpr (!std::is_same_v<T, int>) put(r, row, length, row * keep + i, key);
  }
}

// grid: rows * parts; 512 threads. Each part leaves `keep` keys, LAST where it has fewer elements.
template <class T>
__device__ __forceinline__ void select(const Rows<T>& r, int parts, long long part, long long length, int keep) {
  constexpr int THREADS = 512, CAPACITY = THREADS * EACH, BATCH = CAPACITY / 2, LOADS = BATCH / THREADS;
  extern __shared__ Key keys[];
  __shared__ int count;
  __shared__ Key worst;
  const long long row = blockIdx.x / parts, from = blockIdx.x % parts * part, to = min(r.cols, from + part);
  if (threadIdx.x == 0) count = 0, worst = LAST;
  __syncthreads();
  const auto settle = [&] {
    const int held = count;
    for (int i = held + threadIdx.x; i < CAPACITY; i += THREADS) keys[spread(i)] = LAST;
    sort_block(keys);
    if (threadIdx.x == 0) count = min(held, keep), worst = keys[spread(keep - 1)];
    __syncthreads();
  };
  for (long long base = from; base < to; base += BATCH) {
    Key key[LOADS];
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
      const long long i = base + j * THREADS + threadIdx.x;
      key[j] = i < to ? r.at(row, i) : LAST;
    }
    const Key limit = worst;
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
      const bool better = key[j] < limit;
      const unsigned votes = __ballot_sync(0xffffffffu, better);
      if (votes == 0) continue;
      const int lane = threadIdx.x % 32;
      int place = 0;
      if (lane == 0) place = atomicAdd(&count, __popc(votes));
      place = __shfl_sync(0xffffffffu, place, 0) + __popc(votes & ((1u << lane) - 1));
      if (better) keys[spread(place)] = key[j];
    }
    __syncthreads();
    const int held = count;
    __syncthreads();
    if (held > CAPACITY - BATCH) settle();
  }
  settle();
  for (int i = threadIdx.x; i < keep; i += THREADS) {
    const Key key = keys[spread(i)];
    if (r.to) r.to[(row * parts + blockIdx.x % parts) * keep + i] = key;
    else put(r, row, length, row * keep + i, key);
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(1024) order_tile_i32(const int* x, Key* to, int cols) { tile<int>({x, nullptr, to, nullptr, nullptr, cols, 0}, cols, cols); }

#define ORDER(T)                                                                                                                                                                           \
  extern "C" __global__ void __launch_bounds__(1024) order_tile_##T(const T* x, const Key* from, T* values, int* indices, long long cols, long long length, int keep, int descending) {    \
    tile<T>({x, from, nullptr, values, indices, cols, descending}, length, keep);                                                                                                          \
  }                                                                                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(512) order_select_##T(const T* x, const Key* from, Key* to, T* values, int* indices, long long cols, int parts, long long part,              \
                                                                     long long length, int keep, int descending) {                                                                          \
    select<T>({x, from, to, values, indices, cols, descending}, parts, part, length, keep);                                                                                                 \
  }
ORDER(f32)
ORDER(f16)
ORDER(bf16)
