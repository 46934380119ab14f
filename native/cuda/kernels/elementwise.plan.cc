// Registers the operations of elementwise/table.h. dims: [n], or [n, cols, 1 row | 2 column | 3 scalar] where the second input
// has cols, n / cols or 1 elements instead of n.
#include "common/divide.h"
#include "plan.h"

namespace opscope::cuda {

namespace {

struct Row {
  const char* op;
  size_t inputs, scalars;
  bool broadcast;
};

constexpr Row table[] = {
#define ELEMENTWISE(op, inputs, scalars, ...) {#op, inputs, scalars, false},
#define BROADCAST(op, ...) {#op, 2, 0, true},
#define COPY(op) {#op, 1, 0, false},
#include "elementwise/table.h"
};

constexpr int64_t row = 1, column = 2, scalar = 3;

// Elements up to which a thread has one, where a second input is spread over rows that are no whole vectors, or is a column (H200: f32 column of 94631 5.1 to 4.6 us).
constexpr int64_t few_elements = int64_t{1} << 17;
// 16-bit elements up to which blocks have 128 threads, so that they lie on more multiprocessors (in graphs on an H200, bf16 gelu_tanh of 65536 1185 to 1112 ns, of 262144
// 1296 to 1259, copy of 262144 1107 to 1091; f32 of 65536 is 3 % slower with them).
constexpr int64_t few_halves = int64_t{1} << 18;
// And from which on they have, but where an input is spread (H200: bf16 gelu of 67M 67.3 to 66.2 us, exp 64.9 to 63.8, f16 gelu of 268M 261 to 256; two inputs within 0.3 %; with a row of 4,096 added to each 65.7 to 82.6).
constexpr int64_t many_halves = int64_t{1} << 25;

std::vector<TensorShape> tensors(const OpKernels& kernels, const Dims& d) {
  const int64_t n = d[0];
  std::vector<TensorShape> shapes(table[kernels.row].inputs, in(n));
  if (d.size() == 3) {
    const int64_t cols = d[1], kind = d[2];
    const bool fits = cols > 0 && n % cols == 0 && kind >= row && kind <= scalar;
    shapes[1] = in(!fits ? 0 : kind == row ? cols : kind == column ? n / cols : 1);
  }
  shapes.push_back(out(n));
  return shapes;
}

void plan(Planner& p) {
  constexpr unsigned threads = 256;
  const bool halves = dtype_bytes(p.spec.dtype) == 2;
  const unsigned own_threads = halves && p.dim(0) <= few_halves ? threads / 2 : threads;
  const Row& op = table[find_op(p.spec.op)->row];
  const auto n = static_cast<long long>(p.dim(0));
  const Dim3 grid{blocks_of(p.spec.dtype, n) * threads / own_threads};
  const std::string name = p.spec.op + "_" + p.dtype();
  // A row of all elements, or a column of rows of one, is spread over nothing.
  const bool spread_out = p.spec.dims.size() == 3 && !(p.dim(2) == row && p.dim(1) == p.dim(0)) && !(p.dim(2) == column && p.dim(1) == 1);
  if (spread_out) {
    const char* spread[] = {"", "_row", "_column", "_scalar"};
    const int64_t lanes = 16 / static_cast<int64_t>(dtype_bytes(p.spec.dtype));
    if (n <= few_elements && (p.dim(2) == column || (p.dim(2) == row && p.dim(1) % lanes != 0))) {
      Launch& launch = p.launch(p.kernel_in("elementwise", name + "_few" + spread[p.dim(2)]), {ceil_div(n, threads)}, threads, 0, p.input(0), p.input(1), p.output(), static_cast<int>(n), static_cast<int>(p.dim(1)), divide_by(p.dim(1)));
      if (p.dim(2) == row) launch.always_waits();
      return;
    }
    Launch& launch = p.launch(p.kernel_in("elementwise", name + spread[p.dim(2)]), grid, own_threads, 0, p.input(0), p.input(1), p.output(), n, static_cast<long long>(p.dim(1)));
    if (p.dim(2) == row) launch.always_waits();
    return;
  }
  const unsigned many_threads = halves && n >= many_halves ? threads / 2 : own_threads;
  constexpr CUdeviceptr absent = 0;
  const auto input = [&](size_t i) { return i < op.inputs ? p.input(i) : absent; };
  const auto number = [&](size_t i) { return i < op.scalars ? static_cast<float>(p.scalar(i)) : 0.0f; };
  p.launch(p.kernel_in("elementwise", name), {blocks_of(p.spec.dtype, n) * threads / many_threads}, many_threads, 0, input(0), input(1), input(2), p.output(), n, number(0), number(1));
}

const bool registered = [] {
  for (size_t i = 0; i < std::size(table); i++)
    Register({table[i].op, real_dtypes, table[i].broadcast ? std::vector<size_t>{1, 3} : std::vector<size_t>{1}, tensors, plan, table[i].scalars, i});
  return true;
}();

}  // namespace

}  // namespace opscope::cuda
