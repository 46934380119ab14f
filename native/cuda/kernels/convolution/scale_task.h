// What convolution_scale.cu takes, the same for host and device.
#pragma once
#include "../common/divide.h"

namespace opscope::cuda {

constexpr int conv_scale_threads = 256;

// Outputs of all filters and images, of a filter and image, filters of all groups and of one; elements of an image's channel, and where the input of an output lies in it: from one output of a row to the next, from the last of a
// row to the first of the next one, and from the last row of a depth to the first of the next.
struct ConvScale {
  int outputs, plane, filters, of_group, in_plane, width, height;
  int along, row, slab;
  Divide by_plane, by_group, by_filters, by_width, by_height;
};
static_assert(sizeof(ConvScale) <= 128, "a launch stores up to 128 bytes per argument");

}  // namespace opscope::cuda
