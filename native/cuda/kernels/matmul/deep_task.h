// What the kernels of a long sum for few results take besides SkinnyArguments (matmul_deep.cu), the same for host and device.
#pragma once

namespace opscope::cuda {

// Threads of a block, and stages of its ring.
constexpr int deep_threads = 256, deep_stages = 4;

struct DeepOperand {
  int along_k;       // k is contiguous, and each element of the side a line of shared memory; else all is one line
  int log2_threads;  // of a line, when it is copied
  int pitch, at;     // bytes between lines, and before the first in a stage
};

struct DeepTask {
  DeepOperand x, y;  // the short and the long side
  int groups_x, groups;  // of threads, side by side along x, and in all; others share k
  int chunk, stage;      // of k in a stage, and its bytes
};

}  // namespace opscope::cuda
