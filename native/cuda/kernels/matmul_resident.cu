// matmul in f16, bf16 and tf32 of a long operand with a short k and up to 128 of the other side, which stays in shared memory: matmul/resident.cuh. Bound: bytes.
//   matmul_resident_<dtype>_<m|n: the long side>_<k|l: contiguous in the long operand>_<lines of the short operand>
// matmul/resident.h says when it is used. How to build and run: scripts/gpu/kernels.sh.
#include "matmul/resident.cuh"

RESIDENT_SIDES(f16, k, true)
RESIDENT_SIDES(f16, l, false)
RESIDENT_SIDES(bf16, k, true)
RESIDENT_SIDES(bf16, l, false)
RESIDENT_SIDES(tf32, k, true)
