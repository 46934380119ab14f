// The same in bf16 (matmul_wgmma_f16.cu).
#include "matmul/wgmma_16bit.cuh"

WGMMA_16BIT(bf16)
