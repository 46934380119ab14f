// An element of the gradient of a normalized row. The mean is subtracted before anything is rounded to the scale of the result: in rows of one element both are equal, and the gradient is zero.
#pragma once

// `g`: gradient times weight, a product rounded by itself (__fmul_rn), as it is in the sums. `h`: the normalized element. `of`: minus the means of `g` and `g * h` over the row.
__device__ __forceinline__ float norm_gradient(float g, float h, float2 of, float rstd) { return rstd * fmaf(h, of.y, g + of.x); }
