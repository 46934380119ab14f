// A block's tile of rows, what its indices add to them in parts that fit, and its way back to memory. For scatter_tile.cu, scatter_wide.cu and scatter_packed.cu.
#pragma once
#include "links.cuh"

// What the threads of a block share beside a tile: how many indices of the part they found, and rows that wait for the whole block.
template <int THREADS>
struct Part {
  unsigned waiting[THREADS];
  int found, late;
};

// Adds the indices of the tile's `own` rows: of all rows at once from the bin, and where that found more than `room`, of fewer rows at a time from all indices.
//   from_bin()               puts the indices of the bin into lists by heads[row]: 0, or the number of an index and 1; raises part.found beyond room where the bin does not have all
//   from_all(first, count)   the same of all indices, for these rows
//   row_of(number)           the row of an index that was put
//   add_list(row)            adds the list of a row, by `lanes` threads; false where it is too long
//   add_whole(row)           adds a row from all indices, by the whole block
template <int THREADS, class FromBin, class FromAll, class RowOf, class AddList, class AddWhole>
__device__ __forceinline__ void add_in_parts(Part<THREADS>& part, unsigned* heads, int own, int room, FromBin from_bin, FromAll from_all, RowOf row_of, AddList add_list, AddWhole add_whole, int lanes = 1) {
  const int t = threadIdx.x;
  bool binned = true;
  for (int first = 0, count = own; first < own;) {
    for (int i = t; i < count; i += THREADS) heads[first + i] = 0;
    if (t == 0) part.found = part.late = 0;
    __syncthreads();
    if (binned) from_bin();
    else from_all(first, count);
    __syncthreads();
    binned = false;
    const bool fits = part.found <= room;
    if (!fits && count > 1) {
      count = (count + 1) / 2;
      __syncthreads();
      continue;
    }
    if (fits) {
      for (int e = t / lanes; e < part.found; e += THREADS / lanes) {
        const unsigned row = row_of(e);
        if (heads[row] == static_cast<unsigned>(e) + 1 && !add_list(row) && t % lanes == 0) part.waiting[min(atomicAdd(&part.late, 1), THREADS - 1)] = row;
      }
    } else if (t == 0) {
      part.waiting[0] = static_cast<unsigned>(first), part.late = 1;
    }
    __syncthreads();
    for (int k = 0; k < part.late; k++) add_whole(part.waiting[k]);
    first += count;
    count = min(count * 2, own - first);
    __syncthreads();
  }
}

// The tile to out from `base` on, which lies on 16 bytes.
template <int THREADS, class T>
__device__ __forceinline__ void write_elements(const uint4* memory, T* __restrict__ out, long long base, int elements) {
  constexpr int L = LANES<T>;
  const int t = threadIdx.x, vectors = elements / L;
  for (int v = t; v < vectors; v += THREADS) store16(out + base + v * L, memory[v]);
  for (int i = vectors * L + t; i < elements; i += THREADS) out[base + i] = reinterpret_cast<const T*>(memory)[i];
}

// The last of the 1 << `tiles` tiles that read a bin resets its counters.
__device__ __forceinline__ void leave_bin(unsigned* counts, unsigned* readers, unsigned bin, int tiles) {
  const unsigned shared_by = min(1u << tiles, gridDim.x - (bin << tiles));
  if (threadIdx.x == 0 && atomicAdd(readers + bin, 1u) + 1 == shared_by) counts[bin] = readers[bin] = 0;
}
