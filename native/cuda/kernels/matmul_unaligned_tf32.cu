// matmul in tf32 on tensor cores of few tiles and a long k, whatever the alignment of rows: matmul/unaligned.cuh. Bound: bytes of operands.
//   matmul_unaligned_tf32_<rows>_<columns>_<layout>   layout as in matmul_mma.cu
// matmul/unaligned.h says when it is used. How to build and run: scripts/gpu/kernels.sh.
#include "matmul/unaligned.cuh"

UNALIGNED_LAYOUTS(tf32, 0, 64_64)
UNALIGNED_LAYOUTS(tf32, 1, 96_96)
UNALIGNED_LAYOUTS(tf32, 2, 128_128)
UNALIGNED_LAYOUTS(tf32, 3, 128_16)
