// What the kernels of products share with their plans: how much a block or a thread takes. Without headers of the standard library, which NVRTC does not have.
#pragma once

namespace opscope::cuda {

// matmul_each: rows of a thread; columns of a thread of matmul_each_row.
constexpr int each_rows = 4, each_columns = 4;
// matmul_narrow: threads of a block.
constexpr int narrow_row_threads = 128, narrow_column_threads = 256;
// Elements behind the `run` results of a thread in shared memory, so that those of neighbouring lanes start an odd number of 4-byte words apart.
constexpr int narrow_space(int run, int element_bytes) { return element_bytes == 4 ? (run + 1) % 2 : (2 - run) & 3; }
// matmul_stream, matmul_stream_f32: warps of a block; bytes of the short side at a time as it is multiplied, and as it lies in memory, or of the sums of warps.
constexpr int stream_warps = 8, stream_few = 32 << 10, stream_raw = 34 << 10, stream_shared = stream_few + stream_raw;
// matmul_parts: shares from which on warps add up parts of them.
constexpr int join_parts = 32;
// matmul_join_tiles: elements of a block.
constexpr int join_tile_elements = 1024;
// matmul_f32_small: rows and columns of results, k of a stage, stages of shared memory.
constexpr int f32_small_tile = 32, f32_small_step = 128, f32_small_stages = 3;
// matmul_small: rows and columns of results, of either kernel; of k that such a block loads at once.
constexpr int small_tile = 32, middle_tile = 64;
template <int SIDE>
constexpr int small_stage = SIDE == 32 ? 256 : 128;
// matmul_direct: columns of results of a block; of k that a warp reads at a time.
constexpr int direct_columns = 32, direct_step = 32;
// matmul_shallow: rows of a thread.
constexpr int shallow_rows = 4;

}  // namespace opscope::cuda
