// Linear layers of a composite operation in f16: products by wgmma (matmul_wgmma_f16.cu) that add the bias, and what follows it, in their stores. How to build and run: scripts/gpu/kernels.sh.
#include "matmul/linear_16bit.cuh"

LINEAR_16BIT(f16)
