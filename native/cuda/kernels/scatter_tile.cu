// scatter_add (scatter_add.cu) of narrow rows: a block has a tile of rows in shared memory, adds what its indices have to it and writes it, so that the table is read and written once, in vectors:
//   scatter_tiles_<t>  indices come in bins (scatter_bin of scatter_range.cu), of which some tiles share one
// A row with more than `most_listed` indices is left to its whole block, which looks through all indices in their order, and a tile with more indices than its block has room for is taken in parts.
#include "scatter_range.h"
#include "scatter_add/linked_tile.cuh"

#define SCATTER(T)                                                                                                                                                                                                                      \
  extern "C" __global__ void __launch_bounds__(link_threads, 4) scatter_tiles_##T(const T* x, const int* index, const T* src, T* out, unsigned* counts, unsigned* readers, const uint2* bins, long long rows, int dim, int n, int span, \
                                                                             int tiles, int room_of_bin, int room) {                                                                                                                    \
    add_by_tile<0, link_threads>(x, index, src, out, counts, readers, bins, rows, dim, n, 1, span, tiles, room_of_bin, room);                                                                                                           \
  }
SCATTER(f32)
SCATTER(f16)
SCATTER(bf16)
