// matmul in bf16 by pairs of blocks (sm_90a): matmul/wgmma_pairs.cuh. Bound: operations. How to build and run: scripts/gpu/kernels.sh.
#include "matmul/wgmma_pairs.cuh"

PAIRS_16BIT(bf16)
