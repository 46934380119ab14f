// Row operations on few elements (rows_few.cu): which cases, and how rows are spread. Pure; few_test.cc has what holds over the whole range.
#pragma once
#include <cstdint>

#include "../common/divide.h"
#include "../common/few_launch.h"

namespace opscope::cuda {

// What rows_few.cu takes, the same for host and device. Addresses; what an op has not is 0.
struct FewRows {
  unsigned long long in[3], out, more[2];
  int rows, cols;
  int log2;            // 1 << log2 lanes of a warp have a row, where a block has several
  float number;        // eps
  float over;          // 1 / cols; of losses and their gradient 1 / rows
  int groups, channels;  // group_norm: groups of an image, channels of a group; batch_norm_few.cu has its own numbers here, and it and losses have `more`
  Divide by_groups, by_plane;
};

// Elements in all up to which a call is a wait for memory and for instructions, and up to which it is where there are kernels that keep rows of whole vectors in registers;
// of a lane, or of a thread of a block that has a row.
constexpr int64_t few_most = int64_t{1} << 18, few_most_of_vectors = int64_t{1} << 16;
constexpr int few_each = 4;
constexpr int64_t few_threads = 1024;

inline FewLaunch few_shape(int sm_count, int64_t rows, int64_t cols, int64_t most = few_most) {
  if (rows < 1 || cols < 1 || rows * cols > most || cols > few_threads * few_each) return {};
  if (cols > 32 * few_each) return {true, true, 5, static_cast<unsigned>((cols + 32 * few_each - 1) / (32 * few_each) * 32), rows};
  int log2 = 0;
  while ((few_each << log2) < cols) log2++;
  const int64_t in_all = rows << log2;
  // Small blocks, so that more multiprocessors have one.
  const unsigned threads = in_all >= int64_t{sm_count} * 128 ? 128 : in_all > 32 ? 64 : 32;
  return {true, false, log2, threads, (in_all + threads - 1) / threads};
}

// Losses, whose blocks meet at a counter: none where one block has all rows, else as few as keep each soon done.
// Rows that have a block each; fewer where they start on 16 bytes (H200: f16 1000x256 10.5 us, by kernels that read vectors 8.3; f32 256x256 in graphs 3.9 and 3.5).
constexpr int64_t few_loss_blocks = 256, few_loss_blocks_aligned = 128;

// `lanes`: elements of 16 bytes.
inline FewLaunch few_loss_shape(int64_t lanes, int64_t rows, int64_t cols) {
  FewLaunch s = few_shape(1, rows, cols);
  if (s.blocks_each && rows > (cols % lanes == 0 ? few_loss_blocks_aligned : few_loss_blocks)) return {};
  if (!s.taken || s.blocks_each) return s;
  const int64_t in_all = rows << s.log2, over = (in_all + 31) / 32 * 32;
  s.threads = static_cast<unsigned>(over <= few_threads ? over : 256);
  s.blocks = (in_all + s.threads - 1) / s.threads;
  return s;
}

}  // namespace opscope::cuda
