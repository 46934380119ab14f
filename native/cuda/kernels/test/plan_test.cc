// What operations are registered from their own files and the tables, what cases they refuse, and what a launch can hold:
//   cmake --build native/build --target opscope_cuda_plan_test && native/build/opscope_cuda_plan_test
// Needs the CUDA headers and no GPU.
#include <cstdio>
#include <set>
#include <string>

#include "kernels/plan.h"
#include "kernels/rows/shape.h"
#include "module/fatbins.h"

using namespace opscope;
using namespace opscope::cuda;

namespace {

int failed = 0;

void expect(bool right, const std::string& what) {
  std::printf("%s: %s\n", what.c_str(), right ? "right" : "WRONG");
  failed += !right;
}

TensorDesc tensor(int64_t elements, Role role, Storage storage = Storage::f32) {
  TensorDesc made;
  made.name = "t";
  made.elements = elements;
  made.role = role;
  made.storage = storage;
  return made;
}

CaseSpec spec_of(const std::string& op, Dims dims, std::vector<TensorDesc> tensors, std::vector<double> scalars = {}) {
  CaseSpec spec;
  spec.op = op;
  spec.dims = std::move(dims);
  spec.tensors = std::move(tensors);
  spec.scalars = std::move(scalars);
  return spec;
}

// Empty where the case is taken.
std::string refusal(const CaseSpec& spec) {
  try {
    check_shape(spec, *find_op(spec.op));
  } catch (const Error& e) {
    return e.code + ": " + e.what();
  }
  return {};
}

void registered() {
  std::set<std::string> ops;
  bool once = true;
  for (const auto& op : registered_ops()) once = ops.insert(op.op).second && once;
  expect(once, "each operation is registered once");
  for (const char* op : {"copy", "add", "div", "fma", "clamp", "rsqrt", "relu", "silu", "swiglu", "gelu_backward", "sum", "argmin", "norm_linf", "dot", "matmul", "softmax", "layer_norm", "spin", "log_softmax", "rms_norm", "cross_entropy", "group_norm", "batch_norm", "layer_norm_backward",
                         "transpose", "dropout", "adamw_step", "max_pool1d", "adaptive_avg_pool2d", "embedding", "gather", "scatter_add", "rope", "cumsum", "sort", "topk", "conv1d", "conv3d",
                         "scaled_dot_product_attention", "scaled_matmul", "mse_loss", "sum_to_shape"})
    expect(ops.count(op) == 1, std::string(op) + " is registered");
  for (const char* module : {"elementwise", "reduction", "service", "softmax", "matmul_wgmma", "rows", "order", "convolution"}) expect(find_fatbin(module) != nullptr, std::string(module) + " is embedded");
  expect(std::string(built_archs()).find_first_of("0123456789") == 0, "the build says for which GPUs its kernels are");
}

void shapes() {
  const auto in_of = [](int64_t n) { return tensor(n, Role::in); };
  const auto out_of = [](int64_t n) { return tensor(n, Role::out); };
  expect(refusal(spec_of("add", {12}, {in_of(12), in_of(12), out_of(12)})).empty(), "add takes two tensors");
  expect(refusal(spec_of("add", {12, 4, 1}, {in_of(12), in_of(4), out_of(12)})).empty(), "a row");
  expect(refusal(spec_of("add", {12, 4, 2}, {in_of(12), in_of(3), out_of(12)})).empty(), "a column");
  expect(refusal(spec_of("add", {12, 3, 3}, {in_of(12), in_of(1), out_of(12)})).empty(), "a scalar");
  expect(refusal(spec_of("add", {12, 5, 1}, {in_of(12), in_of(5), out_of(12)})).find("internal") == 0, "columns that do not divide the elements are refused");
  expect(refusal(spec_of("exp", {12, 4, 1}, {in_of(12), out_of(12)})).find("expected 1 dims, received 3") != std::string::npos, "an operation without broadcast refuses one");
  expect(refusal(spec_of("clamp", {5}, {in_of(5), out_of(5)}, {0, 1})).empty(), "clamp takes its two limits");
  expect(refusal(spec_of("clamp", {5}, {in_of(5), out_of(5)})).find("expected 2 scalars, received 0") != std::string::npos, "and refuses to go without");
  expect(refusal(spec_of("sum", {2, 3, 4}, {in_of(24), out_of(8)})).empty(), "sum over a middle axis");
  expect(refusal(spec_of("sum", {2, 3, 4, 5}, {in_of(120), out_of(8)})).empty(), "sum over two axes");
  expect(refusal(spec_of("argmax", {2, 3, 1}, {in_of(6), tensor(2, Role::out, Storage::i32)})).empty(), "argmax gives i32");
  expect(refusal(spec_of("argmax", {2, 3, 1}, {in_of(6), out_of(2)})).find("storage") != std::string::npos, "and nothing else");
  expect(refusal(spec_of("copy", {6}, {in_of(6), in_of(6)})).find("should be out, is in") != std::string::npos, "an output that is none is refused");
  expect(refusal(spec_of("copy", {6}, {in_of(6), out_of(7)})).find("should have 6 elements, received 7") != std::string::npos, "sizes that do not fit together are refused");
  expect(refusal(spec_of("matmul", {1 << 30, 1 << 30, 1 << 30, 1 << 30, 0, 0}, {in_of(1), in_of(1), out_of(1)})).find("4e18") != std::string::npos, "dims whose product overflows are refused");
}

// Every row is met once, whatever its length and number: groups divide blocks, parts cover rows and hold whole vectors.
void row_splits() {
  bool whole = true, grids = true;
  for (const int64_t lanes : {4, 8})
    for (int64_t cols = 1; cols <= int64_t{1} << 32; cols = cols * 3 / 2 + 1)
      for (int64_t rows = 1; rows <= (int64_t{1} << 33) / cols; rows = rows * 5 + 2) {
        const RowsSplit s = rows_split(132, lanes, rows, cols);
        const bool sub_warp = s.group <= 32;
        whole = whole && (sub_warp ? s.threads % static_cast<unsigned>(s.group) == 0 && (s.group & (s.group - 1)) == 0 : s.threads == static_cast<unsigned>(s.group) && s.group % 32 == 0);
        if (s.parts == 1) whole = whole && s.blocks * (s.threads / static_cast<unsigned>(s.group)) >= rows;
        else whole = whole && !sub_warp && s.part % lanes == 0 && s.part * s.parts >= cols && s.part * (s.parts - 1) < cols && s.blocks == rows * s.parts;
        grids = grids && s.threads <= 1024 && s.blocks <= Launch::max_blocks_x;
      }
  expect(whole, "rows are covered, by groups that divide their blocks or by parts of whole vectors");
  expect(grids, "rows of up to 2^33 elements fit a grid");
  expect(rows_split(132, 4, 1 << 20, 1).group == 1 && rows_split(132, 4, 1 << 20, 8).group == 2, "short rows take as few threads as they have vectors");
  expect(rows_split(132, 4, 1, 1 << 24).parts > 132, "one long row takes the whole GPU");
}

std::string launch_refusal(const Dim3& grid, size_t arguments) {
  struct Block {
    char bytes[128];
  };
  try {
    if (arguments == 0) Launch(nullptr, grid, 256, 0);
    else if (arguments == 32) Launch(nullptr, grid, 256, 0, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{});
    else Launch(nullptr, grid, 256, 0, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, 1);
  } catch (const Error& e) {
    return e.code + ": " + e.what();
  }
  return {};
}

void launches() {
  expect(launch_refusal({Launch::max_blocks_x, 65535, 65535}, 0).empty(), "a launch takes the largest grid");
  expect(launch_refusal({Launch::max_blocks_x + 1}, 0).find("unsupported: This size needs a grid of 2147483648") == 0, "and refuses a larger one with its size");
  expect(launch_refusal({1, 65536}, 0).find("unsupported") == 0, "along y as well");
  expect(launch_refusal({}, 32).empty() && launch_refusal({}, 33).find("unsupported: A kernel of this case takes more than a launch can pass") == 0, "arguments beyond 4096 bytes are refused");
}

}  // namespace

int main() {
  registered();
  shapes();
  row_splits();
  launches();
  return failed ? 1 : 0;
}
