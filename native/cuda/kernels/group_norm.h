// What the kernels of group_norm.cu take, for host and device.
#pragma once

// Threads of a block at most, vectors of a thread at most, and channels of a group whose weights and biases lie in shared memory.
constexpr int group_threads = 512, group_vectors = 8, group_channels = 1024;
// Of group_norm_long.cu: vectors that a warp fetches at a time, such pieces of a block, and blocks of a group, at most; and bytes of shared memory beside the group and its weights, at most.
constexpr int group_piece = 128, group_pieces = 128, group_parts = 2, group_fixed_bytes = 2560;

// Of group_norm_stay.cu: groups in shared memory at most.
constexpr int group_stages = 2;

constexpr int group_short_threads = 256;  // of a block of group_norm_short.cu

struct GroupNormArguments {
  unsigned long long x, weight, bias, out;  // addresses
  int cols, plane;        // elements of a group and of a channel
  int channels, groups;   // of a group, of an image
  int part, parts;        // vectors of a block, blocks of a group; group_norm_short.cu: 1 << parts lanes of one
  int piece, pieces;      // group_norm_long.cu: vectors that a warp fetches at a time, and how many times; group_norm_stay.cu: vectors of a warp, and groups in shared memory
  long long all;          // groups of all images
  unsigned factor, shift; // i / plane is the upper half of i * factor, shifted
  float eps;
};
