// scatter_add (scatter_add.cu) of rows of some vectors of which few have an index: as scatter_tile.cu, but some threads share a row.
//   scatter_wide_<t>  indices come in bins (scatter_bin of scatter_range.cu), of which some tiles share one; _16, _8, _4: rows are whole vectors of so many bytes
#include "scatter_wide.h"
#include "scatter_add/linked_tile.cuh"

#define WIDE(T, NAME, BYTES)                                                                                                                                                                                                       \
  extern "C" __global__ void __launch_bounds__(wide_threads, wide_blocks) scatter_wide_##NAME(const T* x, const int* index, const T* src, T* out, unsigned* counts, unsigned* readers, const uint2* bins, long long rows, int dim, \
                                                                                             int n, int lanes, int span, int tiles, int room_of_bin, int room) {                                                                   \
    add_by_tile<BYTES, wide_threads>(x, index, src, out, counts, readers, bins, rows, dim, n, lanes, span, tiles, room_of_bin, room);                                                                                              \
  }
#define WIDES(T) WIDE(T, T, 0) WIDE(T, T##_8, 8) WIDE(T, T##_16, 16)
WIDES(f32)
WIDES(f16) WIDE(f16, f16_4, 4)
WIDES(bf16) WIDE(bf16, bf16_4, 4)
