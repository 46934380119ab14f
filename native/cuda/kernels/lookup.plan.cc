// Rows and elements of tables by index. dims: [rows, dim, indices]; rope: [tokens, heads, headDim, interleaved].
#include "lookup/shape.h"
#include "plan.h"

namespace opscope::cuda {

namespace {

constexpr unsigned threads = lookup_threads;
Dim3 grid_of(int64_t n) { return {ceil_div(n, threads)}; }
long long number(int64_t n) { return n; }

void plan_embedding(Planner& p) {
  const int64_t rows = p.dim(0), indices = p.dim(2);
  const EmbeddingShape s = embedding_shape(static_cast<int64_t>(dtype_bytes(p.spec.dtype)), rows, p.dim(1), indices);
  const std::string size = std::to_string(s.unit);
  const auto launch = [&](const std::string& name, const auto&... counts) { p.launch(p.kernel_in("lookup", "embedding_" + name), grid_of(s.threads), threads, 0, p.input(0), p.input(1), p.output(), number(rows), counts...); };
  switch (s.kind) {
    case Embedding::each: return launch("each_" + size, number(indices));
    case Embedding::shifted: return launch("shifted_" + size, number(s.columns), number(indices * s.columns));
    case Embedding::gathered: return launch("gathered_" + size, number(s.columns), number(indices * s.columns));
    case Embedding::narrow:
      p.launch(p.kernel_in("lookup", "embedding_narrow_" + size + "_" + std::to_string(s.columns)), {ceil_div(s.threads, narrow_threads)}, narrow_threads, 0, p.input(0), p.input(1), p.output(), number(rows), number(indices));
      return;
    case Embedding::units: return launch(size, number(s.columns), number(indices * s.columns));
    case Embedding::parts: return launch(size + "_parts", number(s.columns), static_cast<unsigned>(indices));
    case Embedding::many: return launch(size + "_many", number(s.columns), number(indices * s.columns));
  }
}

void plan_gather(Planner& p) {
  const int64_t rows = p.dim(0), dim = p.dim(1), n = p.dim(2) * dim;
  const bool four = gather_has_four(n);
  p.launch(p.kernel_in("lookup", "gather_" + std::to_string(dtype_bytes(p.spec.dtype)) + (four ? "_four" : "")), grid_of(four ? ceil_div(n, 4) : n), threads, 0, p.input(0), p.input(1), p.output(), number(rows), number(dim), number(n));
}

void plan_rope(Planner& p) {
  const int64_t half = p.dim(2) / 2, pairs = p.dim(0) * p.dim(1) * half;
  const bool interleaved = p.dim(3) != 0;
  if (!rope_has_many(static_cast<int64_t>(dtype_bytes(p.spec.dtype)), pairs, interleaved))
    return void(p.launch(p.kernel_in("lookup", "rope_" + p.dtype()), grid_of(pairs), threads, 0, p.input(0), p.input(1), p.input(2), p.output(), number(pairs), number(p.dim(1)), number(half), static_cast<int>(interleaved)));
  p.launch(p.kernel_in("lookup", "rope_" + p.dtype() + "_many"), grid_of(ceil_div(pairs, many_units)), threads, 0, p.input(0), p.input(1), p.input(2), p.output(), number(pairs), number(p.dim(1)), number(half),
           static_cast<int>(interleaved), static_cast<int>(threads / half), static_cast<int>(threads % half));
}

using Shapes = std::vector<TensorShape>;

const bool registered = [] {
  Register({"embedding", real_dtypes, {3}, [](const OpKernels&, const Dims& d) { return Shapes{in(d[2], Storage::i32), in(d[0] * d[1]), out(d[2] * d[1])}; }, plan_embedding});
  Register({"gather", real_dtypes, {3}, [](const OpKernels&, const Dims& d) { return Shapes{in(d[0] * d[1]), in(d[2] * d[1], Storage::i32), out(d[2] * d[1])}; }, plan_gather});
  Register({"rope", real_dtypes, {4}, [](const OpKernels&, const Dims& d) {
    const int64_t n = d[2] % 2 == 0 ? d[0] * d[1] * d[2] : 0;
    return Shapes{in(n), in(d[0] * (d[2] / 2)), in(d[0] * (d[2] / 2)), out(n)};
  }, plan_rope});
  return true;
}();

}  // namespace

}  // namespace opscope::cuda
