// What convolution_thin.cu and its plan agree on.
#pragma once

// Warps of a block, channels of a warp that are on their way together, and positions of the block.
constexpr int conv_thin_warps = 8, conv_thin_channels = 8, conv_thin_columns = 64;
