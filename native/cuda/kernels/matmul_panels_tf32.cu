// matmul in tf32 on tensor cores with a short k, whatever the alignment of rows: matmul/panels.cuh. Bound: bytes of operands and results.
//   matmul_panels_tf32_<rows>_<columns>_<words of k>_<layout>   layout as in matmul_mma.cu
// matmul/panels.h says when it is used. How to build and run: scripts/gpu/kernels.sh.
#include "matmul/panels.cuh"

PANELS_TILES(tf32, 16, 4, 3)
PANELS_TILES(tf32, 32, 3, 2)
