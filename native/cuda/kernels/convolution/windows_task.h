// What a launch of convolution_window.cu takes beside the sizes, the same for host and device.
#pragma once
#include "../convolution.h"

// Outputs of a filter over all images; blocks of filters of a group; chunks of the outputs.
struct ConvWindows {
  long long columns;
  int blocks, chunks;
  ConvDivisor plane, area, width, height;
};
