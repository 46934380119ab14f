#include "cpu_case.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "clock.h"
#include "composite.h"
#include "counters.h"
#include "evict.h"
#include "fill.h"
#include "isa.h"
#include "topology.h"
#include "speed_probe.h"

namespace opscope::cpu {

namespace {

// Elements of begin .. end that hold the sentinel / are NaN or infinite.
struct Found {
  int64_t unwritten = 0, non_finite = 0;
};

// `special`: the bits of the exponent, all set in infinities and NaN; 0 where every value is finite.
template <class T>
Found search(const void* data, int64_t begin, int64_t end, uint32_t sentinel, uint32_t special) {
  const T* from = static_cast<const T*>(data);
  Found found;
  for (int64_t i = begin; i < end; i++) {
    found.unwritten += from[i] == static_cast<T>(sentinel);
    found.non_finite += (from[i] & special) == special;
  }
  if (special == 0) found.non_finite = 0;
  return found;
}

Found search(const TensorDesc& tensor, const void* data, int64_t begin, int64_t end) {
  const uint32_t sentinel = sentinel_of(tensor.storage);
  switch (tensor.storage) {
    case Storage::f32: return search<uint32_t>(data, begin, end, sentinel, 0x7f800000);
    case Storage::f16: return search<uint16_t>(data, begin, end, sentinel, 0x7c00);
    case Storage::bf16: return search<uint16_t>(data, begin, end, sentinel, 0x7f80);
    case Storage::f8e4m3: return search<uint8_t>(data, begin, end, sentinel, 0x7f);
    case Storage::i32: return search<uint32_t>(data, begin, end, sentinel, 0);
    default: return search<uint8_t>(data, begin, end, sentinel, 0);
  }
}

template <class T>
void put_sentinel(Storage storage, void* data, int64_t begin, int64_t end) {
  std::fill(static_cast<T*>(data) + begin, static_cast<T*>(data) + end, static_cast<T>(sentinel_of(storage)));
}

}  // namespace

CpuCase::CpuCase(const CaseSpec& spec, std::unique_ptr<Calls> calls, const CpuCase* beside)
    : spec_(spec), buffers_(buffers_of(spec)), calls_(std::move(calls)), team_(Team::shared(spec.threads, calls_->alone() ? Team::Wait::asleep : Team::Wait::ready)) {
  std::vector<Fill> fills;
  for (const TensorDesc& tensor : spec_.tensors) {
    if (tensor.role != Role::out) {
      inputs_.push_back(tensor);
      fills.push_back(tensor.fill);
    }
    if (tensor.role != Role::in) outputs_.push_back(tensor);
  }
  const size_t scratch = calls_->scratch_floats();
  const bool shared = beside && has_tensors_of(*beside);
  const size_t sets = shared ? beside->sets_->size() : set_count(spec_, scratch);
  const bool shares_scratch = shared && beside->scratch_->bytes() == scratch * sizeof(float);
  scratch_ = shares_scratch ? beside->scratch_ : std::make_shared<Block>(scratch > 0 ? Block(scratch * sizeof(float)) : Block());
  sets_ = shared ? beside->sets_ : std::make_shared<std::vector<Tensors>>();
  sets_->reserve(sets);
  for (size_t i = sets_->size(); i < sets; i++) sets_->emplace_back(spec_, i).set_guards();
  case_bytes_ = static_cast<int64_t>(scratch * sizeof(float));
  for (const Tensors& set : *sets_) case_bytes_ += set.bytes();
  used_.assign(sets, false);
  if (shared) {
    if (!fills.empty()) calls_->set_seed(seed_of(fills[0]));
  } else {
    refill(fills);
    poison();  // touches the outputs before anything is timed
  }
  calls_->bind(*sets_, scratch_->floats(), *team_);

  if (sets > 1) notes_.push_back(std::to_string(sets) + " sets of buffers in turn, " + size_text(case_bytes_) + " together");
  if (team_->pinned() < team_->size()) notes_.push_back("threads are not bound to cores: the system does not allow it");
  if (team_->size() > static_cast<int>(topology().processors.size())) notes_.push_back("more threads than processors");
}

bool CpuCase::has_tensors_of(const CpuCase& other) const {
  const auto same = [](const TensorDesc& a, const TensorDesc& b) { return a.elements == b.elements && a.storage == b.storage && a.role == b.role; };
  return spec_.rotated == other.spec_.rotated && spec_.scratch_bytes == other.spec_.scratch_bytes &&
         std::equal(spec_.tensors.begin(), spec_.tensors.end(), other.spec_.tensors.begin(), other.spec_.tensors.end(), same);
}

template <class F>
void CpuCase::each(const TensorDesc& tensor, const F& fn) {
  struct Job {
    int64_t n, line;
    int threads;
    const F& fn;
  } job{tensor.elements, 64 / static_cast<int64_t>(storage_bytes(tensor.storage)), team_->size(), fn};
  team_->lead([&] {
    team_->run(
        [](void* context, int thread) {
          const Job& j = *static_cast<const Job*>(context);
          // Whole cache lines per thread, as the kernels split their work: the first touch decides where memory lies.
          const int64_t lines = (j.n + j.line - 1) / j.line;
          const int64_t begin = lines * thread / j.threads * j.line, end = lines * (thread + 1) / j.threads * j.line;
          j.fn(std::min(begin, j.n), std::min(end, j.n));
        },
        &job);
  });
}

void CpuCase::refill(const std::vector<Fill>& fills) {
  if (fills.size() != inputs_.size()) throw Error("internal", "refill: expected " + std::to_string(inputs_.size()) + " fills, received " + std::to_string(fills.size()));
  if (!fills.empty()) calls_->set_seed(seed_of(fills[0]));
  for (const Tensors& set : *sets_)
    for (size_t k = 0; k < fills.size(); k++)
      each(inputs_[k], [&](int64_t begin, int64_t end) { fill_range(fills[k], inputs_[k].storage, begin, end, set.inputs()[k]); });
}

void CpuCase::poison() {
  for (const Tensors& set : *sets_)
    for (size_t i = 0; i < buffers_.size(); i++) {
      const TensorDesc& tensor = buffers_[i];
      if (tensor.role != Role::out) continue;
      void* data = set.buffer(i);
      each(tensor, [&](int64_t begin, int64_t end) {
        switch (storage_bytes(tensor.storage)) {
          case 4: return put_sentinel<uint32_t>(tensor.storage, data, begin, end);
          case 2: return put_sentinel<uint16_t>(tensor.storage, data, begin, end);
          default: return put_sentinel<uint8_t>(tensor.storage, data, begin, end);
        }
      });
    }
  used_.assign(sets_->size(), false);
}

void CpuCase::call(int count) {
  used_[current_] = true;
  calls_->run(current_, count);
}

void CpuCase::where_called(const std::function<void()>& job) {
  if (!calls_->alone()) return team_->lead(job);
  team_->rest();
  // A guest with threads of its own must not be bound: they would inherit it.
  const Bound bound(team_->size() == 1 ? processor_of_one() : -1);
  job();
}

void CpuCase::run() {
  where_called([this] {
    advance();
    call(1);
  });
}

std::vector<OutputScan> CpuCase::scan() {
  std::vector<OutputScan> scans(outputs_.size(), {0, 0});
  const bool none = std::none_of(used_.begin(), used_.end(), [](char used) { return used; });
  for (size_t i = 0; i < sets_->size(); i++) {
    if (!used_[i] && !(none && i == current_)) continue;
    if (const int broken = (*sets_)[i].broken_guard(); broken >= 0)
      throw Error("kernel-failed", "the kernel wrote outside " + buffers_[static_cast<size_t>(broken)].name);
    for (size_t k = 0; k < outputs_.size(); k++) {
      std::atomic<int64_t> unwritten{0}, non_finite{0};
      each(outputs_[k], [&](int64_t begin, int64_t end) {
        const Found found = search(outputs_[k], (*sets_)[i].outputs()[k], begin, end);
        unwritten += found.unwritten;
        non_finite += found.non_finite;
      });
      // State that a call changes is not poisoned: what looks like the sentinel there is a value.
      if (outputs_[k].role == Role::out) scans[k].unwritten += unwritten;
      if (i == current_) scans[k].non_finite = non_finite;
    }
  }
  return scans;
}

void CpuCase::read(size_t output, int64_t start, int64_t count, void* destination) {
  if (output >= outputs_.size()) throw Error("internal", "there is no output " + std::to_string(output));
  const TensorDesc& tensor = outputs_[output];
  if (start < 0 || count < 0 || start > tensor.elements - count)
    throw Error("internal", "read of elements " + std::to_string(start) + " + " + std::to_string(count) + " outside an output of " + std::to_string(tensor.elements));
  const auto bytes = static_cast<int64_t>(storage_bytes(tensor.storage));
  std::memcpy(destination, static_cast<const std::byte*>((*sets_)[current_].outputs()[output]) + start * bytes, static_cast<size_t>(count * bytes));
}

double CpuCase::tick_ns() const { return clock_cost().tick_ns; }

double CpuCase::clock_settles_seconds() const { return cpu::clock_settles_seconds(); }

SampleBatch CpuCase::sample(Mode mode, int count, int inner) {
  if (mode == Mode::graph) throw Error("unsupported", "mode graph exists on CUDA only; the CPU has cold, hot and rotated");
  if (mode == Mode::rotated && !spec_.rotated) throw Error("internal", "the case was opened with one set of buffers, not for mode rotated");
  if (count < 1 || inner < 1) throw Error("internal", "sample needs a count and an inner count of at least 1");
  SampleBatch batch{};
  batch.state.sm_clock_mhz = batch.state.mem_clock_mhz = batch.state.temperature_c = batch.state.power_w = batch.state.energy_j = std::numeric_limits<double>::quiet_NaN();
  batch.ns.reserve(static_cast<size_t>(count));
  batch.probe_ns.reserve(static_cast<size_t>(count));
  batch.inner = mode == Mode::cold ? 1 : inner;
  where_called([&] { take(batch, mode, count, batch.inner); });
  return batch;
}

void CpuCase::take(SampleBatch& batch, Mode mode, int count, int calls) {
  const bool cold = mode == Mode::cold, rotated = mode == Mode::rotated, alone = calls_->alone();
  const ClockCost& cost = clock_cost();
  // What reading the clock and asking for the calls cost is not the calls'.
  const double beyond_ns = cost.read_ns + (rotated ? calls : 1) * calls_->overhead_ns();
  SpeedProbe probe(*team_, alone ? SpeedProbe::Of::calling_thread : SpeedProbe::Of::team);
  std::vector<Region> regions = (*sets_)[current_].regions();
  if (scratch_->bytes() > 0) regions.push_back({scratch_->data(), scratch_->bytes()});
  const auto empty_caches = [&] { evict(*team_, regions); };
  double before = cold ? 0 : probe.take_ns();
  for (int s = 0; s < count; s++) {
    if (cold) {
      if (alone) {
        team_->lead(empty_caches);
        team_->rest();
      } else {
        empty_caches();
      }
      before = probe.take_ns();
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
    const double after = probe.take_ns();
    batch.probe_ns.push_back(std::max(before, after));
    before = after;
  }
  probe.report(batch);
}

CallCounts CpuCase::count(Mode mode, int calls) {
  CallCounts counted;
  // Threads that wait for each other count what they do meanwhile.
  if (team_->size() > 1) counted.reason = "Hardware counters are read on one thread only.";
  else counted.reason = no_counters_reason();
  if (!counted.reason.empty()) return counted;
  Counts sums;
  const int times = mode == Mode::cold ? std::min(calls, 3) : calls;
  where_called([&] {
    for (const CounterGroup group : {CounterGroup::instructions, CounterGroup::l1, CounterGroup::llc}) {
      Counts one;
      if (mode != Mode::cold) {
        Counters counters(group);
        for (int i = 0; i < times; i++) {
          if (mode == Mode::rotated) advance();
          call(1);
        }
        counters.read(one);
      } else {
        // The caches are emptied between calls, uncounted; the last call stands for all.
        for (int i = 0; i < times; i++) {
          const std::vector<Region> regions = (*sets_)[current_].regions();
          if (calls_->alone()) {
            team_->lead([&] { evict(*team_, regions); });
            team_->rest();
          } else {
            evict(*team_, regions);
          }
          one = {};
          Counters counters(group);
          call(1);
          counters.read(one);
        }
      }
      sums.gaps.insert(sums.gaps.end(), one.gaps.begin(), one.gaps.end());
      if (group == CounterGroup::instructions) sums.instructions = one.instructions, sums.cycles = one.cycles;
      else if (group == CounterGroup::l1) sums.l1_reads = one.l1_reads, sums.l1_misses = one.l1_misses;
      else sums.llc_reads = one.llc_reads, sums.llc_misses = one.llc_misses;
    }
  });
  const auto per_call = [&](double value) { return value < 0 ? -1 : mode == Mode::cold ? value : value / times; };
  counted.instructions = per_call(sums.instructions);
  counted.cycles = per_call(sums.cycles);
  counted.l1_reads = per_call(sums.l1_reads);
  counted.l1_misses = per_call(sums.l1_misses);
  counted.llc_reads = per_call(sums.llc_reads);
  counted.llc_misses = per_call(sums.llc_misses);
  for (const std::string& gap : sums.gaps) counted.reason += (counted.reason.empty() ? "Not counted: " : ", ") + gap;
  return counted;
}

}  // namespace opscope::cpu
