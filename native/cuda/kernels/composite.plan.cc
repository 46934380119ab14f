// A composite operation is the launches of its steps (composite/steps.h), one after the other. Each may start while the one before it ends, where its kernel waits.
#include <iterator>

#include "composite/steps.h"
#include "matmul/linear_launch.h"
#include "plan.h"
#include "scaled_dot_product_attention.plan.h"

namespace opscope::cuda {

namespace {

// The product of a step with what its store does more.
void plan_linear(Planner& p, const CompositeStep& step, const std::vector<CUdeviceptr>& buffers) {
  const ProductShape s{1, static_cast<int>(p.dim(1)), static_cast<int>(p.dim(2)), static_cast<int>(p.dim(3)), false, true};
  LinearStore store = {};
  store.kind = step.kind;
  const auto pointer = [&](size_t buffer) { return reinterpret_cast<void*>(buffers.at(buffer)); };
  store.bias = pointer(step.bias);
  if (step.kind == LinearKind::residual) store.residual = pointer(step.residual);
  if (step.kind == LinearKind::heads) {
    for (size_t i = 0; i < step.outputs.size(); i++) store.views[i] = pointer(step.outputs[i]);
    store.seq = static_cast<int>(step.seq), store.width = static_cast<int>(step.width), store.heads = static_cast<int>(step.heads);
    store.by_seq = divide_by(step.seq), store.by_width = divide_by(step.width), store.by_heads = divide_by(step.heads);
  }
  const Product product = {s, p.input(0), p.input(1), buffers.at(step.outputs[0])};
  if (step.kernel == LinearKernel::wgmma) launch_linear_wgmma(p, product, store);
  else if (step.kernel == LinearKernel::few) launch_few(p, product, few_choice(p.device, p.spec.dtype, s), &store);
  else launch_f32_small(p, product, &store);
}

}  // namespace

void Planner::plan_step(const CompositeStep& step) {
  std::vector<CUdeviceptr> addresses;
  for (const size_t at : step.part.buffers) addresses.push_back(buffers_.at(at));
  const CaseSpec own = case_of(spec, step.part);
  Planner planner(own, context_, addresses);
  planner.seed_ = seed_;
  if (step.kind != LinearKind::none) plan_linear(planner, step, buffers_);
  else if (step.tokens_first) plan_attention(planner, true);
  else find_op(step.part.op)->plan(planner);
  seed_ = planner.seed_;
  for (Launch& launch : planner.launches_) {
    launch.set_part(step.part.name);
    if (launch.waits() && !launches_.empty() && weights_are_given(spec, step)) launch.early(device);
    launches_.push_back(std::move(launch));
  }
  const auto append = [](auto& to, auto& from) { to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end())); };
  append(workspaces_, planner.workspaces_);
  append(notes_, planner.notes_);
}

void plan_parts(Planner& planner) {
  for (const CompositeStep& step : composite_steps(planner.device, planner.spec)) planner.plan_step(step);
}

}  // namespace opscope::cuda
