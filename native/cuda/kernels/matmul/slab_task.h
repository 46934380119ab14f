// What the kernels of f32 products with a short k take (matmul_slab_f32.cu), the same for host and device.
#pragma once
#include "../common/divide.h"

namespace opscope::cuda {

// Threads of a block; rows and columns of a warp's results.
constexpr int slab_threads = 128, slab_warp_rows = 32, slab_warp_columns = 64;
// Elements between two of k in shared memory, for `side` rows or columns of a tile.
constexpr int slab_pitch(int side) { return side + 4; }

struct SlabTask {
  int m, n, k;
  int tiles_m, tiles_n;
  Divide by_tiles_m, by_tiles_n;
  int batches_a;               // a repeats after so many products
  int wide_a, wide_b, wide_c;  // whether rows start on 16 bytes
};

}  // namespace opscope::cuda
