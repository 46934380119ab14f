// What the kernels of a matrix times a few vectors take (matmul_skinny.cu), the same for host and device.
#pragma once

struct SkinnyArguments {
  unsigned long long matrix, vectors, out;  // addresses
  unsigned long long shares, counters;      // of k, where it is split
  long long length, k, share, tiles;        // of the long side; k of a share; tiles of the long side
  long long matrix_batch, vectors_batch, out_batch;  // elements from one batch to the next
  long long vectors_k, vectors_few;         // elements from one to the next along k and along the short side
  int few;                                  // of the short side
  int parts;                                // of k in a block (matmul_narrow.cu)
  int out_length, out_few;                  // elements of the output from one to the next along the long and the short side
};
static_assert(sizeof(SkinnyArguments) <= 128, "a launch stores up to 128 bytes per argument");
