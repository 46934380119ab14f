// matmul in f16, bf16 and tf32 of a long operand with a short k and a few dozen of the other side: matmul/tall.cuh. Bound: bytes.
//   matmul_tall_<dtype>_<64 bytes of k>_<m|n: the long side>_<k|l: contiguous in the long operand>
// matmul/tall.h says when it is used. How to build and run: scripts/gpu/kernels.sh.
#include "matmul/tall.cuh"

// Blocks of a multiprocessor as tall_blocks has them.
#define ONE_CHUNK(T, BLOCKS) TALL_KERNEL(T, 1, 0, 1, BLOCKS, m, false, l, false) TALL_KERNEL(T, 1, 0, 1, BLOCKS, n, true, l, false)
#define CHUNKS(T, EACH, BLOCKS) TALL_ROWS(T, EACH, 0, EACH, BLOCKS) TALL_COLUMNS(T, EACH, 0, EACH, BLOCKS)
#define TALL_16(T) ONE_CHUNK(T, 5) CHUNKS(T, 2, 4) CHUNKS(T, 3, 3) CHUNKS(T, 4, 2)
TALL_16(f16)
TALL_16(bf16)
ONE_CHUNK(tf32, 8)
CHUNKS(tf32, 2, 6)
CHUNKS(tf32, 3, 5)
CHUNKS(tf32, 4, 4)
CHUNKS(tf32, 6, 3)
CHUNKS(tf32, 8, 2)
