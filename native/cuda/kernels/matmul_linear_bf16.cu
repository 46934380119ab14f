// The same in bf16 (matmul_linear_f16.cu).
#include "matmul/linear_16bit.cuh"

LINEAR_16BIT(bf16)
