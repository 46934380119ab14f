// The steps of a composite case on CUDA: its parts, some with what follows them in their stores, so that a tensor between two parts is neither written nor read. Pure; see test/composite_test.cc.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "../matmul/choice.h"
#include "../matmul/linear.h"
#include "../plan.h"
#include "composite.h"

namespace opscope::cuda {

struct CompositeStep {
  PartSpec part;
  // Which kernel makes the product of a step that does more with its results, and what, by buffers as in PartSpec: those of a step are the inputs of its part, `bias` and `residual`, and its outputs are `outputs`.
  LinearKernel kernel = LinearKernel::none;
  LinearKind kind = LinearKind::none;
  size_t bias = 0, residual = 0;
  int64_t seq = 0, width = 0, heads = 0;  // LinearKind::heads: rows of a batch; elements of a head; heads of a view
  // Of attention: its results lie as [batch, queries, heads, headDim].
  bool tokens_first = false;
  std::vector<size_t> outputs;

  std::vector<size_t> inputs() const {
    std::vector<size_t> list;
    for (size_t i = 0; i < part.tensors.size(); i++)
      if (part.tensors[i].role == Role::in) list.push_back(part.buffers[i]);
    if (kind != LinearKind::none) list.push_back(bias);
    if (kind == LinearKind::residual) list.push_back(residual);
    return list;
  }
};

// The kernel that makes the product and can do more in its store: of wgmma with operands and results whose rows start on 16 bytes, in 16 bits.
inline LinearKernel linear_kernel(const Traits& device, Dtype dtype, const ProductShape& s) {
  if (s.batch != 1 || s.trans_a || !s.trans_b || dtype == Dtype::tf32) return LinearKernel::none;
  const ProductChoice choice = product_choice(device, dtype, s);
  if (choice.kernel == ProductKernel::few && !choice.few.long_sum) return LinearKernel::few;
  if (choice.kernel != ProductKernel::tiles) return LinearKernel::none;
  const TileKernel tile = dtype == Dtype::f32 ? f32_tile_kernel(device, s, true) : tile_kernel(device, dtype, s);
  if (tile == TileKernel::f32_small) return LinearKernel::f32_small;
  // Its store saves a launch, which is more than matmul_direct does.
  return (tile == TileKernel::wgmma || (tile == TileKernel::direct && has_wgmma(device))) && s.n % 8 == 0 && s.k % 8 == 0 ? LinearKernel::wgmma : LinearKernel::none;
}

inline std::vector<size_t> outputs_of(const PartSpec& part) {
  std::vector<size_t> list;
  for (size_t i = 0; i < part.tensors.size(); i++)
    if (part.tensors[i].role == Role::out) list.push_back(part.buffers[i]);
  return list;
}

// Whether all that a kernel may read before the launch before has ended (Launch::always_waits) is there from the beginning: weights and biases.
inline bool weights_are_given(const CaseSpec& spec, const CompositeStep& step) {
  const auto given = [&](size_t buffer) { return buffer < spec.tensors.size() && spec.tensors[buffer].role == Role::in; };
  if (step.kind != LinearKind::none && !given(step.bias)) return false;
  if (step.part.op == "matmul") return given(step.part.buffers[1]);
  return step.part.op != "layer_norm" || (given(step.part.buffers[1]) && given(step.part.buffers[2]));
}

// The part with `next`, which reads what it makes, in its store; nothing where no kernel does both.
inline std::optional<CompositeStep> joined_step(const Traits& device, Dtype dtype, const PartSpec& part, const PartSpec& next) {
  CompositeStep step;
  step.part = part;
  step.outputs = outputs_of(next);
  const auto& d = next.dims;
  if (part.op == "scaled_dot_product_attention" && next.op == "copy_view") {
    const auto& a = part.dims;
    const int64_t batch = a[0], heads = a[1], queries = a[3], width = a[5];
    const Dims joined = {batch * heads * queries * width, 1, 0, 0, batch, queries, heads, width, heads * queries * width, width, queries * width, 0};
    if (a[1] != a[2] || batch * heads * queries >> 31 != 0 || d != joined) return {};
    step.tokens_first = true;
    return step;
  }
  if (part.op != "matmul") return {};
  const auto& m = part.dims;
  const ProductShape s{m[0], static_cast<int>(m[1]), static_cast<int>(m[2]), static_cast<int>(m[3]), m[4] != 0, m[5] != 0};
  if (std::max({m[1], m[2], m[3]}) > int64_t{1} << 30) return {};
  step.kernel = linear_kernel(device, dtype, s);
  if (step.kernel == LinearKernel::none) return {};
  step.part.name += "+" + next.name;
  if (next.op == "add_gelu" && d.size() == 3 && d[1] == s.n && d[2] == 1) {
    step.kind = LinearKind::gelu;
    step.bias = next.buffers[1];
    return step;
  }
  if (next.op == "add_residual" && d[1] == s.n) {
    step.kind = LinearKind::residual;
    step.bias = next.buffers[1], step.residual = next.buffers[2];
    return step;
  }
  if (next.op == "copy_view" && d[11] == 1) {
    const int64_t views = d[1], batch = d[4], heads = d[5], seq = d[6], width = d[7];
    const Dims thirds = {int64_t{s.m} * s.n, views, heads * width, 0, batch, heads, seq, width, seq * s.n, width, s.n, 1};
    if ((step.kernel == LinearKernel::wgmma && width % 8 != 0) || views * heads * width != s.n || batch * seq != s.m || d != thirds) return {};
    step.kind = LinearKind::heads;
    step.bias = next.buffers[1];
    step.seq = seq, step.width = width, step.heads = heads;
    return step;
  }
  return {};
}

// Which tensor between parts is read how often: whether `part` alone makes what `next` alone reads of it, as its first input.
inline bool only_reader(const CaseSpec& spec, size_t at) {
  const std::vector<size_t> made = outputs_of(spec.parts[at]);
  if (made.size() != 1 || made[0] < spec.tensors.size()) return false;
  const auto reads = [&](const PartSpec& part) {
    int64_t count = 0;
    for (size_t i = 0; i < part.tensors.size(); i++) count += part.tensors[i].role == Role::in && part.buffers[i] == made[0];
    return count;
  };
  if (spec.parts[at + 1].buffers[0] != made[0] || reads(spec.parts[at + 1]) != 1) return false;
  for (size_t i = at + 2; i < spec.parts.size(); i++) {
    if (reads(spec.parts[i]) > 0) return false;
    const std::vector<size_t> written = outputs_of(spec.parts[i]);
    if (std::find(written.begin(), written.end(), made[0]) != written.end()) return true;
  }
  return true;
}

// Gives the tensors between steps other scratch buffers: what a step writes was free when the part that it takes in ran, but may hold what the step reads. Each takes the smallest
// that holds it, of those that no later step reads. Returns false where one has no room.
inline bool place_scratch(const CaseSpec& spec, std::vector<CompositeStep>& steps) {
  const size_t tensors = spec.tensors.size(), buffers = tensors + spec.scratch_bytes.size();
  // The numbers of what lies in buffers at a step, and where it goes.
  std::vector<size_t> value(buffers), place, last_read;
  std::vector<std::vector<size_t>> reads, writes;
  std::vector<int64_t> bytes;
  const auto made = [&](size_t buffer, int64_t size) {
    value[buffer] = place.size();
    place.push_back(buffer), last_read.push_back(0), bytes.push_back(size);
  };
  for (size_t i = 0; i < buffers; i++) made(i, 0);
  for (size_t at = 0; at < steps.size(); at++) {
    for (const size_t buffer : steps[at].inputs()) last_read[value[buffer]] = at;
    auto& read = reads.emplace_back();
    for (const size_t buffer : steps[at].inputs()) read.push_back(value[buffer]);
    auto& written = writes.emplace_back();
    int64_t elements = 0;
    for (const TensorDesc& tensor : steps[at].part.tensors)
      if (tensor.role == Role::out) elements = tensor.elements;
    for (const size_t buffer : steps[at].outputs) {
      made(buffer, ceil_div(elements / static_cast<int64_t>(steps[at].kind == LinearKind::heads ? steps[at].outputs.size() : 1) * static_cast<int64_t>(dtype_bytes(spec.dtype)), 16) * 16);
      last_read.back() = at;
      written.push_back(value[buffer]);
    }
  }
  std::vector<bool> taken(buffers);
  for (size_t at = 0; at < steps.size(); at++) {
    for (const size_t v : writes[at]) {
      if (place[v] < tensors) continue;
      size_t best = buffers;
      for (size_t i = tensors; i < buffers; i++)
        if (!taken[i] && spec.scratch_bytes[i - tensors] >= bytes[v] && (best == buffers || spec.scratch_bytes[i - tensors] < spec.scratch_bytes[best - tensors])) best = i;
      if (best == buffers) return false;
      taken[place[v] = best] = true;
    }
    for (const auto* list : {&reads[at], &writes[at]})
      for (const size_t v : *list)
        if (place[v] >= tensors && last_read[v] == at) taken[place[v]] = false;
    // The buffers of the step, by what was found.
    size_t read = 0;
    CompositeStep& step = steps[at];
    for (size_t i = 0; i < step.part.tensors.size(); i++)
      if (step.part.tensors[i].role == Role::in) step.part.buffers[i] = place[reads[at][read++]];
    if (step.kind != LinearKind::none) step.bias = place[reads[at][read++]];
    if (step.kind == LinearKind::residual) step.residual = place[reads[at][read++]];
    for (size_t i = 0; i < step.outputs.size(); i++) step.outputs[i] = place[writes[at][i]];
    size_t out = 0;
    for (size_t i = 0; i < step.part.tensors.size(); i++)
      if (step.part.tensors[i].role == Role::out) step.part.buffers[i] = step.outputs[out++];
  }
  return true;
}

// The steps of a composite case on `device`.
inline std::vector<CompositeStep> composite_steps(const Traits& device, const CaseSpec& spec) {
  std::vector<CompositeStep> alone, joined;
  for (const PartSpec& part : spec.parts) alone.push_back({.part = part, .outputs = outputs_of(part)});
  for (size_t at = 0; at < spec.parts.size(); at++) {
    std::optional<CompositeStep> both;
    if (at + 1 < spec.parts.size() && only_reader(spec, at)) both = joined_step(device, spec.dtype, spec.parts[at], spec.parts[at + 1]);
    joined.push_back(both ? *both : alone[at]);
    at += both.has_value();
  }
  return joined.size() < alone.size() && place_scratch(spec, joined) ? joined : alone;
}

}  // namespace opscope::cuda
