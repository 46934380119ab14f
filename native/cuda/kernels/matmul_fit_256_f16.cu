// matmul in f16 by tiles of 256 rows that fit their result (sm_90a): matmul/wgmma_fit.cuh. Bound: operations. How to build and run: scripts/gpu/kernels.sh.
#include "matmul/wgmma_fit.cuh"

FIT_256(f16)
