// The geometry of a convolution, for host and device: core/ops/convolution/table.ts has the formula.
#pragma once

struct ConvAxis {
  int input, kernel, padding, output;
};

struct ConvSizes {
  int batch, channels, filters, groups, stride, dilation;
  ConvAxis depth, height, width;
};
