// The extents of a pooling, for host and device. A kernel of 0 along an axis: adaptive windows.
#pragma once

// Threads of a block, and outputs of a thread that has several.
constexpr int pool_threads = 256, pool_outputs = 4;

struct PoolSizes {
  long long outputs, height, width, out_height, out_width;
  long long kernel_down, stride_down, padding_down, kernel, stride, padding;
  // From an output to the one that lies a block's threads behind it, before carries.
  int next_planes, next_down, next_across;
};
