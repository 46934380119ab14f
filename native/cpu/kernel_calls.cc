#include "kernel_calls.h"

#include "topology.h"

namespace opscope::cpu {

void KernelCalls::bind(const std::vector<Tensors>& sets, float* scratch, Team& team) {
  team_ = &team;
  Call call{};
  call.dims = dims_.data();
  call.dim_count = static_cast<int>(dims_.size());
  call.scalars = scalars_.data();
  call.scratch = scratch;
  call.threads = threads_;
  call.team = team_;
  call.barrier = [](void* t) { static_cast<Team*>(t)->barrier(); };
  for (const Tensors& tensors : sets) {
    call.in = tensors.inputs().data();
    call.out = tensors.outputs().data();
    call.stream = tensors.bytes() > reached_cache(threads_);
    calls_.push_back(call);
  }
}

void KernelCalls::run(size_t set, int count) {
  struct Job {
    const Call& shared;
    uint32_t seed;
    Run run;
  } job{calls_[set], seed_, run_};
  for (int i = 0; i < count; i++)
    team_->run(
        [](void* context, int thread) {
          const Job& j = *static_cast<const Job*>(context);
          Call own = j.shared;
          own.thread = thread;
          own.seed = j.seed;
          j.run(own);
        },
        &job);
}

}  // namespace opscope::cpu
