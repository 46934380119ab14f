#include "cpu_case.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "clock.h"
#include "evict.h"
#include "fill.h"
#include "topology.h"
#include "witness.h"

namespace opscope::cpu {

namespace {

constexpr uint32_t SENTINEL = 0x7fedc0de;  // core/numbers.ts

size_t scratch_of(const CaseSpec& spec, const Kernel& kernel) {
  return kernel.scratch ? kernel.scratch(spec.dims.data(), spec.threads) : 0;
}

}  // namespace

CpuCase::CpuCase(const CaseSpec& spec, const Kernel& kernel) : spec_(spec), kernel_(kernel), team_(spec.threads) {
  const size_t scratch = scratch_of(spec_, kernel), sets = set_count(spec_, scratch);
  if (scratch > 0) scratch_ = Block(scratch * sizeof(float));
  case_bytes_ = static_cast<int64_t>(scratch * sizeof(float));
  Call call{};
  call.dims = spec_.dims.data();
  call.scratch = scratch_.floats();
  call.threads = spec_.threads;
  call.team = &team_;
  call.barrier = [](void* team) { static_cast<Team*>(team)->barrier(); };
  sets_.reserve(sets);
  for (size_t i = 0; i < sets; i++) {
    Tensors tensors(spec_, i);
    for (size_t k = 0; k < spec_.inputs.size(); k++) call.in[k] = tensors.input(k);
    call.out = tensors.output();
    call.stream = tensors.bytes() > reached_cache(spec_.threads);
    tensors.set_guards();
    case_bytes_ += tensors.bytes();
    sets_.push_back({std::move(tensors), call, false});
  }
  std::vector<Fill> fills;
  for (const InputDesc& input : spec_.inputs) fills.push_back(input.fill);
  refill(fills);
  poison();  // touches the outputs before anything is timed

  if (sets > 1) notes_.push_back(std::to_string(sets) + " sets of buffers in turn, " + size_text(case_bytes_) + " together");
  if (team_.pinned() < team_.size()) notes_.push_back("threads are not bound to cores: the system does not allow it");
  if (team_.size() > static_cast<int>(topology().processors.size())) notes_.push_back("more threads than processors");
}

template <class F>
void CpuCase::each(int64_t n, const F& fn) {
  struct Job {
    int64_t n;
    int threads;
    const F& fn;
  } job{n, team_.size(), fn};
  team_.lead([&] {
    team_.run(
        [](void* context, int thread) {
          const Job& j = *static_cast<const Job*>(context);
          // Whole cache lines per thread, as the kernels split their work: the first touch decides where memory lies.
          const int64_t lines = (j.n + 15) / 16;
          const int64_t begin = lines * thread / j.threads * 16, end = lines * (thread + 1) / j.threads * 16;
          j.fn(std::min(begin, j.n), std::min(end, j.n));
        },
        &job);
  });
}

void CpuCase::refill(const std::vector<Fill>& fills) {
  if (fills.size() != spec_.inputs.size())
    throw Error("internal", "refill: expected " + std::to_string(spec_.inputs.size()) + " inputs, received " + std::to_string(fills.size()));
  for (Set& set : sets_)
    for (size_t k = 0; k < fills.size(); k++) {
      float* data = set.tensors.input(k);
      each(spec_.inputs[k].elements, [&](int64_t begin, int64_t end) { fill_range(fills[k], begin, end, data); });
    }
}

void CpuCase::poison() {
  for (Set& set : sets_) {
    float* out = set.tensors.output();
    each(spec_.output_elements, [out](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) std::memcpy(out + i, &SENTINEL, sizeof SENTINEL);
    });
    set.used = false;
  }
}

void CpuCase::call() {
  Set& set = sets_[current_];
  set.used = true;
  struct Job {
    const Call& shared;
    void (*run)(const Call&);
  } job{set.call, kernel_.run};
  team_.run(
      [](void* context, int thread) {
        const Job& j = *static_cast<const Job*>(context);
        Call own = j.shared;
        own.thread = thread;
        j.run(own);
      },
      &job);
}

void CpuCase::run() {
  team_.lead([this] {
    advance();
    call();
  });
}

int64_t CpuCase::count_unwritten() {
  std::atomic<int64_t> unwritten{0};
  const bool none = std::none_of(sets_.begin(), sets_.end(), [](const Set& set) { return set.used; });
  for (size_t i = 0; i < sets_.size(); i++) {
    if (!sets_[i].used && !(none && i == current_)) continue;
    if (!sets_[i].tensors.guards_intact()) throw Error("kernel-failed", "the kernel wrote outside its output");
    const float* out = sets_[i].tensors.output();
    each(spec_.output_elements, [&](int64_t begin, int64_t end) {
      int64_t found = 0;
      for (int64_t j = begin; j < end; j++) {
        uint32_t bits;
        std::memcpy(&bits, out + j, sizeof bits);
        found += bits == SENTINEL;
      }
      unwritten += found;
    });
  }
  return unwritten;
}

void CpuCase::read(int64_t start, int64_t count, void* destination) {
  if (start < 0 || count < 0 || start > spec_.output_elements - count)
    throw Error("internal", "read of elements " + std::to_string(start) + " + " + std::to_string(count) + " outside an output of " +
                                std::to_string(spec_.output_elements));
  std::memcpy(destination, sets_[current_].tensors.output() + start, static_cast<size_t>(count) * sizeof(float));
}

double CpuCase::tick_ns() const { return clock_cost().tick_ns; }

SampleBatch CpuCase::sample(Mode mode, int count, int inner) {
  if (mode == Mode::graph) throw Error("unsupported", "mode graph exists on CUDA only; the CPU has cold, hot and rotated");
  if (mode == Mode::rotated && !spec_.rotated) throw Error("internal", "the case was opened with one set of buffers, not for mode rotated");
  if (count < 1 || inner < 1) throw Error("internal", "sample needs a count and an inner count of at least 1");
  const bool cold = mode == Mode::cold, rotated = mode == Mode::rotated;
  const int calls = cold ? 1 : inner;
  const ClockCost& cost = clock_cost();
  SampleBatch batch{};
  batch.state.sm_clock_mhz = batch.state.mem_clock_mhz = batch.state.temperature_c = batch.state.power_w = batch.state.energy_j = std::numeric_limits<double>::quiet_NaN();
  batch.ns.reserve(static_cast<size_t>(count));
  batch.probe_ns.reserve(static_cast<size_t>(count));
  team_.lead([&] {
    Witness witness(team_);
    std::vector<Region> regions = sets_[current_].tensors.regions();
    if (scratch_.bytes() > 0) regions.push_back({scratch_.data(), scratch_.bytes()});
    double before = cold ? 0 : witness.probe();
    for (int s = 0; s < count; s++) {
      if (cold) {
        evict(team_, regions);
        before = witness.probe();
      }
      const int64_t start = now_ns();
      for (int i = 0; i < calls; i++) {
        if (rotated) advance();
        call();
      }
      const int64_t end = now_ns();
      // What reading the clock costs is not the call's; nothing shorter than a tick can be told.
      batch.ns.push_back(std::max(static_cast<double>(end - start) - cost.read_ns, cost.tick_ns) / calls);
      const double after = witness.probe();
      batch.probe_ns.push_back(std::max(before, after));
      before = after;
    }
    witness.report(batch.state);
  });
  return batch;
}

}  // namespace opscope::cpu
