// matmul in f16 on tensor cores with a short k, whatever the alignment of rows: matmul/panels.cuh. Bound: bytes of operands and results.
//   matmul_panels_f16_<rows>_<columns>_<words of k>_<layout>   layout as in matmul_mma.cu
// matmul/panels.h says when it is used. How to build and run: scripts/gpu/kernels.sh.
#include "matmul/panels.cuh"

PANELS_TILES(f16, 16, 4, 3)
PANELS_TILES(f16, 32, 3, 2)
