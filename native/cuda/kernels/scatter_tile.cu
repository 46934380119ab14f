// scatter_add (scatter_add.cu) of narrow rows: a block has a tile of rows in shared memory, adds what its indices have to it and writes it, so that the table is read and written once, in vectors:
//   scatter_tiles_<t>  indices come in bins (scatter_bin of scatter_range.cu), of which some tiles share one
// A row with more than `most_listed` indices is left to its whole block, which looks through all indices in their order, and a tile with more indices than its block has room for is taken in parts.
#include "scatter_range.h"
#include "common/early.cuh"
#include "scatter_add/links.cuh"

namespace {

constexpr int THREADS = link_threads;

// grid: tiles of `span` rows, of which 1 << `tiles` share a bin. Shared memory: rows [span, dim], heads of lists [span], indices [room], the row of each [room] and what follows each in its list [room]; heads and what follows
// are 0 or a number in the list and 1. counts: of bins [.., room_of_bin], and of tiles that have read one: zero before and after.
template <class T>
__device__ __forceinline__ void by_tile(const T* __restrict__ x, const int* __restrict__ index, const T* __restrict__ src, T* __restrict__ out, unsigned* counts, unsigned* readers, const uint2* bins, long long rows, int dim, int n,
                                        int span, int tiles, int room_of_bin, int room) {
  constexpr int L = LANES<T>, U = 4;
  extern __shared__ uint4 memory[];
  __shared__ unsigned waiting[THREADS];
  __shared__ int found, late;
  T* const tile = reinterpret_cast<T*>(memory);
  unsigned *const heads = reinterpret_cast<unsigned*>(memory + span * dim / L), *const places = heads + span;
  unsigned short *const row_of = reinterpret_cast<unsigned short*>(places + room), *const next = row_of + room;
  const int t = threadIdx.x;
  const long long begin = static_cast<long long>(blockIdx.x) * span, base = begin * dim;
  const int own = static_cast<int>(min(static_cast<long long>(span), rows - begin)), elements = own * dim, vectors = elements / L;
  bring_elements<THREADS>(memory, x, base, elements);
  const unsigned bin = blockIdx.x >> tiles, offset = (blockIdx.x & ((1u << tiles) - 1)) * static_cast<unsigned>(span);
  const auto put = [&](unsigned place, unsigned row) {
    const int number = atomicAdd(&found, 1);
    if (number >= room) return;
    ahead(src + static_cast<long long>(place) * dim);
    places[number] = place, row_of[number] = static_cast<unsigned short>(row);
    next[number] = static_cast<unsigned short>(atomicExch(heads + row, static_cast<unsigned>(number) + 1));
  };
  bool binned = true;
  for (int first = 0, count = own; first < own;) {
    for (int i = t; i < count; i += THREADS) heads[first + i] = 0;
    if (t == 0) found = late = 0;
    __syncthreads();
    if (binned) {
      wait_for_last();
      const unsigned all = __ldcg(counts + bin), has = min(all, static_cast<unsigned>(room_of_bin));
      const uint2* const from = bins + static_cast<long long>(bin) * room_of_bin;
      for (unsigned e = t; e < has; e += U * THREADS) {
        uint2 v[U];
#pragma unroll
        for (int u = 0; u < U; u++) v[u] = __ldcg(from + min(e + u * THREADS, has - 1));
#pragma unroll
        for (int u = 0; u < U; u++) {
          if (e + u * THREADS < has && v[u].y - offset < static_cast<unsigned>(own)) put(v[u].x, v[u].y - offset);
        }
      }
      if (all > has && t == 0) atomicAdd(&found, room + 1);
    } else {
      for (int i = t; i < n; i += THREADS)
        if (const long long row = index[i] - begin; row >= first && row < first + count) put(static_cast<unsigned>(i), static_cast<unsigned>(row));
    }
    __syncthreads();
    binned = false;
    const bool fits = found <= room;
    if (!fits && count > 1) {
      // Fewer rows.
      count = (count + 1) / 2;
      __syncthreads();
      continue;
    }
    if (fits) {
      for (int e = t; e < found; e += THREADS) {
        const int row = row_of[e];
        if (heads[row] != static_cast<unsigned>(e) + 1) continue;
        if (!add_links<0>({places, next}, heads[row], tile, src, tile, row, dim, 0, 1)) waiting[min(atomicAdd(&late, 1), THREADS - 1)] = static_cast<unsigned>(row);
      }
    } else if (t == 0) {
      waiting[0] = static_cast<unsigned>(first), late = 1;
    }
    __syncthreads();
    for (int k = 0; k < late; k++) add_long(index, tile - base, src, tile - base, begin + waiting[k], dim, n);
    first += count;
    count = min(count * 2, own - first);
    __syncthreads();
  }
  for (int v = t; v < vectors; v += THREADS) store16(out + base + v * L, memory[v]);
  for (int i = vectors * L + t; i < elements; i += THREADS) out[base + i] = tile[i];
  // The last tile that reads a bin resets its counters.
  const unsigned shared_by = min(1u << tiles, gridDim.x - (bin << tiles));
  if (t == 0 && atomicAdd(readers + bin, 1u) + 1 == shared_by) counts[bin] = readers[bin] = 0;
}

}  // namespace

#define SCATTER(T)                                                                                                                                                                                                                \
  extern "C" __global__ void __launch_bounds__(THREADS, 4) scatter_tiles_##T(const T* x, const int* index, const T* src, T* out, unsigned* counts, unsigned* readers, const uint2* bins, long long rows, int dim, int n, int span, \
                                                                             int tiles, int room_of_bin, int room) {                                                                                                          \
    by_tile(x, index, src, out, counts, readers, bins, rows, dim, n, span, tiles, room_of_bin, room);                                                                                                                          \
  }
SCATTER(f32)
SCATTER(f16)
SCATTER(bf16)
