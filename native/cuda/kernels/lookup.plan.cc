// Rows and elements of tables by index. dims: [rows, dim, indices]; rope: [tokens, heads, headDim, interleaved].
#include "lookup.h"
#include "plan.h"

namespace opscope::cuda {

namespace {

constexpr unsigned threads = 256;
Dim3 grid_of(int64_t n) { return {ceil_div(n, threads)}; }
long long number(int64_t n) { return n; }
// Rows of one element from which on a thread has several of them: fewer leave multiprocessors idle.
constexpr int64_t many_single = int64_t{1} << 20;
// Elements of the result from which on it is made of vectors where rows are no whole number of them, and vectors of a row from which on one of the result lies in two rows at most.
constexpr int64_t many_shifted = int64_t{1} << 18, least_shifted = 2;

// Units from which on a thread has several, all of them on their way together: fewer are done in a round of blocks.
constexpr int64_t many = int64_t{1} << 20;

void plan_embedding(Planner& p) {
  const auto bytes = static_cast<int64_t>(dtype_bytes(p.spec.dtype));
  const int64_t rows = p.dim(0), dim = p.dim(1), indices = p.dim(2);
  const int64_t unit = dim * bytes % 16 == 0 ? 16 : dim * bytes % 4 == 0 ? 4 : bytes, columns = dim * bytes / unit;
  if (columns == 1 && unit <= 4 && indices >= many_single) return void(p.launch(p.kernel_in("lookup", "embedding_each_" + std::to_string(unit)), grid_of(ceil_div(indices, 4)), threads, 0, p.input(0), p.input(1), p.output(), number(rows), number(indices)));
  if (const int64_t lanes = 16 / unit; unit < 16 && columns > 1 && indices * dim >= many_shifted) {
    const std::string size = std::to_string(unit);
    const Dim3 grid = grid_of(ceil_div(indices * columns, lanes));
    if (columns >= least_shifted * lanes)
      return void(p.launch(p.kernel_in("lookup", "embedding_shifted_" + size), grid, threads, 0, p.input(0), p.input(1), p.output(), number(rows), number(columns), number(indices * columns)));
    return void(p.launch(p.kernel_in("lookup", "embedding_narrow_" + size), grid, threads, 0, p.input(0), p.input(1), p.output(), number(rows), static_cast<int>(columns), number(indices * columns)));
  }
  const bool several = unit == 16 && indices * columns >= many;
  p.launch(p.kernel_in("lookup", "embedding_" + std::to_string(unit) + (several ? "_many" : "")), grid_of(several ? ceil_div(indices * columns, many_units) : indices * columns), threads, 0, p.input(0), p.input(1), p.output(), number(rows), number(columns), number(indices * columns));
}

void plan_gather(Planner& p) {
  const int64_t rows = p.dim(0), dim = p.dim(1), n = p.dim(2) * dim;
  p.launch(p.kernel_in("lookup", "gather_" + std::to_string(dtype_bytes(p.spec.dtype))), grid_of(n), threads, 0, p.input(0), p.input(1), p.output(), number(rows), number(dim), number(n));
}

void plan_rope(Planner& p) {
  const int64_t half = p.dim(2) / 2, pairs = p.dim(0) * p.dim(1) * half;
  const bool interleaved = p.dim(3) != 0;
  // Pairs of 16-bit elements side by side gain nothing (bf16 232987x1x254 on an H200: 148 us either way; 2048x32x128: 23.6, with several 25.4).
  if (pairs < many || (interleaved && p.spec.dtype != Dtype::f32))
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
