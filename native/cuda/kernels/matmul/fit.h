// What tiles that fit their result (matmul/wgmma_fit.cuh) take of shared memory, the same for host and device. Rows and columns of a tile are rows of X and of Y.
#pragma once

namespace opscope::cuda {

// Rows of Y in shared memory: whole boxes of 64 where k is not contiguous.
constexpr int fit_rows_y(int columns, bool lines_y) { return lines_y ? (columns + 63) / 64 * 64 : columns; }
// Through which results go that the copy engine stores: all columns by 64 rows of each warp group.
constexpr int fit_staging(int columns, int groups, bool turned) { return turned ? groups * 64 * columns * 2 : 0; }
constexpr int fit_most_shared = 227 << 10, fit_most_stages = 12, fit_barriers = 16;  // bytes of a block; stages; bytes of barriers of a stage
constexpr int fit_stage(int rows, int columns, bool lines_y) { return (rows + fit_rows_y(columns, lines_y)) * 128 + fit_barriers; }
// As many as shared memory holds.
constexpr int fit_stages(int rows, int columns, int groups, bool lines_y, bool turned) {
  const int held = (fit_most_shared - fit_staging(columns, groups, turned)) / fit_stage(rows, columns, lines_y);
  return held < fit_most_stages ? held : fit_most_stages;
}
constexpr int fit_shared_bytes(int rows, int columns, int groups, bool lines_y, bool turned) { return fit_stages(rows, columns, groups, lines_y, turned) * fit_stage(rows, columns, lines_y) + fit_staging(columns, groups, turned); }

}  // namespace opscope::cuda
