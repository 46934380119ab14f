// What the kernels of f32 with a slim side take besides SkinnyArguments (matmul_slim_f32.cu), the same for host and device.
#pragma once

namespace opscope::cuda {

// Threads of a block; elements of the long side and of k in a stage; stages of shared memory.
constexpr int slim_threads = 128, slim_tile = 128, slim_step = 32, slim_stages = 3;

// Rows that threads copy side by side.
constexpr int slim_span(int rows) { return rows <= 16 ? 16 : rows <= 32 ? 32 : rows <= 64 ? 64 : 128; }
// Bytes of a stage: rows of k spaced by 16 bytes, or k rows.
constexpr int slim_panel(int rows, bool k_contiguous) { return (k_contiguous ? rows * (slim_step + 4) : slim_step * rows) * 4; }
constexpr int slim_shared(int few, bool few_k, bool long_k) { return slim_stages * (slim_panel(few, few_k) + slim_panel(slim_tile, long_k)); }

struct SlimTask {
  int wide_few, wide_long;  // whether rows of the operand start on 16 bytes
};

}  // namespace opscope::cuda
