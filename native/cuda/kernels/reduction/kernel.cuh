// Reductions of x [outer, reduce, inner] to out [outer, inner]. R says what is reduced (reduction.cu).
//   reduce_group    inner = 1, rows of a few vectors that start on 16 bytes: some lanes of a warp for each
//   reduce_tile     inner = 1, other rows of so few: the same through shared memory
//   reduce_row      inner = 1: a block for each row, or a cluster
//   reduce_slots    inner = 1: many blocks for each row
//   reduce_short    inner = 1: a block for each row of at most `short_vectors` vectors a thread; little code, for a call that waits for its code too
// columns.cuh has those of inner > 1, pieces.cuh what joins groups, where what is reduced does not lie in one piece.
// Rows of more vectors that lanes of a warp hold are taken by reduction_rows.cu. Partial results are joined in a fixed order, so results repeat bit for bit.
#pragma once
#include "../common/cluster.cuh"
#include "../common/slots.cuh"
#include "places.cuh"
#include "range.cuh"

template <class R>
struct Join {
  __device__ __forceinline__ typename R::Part operator()(typename R::Part p, typename R::Part q) const { return R::join(p, q); }
};

// Where results go: to `out`, made of `count` elements, or as they are to `parts` for reduce_groups to join.
template <class R, class T>
struct Results {
  typename R::template Out<T>* out;
  typename R::Part* parts;
  long long count;

  __device__ __forceinline__ void put(long long cell, typename R::Part p) const {
    if (parts)
      parts[cell] = p;
    else
      R::template put<T>(out + cell, p, count);
  }
};

// Over the `group` threads (a power of two up to 32) that stand together; every one of them gets the result.
template <class R>
__device__ __forceinline__ typename R::Part join_threads(typename R::Part p, int group) {
  for (int offset = group / 2; offset > 0; offset /= 2) {
    const typename R::Part other = __shfl_xor_sync(0xffffffffu, p, offset);
    // The same order on both sides.
    p = threadIdx.x & offset ? R::join(other, p) : R::join(p, other);
  }
  return p;
}

template <class R, class T>
__device__ __forceinline__ void reduce_group(const T* x, Results<R, T> results, long long rows, long long cols, int group) {
  const long long row = static_cast<long long>(blockIdx.x) * (blockDim.x / group) + threadIdx.x / group;
  const int thread = threadIdx.x % group;
  // Threads beyond the rows stay for the others of their warp.
  const auto total = join_threads<R>(row < rows ? reduce_range<R>(x + row * cols, x, cols, 0, thread, group) : R::start(), group);
  if (row < rows && thread == 0) results.put(row, total);
}

// `tile_rows` rows per block, a multiple of 8, so that their tile starts on 16 bytes.
template <class R, class T>
__device__ __forceinline__ void reduce_tile(const T* x, Results<R, T> results, long long rows, int cols, int tile_rows, int group) {
  extern __shared__ uint4 tile[];
  const long long first = static_cast<long long>(blockIdx.x) * tile_rows;
  const int count = static_cast<int>(min(static_cast<long long>(tile_rows), rows - first)), vectors = (count * cols + LANES<T> - 1) / LANES<T>;
  const uint4* from = reinterpret_cast<const uint4*>(x + first * cols);
  for (int v = threadIdx.x; v < vectors; v += blockDim.x) tile[v] = load16_once(from + v);
  __syncthreads();
  const T* own = reinterpret_cast<const T*>(tile);
  const int thread = threadIdx.x % group, at = threadIdx.x / group, together = blockDim.x / group;
  for (int row = at; row - at < count; row += together) {
    auto total = R::start();
    if (row < count)
      for (int i = thread; i < cols; i += group) total = R::join(total, R::element(to_float(own[row * cols + i]), 0.0f, static_cast<unsigned>(i)));
    total = join_threads<R>(total, group);
    if (row < count && thread == 0) results.put(first + row, total);
  }
}

// grid: (1, rows), or where several blocks of a cluster have parts of `chunk` elements of a row, a multiple of the vector width, (blocks, rows).
template <class R, class T, bool CLUSTER>
__device__ __forceinline__ void reduce_row(const T* x, const T* y, Results<R, T> results, long long cols, long long chunk) {
  using Part = typename R::Part;
  __shared__ Part scratch[32];
  const long long row = blockIdx.y, from = blockIdx.x * chunk, at = row * cols + from;
  Part total = block_reduce(reduce_range<R>(x + at, R::pair ? y + at : x, min(chunk, cols - from), static_cast<unsigned>(from), threadIdx.x, blockDim.x), R::start(), scratch, Join<R>());
  if constexpr (CLUSTER) {
    __shared__ Part slot;
    total = join_cluster(total, slot, gridDim.x, Join<R>());
    if (blockIdx.x == 0 && threadIdx.x == 0) results.put(row, total);
    cluster_wait();
  } else {
    if (threadIdx.x == 0) results.put(row, total);
  }
}

// Vectors of a thread at a time, and threads. As in row_split (shape.h).
constexpr int slot_vectors = 4, slot_threads = 512;

// A block's share of vectors that are one whole round: with nothing to find out before them, its loads start sooner. A place is one within the round; of places, thread 0 has the share.
template <class R, class T>
__device__ __forceinline__ typename R::Part whole_round(const T* x, const T* y) {
  constexpr int L = LANES<T>, U = slot_vectors;
  const int t = static_cast<int>(threadIdx.x);
  uint4 a[U];
  [[maybe_unused]] uint4 b[U];
#pragma unroll
  for (int u = 0; u < U; u++) {
    a[u] = load16_once(x + (t + u * slot_threads) * L);
    if constexpr (R::pair) b[u] = load16_once(y + (t + u * slot_threads) * L);
  }
  if constexpr (R::placed) {
    __shared__ float scratch[32];
    __shared__ unsigned first;
    if (t == 0) first = ~0u;
    float own = largest_of<R, T>(a[0]);
#pragma unroll
    for (int u = 1; u < U; u++) own = max_or_nan(own, largest_of<R, T>(a[u]));
    const float most = block_reduce(own, -INFINITY, scratch, MaxOrNan());
    __syncthreads();
    if (own == most || (own != own && most != most)) {
      const int at = most == most ? first_equal<T>(a, key_of<R>(most)) : first_nan<T>(a);
      atomicMin(&first, static_cast<unsigned>((t + at / L * slot_threads) * L + at % L));
    }
    __syncthreads();
    // Zeros of either sign are equal.
    return R::ranked(0.0f + most, first);
  } else {
    __shared__ float scratch[32];
    float total = R::start();
#pragma unroll
    for (int u = 0; u < U; u++) {
      float f[L], g[L] = {}, part = R::start();
      unpack<T>(a[u], f);
      if constexpr (R::pair) unpack<T>(b[u], g);
#pragma unroll
      for (int j = 0; j < L; j += 2) part = R::join(part, R::join(R::element(f[j], g[j], 0), R::element(f[j + 1], g[j + 1], 0)));
      total = R::join(total, part);
    }
    return block_reduce(total, R::start(), scratch, Join<R>());
  }
}

// grid: (splits, rows). A block leaves its share in a slot of 64 bits that is not below `mark`, and the last block of a row reads all slots until each has one:
// neither a fence nor a counter stands between a share and the result. Slots are zero before and after.
template <class R, class T>
__device__ __forceinline__ void reduce_slots(const T* x, const T* y, Results<R, T> results, long long cols, int chunk, unsigned long long* slots) {
  using Part = typename R::Part;
  using Word = unsigned long long;
  __shared__ Part scratch[32], second[32];
  constexpr Word mark = Word{1} << 32;
  // A place is below no mark: the order of its element in the upper half is never 0.
  const auto word_of = [](Part p) -> Word {
    if constexpr (R::placed) return p;
    else return mark | __float_as_uint(p);
  };
  const auto part_of = [](Word w) -> Part {
    if constexpr (R::placed) return w;
    else return __uint_as_float(static_cast<unsigned>(w));
  };
  const auto join_block = [](Part p, Part* shared) -> Part {
    if constexpr (R::placed) return largest_word(p, shared);
    else return block_reduce(p, R::start(), shared, Join<R>());
  };
  const long long row = blockIdx.y, from = blockIdx.x * static_cast<long long>(chunk), at = row * cols + from;
  const int count = static_cast<int>(min(static_cast<long long>(chunk), cols - from)), threads = static_cast<int>(blockDim.x), step = slot_vectors * threads;
  const unsigned splits = gridDim.x;
  const auto starts_on_vector = [](const T* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; };
  Part total;
  if (count == slot_vectors * slot_threads * LANES<T> && starts_on_vector(x + at) && (!R::pair || starts_on_vector(y + at))) {
    total = R::moved(whole_round<R, T>(x + at, y + at), static_cast<unsigned>(from));
  } else if constexpr (R::placed) {
    total = R::moved(join_block(leading_largest<R, T, slot_vectors>(x + at, count, threadIdx.x, threads), scratch), static_cast<unsigned>(from));
  } else {
    const Range<R, T, int> range(x + at, R::pair ? y + at : x, count, 0);
    Part part[slot_vectors];
#pragma unroll
    for (int u = 0; u < slot_vectors; u++) part[u] = R::start();
    int i = threadIdx.x;
    for (int left = range.vectors; left > step; left -= step, i += step) range.template round<slot_vectors>(part, i, threads);
    total = join_block(range.template rest<slot_vectors, true>(part, i, threadIdx.x, threads), scratch);
  }
  Word* own = slots + row * splits;
  if (threadIdx.x == 0) leave_word(own + blockIdx.x, word_of(total));
  if (blockIdx.x + 1 < splits) return;
  total = R::start();
  constexpr int U = 4;
  for (unsigned first = threadIdx.x; first < splits; first += U * blockDim.x) {
    Word word[U];
    await_words(word, own + first, threads, static_cast<int>((splits - first + blockDim.x - 1) / blockDim.x), mark);
#pragma unroll
    for (int u = 0; u < U; u++) {
      const unsigned s = first + u * blockDim.x;
      if (s >= splits) break;
      total = R::join(total, part_of(word[u]));
      own[s] = 0;
    }
  }
  total = join_block(total, second);
  if (threadIdx.x == 0) results.put(row, total);
}

// Vectors of a thread. As in row_split (shape.h).
constexpr int short_vectors = 4;

template <class R, class T>
__device__ __forceinline__ void reduce_short(const T* x, const T* y, Results<R, T> results, long long cols) {
  using Part = typename R::Part;
  const long long row = blockIdx.y;
  const int t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  if constexpr (R::placed) {
    const Part total = first_largest<R, T, short_vectors>(x + row * cols, static_cast<int>(cols), t, threads);
    if (t == 0) results.put(row, total);
  } else {
    __shared__ Part scratch[32];
    Part part[short_vectors];
#pragma unroll
    for (int u = 0; u < short_vectors; u++) part[u] = R::start();
    const Range<R, T, int> range(x + row * cols, R::pair ? y + row * cols : x, static_cast<int>(cols), 0);
    const Part total = block_reduce(range.template rest<short_vectors, true>(part, t, t, threads), R::start(), scratch, Join<R>());
    if (t == 0) results.put(row, total);
  }
}
