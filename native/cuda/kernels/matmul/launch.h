// The launches of a product for other operations that are one (matmul.plan.cc).
#pragma once
#include "../plan.h"
#include "deep.h"
#include "narrow.h"
#include "narrow_split.h"
#include "operands.h"
#include "slim.h"
#include "stream.h"
#include "vectors.h"

namespace opscope::cuda {

// The product by the kernel that is fastest for its shape. `product.s.batch_a` is its batch.
void launch_matmul(Planner& p, const Product& product);
// c = a b by tiles, in the dtype of the case. Where `s.batch_a` is less than the batch, `a` repeats after so many.
void launch_product(Planner& p, const ProductShape& s, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c);

// tf32 takes the kernels of f32 where tensor cores gain nothing.
inline std::string scalar_dtype(const Planner& p) { return p.spec.dtype == Dtype::tf32 ? "f32" : p.dtype(); }

// A long matrix and a few vectors (matmul_skinny.plan.cc).
void launch_vectors(Planner& p, const Product& product, const VectorsPlan& plan);
void launch_narrow(Planner& p, const Product& product, const NarrowPlan& plan);
void launch_narrow_split(Planner& p, const Product& product, const NarrowSplitPlan& plan);
void launch_skinny(Planner& p, const Product& product);
void launch_deep(Planner& p, const Product& product, const DeepPlan& plan);
void launch_slim(Planner& p, const Product& product, const SlimPlan& plan);
void launch_stream(Planner& p, const Product& product, const StreamPlan& plan);

// f32 sums of `splits` shares of `elements` results; 0 where there is one share, which goes to the output itself.
CUdeviceptr shares_of(Planner& p, int64_t elements, int64_t splits);
// Adds them up to `out`, in order. `dtype`: of `out`.
void launch_join(Planner& p, CUdeviceptr shares, CUdeviceptr out, int64_t elements, int64_t splits, const std::string& dtype);
inline void launch_join(Planner& p, CUdeviceptr shares, CUdeviceptr out, int64_t elements, int64_t splits) { launch_join(p, shares, out, elements, splits, scalar_dtype(p)); }

}  // namespace opscope::cuda
