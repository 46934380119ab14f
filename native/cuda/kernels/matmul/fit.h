// What tiles that fit their result (matmul/wgmma_fit.cuh) take of shared memory and registers, the same for host and device. Rows and columns of a tile are rows of X and of Y.
#pragma once

namespace opscope::cuda {

// Warp groups of a tile that multiply, and 64 rows of X that each of them has.
constexpr int fit_groups(int rows) { return rows == 64 ? 1 : rows == 192 ? 3 : 2; }
constexpr int fit_units(int rows) { return rows / 64 / fit_groups(rows); }
// Registers of a thread for results above which those that multiply take registers from a group that brings stages, in the place of a warp.
constexpr int fit_most_results(int groups) { return groups == 1 ? 255 : groups == 2 ? 104 : 80; }
constexpr bool fit_gives(int rows, int columns) { return fit_units(rows) * columns / 2 > fit_most_results(fit_groups(rows)); }
constexpr int fit_threads(int rows, int columns) { return fit_groups(rows) * 128 + (fit_gives(rows, columns) ? 128 : 32); }
// Rows of Y in shared memory: whole boxes of 64 where k is not contiguous.
constexpr int fit_rows_y(int columns, bool lines_y) { return lines_y ? (columns + 63) / 64 * 64 : columns; }
// Through which results go that the copy engine stores: all columns by 64 rows of each warp group.
constexpr int fit_staging(int rows, int columns, bool turned) { return turned ? fit_groups(rows) * 64 * columns * 2 : 0; }
constexpr int fit_most_shared = 227 << 10, fit_most_stages = 16, fit_barriers = 16;  // bytes of a block; stages; bytes of barriers of a stage
constexpr int fit_stage(int rows, int columns, bool lines_y) { return (rows + fit_rows_y(columns, lines_y)) * 128 + fit_barriers; }
// As many as shared memory holds.
constexpr int fit_stages(int rows, int columns, bool lines_y, bool turned) {
  const int held = (fit_most_shared - fit_staging(rows, columns, turned)) / fit_stage(rows, columns, lines_y);
  return held < fit_most_stages ? held : fit_most_stages;
}
constexpr int fit_shared_bytes(int rows, int columns, bool lines_y, bool turned) { return fit_stages(rows, columns, lines_y, turned) * fit_stage(rows, columns, lines_y) + fit_staging(rows, columns, turned); }

// Of a launch: a cluster has 2^log_x by 2^log_y tiles; clusters compute `each` of the work, the first `more` of them one more.
struct FitTask {
  int log_x, log_y, each, more;
};

}  // namespace opscope::cuda
