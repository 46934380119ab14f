// Composite cases: what is refused, and that a call is the launches of its parts: part of opscope_cuda_plan_test.
#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string>

#include "composite.h"
#include "driver/test/fake_driver.h"
#include "kernels/composite/steps.h"
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

// A transformer block as core/ops/composite-plan.ts plans it: x, four weights, four biases, two pairs of norms, out, then scratch buffers. `first`: only its first half.
CaseSpec block_of(Dtype dtype, int64_t batch, int64_t seq, int64_t heads, int64_t width, int64_t ratio, bool first = false) {
  const int64_t tokens = batch * seq, dim = heads * width, n = tokens * dim, hidden = ratio * dim, wide = tokens * hidden;
  CaseSpec spec;
  spec.op = "transformer_block", spec.impl = "kernel", spec.dtype = dtype;
  const auto tensor = [&](const std::string& name, int64_t elements) {
    TensorDesc& made = spec.tensors.emplace_back();
    made.name = name, made.elements = elements, made.storage = storage_of(dtype), made.role = name == "out" ? Role::out : Role::in;
    return spec.tensors.size() - 1;
  };
  const size_t x = tensor("x", n), qkv = tensor("qkv", 3 * dim * dim), proj = tensor("proj", dim * dim), norm = tensor("norm", dim), qkv_bias = tensor("qkv_bias", 3 * dim), proj_bias = tensor("proj_bias", dim);
  const size_t fc1 = tensor("fc1", hidden * dim), fc1_bias = tensor("fc1_bias", hidden), fc2 = tensor("fc2", hidden * dim), fc2_bias = tensor("fc2_bias", dim), out = tensor("out", n), s = spec.tensors.size();
  const auto bytes = [&](int64_t elements) { return (elements * static_cast<int64_t>(dtype_bytes(dtype)) + 15) / 16 * 16; };
  spec.scratch_bytes = {bytes(std::max(n, wide)), bytes(std::max(3 * n, wide)), bytes(n), bytes(n), bytes(n)};
  const Dims split = {3 * n, 3, dim, 0, batch, heads, seq, width, seq * 3 * dim, width, 3 * dim, 1}, joined = {n, 1, 0, 0, batch, seq, heads, width, heads * seq * width, width, seq * width, 0};
  spec.parts = {
      part("norm", "layer_norm", {tokens, dim}, {{x, n}, {norm, dim}, {norm, dim}}, {{s, n}}, {1e-5}),
      part("qkv", "matmul", {1, tokens, 3 * dim, dim, 0, 1}, {{s, n}, {qkv, 3 * dim * dim}}, {{s + 1, 3 * n}}),
      part("qkv_bias", "copy_view", split, {{s + 1, 3 * n}, {qkv_bias, 3 * dim}}, {{s, n}, {s + 2, n}, {s + 3, n}}),
      part("attention", "scaled_dot_product_attention", {batch, heads, heads, seq, seq, width, 0}, {{s, n}, {s + 2, n}, {s + 3, n}}, {{s + 4, n}}),
      part("proj", "copy_view", joined, {{s + 4, n}}, {{s, n}}),
      part("proj", "matmul", {1, tokens, dim, dim, 0, 1}, {{s, n}, {proj, dim * dim}}, {{s + 2, n}}),
      part("residual", "add_residual", {n, dim}, {{s + 2, n}, {proj_bias, dim}, {x, n}}, {{first ? out : s + 3, n}}),
  };
  if (!first) {
    const PartSpec rest[] = {
        part("norm", "layer_norm", {tokens, dim}, {{s + 3, n}, {norm, dim}, {norm, dim}}, {{s, n}}, {1e-5}),
        part("fc1", "matmul", {1, tokens, hidden, dim, 0, 1}, {{s, n}, {fc1, hidden * dim}}, {{s + 1, wide}}),
        part("gelu", "add_gelu", {wide, hidden, 1}, {{s + 1, wide}, {fc1_bias, hidden}}, {{s, wide}}),
        part("fc2", "matmul", {1, tokens, dim, hidden, 0, 1}, {{s, wide}, {fc2, hidden * dim}}, {{s + 2, n}}),
        part("residual", "add_residual", {n, dim}, {{s + 2, n}, {fc2_bias, dim}, {s + 3, n}}, {{out, n}}),
    };
    spec.parts.insert(spec.parts.end(), std::begin(rest), std::end(rest));
  }
  for (PartSpec& one : spec.parts)
    for (TensorDesc& made : one.tensors) made.storage = storage_of(dtype);
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
  const CaseSpec good = block_of(Dtype::f32, 2, 7, 3, 5, 1, true);
  const auto with = [&](auto change) {
    CaseSpec spec = good;
    change(spec.parts[1]);
    return refusal(spec);
  };
  expect(refusal(good).empty(), "a composite case is taken");
  expect(with([](PartSpec& one) { one.buffers[0] = 16; }).find("part qkv: t1 lies in buffer 16 of 16") != std::string::npos, "a part of a buffer that there is not is refused");
  expect(with([](PartSpec& one) { one.buffers[2] = 13; }).find("t3 takes") != std::string::npos, "a tensor that its buffer does not hold is refused");
  expect(with([](PartSpec& one) { one.buffers[2] = 1; }).find("t3 would be written to qkv") != std::string::npos, "an input of the case is not written");
  expect(with([](PartSpec& one) { one.buffers[0] = one.buffers[2] = 12; }).find("t3 shares scratch buffer 2 of 5") != std::string::npos, "a part does not write what it reads");
  expect(with([](PartSpec& one) { one.buffers.pop_back(); }).find("expected a buffer for each tensor") != std::string::npos, "each tensor has a buffer");
  expect(with([](PartSpec& one) { one.dims[3] = 16; }).find("malformed matmul case") != std::string::npos, "a part whose dims are others is refused");
  CaseSpec far = good;
  far.parts[2].dims[3] = 1;
  expect(refusal(far).find("malformed copy_view case") != std::string::npos, "a view beyond its tensor is refused");
}

const std::array<int64_t, 5> sizes[] = {{1, 1, 1, 1, 4}, {2, 7, 3, 5, 3}, {8, 512, 12, 64, 4}, {8, 197, 12, 64, 4}, {1, 4096, 16, 128, 1}, {64, 33, 2, 48, 2}, {3, 127, 5, 16, 2}, {3, 127, 4, 20, 4}};

// What a buffer holds after the parts, as an expression.
using Contents = std::vector<std::string>;
Contents untouched(const CaseSpec& spec) {
  Contents contents;
  for (size_t i = 0; i < spec.tensors.size() + spec.scratch_bytes.size(); i++) contents.push_back(i < spec.tensors.size() ? spec.tensors[i].name : "nothing");
  return contents;
}
std::string made_by(const PartSpec& part, const std::vector<std::string>& inputs) {
  std::string text = part.op + "[";
  for (const int64_t d : part.dims) text += std::to_string(d) + " ";
  text += "](";
  for (const std::string& input : inputs) text += input + ",";
  return text + ")";
}
std::vector<std::string> read_by(const PartSpec& part, const Contents& contents) {
  std::vector<std::string> inputs;
  for (size_t i = 0; i < part.tensors.size(); i++)
    if (part.tensors[i].role == Role::in) inputs.push_back(contents[part.buffers[i]]);
  return inputs;
}
// Results of several outputs differ.
void put(Contents& contents, const std::vector<size_t>& outputs, const std::string& made) {
  for (size_t i = 0; i < outputs.size(); i++) contents[outputs[i]] = std::to_string(i) + ":" + made;
}
Contents after_parts(const CaseSpec& spec) {
  Contents contents = untouched(spec);
  for (const PartSpec& one : spec.parts) put(contents, outputs_of(one), made_by(one, read_by(one, contents)));
  return contents;
}
Contents after_steps(const CaseSpec& spec, const std::vector<CompositeStep>& steps) {
  Contents contents = untouched(spec);
  size_t at = 0;
  for (const CompositeStep& step : steps) {
    std::string made = made_by(spec.parts.at(at), read_by(step.part, contents));
    if (step.kind != LinearKind::none || step.tokens_first) {
      std::vector<std::string> inputs = {"0:" + made};
      if (step.kind != LinearKind::none) inputs.push_back(contents[step.bias]);
      if (step.kind == LinearKind::residual) inputs.push_back(contents[step.residual]);
      made = made_by(spec.parts.at(++at), inputs);
    }
    put(contents, step.outputs, made);
    at++;
  }
  return contents;
}
bool reads_what_it_writes(const CompositeStep& step) {
  for (const size_t in : step.inputs())
    if (std::find(step.outputs.begin(), step.outputs.end(), in) != step.outputs.end()) return true;
  return false;
}
// Bytes of every output have room.
bool fits(const CaseSpec& spec, const CompositeStep& step, const PartSpec& last) {
  size_t out = 0;
  for (const TensorDesc& tensor : last.tensors) {
    if (tensor.role != Role::out) continue;
    const size_t at = step.outputs.at(out++);
    if (at >= spec.tensors.size() && tensor_bytes(tensor) > spec.scratch_bytes[at - spec.tensors.size()]) return false;
  }
  return true;
}

void steps() {
  bool same = true, apart = true, room = true;
  for (const Gpu& gpu : gpus)
    for (const Dtype dtype : real_dtypes)
      for (const auto& [batch, seq, heads, width, ratio] : sizes) {
        const CaseSpec spec = block_of(dtype, batch, seq, heads, width, ratio);
        const std::vector<CompositeStep> list = composite_steps(traits_of(gpu), spec);
        size_t out = 0;
        while (spec.tensors[out].name != "out") out++;
        same = same && after_steps(spec, list)[out] == after_parts(spec)[out];
        size_t at = 0;
        for (const CompositeStep& step : list) {
          apart = apart && !reads_what_it_writes(step);
          at += step.kind != LinearKind::none || step.tokens_first;
          room = room && fits(spec, step, spec.parts.at(at++));
        }
      }
  expect(same, "steps make what the parts make, whatever scratch buffers they share");
  expect(apart, "no step writes a buffer that it reads");
  expect(room, "every tensor between steps has room in its buffer");

  const auto kinds = [](const Gpu& gpu, Dtype dtype, std::array<int64_t, 5> of) {
    std::string text;
    for (const CompositeStep& step : composite_steps(traits_of(gpu), block_of(dtype, of[0], of[1], of[2], of[3], of[4]))) {
      constexpr const char* words[] = {"", "+gelu", "+residual", "+heads"};
      text += (text.empty() ? "" : " ") + step.part.op + words[static_cast<int>(step.kind)] + (step.tokens_first ? "+tokens" : "");
    }
    return text;
  };
  const Gpu hopper = {"9.0", 9, 0, 132, 227 << 10}, ampere = {"8.0", 8, 0, 108, 163 << 10};
  expect(kinds(hopper, Dtype::f16, {8, 512, 12, 64, 4}) == "layer_norm matmul+heads scaled_dot_product_attention+tokens matmul+residual layer_norm matmul+gelu matmul+residual",
         "on Hopper biases, gelu, residuals and views of 16-bit blocks are in the stores of products and attention");
  const char* others = "layer_norm matmul copy_view scaled_dot_product_attention+tokens matmul add_residual layer_norm matmul add_gelu matmul add_residual";
  expect(kinds(hopper, Dtype::f32, {8, 512, 12, 64, 4}) == others && kinds(ampere, Dtype::bf16, {8, 512, 12, 64, 4}) == others && kinds(hopper, Dtype::f16, {16, 127, 3, 33, 4}) == others,
         "other products have none of it in their stores");
  const char* all = "layer_norm matmul+heads scaled_dot_product_attention+tokens matmul+residual layer_norm matmul+gelu matmul+residual";
  expect(kinds(hopper, Dtype::f32, {3, 127, 5, 16, 2}) == all && kinds(hopper, Dtype::bf16, {2, 9, 3, 11, 3}) == all && kinds(ampere, Dtype::f32, {1, 3, 2, 5, 4}) == all, "products of few multiplications and of few tiles in f32 have all of it, whatever the length of a row");
  // A head whose rows do not start on 16 bytes is copied out of rows that do.
  expect(kinds(hopper, Dtype::f16, {3, 127, 4, 20, 4}).find("layer_norm matmul copy_view scaled_dot_product_attention+tokens matmul+residual") == 0, "heads of no whole vectors are copied");
}

void plans() {
  bool own = true, written = true, first = true, waits = true;
  for (const Gpu& gpu : gpus)
    for (const Dtype dtype : real_dtypes)
      for (const auto& [batch, seq, heads, width, ratio] : sizes) {
        InventedGpu context(gpu);
        const CaseSpec spec = block_of(dtype, batch, seq, heads, width, ratio);
        const std::vector<CUdeviceptr> addresses = addresses_of(spec);
        written = written && refusal(spec).empty();
        fake_driver.allocations.clear();
        Planner whole(spec, context, addresses);
        plan_parts(whole);
        const std::vector<uint64_t> workspaces = fake_driver.allocations;
        const std::vector<Launch> launches = whole.take_launches();
        launched(launches);
        for (size_t i = 0; i < launches.size(); i++) {
          const bool early = fake_driver.launches[i].early;
          first = first && !(i == 0 && early);
          waits = waits && (i == 0 || !launches[i].waits() || early == (gpu.major >= 9));
        }
        fake_driver.allocations.clear();
        for (const PartSpec& one : spec.parts) {
          const CaseSpec own_case = case_of(spec, one);
          std::vector<CUdeviceptr> places;
          for (const size_t at : one.buffers) places.push_back(addresses[at]);
          Planner planner(own_case, context, places);
          find_op(one.op)->plan(planner);
        }
        own = own && workspaces.size() <= fake_driver.allocations.size();
      }
  expect(written, "composite cases of every dtype are taken");
  expect(own, "no workspace is asked for that the parts do not need");
  expect(first, "the first launch of a composite call waits for what is before it");
  expect(waits, "kernels that wait start early behind others, where the GPU can");
}

}  // namespace

void composites() {
  refusals();
  steps();
  plans();
}
