// What a launch of convolution_patches.cu takes, the same for host and device.
#pragma once
#include "../convolution.h"

// Threads of a block; warps share the channels of a run of columns.
constexpr int conv_patches_threads = 256;

// Columns of the input that a lane has, by the stride: a multiple of it, so that each lane has the same elements of the kernel in every run.
constexpr int conv_patches_columns(int stride) { return stride == 3 ? 9 : 8; }

struct ConvPatches {
  int columns;                    // outputs of a filter, over all images
  int channels;
  int rows, kernel_height;        // rows of the kernel in a channel; of one depth
  int plane, output_width, output_height, input_width, input_area, in_plane;
  int sharing;                    // warps that share the channels of a run
  ConvDivisor by_plane, by_width, by_height;
};
static_assert(sizeof(ConvPatches) <= 128, "a launch stores up to 128 bytes per argument");
