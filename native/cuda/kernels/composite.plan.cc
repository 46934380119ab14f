// A composite operation is the launches of its parts, one after the other.
#include <iterator>

#include "composite.h"
#include "plan.h"

namespace opscope::cuda {

void Planner::plan_part(const PartSpec& part) {
  std::vector<CUdeviceptr> addresses;
  for (const size_t at : part.buffers) addresses.push_back(buffers_.at(at));
  const CaseSpec own = case_of(spec, part);
  Planner planner(own, context_, addresses);
  planner.seed_ = seed_;
  find_op(part.op)->plan(planner);
  seed_ = planner.seed_;
  for (Launch& launch : planner.launches_) launch.set_part(part.name);
  const auto append = [](auto& to, auto& from) { to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end())); };
  append(launches_, planner.launches_);
  append(workspaces_, planner.workspaces_);
  append(notes_, planner.notes_);
}

void plan_parts(Planner& planner) {
  for (const PartSpec& part : planner.spec.parts) planner.plan_part(part);
}

}  // namespace opscope::cuda
