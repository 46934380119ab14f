// matmul as by matmul_tall.cu, with more of k than a lane has registers for, in rounds: the sums of a tile stay in registers.
//   matmul_tall_<dtype>_<16 of the other side>_rounds_<m|n: the long side>_<k|l: contiguous in the long operand>
// matmul/tall.h says when it is used. How to build and run: scripts/gpu/kernels.sh.
#include "matmul/tall.cuh"

// Blocks of a multiprocessor as tall_blocks has them.
#define TALL_16(T) TALL_ROWS(T, 2_rounds, 2, 2, 2) TALL_ROWS(T, 3_rounds, 3, 2, 2)
TALL_16(f16)
TALL_16(bf16)
TALL_COLUMNS(tf32, 2_rounds, 2, 3, 3)
TALL_COLUMNS(tf32, 3_rounds, 3, 3, 3)
