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

}  // namespace

CpuCase::CpuCase(const CaseSpec& spec, std::unique_ptr<Calls> calls)
    : spec_(spec), calls_(std::move(calls)), team_(spec.threads, calls_->alone() ? Team::Wait::asleep : Team::Wait::ready) {
  const size_t scratch = calls_->scratch_floats(), sets = set_count(spec_, scratch);
  if (scratch > 0) scratch_ = Block(scratch * sizeof(float));
  case_bytes_ = static_cast<int64_t>(scratch * sizeof(float));
  sets_.reserve(sets);
  for (size_t i = 0; i < sets; i++) {
    sets_.emplace_back(spec_, i).set_guards();
    case_bytes_ += sets_[i].bytes();
  }
  used_.assign(sets, false);
  std::vector<Fill> fills;
  for (const InputDesc& input : spec_.inputs) fills.push_back(input.fill);
  refill(fills);
  poison();  // touches the outputs before anything is timed
  calls_->bind(sets_, scratch_.floats(), team_);

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
  for (const Tensors& set : sets_)
    for (size_t k = 0; k < fills.size(); k++) {
      float* data = set.input(k);
      each(spec_.inputs[k].elements, [&](int64_t begin, int64_t end) { fill_range(fills[k], begin, end, data); });
    }
}

void CpuCase::poison() {
  for (const Tensors& set : sets_) {
    float* out = set.output();
    each(spec_.output_elements, [out](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) std::memcpy(out + i, &SENTINEL, sizeof SENTINEL);
    });
  }
  used_.assign(sets_.size(), false);
}

void CpuCase::call(int count) {
  used_[current_] = true;
  calls_->run(current_, count);
}

void CpuCase::where_called(const std::function<void()>& job) {
  if (!calls_->alone()) return team_.lead(job);
  team_.rest();
  // A guest with threads of its own must not be bound: they would inherit it.
  const Bound bound(team_.size() == 1);
  job();
}

void CpuCase::run() {
  where_called([this] {
    advance();
    call(1);
  });
}

int64_t CpuCase::count_unwritten() {
  std::atomic<int64_t> unwritten{0};
  const bool none = std::none_of(used_.begin(), used_.end(), [](char used) { return used; });
  for (size_t i = 0; i < sets_.size(); i++) {
    if (!used_[i] && !(none && i == current_)) continue;
    if (!sets_[i].guards_intact()) throw Error("kernel-failed", "the kernel wrote outside its output");
    const float* out = sets_[i].output();
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
  std::memcpy(destination, sets_[current_].output() + start, static_cast<size_t>(count) * sizeof(float));
}

double CpuCase::tick_ns() const { return clock_cost().tick_ns; }

SampleBatch CpuCase::sample(Mode mode, int count, int inner) {
  if (mode == Mode::graph) throw Error("unsupported", "mode graph exists on CUDA only; the CPU has cold, hot and rotated");
  if (mode == Mode::rotated && !spec_.rotated) throw Error("internal", "the case was opened with one set of buffers, not for mode rotated");
  if (count < 1 || inner < 1) throw Error("internal", "sample needs a count and an inner count of at least 1");
  SampleBatch batch{};
  batch.state.sm_clock_mhz = batch.state.mem_clock_mhz = batch.state.temperature_c = batch.state.power_w = batch.state.energy_j = std::numeric_limits<double>::quiet_NaN();
  batch.ns.reserve(static_cast<size_t>(count));
  batch.probe_ns.reserve(static_cast<size_t>(count));
  where_called([&] { take(batch, mode, count, mode == Mode::cold ? 1 : inner); });
  return batch;
}

void CpuCase::take(SampleBatch& batch, Mode mode, int count, int calls) {
  const bool cold = mode == Mode::cold, rotated = mode == Mode::rotated, alone = calls_->alone();
  const ClockCost& cost = clock_cost();
  // What reading the clock and asking for the calls cost is not the calls'.
  const double beyond_ns = cost.read_ns + (rotated ? calls : 1) * calls_->overhead_ns();
  Witness witness(team_, alone ? Witness::Of::calling_thread : Witness::Of::team);
  std::vector<Region> regions = sets_[current_].regions();
  if (scratch_.bytes() > 0) regions.push_back({scratch_.data(), scratch_.bytes()});
  const auto empty_caches = [&] { evict(team_, regions); };
  double before = cold ? 0 : witness.probe();
  for (int s = 0; s < count; s++) {
    if (cold) {
      if (alone) {
        team_.lead(empty_caches);
        team_.rest();
      } else {
        empty_caches();
      }
      before = witness.probe();
    }
    const int64_t start = now_ns();
    if (rotated) {
      for (int i = 0; i < calls; i++) {
        advance();
        call(1);
      }
    } else {
      call(calls);
    }
    const int64_t end = now_ns();
    // Nothing shorter than a tick can be told.
    batch.ns.push_back(std::max(static_cast<double>(end - start) - beyond_ns, cost.tick_ns) / calls);
    const double after = witness.probe();
    batch.probe_ns.push_back(std::max(before, after));
    before = after;
  }
  witness.report(batch);
}

}  // namespace opscope::cpu
