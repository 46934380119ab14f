// A tile of rows whose indices come from a bin that some tiles share, as lists in shared memory: scatter_tile.cu and scatter_wide.cu.
#pragma once
#include "../common/early.cuh"
#include "../common/piece.cuh"
#include "tile.cuh"

// grid: tiles of `span` rows, of which 1 << `tiles` share a bin. Shared memory: rows [span, dim], heads of lists [span], indices [room], the row of each [room] and what follows each in its list [room]; heads and what follows
// are 0 or a number in the list and 1. counts: of bins [.., room_of_bin], and of tiles that have read one: zero before and after. BYTES: of which rows are whole vectors, or 0; `lanes`: threads of a row.
template <int BYTES, int THREADS, class T>
__device__ __forceinline__ void add_by_tile(const T* __restrict__ x, const int* __restrict__ index, const T* __restrict__ src, T* __restrict__ out, unsigned* counts, unsigned* readers, const uint2* bins, long long rows, int dim, int n,
                                            int lanes, int span, int tiles, int room_of_bin, int room) {
  constexpr int L = LANES<T>, U = 4;
  extern __shared__ uint4 memory[];
  __shared__ Part<THREADS> part;
  T* const tile = reinterpret_cast<T*>(memory);
  unsigned *const heads = reinterpret_cast<unsigned*>(memory + span * dim / L), *const places = heads + span;
  unsigned short *const row_of = reinterpret_cast<unsigned short*>(places + room), *const next = row_of + room;
  const int t = threadIdx.x;
  const long long begin = static_cast<long long>(blockIdx.x) * span, base = begin * dim;
  const int own = static_cast<int>(min(static_cast<long long>(span), rows - begin)), elements = own * dim;
  __shared__ alignas(8) unsigned long long barrier;
  const int vectors = elements / L;
  begin_piece(&barrier, memory, reinterpret_cast<const uint4*>(x + base), vectors);
  for (int i = vectors * L + t; i < elements; i += THREADS) tile[i] = x[base + i];
  const unsigned bin = blockIdx.x >> tiles, offset = (blockIdx.x & ((1u << tiles) - 1)) * static_cast<unsigned>(span);
  const auto put = [&](unsigned place, unsigned row) {
    const int number = atomicAdd(&part.found, 1);
    if (number >= room) return;
    ahead(src + static_cast<long long>(place) * dim);
    places[number] = place, row_of[number] = static_cast<unsigned short>(row);
    next[number] = static_cast<unsigned short>(atomicExch(heads + row, static_cast<unsigned>(number) + 1));
  };
  const auto from_bin = [&] {
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
    if (all > has && t == 0) atomicAdd(&part.found, room + 1);
    await_piece(&barrier);
  };
  const auto from_all = [&](int first, int count) {
    for (int i = t; i < n; i += THREADS)
      if (const long long row = index[i] - begin; row >= first && row < first + count) put(static_cast<unsigned>(i), static_cast<unsigned>(row));
  };
  add_in_parts(
      part, heads, own, room, from_bin, from_all, [&](int e) { return row_of[e]; }, [&](unsigned row) { return add_links<BYTES>({places, next}, heads[row], tile, src, tile, row, dim, t % lanes, lanes); },
      [&](unsigned row) { add_long(index, tile - base, src, tile - base, begin + row, dim, n); }, lanes);
  write_elements<THREADS>(memory, out, base, elements);
  leave_bin(counts, readers, bin, tiles);
}
