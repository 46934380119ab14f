// matmul in bf16 by tiles of 64 rows that fit their result (sm_90a): matmul/wgmma_fit.cuh. Bound: operations. How to build and run: scripts/gpu/kernels.sh.
#include "matmul/wgmma_fit.cuh"

FIT_64(bf16)
