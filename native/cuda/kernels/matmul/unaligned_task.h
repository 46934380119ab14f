// Products on tensor cores of few tiles and a long k, both operands as they lie (unaligned.cuh), the same for host and device.
#pragma once

namespace opscope::cuda {

// A tile of results, as kernels are built: the long side of narrow ones is that of rows.
struct UnalignedTile {
  int rows, columns;
  int warps_m, warps_n, parts;  // across rows and columns, and those that share the k of a stage
  int stages, blocks;           // of a block's ring; of a multiprocessor
  int step;                     // bytes of k of a stage where k is contiguous
  constexpr int threads() const { return warps_m * warps_n * parts * 32; }
};
constexpr UnalignedTile unaligned_tiles[] = {{64, 64, 2, 2, 2, 5, 2, 128}, {96, 96, 2, 2, 4, 5, 1, 128}, {128, 128, 2, 4, 1, 3, 1, 256}, {128, 16, 4, 1, 2, 5, 2, 128}};
// Bytes of a line of an operand in a stage: the 16-byte pieces of a stage where k is contiguous, else those of a tile, and one more, spaced so that neighbouring lanes meet different banks.
constexpr int unaligned_line(int side, int element_bytes, bool k_contiguous, int step) { return k_contiguous ? step + 16 : side * element_bytes + (element_bytes == 4 ? 32 : 16); }
constexpr int unaligned_bytes(int side, int element_bytes, bool k_contiguous, int step) { return (k_contiguous ? side : step / element_bytes) * unaligned_line(side, element_bytes, k_contiguous, step); }

}  // namespace opscope::cuda

struct UnalignedTask {
  int m, n, k;
  int tiles_m, tiles_n;      // of a product
  int splits;                // blocks that share k: each has every `splits`th stage of it
  int batches_a, batches_b;  // operands repeat after so many products
  int row, column;           // elements of the result from one row or column to the next
};
