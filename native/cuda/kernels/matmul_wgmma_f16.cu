// matmul in f16 on Hopper's tensor cores by wgmma (sm_90a), for operands whose rows start on 16 bytes (others are copied so first: matmul.plan.cc). How a tile
// is made: matmul/wgmma.cuh. wgmma reads either layout of either operand. How to build and run: scripts/gpu/kernels.sh.
#include "matmul/wgmma_16bit.cuh"

WGMMA_16BIT(f16)
