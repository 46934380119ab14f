// The same in bf16 (matmul_shifted_f16.cu).
#include "matmul/shifted_tiles.cuh"

SHIFTED_16BIT(bf16)
