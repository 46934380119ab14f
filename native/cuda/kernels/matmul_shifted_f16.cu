// matmul in f16 by wgmma (sm_90a) with a large operand whose rows do not start on 16 bytes, which is not copied first: matmul/shifted.cuh. Bound: bytes of the large
// operand, or operations. matmul/shifted.h says when it is used. How to build and run: scripts/gpu/kernels.sh.
#include "matmul/shifted_tiles.cuh"

SHIFTED_16BIT(f16)
