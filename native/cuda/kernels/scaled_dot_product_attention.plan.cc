#include "scaled_dot_product_attention.h"

#include "plan.h"

namespace opscope::cuda {

namespace {

// dims: [batch, heads, kvHeads, seqQ, seqK, headDim, causal].
std::vector<TensorShape> tensors(const OpKernels&, const Dims& d) {
  const bool sensible = d[2] >= 1 && d[2] <= d[1] && d[1] % d[2] == 0;
  const int64_t q = sensible ? d[0] * d[1] * d[3] * d[5] : 0, k = sensible ? d[0] * d[2] * d[4] * d[5] : 0;
  return {in(q), in(k), in(k), out(q)};
}

// Tensor cores for 16-bit types (attention_mma.cu).
void plan_mma(Planner& p, const AttentionSizes& sizes) {
  constexpr int64_t queries = 64;
  const int64_t dim = sizes.dim <= 64 ? 64 : sizes.dim <= 128 ? 128 : 256, keys = dim == 256 ? 32 : 64;
  const auto bytes = static_cast<unsigned>((queries + 4 * keys) * dim * 2);
  p.launch(p.kernel_in("attention_mma", "attention_mma_" + p.dtype() + "_" + std::to_string(dim), bytes), {p.dim(0) * p.dim(1) * ceil_div(p.dim(3), queries)}, 128, bytes, p.input(0), p.input(1), p.input(2), p.output(), sizes);
}

void plan(Planner& p) {
  const AttentionSizes sizes = {p.dim(1), p.dim(2), p.dim(3), p.dim(4), static_cast<int>(p.dim(5)), static_cast<int>(p.dim(6))};
  if (p.spec.dtype != Dtype::f32 && sizes.dim <= 256) return plan_mma(p, sizes);
  constexpr int64_t rows = 32;  // of each of q, k, v and the sums in shared memory
  const int64_t shared = 4 * rows * (p.dim(5) + 1) * 4, weights = rows * (rows + 1) * 4;
  if (shared + weights > p.device.shared_bytes_per_block)
    throw Error("unsupported", "The CUDA kernel for attention keeps queries and keys in shared memory: headDim " + std::to_string(p.dim(5)) + " is too large. Choose one of up to 256.");
  const auto bytes = static_cast<unsigned>(shared);
  p.launch(p.kernel("scaled_dot_product_attention_" + p.dtype(), bytes), {p.dim(0) * p.dim(1) * ceil_div(p.dim(3), rows)}, 256, bytes, p.input(0), p.input(1), p.input(2), p.output(), sizes);
}

const Register registered({"scaled_dot_product_attention", real_dtypes, {7}, tensors, plan});

}  // namespace

}  // namespace opscope::cuda
