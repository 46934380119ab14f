// Reductions, one line each (simd/reduction.h, simd/places.h). The op's meaning stands in core/ops/reduction/table.ts.
#include "simd/places.h"

OPSCOPE_REDUCTION(sum, Adding, x, total)
OPSCOPE_REDUCTION(mean, Averaging, x, vdiv(total, n))
OPSCOPE_REDUCTION(max, Largest, x, total)
OPSCOPE_REDUCTION(min, Smallest, x, total)
OPSCOPE_REDUCTION(norm_l1, Adding, vabs(x), total)
OPSCOPE_REDUCTION(norm_l2, AddingSquares, vmul(x, x), vsqrt(total))
OPSCOPE_REDUCTION(norm_linf, Largest, vabs(x), total)
OPSCOPE_PLACE(argmax, Largest)
OPSCOPE_PLACE(argmin, Smallest)

// the gradient of a broadcast
OPSCOPE_REDUCTION(sum_to_shape, Adding, x, total)
