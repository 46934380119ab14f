// matmul in bf16 on tensor cores of a long matrix and a few vectors with a long k, whatever the alignment of rows: matmul/unaligned.cuh. Bound: bytes of operands.
//   matmul_unaligned_bf16_128_16_<layout>   layout as in matmul_mma.cu
// matmul/unaligned.h says when it is used. How to build and run: scripts/gpu/kernels.sh.
#include "matmul/unaligned.cuh"

UNALIGNED_LAYOUTS(bf16, 3, 128_16)
