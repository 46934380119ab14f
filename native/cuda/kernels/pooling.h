// The extents of a pooling, for host and device. A kernel of 0 along an axis: adaptive windows.
#pragma once

struct PoolSizes {
  long long outputs, height, width, out_height, out_width;
  long long kernel_down, stride_down, padding_down, kernel, stride, padding;
};
