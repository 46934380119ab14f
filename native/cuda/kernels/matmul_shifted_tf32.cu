// The same in tf32 (matmul_shifted_f16.cu). wgmma reads tf32 from shared memory along K alone: Y has K contiguous, or is turned first.
#include "matmul/shifted_tiles.cuh"

SHIFTED_TILES(tf32, k_k, true, 0)
SHIFTED_TILES(tf32, l_k, false, 0)
