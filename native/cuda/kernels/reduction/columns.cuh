// Reductions of x [outer, reduce, inner] to out [outer, inner] where inner > 1, as in kernel.cuh.
//   reduce_each     a thread owns W columns; reduce_each_single: several single ones
//   reduce_columns  a block owns 32 columns of W elements and a share of the rows; the last block joins the shares. Where rows do not start on 16 bytes, it owns one column of W fewer, and reads what lies beside them too
//   reduce_columns_strip    a block owns 128 bytes of columns and all rows
//   reduce_columns_cluster  the same as reduce_columns by clusters of blocks that join their shares in shared memory
#pragma once
#include "kernel.cuh"

// W elements at p, as one access: all that a thread meets in a row of its columns.
template <int W, class T>
struct Access {
  using Word = T;
  static __device__ __forceinline__ Word load(const T* p) { return *p; }
  static __device__ __forceinline__ void widen(const Word& v, float (&f)[W]) { f[0] = to_float(v); }
};
template <class T>
struct Access<LANES<T>, T> {
  using Word = uint4;
  static __device__ __forceinline__ Word load(const T* p) { return load16_once(p); }
  static __device__ __forceinline__ void widen(const Word& v, float (&f)[LANES<T>]) { unpack<T>(v, f); }
};

// Gives `see` the accesses at p of rows r, r + step, .. below `to`, with their rows: U of them are under way before the first is waited for. EXACT: no row is read twice, which many threads that read little would wait for.
template <int U, int W, bool EXACT, class T, class See>
__device__ __forceinline__ void visit_rows(const T* p, long long r, long long to, long long step, long long inner, See see) {
  using Each = Access<W, T>;
  for (; r + step * (U - 1) < to; r += step * U) {
    typename Each::Word v[U];
#pragma unroll
    for (int u = 0; u < U; u++) v[u] = Each::load(p + (r + step * u) * inner);
#pragma unroll
    for (int u = 0; u < U; u++) see(v[u], r + step * u);
  }
  if constexpr (EXACT) {
    typename Each::Word v[U];
#pragma unroll
    for (int u = 0; u < U - 1; u++)
      if (r + step * u < to) v[u] = Each::load(p + (r + step * u) * inner);
#pragma unroll
    for (int u = 0; u < U - 1; u++)
      if (r + step * u < to) see(v[u], r + step * u);
    return;
  }
  // The last rows together too: one that is behind the end is read from the last that is not, and not seen.
  if (r >= to) return;
  const long long last = r + (to - 1 - r) / step * step;
  typename Each::Word v[U];
#pragma unroll
  for (int u = 0; u < U; u++) v[u] = Each::load(p + min(r + step * u, last) * inner);
#pragma unroll
  for (int u = 0; u < U; u++)
    if (r + step * u < to) see(v[u], r + step * u);
}

// Adds rows r, r + step, .. below `to` of the W columns at p to `part`.
template <class R, int U, int W, bool EXACT = false, class T>
__device__ __forceinline__ void add_rows(typename R::Part (&part)[W], const T* p, long long r, long long to, long long step, long long inner) {
  const auto add = [&](long long from, long long end) {
    visit_rows<U, W, EXACT>(p, from, end, step, inner, [&](const auto& v, long long row) {
      float f[W];
      Access<W, T>::widen(v, f);
#pragma unroll
      for (int j = 0; j < W; j++) part[j] = R::join(part[j], R::element(f[j], 0.0f, static_cast<unsigned>(row)));
    });
  };
  if constexpr (R::placed && W == LANES<T>) {
    using Rows = Strip<R, T>;
    for (; r < to; r += step * Rows::most_rows) {
      const long long end = min(to, r + step * Rows::most_rows);
      Rows rows;
      unsigned at = 0;
      visit_rows<U, W, EXACT>(p, r, end, step, inner, [&](const uint4& v, long long) { rows.see(v, at++); });
      if (rows.nan()) {
        add(r, end);
      } else {
#pragma unroll
        for (int j = 0; j < W; j++) part[j] = R::join(part[j], R::ranked(rows.value(j), static_cast<unsigned>(r + step * rows.row(j))));
      }
    }
  } else {
    add(r, to);
  }
}

// One thread for W columns of one of `outer`: all rows of them.
template <class R, int W, class T>
__device__ __forceinline__ void reduce_each(const T* x, Results<R, T> results, long long outer, long long reduce, long long inner) {
  // Whole accesses of a row: W divides inner.
  const long long across = inner / W, i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= outer * across) return;
  const long long o = (i | across) >> 32 ? i / across : static_cast<unsigned>(i) / static_cast<unsigned>(across), column = (i - o * across) * W;
  typename R::Part part[W];
#pragma unroll
  for (int j = 0; j < W; j++) part[j] = R::start();
  const T* p = x + o * reduce * inner + column;
  // No more loads than rows, about.
  if (reduce <= 2) add_rows<R, 2, W>(part, p, 0, reduce, 1, inner);
  else if (reduce <= 4) add_rows<R, 4, W>(part, p, 0, reduce, 1, inner);
  else add_rows<R, 8, W, W == 1>(part, p, 0, reduce, 1, inner);
#pragma unroll
  for (int j = 0; j < W; j++) results.put(o * inner + column + j, part[j]);
}

// As in column_split (shape.h).
constexpr int each_columns = 4;

// The same for few rows of columns that do not start on 16 bytes: a thread has `each_columns` of them, 32 apart, and two rows of each on their way.
template <class R, class T>
__device__ __forceinline__ void reduce_each_single(const T* x, Results<R, T> results, long long outer, long long reduce, long long inner) {
  constexpr int C = each_columns, U = 2;
  const long long cells = outer * inner, base = static_cast<long long>(blockIdx.x) * (blockDim.x * C) + threadIdx.x / 32 * (32 * C) + threadIdx.x % 32;
  const T* p[C];
  typename R::Part part[C];
#pragma unroll
  for (int k = 0; k < C; k++) {
    // One behind the end is read from the last, and not written.
    const long long cell = min(base + k * 32, cells - 1), o = (cell | inner) >> 32 ? cell / inner : static_cast<unsigned>(cell) / static_cast<unsigned>(inner);
    p[k] = x + o * (reduce - 1) * inner + cell;
    part[k] = R::start();
  }
  for (long long r = 0; r < reduce; r += U) {
    T v[U][C] = {};
#pragma unroll
    for (int u = 0; u < U; u++)
      if (r + u < reduce) {
#pragma unroll
        for (int k = 0; k < C; k++) v[u][k] = p[k][(r + u) * inner];
      }
#pragma unroll
    for (int u = 0; u < U; u++)
      if (r + u < reduce) {
#pragma unroll
        for (int k = 0; k < C; k++) part[k] = R::join(part[k], R::element(to_float(v[u][k]), 0.0f, static_cast<unsigned>(r + u)));
      }
  }
#pragma unroll
  for (int k = 0; k < C; k++)
    if (base + k * 32 < cells) results.put(base + k * 32, part[k]);
}

// Where a block has column c of its tile of 32 columns of W elements in shared memory: neighbours lie in different banks, both where threads have W columns each and where they have one.
template <int W>
struct Columns {
  static constexpr int pitch = W > 1 ? 32 + 32 / W : 32, count = pitch * W;
  static __device__ __forceinline__ int place(int c) { return c % W * pitch + c / W; }
};

// grid: (tiles, splits, outer); 256 threads = 32 columns of W elements x 8 groups, of which each has every eighth row. W elements per access.
// SHIFTED: rows that do not start on 16 bytes. Those of one group start equally far off (W divides 8), so each group reads whole vectors, its first one up to W - 1
// elements before the tile; the tile is one vector narrower, and what a thread reads beside it is left out when the groups are joined.
template <class R, int W, bool SHIFTED, class T>
__device__ __forceinline__ void reduce_columns(const T* x, Results<R, T> results, long long reduce, long long inner, long long rows_per_split, typename R::Part* shares, unsigned* counters) {
  using Part = typename R::Part;
  constexpr int read = 32 * W, tile = SHIFTED ? read - W : read;
  __shared__ Part own[8][Columns<W>::count];
  const int lane = threadIdx.x % 32, group = threadIdx.x / 32;
  const long long tile_base = static_cast<long long>(blockIdx.x) * tile, outer_base = blockIdx.z * inner;
  const unsigned splits = gridDim.y;
  if (splits > 1 && threadIdx.x == 0) fetch_ahead(counters + blockIdx.z * gridDim.x + blockIdx.x);
  const long long from = blockIdx.y * rows_per_split, to = min(reduce, from + rows_per_split);
  // Elements by which the vectors of a group start before the tile.
  const auto shift_of = [&](int g) { return SHIFTED ? static_cast<int>((static_cast<unsigned>(blockIdx.z * reduce + from + g) * static_cast<unsigned>(inner) + static_cast<unsigned>(tile_base)) % W) : 0; };
  const int first = lane * W - shift_of(group);
  Part part[W];
#pragma unroll
  for (int j = 0; j < W; j++) part[j] = R::start();
  if (first < tile && tile_base + first < inner) add_rows<R, 4, W>(part, x + blockIdx.z * reduce * inner + tile_base + first, from + group, to, 8, inner);
#pragma unroll
  for (int j = 0; j < W; j++) own[group][j * Columns<W>::pitch + lane] = part[j];
  __syncthreads();
  // One thread per column of the tile joins the eight shares.
  const unsigned cell = blockIdx.z * gridDim.x + blockIdx.x;
  const int c = threadIdx.x % tile;
  const bool has_result = threadIdx.x < tile && tile_base + c < inner;
  Part total = R::start();
  if (threadIdx.x < tile) {
#pragma unroll
    for (int g = 0; g < 8; g++) {
      total = R::join(total, own[g][Columns<W>::place(c + shift_of(g))]);
    }
    if (splits > 1) shares[(static_cast<long long>(cell) * splits + blockIdx.y) * tile + c] = total;
  }
  if (splits == 1) {
    if (has_result) results.put(outer_base + tile_base + c, total);
    return;
  }
  if (!last_to_arrive(counters + cell, splits)) return;
  // All threads read shares, those of a column one group after another.
  constexpr int groups = 256 / tile;
  const Part* of_cell = shares + static_cast<long long>(cell) * splits * tile + c;
  total = R::start();
  if (threadIdx.x < groups * tile) {
#pragma unroll 16
    for (unsigned s = threadIdx.x / tile; s < splits; s += groups) total = R::join(total, __ldcg(of_cell + static_cast<long long>(s) * tile));
  }
  if constexpr (groups > 1) {
    if (threadIdx.x < groups * tile) own[threadIdx.x / tile][c] = total;
    __syncthreads();
    total = own[0][c];
#pragma unroll
    for (int g = 1; g < groups; g++) total = R::join(total, own[g][c]);
  }
  if (has_result) results.put(outer_base + tile_base + c, total);
}

// grid: (column tiles of 32 * W x `cluster`, 1, outer); 256 threads as above. The blocks of a tile are a cluster, of which each joins a share of the columns.
template <class R, int W, class T>
__device__ __forceinline__ void reduce_columns_cluster(const T* x, Results<R, T> results, long long reduce, long long inner, long long rows_per_split, int cluster) {
  using Part = typename R::Part;
  constexpr int tile = 32 * W;
  __shared__ Part own[8][Columns<W>::count], joined[tile];
  const int lane = threadIdx.x % 32, group = threadIdx.x / 32, split = static_cast<int>(blockIdx.x) % cluster;
  const long long first = static_cast<long long>(blockIdx.x / cluster) * tile, column = first + lane * W, from = split * rows_per_split, to = min(reduce, from + rows_per_split);
  Part part[W];
#pragma unroll
  for (int j = 0; j < W; j++) part[j] = R::start();
  if (column < inner) add_rows<R, 8, W>(part, x + (blockIdx.z * reduce) * inner + column, from + group, to, 8, inner);
#pragma unroll
  for (int j = 0; j < W; j++) own[group][j * Columns<W>::pitch + lane] = part[j];
  __syncthreads();
  for (int k = threadIdx.x; k < tile; k += 256) {
    Part total = R::start();
#pragma unroll
    for (int g = 0; g < 8; g++) total = R::join(total, own[g][Columns<W>::place(k)]);
    joined[k] = total;
  }
  cluster_arrive();
  cluster_wait();
  const int each = tile / cluster, k = split * each + static_cast<int>(threadIdx.x);
  if (static_cast<int>(threadIdx.x) < each && first + k < inner) {
    Part total = R::start();
    for (int rank = 0; rank < cluster; rank++) total = R::join(total, of_block(joined[k], rank));
    results.put(blockIdx.z * inner + first + k, total);
  }
  // No block ends before the others have read what it has.
  cluster_arrive();
  cluster_wait();
}

// Joins what the threads of a warp with the same columns have, every APART-th of them, and puts it into the warp's row of `own`.
template <class R, int APART, class Part, int W, int WARPS, int COLUMNS>
__device__ __forceinline__ void join_lanes(Part (&part)[W], Part (&own)[WARPS][COLUMNS]) {
  const int lane = threadIdx.x % APART;
#pragma unroll
  for (int j = 0; j < W; j++) {
#pragma unroll
    for (int apart = APART; apart < 32; apart *= 2) part[j] = R::join(part[j], __shfl_xor_sync(0xffffffffu, part[j], apart));
    if (threadIdx.x % 32 < APART) own[threadIdx.x / 32][lane * W + j] = part[j];
  }
}

// grid: (strips of 128 bytes of columns, 1, outer); 512 threads = 8 columns of W elements x 64 groups, of which each has every 64th row: no other block has a share. A thread has U rows on their way, and asks for the next one as
// soon as it has taken one in. `reduce`: U rows of each group at least, and 65,535 at most.
template <class R, class T>
__device__ __forceinline__ void reduce_columns_strip(const T* x, Results<R, T> results, int reduce, long long inner) {
  using Part = typename R::Part;
  using Word = typename Access<LANES<T>, T>::Word;
  constexpr int W = LANES<T>, lanes = 8, columns = lanes * W, threads = 512, groups = threads / lanes, warps = threads / 32, U = R::placed ? 8 : 16;
  __shared__ Part own[warps][columns];
  const int lane = threadIdx.x % lanes, group = threadIdx.x / lanes;
  const long long first = static_cast<long long>(blockIdx.x) * columns, column = first + lane * W, step = groups * inner;
  Part part[W];
#pragma unroll
  for (int j = 0; j < W; j++) part[j] = R::start();
  if (column < inner) {
    const T* const top = x + (static_cast<long long>(blockIdx.z) * reduce + group) * inner + column;
    const T* p = top;
    const int rows = (reduce - group + groups - 1) / groups;
    const auto meet = [&](auto see) {
      Word v[U];
#pragma unroll
      for (int u = 0; u < U; u++, p += step) v[u] = Access<W, T>::load(p);
      int k = 0;
      for (; k + 2 * U <= rows; k += U) {
#pragma unroll
        for (int u = 0; u < U; u++, p += step) {
          see(v[u], k + u);
          v[u] = Access<W, T>::load(p);
        }
      }
      const int left = rows - k - U;
#pragma unroll
      for (int u = 0; u < U; u++, p += step) {
        see(v[u], k + u);
        if (u < left) v[u] = Access<W, T>::load(p);
      }
#pragma unroll
      for (int u = 0; u < U - 1; u++)
        if (u < left) see(v[u], k + U + u);
    };
    if constexpr (R::placed) {
      Strip<R, T> best;
      meet([&](const uint4& v, int k) { best.see(v, static_cast<unsigned>(k)); });
      if (best.nan()) {
        add_rows<R, 1, W>(part, x + static_cast<long long>(blockIdx.z) * reduce * inner + column, group, reduce, groups, inner);
      } else {
#pragma unroll
        for (int j = 0; j < W; j++) part[j] = R::ranked(best.value(j), static_cast<unsigned>(group + groups * best.row(j)));
      }
    } else {
      meet([&](const uint4& v, int) {
        float f[W];
        unpack<T>(v, f);
#pragma unroll
        for (int j = 0; j < W; j++) part[j] = R::join(part[j], R::element(f[j], 0.0f, 0));
      });
    }
  }
  join_lanes<R, lanes>(part, own);
  __syncthreads();
  if (threadIdx.x >= columns || first + threadIdx.x >= inner) return;
  Part total = R::start();
#pragma unroll
  for (int w = 0; w < warps; w++) total = R::join(total, own[w][threadIdx.x]);
  results.put(blockIdx.z * inner + first + threadIdx.x, total);
}
