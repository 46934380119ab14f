// Reductions of x [outer, reduce, inner] to out [outer, inner]. R says what is reduced (reduction.cu).
//   reduce_warp     inner = 1, short rows: one warp per row
//   reduce_row      inner = 1: one or several blocks per row; the last block to finish a row joins the parts
//   reduce_columns  inner > 1: a block owns 32 columns of W elements and a share of the rows; the last block joins the shares
//   reduce_groups   joins the results of several groups, where what is reduced does not lie in one piece
// Partial results are joined in a fixed order, so results repeat bit for bit.
#pragma once
#include "../common/reduce.cuh"
#include "../common/vec.cuh"

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

// Elements t, t + threads, ... of the contiguous range of n from x (and y), in 16-byte vectors between ragged ends. `first` is
// the place of x[0] within what is reduced.
template <class R, class T>
__device__ __forceinline__ typename R::Part reduce_range(const T* x, const T* y, long long n, unsigned first, int t, int threads) {
  using Part = typename R::Part;
  constexpr int L = LANES<T>, U = 4;
  Part total = R::start();
  long long head = (16 - (reinterpret_cast<uintptr_t>(x) & 15)) % 16 / sizeof(T);
  if (head > n) head = n;
  const auto one = [&](long long i) { return R::element(to_float(x[i]), R::pair ? to_float(y[i]) : 0.0f, first + static_cast<unsigned>(i)); };
  if (t < head) total = R::join(total, one(t));
  const uint4* v = reinterpret_cast<const uint4*>(x + head);
  const uint4* w = reinterpret_cast<const uint4*>(y + head);
  const long long vectors = (n - head) / L;
  Part part[U];
#pragma unroll
  for (int u = 0; u < U; u++) part[u] = R::start();
  const auto add = [&](Part& into, const uint4& a, const uint4& b, long long vector) {
    float f[L], g[L] = {};
    unpack<T>(a, f);
    if constexpr (R::pair) unpack<T>(b, g);
    const unsigned place = first + static_cast<unsigned>(head + vector * L);
#pragma unroll
    for (int j = 0; j < L; j += 2) into = R::join(into, R::join(R::element(f[j], g[j], place + j), R::element(f[j + 1], g[j + 1], place + j + 1)));
  };
  long long i = t;
  for (; i + (U - 1) * threads < vectors; i += U * threads) {
    uint4 a[U], b[U];
#pragma unroll
    for (int u = 0; u < U; u++) {
      a[u] = load16_once(v + i + u * threads);
      if constexpr (R::pair) b[u] = load16_once(w + i + u * threads);
    }
#pragma unroll
    for (int u = 0; u < U; u++) add(part[u], a[u], b[u], i + u * threads);
  }
  for (; i < vectors; i += threads) add(part[0], load16_once(v + i), R::pair ? load16_once(w + i) : uint4(), i);
  const long long done = head + vectors * L;
  if (t < n - done) total = R::join(total, one(done + t));
  return R::join(total, R::join(R::join(part[0], part[1]), R::join(part[2], part[3])));
}

template <class R, class T>
__device__ __forceinline__ void reduce_warp(const T* x, Results<R, T> results, long long rows, long long cols) {
  const long long row = static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  const auto total = warp_reduce(reduce_range<R>(x + row * cols, x, cols, 0, threadIdx.x % 32, 32), Join<R>());
  if (threadIdx.x % 32 == 0) results.put(row, total);
}

// grid: (splits, rows). `chunk` elements per split, a multiple of the vector width. `shares` has room for a part per block.
template <class R, class T>
__device__ __forceinline__ void reduce_row(const T* x, const T* y, Results<R, T> results, long long cols, long long chunk, typename R::Part* shares, unsigned* counters) {
  using Part = typename R::Part;
  __shared__ Part scratch[32], second[32];
  const long long row = blockIdx.y;
  const unsigned splits = gridDim.x;
  const long long from = blockIdx.x * chunk;
  const long long count = min(chunk, cols - from);
  const long long at = row * cols + from;
  Part total = block_reduce(reduce_range<R>(x + at, R::pair ? y + at : x, count, static_cast<unsigned>(from), threadIdx.x, blockDim.x), R::start(), scratch, Join<R>());
  if (splits == 1) {
    if (threadIdx.x == 0) results.put(row, total);
    return;
  }
  if (threadIdx.x == 0) shares[row * splits + blockIdx.x] = total;
  if (!last_to_arrive(counters + row, splits)) return;
  total = R::start();
  for (unsigned s = threadIdx.x; s < splits; s += blockDim.x) total = R::join(total, __ldcg(shares + row * splits + s));
  total = block_reduce(total, R::start(), second, Join<R>());
  if (threadIdx.x == 0) results.put(row, total);
}

// grid: (column tiles of 32 * W, splits, outer); 256 threads = 32 columns groups x 8 rows. W elements per access.
template <class R, int W, class T>
__device__ __forceinline__ void reduce_columns(const T* x, Results<R, T> results, long long reduce, long long inner, long long rows_per_split, typename R::Part* shares, unsigned* counters) {
  using Part = typename R::Part;
  __shared__ Part own[8][32 * W + 1];
  const int lane = threadIdx.x % 32, group = threadIdx.x / 32;
  const long long column = (static_cast<long long>(blockIdx.x) * 32 + lane) * W;
  const unsigned splits = gridDim.y;
  const long long from = blockIdx.y * rows_per_split, to = min(reduce, from + rows_per_split);
  Part part[W];
#pragma unroll
  for (int j = 0; j < W; j++) part[j] = R::start();
  if (column < inner) {
    const T* p = x + (blockIdx.z * reduce) * inner + column;
    constexpr int U = 4;
    const auto add = [&](const uint4& v, long long r) {
      float f[LANES<T>];
      unpack<T>(v, f);
#pragma unroll
      for (int j = 0; j < W; j++) part[j] = R::join(part[j], R::element(f[j], 0.0f, static_cast<unsigned>(r)));
    };
    long long r = from + group;
    for (; r + 8 * (U - 1) < to; r += 8 * U) {
      if constexpr (W == LANES<T>) {
        uint4 v[U];
#pragma unroll
        for (int u = 0; u < U; u++) v[u] = load16_once(p + (r + 8 * u) * inner);
#pragma unroll
        for (int u = 0; u < U; u++) add(v[u], r + 8 * u);
      } else {
        T v[U];
#pragma unroll
        for (int u = 0; u < U; u++) v[u] = p[(r + 8 * u) * inner];
#pragma unroll
        for (int u = 0; u < U; u++) part[0] = R::join(part[0], R::element(to_float(v[u]), 0.0f, static_cast<unsigned>(r + 8 * u)));
      }
    }
    for (; r < to; r += 8) {
      if constexpr (W == LANES<T>)
        add(load16_once(p + r * inner), r);
      else
        part[0] = R::join(part[0], R::element(to_float(p[r * inner]), 0.0f, static_cast<unsigned>(r)));
    }
  }
#pragma unroll
  for (int j = 0; j < W; j++) own[group][j * 32 + lane] = part[j];
  __syncthreads();
  // One thread per column of the tile joins the eight shares.
  const int tile = 32 * W;
  const long long tile_base = static_cast<long long>(blockIdx.x) * tile;
  const long long outer_base = blockIdx.z * inner;
  const unsigned cell = blockIdx.z * gridDim.x + blockIdx.x;
  for (int c = threadIdx.x; c < tile; c += 256) {
    Part total = R::start();
#pragma unroll
    for (int g = 0; g < 8; g++) total = R::join(total, own[g][c % W * 32 + c / W]);
    if (splits > 1)
      shares[(static_cast<long long>(cell) * splits + blockIdx.y) * tile + c] = total;
    else if (tile_base + c < inner)
      results.put(outer_base + tile_base + c, total);
  }
  if (splits == 1 || !last_to_arrive(counters + cell, splits)) return;
  for (int c = threadIdx.x; c < tile; c += 256) {
    Part total = R::start();
    for (unsigned s = 0; s < splits; s++) total = R::join(total, __ldcg(shares + (static_cast<long long>(cell) * splits + s) * tile + c));
    if (tile_base + c < inner) results.put(outer_base + tile_base + c, total);
  }
}

// parts [groups, cells] to out [cells]; group g's elements stand behind those of g - 1, `reduce` each. `lanes` threads per
// cell: 1 or 32.
template <class R, class T>
__device__ __forceinline__ void reduce_groups(const typename R::Part* parts, Results<R, T> results, long long groups, long long cells, long long reduce, int lanes) {
  const long long cell = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / lanes;
  if (cell >= cells) return;
  auto total = R::start();
  for (long long g = threadIdx.x % lanes; g < groups; g += lanes) total = R::join(total, R::moved(parts[g * cells + cell], static_cast<unsigned>(g * reduce)));
  if (lanes == 32) total = warp_reduce(total, Join<R>());
  if (threadIdx.x % lanes == 0) results.put(cell, total);
}
