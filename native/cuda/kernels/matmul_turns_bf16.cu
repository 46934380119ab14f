// matmul in bf16 by warp groups that take turns (sm_90a): matmul/wgmma_turns.cuh. Bound: operations. How to build and run: scripts/gpu/kernels.sh.
#include "matmul/wgmma_turns.cuh"

TURNS_16BIT(bf16)
