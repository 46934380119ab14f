// What the kernels of group_norm.cu take, for host and device.
#pragma once

// Threads of a block at most, vectors of a thread at most, and channels of a group whose weights and biases lie in shared memory.
constexpr int group_threads = 512, group_vectors = 8, group_channels = 1024;

struct GroupNormArguments {
  unsigned long long x, weight, bias, out;  // addresses
  int cols, plane;        // elements of a group and of a channel
  int channels, groups;   // of a group, of an image
  int part, parts;        // vectors of a block, blocks of a group
  unsigned factor, shift; // i / plane is the upper half of i * factor, shifted
  float eps;
};
