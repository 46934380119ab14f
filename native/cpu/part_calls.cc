#include "part_calls.h"

#include <algorithm>
#include <new>

#include "composite.h"
#include "kernel_calls.h"

namespace opscope::cpu {

size_t PartCalls::scratch_floats() const {
  size_t most = 0;
  for (const Part& part : parts_)
    if (part.kernel->scratch) most = std::max(most, part.kernel->scratch(part.spec.dims.data(), static_cast<int>(part.spec.dims.size()), threads_, element_bytes_));
  return most;
}

void PartCalls::bind(const std::vector<Tensors>& sets, float* scratch, Team& team) {
  team_ = &team;
  size_t addresses = 0;
  for (const Part& part : parts_) addresses += 2 * part.spec.tensors.size();
  arguments_ = Block(sets.size() * (parts_.size() * sizeof(Call) + addresses * sizeof(void*)));
  auto* call = reinterpret_cast<Call*>(arguments_.data());
  calls_ = call;
  auto** next = reinterpret_cast<void**>(call + sets.size() * parts_.size());
  for (const Tensors& set : sets)
    for (const Part& part : parts_) {
      const PartSpec& spec = part.spec;
      int64_t bytes = 0, written = 0;
      for (const TensorDesc& tensor : spec.tensors) {
        bytes += tensor_bytes(tensor);
        if (tensor.role != Role::in) written += tensor_bytes(tensor);
      }
      Call made = call_of(threads_, bytes, written, team);
      made.parts = made.most_parts = 1;
      made.dims = spec.dims.data();
      made.dim_count = static_cast<int>(spec.dims.size());
      made.scalars = spec.scalars.data();
      made.scratch = scratch;
      made.in = next;
      for (size_t i = 0; i < spec.tensors.size(); i++)
        if (spec.tensors[i].role != Role::out) *next++ = set.buffer(spec.buffers[i]);
      made.out = next;
      for (size_t i = 0; i < spec.tensors.size(); i++)
        if (spec.tensors[i].role != Role::in) *next++ = set.buffer(spec.buffers[i]);
      new (call++) Call(made);
    }
}

void PartCalls::run(size_t set, int count) {
  struct alignas(Team::APART) Job {
    const Call* calls;
    const std::vector<Part>& parts;
    uint32_t seed;
  } job{calls_ + set * parts_.size(), parts_, seed_};
  for (int i = 0; i < count; i++)
    team_->run(
        [](void* context, int thread) {
          const Job& j = *static_cast<const Job*>(context);
          for (size_t part = 0; part < j.parts.size(); part++) {
            Call own = j.calls[part];
            own.thread = thread;
            own.seed = j.seed;
            if (part > 0) own.barrier(own.team);
            j.parts[part].run(own);
          }
        },
        &job);
}

}  // namespace opscope::cpu
