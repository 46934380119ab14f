// What the kernels of a matrix and a few vectors that warps share take besides SkinnyArguments (matmul_narrow_split.cu), the same for host and device.
#pragma once

namespace opscope::cuda {

// Columns of a block; loads of a thread on their way together.
constexpr int narrow_split_columns = 32, narrow_split_ahead = 16;

// Elements from one k to the next of `width` vectors in shared memory, of which a warp reads `vectors` in pieces of 8 or 16 bytes, and which lanes write along k.
constexpr int narrow_split_pitch(int width, int vectors) { return width + (vectors % 4 == 0 ? 4 : 2); }

struct NarrowSplitTask {
  int groups, parts;  // of the short side and of k, for which a block has warps
  int tiles;          // of a product
  int sums_at;        // elements of shared memory before the sums of parts
};

}  // namespace opscope::cuda
