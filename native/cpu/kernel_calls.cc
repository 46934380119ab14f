#include "kernel_calls.h"

#include <algorithm>
#include <new>

#include "topology.h"

namespace opscope::cpu {

namespace {

// Bytes of tensors from which on non-temporal stores are faster, for each thread, where the last-level cache is far: one and a half times the second-level
// cache of one core (NOTES.md); of tensors that are mostly read, which lie better in the last-level cache than in memory, more.
constexpr int64_t FAR_STREAMED = 3 << 20, FAR_STREAMED_OF_READ = 32 << 20;

// Bytes of tensors of a part of a thread's share beyond the caches; within them, shares that stay with their threads are faster (NOTES.md).
constexpr int64_t PART_BYTES = 256 << 10;

}  // namespace

Call call_of(int threads, int64_t tensor_bytes, int64_t written_bytes, Team& team) {
  Call call{};
  call.threads = threads;
  call.team = &team;
  call.barrier = [](void* t) { static_cast<Team*>(t)->barrier(); };
  call.take = [](void* t, int thread, int parts, int loop) {
    Team& of = *static_cast<Team*>(t);
    if (parts > 0) return of.take(thread, parts, loop);
    // Of no parts: where the share of the thread begins, and how long it is (simd/near_parts.h).
    const Team::Share share = of.share(thread);
    return share.begin << 15 | (share.end - share.begin);
  };
  call.distant_cache = distant_cache();
  call.stream = tensor_bytes > reached_cache(threads) / 3 * 2;  // from there on non-temporal stores are faster: of 24 MB and 32 MiB of cache 1.25x
  call.stream_of_many = tensor_bytes > reached_cache(threads) / 8 * 3;
  if (call.distant_cache && tensor_bytes > threads * (written_bytes >= tensor_bytes / 4 ? FAR_STREAMED : FAR_STREAMED_OF_READ)) call.stream = call.stream_of_many = true;
  call.most_parts = threads > 1 ? MOST_PARTS : 1;
  call.parts = call.stream ? static_cast<uint8_t>(std::clamp<int64_t>(tensor_bytes / (threads * PART_BYTES), 1, call.most_parts)) : 1;
  return call;
}

// What a call reads lies from the start of a page on, and so at the same place modulo 4 KiB in every open case: a load can wait for an
// unrelated store to the same place. Anywhere in the heap, and with a stack for each case (Team::shared), the same case opened twice was up
// to 5 % apart, the same way every time.
void KernelCalls::bind(const std::vector<Tensors>& sets, float* scratch, Team& team) {
  team_ = &team;
  arguments_ = Block(sets.size() * sizeof(Call) + dims_.size() * sizeof(int64_t) + scalars_.size() * sizeof(double));
  auto* const calls = reinterpret_cast<Call*>(arguments_.data());
  auto* const dims = reinterpret_cast<int64_t*>(calls + sets.size());
  auto* const scalars = reinterpret_cast<double*>(dims + dims_.size());
  std::copy(dims_.begin(), dims_.end(), dims);
  std::copy(scalars_.begin(), scalars_.end(), scalars);
  for (size_t set = 0; set < sets.size(); set++) {
    Call call = call_of(threads_, sets[set].bytes(), sets[set].written_bytes(), team);
    call.dims = dims;
    call.dim_count = static_cast<int>(dims_.size());
    call.scalars = scalars;
    call.seed = seed_;
    call.scratch = scratch;
    call.in = sets[set].inputs().data();
    call.out = sets[set].outputs().data();
    new (calls + set) Call(call);
  }
  calls_ = calls;
  call_count_ = sets.size();
}

void KernelCalls::set_seed(uint32_t seed) {
  seed_ = seed;
  for (size_t i = 0; i < call_count_; i++) calls_[i].seed = seed;
}

void KernelCalls::run(size_t set, int count) {
  // The thread of a call is 0 as it lies: one thread needs no copy.
  if (threads_ == 1) {
    for (int i = 0; i < count; i++) run_(calls_[set]);
    return;
  }
  // In lines of its own: the leader writes to its stack beside it in every run, and all threads read it.
  struct alignas(Team::APART) Job {
    const Call& shared;
    Run run;
  } job{calls_[set], run_};
  Team& team = *team_;
  for (int i = 0; i < count; i++)
    team.run(
        [](void* context, int thread) {
          const Job& j = *static_cast<const Job*>(context);
          Call own = j.shared;
          own.thread = thread;
          j.run(own);
        },
        &job);
}

}  // namespace opscope::cpu
