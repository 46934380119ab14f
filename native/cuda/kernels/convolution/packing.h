// What convolution_pack.cu takes beside the sizes of its work (ConvPacking of convolution.h), the same for host and device.
#pragma once
#include "../convolution.h"

// Elements that a block has in shared memory, and pieces there from a position to the next: odd, so that neighbouring positions lie in different banks.
constexpr int conv_pack_elements = 8192;
constexpr int conv_pack_pitch(int pieces) { return pieces | 1; }

// By positions of an image, rows and columns of it; tiles of positions and of channels; images of a part; pieces of a tile.
struct ConvPackDivisors {
  ConvDivisor image, height, width, tiles_positions, tiles_channels, parts, tile_pieces;
};
static_assert(sizeof(ConvPackDivisors) <= 128, "a launch stores up to 128 bytes per argument");
