// Reductions of x [outer, reduce, inner] to out [outer, inner]. R says what is reduced (reduction.cu).
//   reduce_group    inner = 1, short rows that start on 16 bytes: a warp or less per row
//   reduce_tile     inner = 1, other short rows: the same through shared memory
//   reduce_row      inner = 1: one or several blocks per row; a cluster joins its parts, else the last block to finish a row does
//   reduce_each     inner > 1: a thread owns W columns
//   reduce_flat     inner > 1, few columns: a block owns a share of the rows; the last block joins the shares
//   reduce_columns  inner > 1: a block owns 32 columns of W elements and a share of the rows; the last block joins the shares
// pieces.cuh has what joins groups, where what is reduced does not lie in one piece.
//   reduce_short    inner = 1: a block for each row of at most `short_vectors` vectors a thread; little code, for a call that waits for its code too
// Partial results are joined in a fixed order, so results repeat bit for bit.
#pragma once
#include "../common/cluster.cuh"
#include "../common/reduce.cuh"
#include "../common/vec.cuh"

template <int N>
struct Count {
  static constexpr int value = N;
};

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

// The contiguous range of n elements of x (and y), as 16-byte vectors between ragged ends of fewer elements than a vector has. `first` is the place of x[0]
// within what is reduced; I: of counts and indices.
template <class R, class T, class I = long long>
struct Range {
  using Part = typename R::Part;
  static constexpr int L = LANES<T>;
  const T *x, *y;
  I n, head, vectors;
  unsigned first;

  __device__ __forceinline__ Range(const T* from, const T* other, I count, unsigned place) : x(from), y(other), n(count), first(place) {
    head = min(n, static_cast<I>((16 - (reinterpret_cast<uintptr_t>(x) & 15)) % 16 / sizeof(T)));
    vectors = (n - head) / L;
  }

  __device__ __forceinline__ uint4 of_x(I i) const { return load16_once(x + head + i * L); }
  __device__ __forceinline__ uint4 of_y(I i) const {
    if constexpr (R::pair) return load16_once(y + head + i * L);
    return {};
  }
  __device__ __forceinline__ void add(Part& into, const uint4& a, const uint4& b, I i) const {
    float f[L], g[L] = {};
    unpack<T>(a, f);
    if constexpr (R::pair) unpack<T>(b, g);
    const unsigned place = first + static_cast<unsigned>(head + i * L);
    if constexpr (R::placed) {
      // The first of the largest is looked for only in a vector that has one above the largest so far.
      float most = R::value(f[0]);
#pragma unroll
      for (int j = 1; j < L; j++) most = max_or_nan(most, R::value(f[j]));
      if (R::order_of(most) < static_cast<unsigned>(into >> 32)) return;
      // Unpacked anew: eight registers fewer where they are not looked for.
      uint4 again = a;
      asm volatile("" : "+r"(again.x), "+r"(again.y), "+r"(again.z), "+r"(again.w));
      unpack<T>(again, f);
      unsigned at = 0;
#pragma unroll
      for (int j = L - 1; j >= 0; j--) at = R::value(f[j]) == most || R::value(f[j]) != R::value(f[j]) ? j : at;
      into = R::join(into, R::ranked(most, place + at));
      return;
    }
#pragma unroll
    for (int j = 0; j < L; j += 2) into = R::join(into, R::join(R::element(f[j], g[j], place + j), R::element(f[j + 1], g[j + 1], place + j + 1)));
  }

  // Vectors i, i + threads, .., at most N of them, and thread t's elements of the ends. All are under way before one is waited for: a short range waits for
  // memory once.
  template <int N, bool EVEN, int PARTS>
  __device__ __forceinline__ Part rest(Part (&part)[PARTS], I i, int t, int threads) const {
    const I done = head + vectors * L;
    const bool at_head = t < head, at_end = t < n - done;
    T ends[2] = {}, others[2] = {};
    uint4 a[N] = {}, b[N] = {};
    if (at_head) ends[0] = x[t];
    if (at_end) ends[1] = x[done + t];
    if (R::pair && at_head) others[0] = y[t];
    if (R::pair && at_end) others[1] = y[done + t];
    // Where nothing depends on how many there are, the compiler keeps the loads together: a thread without a vector takes the last.
    if constexpr (EVEN) {
      if (vectors > 0) {
#pragma unroll
        for (int u = 0; u < N; u++) a[u] = of_x(min(i + u * threads, vectors - 1)), b[u] = of_y(min(i + u * threads, vectors - 1));
      }
    } else {
#pragma unroll
      for (int u = 0; u < N; u++)
        if (i + u * threads < vectors) a[u] = of_x(i + u * threads), b[u] = of_y(i + u * threads);
    }
    if (EVEN || i < vectors) {
#pragma unroll
      for (int u = 0; u < N; u++) {
        // Without a branch, which a load would be moved behind.
        Part& own = part[R::placed ? 0 : u];
        Part with = own;
        add(with, a[u], b[u], i + u * threads);
        own = i + u * threads < vectors ? with : own;
      }
    }
    Part total = R::start();
    if (at_head) total = R::join(total, R::element(to_float(ends[0]), to_float(others[0]), first + static_cast<unsigned>(t)));
    if (at_end) total = R::join(total, R::element(to_float(ends[1]), to_float(others[1]), first + static_cast<unsigned>(done + t)));
#pragma unroll
    for (int u = 0; u < PARTS; u++) total = R::join(total, part[u]);
    return total;
  }
};

// Elements t, t + threads, ... of a range.
template <class R, class T>
__device__ __forceinline__ typename R::Part reduce_range(const T* x, const T* y, long long n, unsigned first, int t, int threads) {
  constexpr int U = 4;
  const Range<R, T> range(x, y, n, first);
  typename R::Part part[U];
#pragma unroll
  for (int u = 0; u < U; u++) part[u] = R::start();
  long long i = t;
  for (; i + (U - 1) * threads < range.vectors; i += U * threads) {
    uint4 a[U], b[U];
#pragma unroll
    for (int u = 0; u < U; u++) a[u] = range.of_x(i + u * threads), b[u] = range.of_y(i + u * threads);
#pragma unroll
    for (int u = 0; u < U; u++) range.add(part[R::placed ? 0 : u], a[u], b[u], i + u * threads);
  }
  return range.template rest<U - 1, false>(part, i, t, threads);
}

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

// grid: (splits, rows). `chunk` elements per split, a multiple of the vector width. CLUSTER: the splits of a row are one; else `shares`
// has room for a part per block.
template <class R, class T, bool CLUSTER>
__device__ __forceinline__ void reduce_row(const T* x, const T* y, Results<R, T> results, long long cols, long long chunk, typename R::Part* shares, unsigned* counters) {
  using Part = typename R::Part;
  __shared__ Part scratch[32], second[32];
  const long long row = blockIdx.y;
  const unsigned splits = gridDim.x;
  const long long from = blockIdx.x * chunk;
  const long long count = min(chunk, cols - from);
  const long long at = row * cols + from;
  if (!CLUSTER && splits > 1 && threadIdx.x == 0) fetch_ahead(counters + row);
  Part total = block_reduce(reduce_range<R>(x + at, R::pair ? y + at : x, count, static_cast<unsigned>(from), threadIdx.x, blockDim.x), R::start(), scratch, Join<R>());
  if (!CLUSTER && splits == 1) {
    if (threadIdx.x == 0) results.put(row, total);
    return;
  }
  if constexpr (CLUSTER) {
    total = join_cluster(total, second[0], splits, Join<R>());
    if (blockIdx.x == 0 && threadIdx.x == 0) results.put(row, total);
    return cluster_wait();
  }
  if (threadIdx.x == 0) shares[row * splits + blockIdx.x] = total;
  if (!last_to_arrive(counters + row, splits)) return;
  total = R::start();
  for (unsigned s = threadIdx.x; s < splits; s += blockDim.x) total = R::join(total, __ldcg(shares + row * splits + s));
  total = block_reduce(total, R::start(), second, Join<R>());
  if (threadIdx.x == 0) results.put(row, total);
}

// Vectors of a thread. As in row_split (shape.h).
constexpr int short_vectors = 4;

template <class R, class T>
__device__ __forceinline__ void reduce_short(const T* x, const T* y, Results<R, T> results, long long cols) {
  using Part = typename R::Part;
  __shared__ Part scratch[32];
  const long long row = blockIdx.y;
  Part part[short_vectors];
#pragma unroll
  for (int u = 0; u < short_vectors; u++) part[u] = R::start();
  const Part total = block_reduce(Range<R, T, int>(x + row * cols, R::pair ? y + row * cols : x, static_cast<int>(cols), 0).template rest<short_vectors, true>(part, static_cast<int>(threadIdx.x), threadIdx.x, static_cast<int>(blockDim.x)), R::start(), scratch, Join<R>());
  if (threadIdx.x == 0) results.put(row, total);
}

// One thread for W columns of one of `outer`: all rows of them.
template <class R, int W, class T>
__device__ __forceinline__ void reduce_each(const T* x, Results<R, T> results, long long outer, long long reduce, long long inner) {
  using Part = typename R::Part;
  constexpr int U = 8;
  // Whole accesses of a row: W divides inner.
  const long long across = inner / W, i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= outer * across) return;
  const long long o = (i | across) >> 32 ? i / across : static_cast<unsigned>(i) / static_cast<unsigned>(across), column = (i - o * across) * W;
  const T* p = x + o * reduce * inner + column;
  Part part[W];
#pragma unroll
  for (int j = 0; j < W; j++) part[j] = R::start();
  const auto add = [&](const float (&f)[W], long long r) {
#pragma unroll
    for (int j = 0; j < W; j++) part[j] = R::join(part[j], R::element(f[j], 0.0f, static_cast<unsigned>(r)));
  };
  const auto rows = [&](long long r, auto count) {
    constexpr int N = decltype(count)::value;
    if constexpr (W > 1) {
      uint4 v[N];
#pragma unroll
      for (int u = 0; u < N; u++) v[u] = load16_once(p + (r + u) * inner);
#pragma unroll
      for (int u = 0; u < N; u++) {
        float f[W];
        unpack<T>(v[u], f);
        add(f, r + u);
      }
    } else {
      T v[N];
#pragma unroll
      for (int u = 0; u < N; u++) v[u] = p[(r + u) * inner];
#pragma unroll
      for (int u = 0; u < N; u++) {
        const float f[1] = {to_float(v[u])};
        add(f, r + u);
      }
    }
  };
  long long r = 0;
  for (; r + U <= reduce; r += U) rows(r, Count<U>());
  for (; r < reduce; r++) rows(r, Count<1>());
#pragma unroll
  for (int j = 0; j < W; j++)
    results.put(o * inner + column + j, part[j]);
}

// Values of `active` threads, thread t's of column t % inner, to the first `inner` threads. `own` holds one per thread.
template <class R>
__device__ __forceinline__ typename R::Part join_columns(typename R::Part p, typename R::Part* own, int inner, int active) {
  const int t = threadIdx.x;
  if (t < active) own[t] = p;
  for (int rows = active / inner; rows > 1; rows = (rows + 1) / 2) {
    __syncthreads();
    const int half = (rows + 1) / 2;
    if (t < (rows - half) * inner) own[t] = R::join(own[t], own[t + half * inner]);
  }
  __syncthreads();
  return t < inner ? own[t] : R::start();
}

// grid: (splits, outer); 256 threads. `step` elements, of whole rows, are met at a time by the first step / W threads.
template <class R, int W, class T>
__device__ __forceinline__ void reduce_flat(const T* x, Results<R, T> results, long long reduce, int inner, long long rows_per_split, int step, typename R::Part* shares, unsigned* counters) {
  using Part = typename R::Part;
  __shared__ Part all[256 * W], own[256], second[256];
  const int t = threadIdx.x, active = 256 / inner * inner, rows_of_step = step / inner;
  const unsigned splits = gridDim.x;
  if (splits > 1 && t == 0) fetch_ahead(counters + blockIdx.y);
  const long long from = blockIdx.x * rows_per_split * inner, to = min(reduce, (blockIdx.x + 1) * rows_per_split) * inner;
  const T* p = x + blockIdx.y * reduce * inner;
  Part part[W];
  unsigned place[W];
#pragma unroll
  for (int j = 0; j < W; j++) part[j] = R::start(), place[j] = static_cast<unsigned>(blockIdx.x * rows_per_split + (t * W + j) / inner);
  const auto add = [&](const float (&f)[W], long long i) {
#pragma unroll
    for (int j = 0; j < W; j++) {
      if (i + j < to) part[j] = R::join(part[j], R::element(f[j], 0.0f, place[j]));
      place[j] += rows_of_step;
    }
  };
  if (t * W < step) {
#pragma unroll 4
    for (long long i = from + t * W; i < to; i += step) {
      float f[W];
      if constexpr (W > 1) unpack<T>(load16_once(p + i), f);
      else f[0] = to_float(p[i]);
      add(f, i);
    }
  }
#pragma unroll
  for (int j = 0; j < W; j++) all[t * W + j] = part[j];
  __syncthreads();
  Part total = R::start();
  if (t < active)
    for (int e = t; e < step; e += active) total = R::join(total, all[e]);
  total = join_columns<R>(total, own, inner, active);
  const long long cell = static_cast<long long>(blockIdx.y) * inner + t;
  if (splits == 1) {
    if (t < inner) results.put(cell, total);
    return;
  }
  Part* of_cell = shares + static_cast<long long>(blockIdx.y) * splits * inner;
  if (t < inner) of_cell[blockIdx.x * inner + t] = total;
  if (!last_to_arrive(counters + blockIdx.y, splits)) return;
  total = R::start();
  if (t < active) {
#pragma unroll 8
    for (int e = t; e < static_cast<int>(splits) * inner; e += active) total = R::join(total, __ldcg(of_cell + e));
  }
  total = join_columns<R>(total, second, inner, active);
  if (t < inner) results.put(cell, total);
}

// grid: (column tiles of 32 * W, splits, outer); 256 threads = 32 columns groups x 8 rows. W elements per access.
template <class R, int W, class T>
__device__ __forceinline__ void reduce_columns(const T* x, Results<R, T> results, long long reduce, long long inner, long long rows_per_split, typename R::Part* shares, unsigned* counters) {
  using Part = typename R::Part;
  __shared__ Part own[8][32 * W + 1];
  const int lane = threadIdx.x % 32, group = threadIdx.x / 32;
  const long long column = (static_cast<long long>(blockIdx.x) * 32 + lane) * W;
  const unsigned splits = gridDim.y;
  if (splits > 1 && threadIdx.x == 0) fetch_ahead(counters + blockIdx.z * gridDim.x + blockIdx.x);
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
