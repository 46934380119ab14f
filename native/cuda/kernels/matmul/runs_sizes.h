// How kernels of runs are built (matmul_f32_runs.cu), the same for host and device.
#pragma once

namespace opscope::cuda {

constexpr int runs_stages = 3, runs_step = 16;  // of k in a stage
constexpr int runs_threads = 256, runs_feed = 128;  // of a block; those that bring operands
constexpr int runs_warp_rows = 4;               // lanes of a warp down a tile
// Registers of a thread that brings operands and of one that multiplies, where a multiprocessor has `resident` blocks.
constexpr int runs_feed_registers(int resident) { return resident == 2 ? 56 : 48; }
constexpr int runs_math_registers(int resident) { return resident == 2 ? 200 : 112; }

}  // namespace opscope::cuda
