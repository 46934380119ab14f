// matmul in f16 by pairs of blocks (sm_90a): matmul/wgmma_pairs.cuh. Bound: operations. How to build and run: scripts/gpu/kernels.sh.
#include "matmul/wgmma_pairs.cuh"

PAIRS_16BIT(f16)
