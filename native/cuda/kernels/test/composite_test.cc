// Composite cases: what is refused, and that a call is the launches of its parts: part of opscope_cuda_plan_test.
#include <set>
#include <string>

#include "composite.h"
#include "driver/test/fake_driver.h"
#include "kernels/plan.h"
#include "kernels/test/expect.h"
#include "kernels/test/gpus.h"

using namespace opscope;
using namespace opscope::cuda;

namespace {

struct Place {
  size_t buffer;
  int64_t elements;
};

// Tensors of a part: those that it reads, then those that it writes.
PartSpec part(const std::string& name, const std::string& op, Dims dims, const std::vector<Place>& reads, const std::vector<Place>& writes, std::vector<double> scalars = {}) {
  PartSpec made;
  made.name = name, made.op = op, made.dims = std::move(dims), made.scalars = std::move(scalars);
  const auto add = [&](const std::vector<Place>& places, Role role) {
    for (const Place& place : places) {
      TensorDesc& tensor = made.tensors.emplace_back();
      tensor.name = "t" + std::to_string(made.tensors.size()), tensor.elements = place.elements, tensor.role = role;
      made.buffers.push_back(place.buffer);
    }
  };
  add(reads, Role::in);
  add(writes, Role::out);
  return made;
}

// The first half of a transformer block as core/ops/composite-plan.ts plans it: x, three weights, three biases, out, then scratch buffers.
CaseSpec attention_block(Dtype dtype, int64_t batch, int64_t seq, int64_t heads, int64_t width) {
  const int64_t tokens = batch * seq, dim = heads * width, n = tokens * dim;
  CaseSpec spec;
  spec.op = "attention_block", spec.impl = "kernel", spec.dtype = dtype;
  for (const auto& [name, elements] : {std::pair{"x", n}, {"norm", dim}, {"qkv", 3 * dim * dim}, {"proj", dim * dim}, {"norm_bias", dim}, {"qkv_bias", 3 * dim}, {"proj_bias", dim}, {"out", n}}) {
    TensorDesc& tensor = spec.tensors.emplace_back();
    tensor.name = name, tensor.elements = elements, tensor.storage = storage_of(dtype), tensor.role = std::string(name) == "out" ? Role::out : Role::in;
  }
  const auto bytes = [&](int64_t elements) { return (elements * static_cast<int64_t>(dtype_bytes(dtype)) + 15) / 16 * 16; };
  spec.scratch_bytes = {bytes(n), bytes(3 * n), bytes(n), bytes(n), bytes(n)};
  const Dims split = {3 * n, 3, dim, 0, batch, heads, seq, width, seq * 3 * dim, width, 3 * dim, 1}, joined = {n, 1, 0, 0, batch, seq, heads, width, heads * seq * width, width, seq * width, 0};
  spec.parts = {
      part("norm", "layer_norm", {tokens, dim}, {{0, n}, {1, dim}, {4, dim}}, {{8, n}}, {1e-5}),
      part("qkv", "matmul", {1, tokens, 3 * dim, dim, 0, 1}, {{8, n}, {2, 3 * dim * dim}}, {{9, 3 * n}}),
      part("qkv_bias", "copy_view", split, {{9, 3 * n}, {5, 3 * dim}}, {{8, n}, {11, n}, {12, n}}),
      part("attention", "scaled_dot_product_attention", {batch, heads, heads, seq, seq, width, 0}, {{8, n}, {11, n}, {12, n}}, {{10, n}}),
      part("proj", "copy_view", joined, {{10, n}}, {{8, n}}),
      part("proj", "matmul", {1, tokens, dim, dim, 0, 1}, {{8, n}, {3, dim * dim}}, {{11, n}}),
      part("residual", "add_residual", {n, dim}, {{11, n}, {6, dim}, {0, n}}, {{7, n}}),
  };
  for (PartSpec& one : spec.parts)
    for (TensorDesc& tensor : one.tensors) tensor.storage = storage_of(dtype);
  return spec;
}

std::string refusal(const CaseSpec& spec) {
  try {
    check_parts(spec);
    for (const PartSpec& one : spec.parts) check_shape(case_of(spec, one), *find_op(one.op));
  } catch (const Error& e) {
    return e.code + ": " + e.what();
  }
  return {};
}

std::vector<CUdeviceptr> addresses_of(const CaseSpec& spec) {
  std::vector<CUdeviceptr> addresses;
  for (size_t i = 0; i < spec.tensors.size() + spec.scratch_bytes.size(); i++) addresses.push_back((i + 1) << 42);
  return addresses;
}

// As `kernel grid x threads`, with what the launch attributes are.
std::vector<std::string> launched(const std::vector<Launch>& launches) {
  fake_driver.launches.clear();
  for (const Launch& launch : launches) launch.enqueue(nullptr);
  std::vector<std::string> words;
  for (const FakeLaunch& launch : fake_driver.launches) {
    std::string text = *launch.kernel;
    for (const unsigned blocks : launch.grid) text += " " + std::to_string(blocks);
    words.push_back(text + " x " + std::to_string(launch.threads) + ", " + std::to_string(launch.shared) + (launch.early ? ", early" : ""));
  }
  return words;
}

void refusals() {
  const CaseSpec good = attention_block(Dtype::f32, 2, 7, 3, 5);
  const auto with = [&](auto change) {
    CaseSpec spec = good;
    change(spec.parts[1]);
    return refusal(spec);
  };
  expect(refusal(good).empty(), "a composite case is taken");
  expect(with([](PartSpec& one) { one.buffers[0] = 13; }).find("part qkv: t1 lies in buffer 13 of 13") != std::string::npos, "a part of a buffer that there is not is refused");
  expect(with([](PartSpec& one) { one.buffers[2] = 8; }).find("t3 takes") != std::string::npos, "a tensor that its buffer does not hold is refused");
  expect(with([](PartSpec& one) { one.buffers[2] = 2; }).find("t3 would be written to qkv") != std::string::npos, "an input of the case is not written");
  expect(with([](PartSpec& one) { one.buffers[0] = one.buffers[2] = 9; }).find("t3 shares scratch buffer 2 of 5") != std::string::npos, "a part does not write what it reads");
  expect(with([](PartSpec& one) { one.buffers.pop_back(); }).find("expected a buffer for each tensor") != std::string::npos, "each tensor has a buffer");
  expect(with([](PartSpec& one) { one.dims[3] = 16; }).find("malformed matmul case") != std::string::npos, "a part whose dims are others is refused");
  CaseSpec far = good;
  far.parts[2].dims[3] = 1;
  expect(refusal(far).find("malformed copy_view case") != std::string::npos, "a view beyond its tensor is refused");
}

void plans() {
  bool same = true, own = true, written = true;
  for (const Gpu& gpu : gpus)
    for (const Dtype dtype : real_dtypes)
      for (const auto& [batch, seq, heads, width] : {std::array<int64_t, 4>{1, 1, 1, 1}, {2, 7, 3, 5}, {8, 512, 12, 64}, {1, 4096, 16, 128}, {64, 33, 2, 48}}) {
        InventedGpu context(gpu);
        const CaseSpec spec = attention_block(dtype, batch, seq, heads, width);
        const std::vector<CUdeviceptr> addresses = addresses_of(spec);
        written = written && refusal(spec).empty();
        fake_driver.allocations.clear();
        Planner whole(spec, context, addresses);
        plan_parts(whole);
        const std::vector<uint64_t> workspaces = fake_driver.allocations;
        const std::vector<std::string> all = launched(whole.take_launches());
        std::vector<std::string> alone;
        fake_driver.allocations.clear();
        for (const PartSpec& one : spec.parts) {
          const CaseSpec own_case = case_of(spec, one);
          std::vector<CUdeviceptr> places;
          for (const size_t at : one.buffers) places.push_back(addresses[at]);
          Planner planner(own_case, context, places);
          find_op(one.op)->plan(planner);
          const std::vector<std::string> launches = launched(planner.take_launches());
          alone.insert(alone.end(), launches.begin(), launches.end());
        }
        same = same && all == alone && all.size() >= spec.parts.size();
        own = own && workspaces == fake_driver.allocations;
      }
  expect(written, "composite cases of every dtype are taken");
  expect(same, "a composite call is the launches of its parts, in their order");
  expect(own, "every part has workspaces of its own");
}

}  // namespace

void composites() {
  refusals();
  plans();
}
