// sort and topk along rows, by keys of an element and its place (order/keys.cuh). Every element of the order is different, so results are too.
//   order_few_<t>     rows of up to 32: a lane for each element, which counts the smaller ones
//   order_tiles_<t>   sorts tiles of a row in shared memory, from x or from keys; also i32, for scatter_add
//   order_select_<t>  the first `keep` of parts of a row: what is above the last of the best so far is passed over
//   order_merge_<t>   one pass of merges of neighbouring runs; order_merge: keys alone
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

// `length`: of the rows of x, which `cols` is not where keys are sorted.
template <class T>
__device__ __forceinline__ void put(const Rows<T>& r, long long row, long long length, long long at, Key key) {
  r.values[at] = element_of(key, r.x + row * length, r.descending);
  r.indices[at] = static_cast<int>(static_cast<unsigned>(key));
}

template <class T>
__device__ __forceinline__ void few(const Rows<T>& r, long long rows, int group, int keep) {
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x, row = thread / group;
  const int lane = threadIdx.x % group;
  const bool inside = row < rows && lane < r.cols;
  const T x = inside ? r.x[row * r.cols + lane] : T(0.0f);
  const Key own = inside ? keyed(x, lane, r.descending) : LAST;
  int rank = 0;
  for (int i = 0; i < group; i++) rank += __shfl_sync(0xffffffffu, own, i, group) < own;
  if (!inside || rank >= keep) return;
  r.values[row * keep + rank] = x;
  r.indices[row * keep + rank] = lane;
}

// grid: rows * tiles. `tile`: keys of one, eight per thread.
template <class T>
__device__ __forceinline__ void tiles(const Rows<T>& r, int tiles_of_row, long long length, int keep) {
  extern __shared__ Key keys[];
  const int size = blockDim.x * EACH;
  const long long row = blockIdx.x / tiles_of_row, tile = blockIdx.x % tiles_of_row, first = tile * size, n = min(static_cast<long long>(size), r.cols - first);
#pragma unroll
  for (int j = 0; j < EACH; j++) {
    const int i = j * blockDim.x + threadIdx.x;
    keys[spread(i)] = i < n ? r.at(row, first + i) : LAST;
  }
  sort_block(keys);
  for (int i = threadIdx.x; i < min(n, static_cast<long long>(keep)); i += blockDim.x) {
    const Key key = keys[spread(i)];
    if (r.to) r.to[row * r.cols + first + i] = key;
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

// 256 threads: 2048 keys of the result, all of one pair of runs of `width` keys; the last run of a row may be shorter. grid: rows * blocks of the first `keep`.
template <class Put>
__device__ __forceinline__ void merge(const Key* from, long long cols, long long width, long long keep, Put result) {
  constexpr int THREADS = 256, TILE = THREADS * EACH;
  __shared__ Key keys[TILE + TILE / EACH];
  __shared__ long long split[2];
  const long long blocks = (keep + TILE - 1) / TILE, row = blockIdx.x / blocks, start = blockIdx.x % blocks * TILE, end = min(start + TILE, cols);
  const long long pair = start / (2 * width) * 2 * width, left = min(width, cols - pair), right = min(width, cols - pair - left);
  const Key* a = from + row * cols + pair;
  const Key* b = a + left;
  if (threadIdx.x < 2) split[threadIdx.x] = merge_path((threadIdx.x == 0 ? start : end) - pair, left, right, [&](long long i) { return a[i]; }, [&](long long i) { return b[i]; });
  __syncthreads();
  const long long a0 = split[0], b0 = start - pair - a0;
  const int of_a = static_cast<int>(split[1] - a0), all = static_cast<int>(end - start);
  for (int i = threadIdx.x; i < all; i += THREADS) keys[spread(i)] = i < of_a ? a[a0 + i] : b[b0 + i - of_a];
  __syncthreads();
  const int own = min(static_cast<int>(threadIdx.x) * EACH, all);
  const int at = merge_path(own, of_a, all - of_a, [&](int i) { return keys[spread(i)]; }, [&](int i) { return keys[spread(of_a + i)]; });
  Key k[EACH];
  merge_each(keys, at, of_a, of_a + own - at, all, k);
  __syncthreads();
#pragma unroll
  for (int j = 0; j < EACH; j++)
    if (own + j < all) keys[spread(own + j)] = k[j];
  __syncthreads();
  for (int i = threadIdx.x; i < all; i += THREADS)
    if (start + i < keep) result(row, start + i, keys[spread(i)]);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256) order_merge(const Key* from, Key* to, long long cols, long long width) {
  merge(from, cols, width, cols, [&](long long row, long long i, Key key) { to[row * cols + i] = key; });
}
extern "C" __global__ void __launch_bounds__(1024) order_tiles_i32(const int* x, Key* to, long long cols, int tiles_of_row) {
  tiles<int>({x, nullptr, to, nullptr, nullptr, cols, 0}, tiles_of_row, cols, blockDim.x * EACH);
}

#define ORDER(T)                                                                                                                                                                           \
  extern "C" __global__ void __launch_bounds__(256) order_few_##T(const T* x, T* values, int* indices, long long rows, long long cols, int group, int keep, int descending) {               \
    few<T>({x, nullptr, nullptr, values, indices, cols, descending}, rows, group, keep);                                                                                                    \
  }                                                                                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(1024) order_tiles_##T(const T* x, const Key* from, Key* to, T* values, int* indices, long long cols, int tiles_of_row, long long length,     \
                                                                     int keep, int descending) {                                                                                            \
    tiles<T>({x, from, to, values, indices, cols, descending}, tiles_of_row, length, keep);                                                                                                 \
  }                                                                                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(512) order_select_##T(const T* x, const Key* from, Key* to, T* values, int* indices, long long cols, int parts, long long part,              \
                                                                     long long length, int keep, int descending) {                                                                          \
    select<T>({x, from, to, values, indices, cols, descending}, parts, part, length, keep);                                                                                                 \
  }                                                                                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(256) order_merge_##T(const T* x, const Key* from, T* values, int* indices, long long cols, long long width, long long keep, int descending) { \
    merge(from, cols, width, keep, [&](long long row, long long i, Key key) {                                                                                                           \
      values[row * keep + i] = element_of(key, x + row * cols, descending);                                                                                                                \
      indices[row * keep + i] = static_cast<int>(static_cast<unsigned>(key));                                                                                                              \
    });                                                                                                                                                                                    \
  }
ORDER(f32)
ORDER(f16)
ORDER(bf16)
