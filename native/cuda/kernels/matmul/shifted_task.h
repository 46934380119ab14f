// What matmul/shifted.cuh shares with its plan (shifted.h), without headers of the standard library.
#pragma once

namespace opscope::cuda {

// Rows of X in a tile, bytes of shared memory for a stage of it, stages of the ring of a tile with so many columns.
constexpr int shifted_rows = 128, shifted_stage = 18 << 10;
constexpr int shifted_stages(int columns) { return columns >= 192 ? 4 : columns == 128 ? 6 : 8; }

}  // namespace opscope::cuda
