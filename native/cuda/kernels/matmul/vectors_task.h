// What the kernels of a matrix times one to four vectors take (matmul_vectors.cu), the same for host and device.
#pragma once

// Threads of a block.
constexpr int vectors_threads = 256;
// Pieces of 16 bytes of a thread that are on their way at a time: of other rows where k is not contiguous; of each of `rows` rows of a warp where it is.
template <int VECTORS>
constexpr int vectors_column_pieces = VECTORS > 1 ? 4 : 8;
template <int VECTORS, int ROWS>
constexpr int vectors_row_pieces = VECTORS > 1 ? 1 : ROWS > 2 ? 2 : 4;

struct VectorsTask {
  unsigned long long matrix, vectors, out;           // addresses
  long long matrix_batch, vectors_batch, out_batch;  // elements from one batch to the next
  long long vectors_k, vectors_few;                  // elements from one to the next along k and along the short side
  long long out_length, out_few;                     // the same of the output along the long and the short side
  int length, k, few;                                // of the long side; of the short side
  int share, blocks;                                 // of k of a block; blocks that share k, a cluster
  int width, chunk;                                  // of the long side, of a tile; of k whose vectors are in shared memory at a time
};
static_assert(sizeof(VectorsTask) <= 128, "a launch stores up to 128 bytes per argument");
