// What convolution_planes.cu and its plan agree on.
#pragma once
#include "../common/divide.h"

// Warps of a block that multiply, and positions of a warp.
constexpr int conv_planes_warps = 4, conv_planes_positions = 32, conv_planes_of_tile = conv_planes_warps * conv_planes_positions, conv_planes_threads = conv_planes_warps * 32 + 32;

// `together`: images of a tile, whose planes are its positions. `chunk`: channels of a stage, in sixteens; `pitch`: bytes from one image to the next in a stage.
struct ConvPlanesTask {
  int images, channels, filters, plane, together, chunk, stages, pitch, tiles;
  Divide by_plane;
};
