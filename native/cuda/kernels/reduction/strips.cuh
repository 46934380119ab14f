// Reductions of x [outer, reduce, inner] to out [outer, inner] by strips of 128 bytes of columns whose rows a cluster of blocks shares, as columns.cuh.
#pragma once
#include "columns.cuh"

// grid: (strips x splits x `cluster`, 1, outer); 512 threads = 8 columns of W elements x 64 groups, of which each has every 64th of the block's `rows_each` rows. The blocks of a cluster join their shares in shared memory; where a strip has
// several clusters, the last of them joins what these leave.
// SHIFTED: rows that do not start on 16 bytes, as of reduce_columns: the rows of a group start equally far off, and a strip is one vector narrower.
template <class R, bool SHIFTED, class T>
__device__ __forceinline__ void reduce_columns_strips(const T* x, Results<R, T> results, long long reduce, long long inner, int rows_each, int splits, int cluster, typename R::Part* shares, unsigned* counters) {
  using Part = typename R::Part;
  constexpr int W = LANES<T>, lanes = 8, columns = lanes * W, threads = 512, groups = threads / lanes, warps = threads / 32, U = 8, tile = SHIFTED ? columns - W : columns;
  __shared__ Part own[SHIFTED ? groups : warps][columns], joined[columns];
  const int lane = threadIdx.x % lanes, group = threadIdx.x / lanes, rank = static_cast<int>(blockIdx.x) % cluster, of_strip = static_cast<int>(blockIdx.x) / cluster, split = of_strip % splits, strip = of_strip / splits;
  const long long first = static_cast<long long>(strip) * tile, from = (static_cast<long long>(split) * cluster + rank) * rows_each, to = min(reduce, from + rows_each), cell = blockIdx.z * (gridDim.x / (cluster * splits)) + strip;
  if (splits > 1 && threadIdx.x == 0) fetch_ahead(counters + cell);
  Part part[W];
#pragma unroll
  for (int j = 0; j < W; j++) part[j] = R::start();
  // Elements by which the vectors of a group start before the strip.
  const auto shift_of = [&](int g) { return SHIFTED ? static_cast<int>((static_cast<unsigned>(blockIdx.z * reduce + from + g) * static_cast<unsigned>(inner) + static_cast<unsigned>(first)) % W) : 0; };
  const int before = lane * W - shift_of(group);
  if (before < tile && first + before < inner) add_rows<R, U, W, true>(part, x + blockIdx.z * reduce * inner + first + before, from + group, to, groups, inner);
  const int c = static_cast<int>(threadIdx.x);
  Part total = R::start();
  if constexpr (SHIFTED) {
#pragma unroll
    for (int j = 0; j < W; j++) own[group][lane * W + j] = part[j];
    __syncthreads();
    // Several threads for a column, which have every so manyth group.
    constexpr int sharing = threads / columns;
    const int place = c % columns, k = c / columns;
    if (place < tile) {
#pragma unroll
      for (int g = 0; g < groups / sharing; g++) total = R::join(total, own[g * sharing + k][place + shift_of(g * sharing + k)]);
    }
    __syncthreads();
    own[k][place] = total;
    __syncthreads();
    if (c < tile) {
      total = own[0][c];
#pragma unroll
      for (int g = 1; g < sharing; g++) total = R::join(total, own[g][c]);
      joined[c] = total;
    }
  } else {
    join_lanes<R, lanes>(part, own);
    __syncthreads();
    if (c < tile) {
#pragma unroll
      for (int w = 0; w < warps; w++) total = R::join(total, own[w][c]);
      joined[c] = total;
    }
  }
  cluster_arrive();
  cluster_wait();
  if (rank == 0 && c < tile)
    for (int other = 1; other < cluster; other++) total = R::join(total, of_block(joined[c], static_cast<unsigned>(other)));
  // No block ends before the first has read what it has.
  cluster_arrive();
  cluster_wait();
  if (rank > 0) return;
  const bool mine = c < tile && first + c < inner;
  if (splits > 1) {
    Part* const of_cell = shares + cell * splits * tile;
    if (c < tile) of_cell[split * tile + c] = total;
    if (!last_to_arrive(counters + cell, static_cast<unsigned>(splits))) return;
    total = R::start();
    if (c < tile) {
#pragma unroll 8
      for (int s = 0; s < splits; s++) total = R::join(total, __ldcg(of_cell + s * tile + c));
    }
  }
  if (mine) results.put(blockIdx.z * inner + first + c, total);
}
