// The launches of a product for other operations that are one (matmul.plan.cc).
#pragma once
#include "../plan.h"
#include "shape.h"

namespace opscope::cuda {

// c = a b by tiles, in the dtype of the case. Where `s.batch_a` is less than the batch, `a` repeats after so many.
void launch_product(Planner& p, const ProductShape& s, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c);

// f32 sums of `splits` shares of `elements` results; 0 where there is one share, which goes to the output itself.
CUdeviceptr shares_of(Planner& p, int64_t elements, int64_t splits);
// Adds them up to `out`, in order.
void launch_join(Planner& p, CUdeviceptr shares, CUdeviceptr out, int64_t elements, int64_t splits);

}  // namespace opscope::cuda
