#include "cpu_case.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "clock.h"
#include "evict.h"
#include "fill.h"
#include "topology.h"

namespace opscope::cpu {

namespace {

constexpr uint32_t SENTINEL = 0x7fedc0de;  // core/numbers.ts

size_t scratch_of(const CaseSpec& spec, const Kernel& kernel) {
  return kernel.scratch ? kernel.scratch(spec.dims.data(), spec.threads) : 0;
}

}  // namespace

CpuCase::CpuCase(const CaseSpec& spec, const Kernel& kernel)
    : spec_(spec), kernel_(kernel), team_(spec.threads), tensors_(spec_, scratch_of(spec_, kernel)) {
  for (size_t i = 0; i < spec_.inputs.size(); i++) {
    const InputDesc& input = spec_.inputs[i];
    float* data = tensors_.input(i);
    call_.in[i] = data;
    each(input.elements, [&](int64_t begin, int64_t end) { fill_range(input.fill, begin, end, data); });
  }
  tensors_.set_guards();
  call_.out = tensors_.output();
  call_.dims = spec_.dims.data();
  call_.scratch = tensors_.scratch();
  call_.threads = spec_.threads;
  call_.team = &team_;
  call_.barrier = [](void* team) { static_cast<Team*>(team)->barrier(); };
  int64_t tensor_bytes = spec_.output_elements;
  for (const InputDesc& input : spec_.inputs) tensor_bytes += input.elements;
  tensor_bytes *= sizeof(float);
  call_.stream = tensor_bytes > topology().llc_bytes * std::min(spec_.threads, topology().llc_instances);
  poison();  // touches the output before anything is timed

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

void CpuCase::poison() {
  float* out = tensors_.output();
  each(spec_.output_elements, [out](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) std::memcpy(out + i, &SENTINEL, sizeof SENTINEL);
  });
}

void CpuCase::call() {
  struct Job {
    const Call& shared;
    void (*run)(const Call&);
  } job{call_, kernel_.run};
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
  team_.lead([this] { call(); });
}

int64_t CpuCase::count_unwritten() {
  if (!tensors_.guards_intact()) throw Error("kernel-failed", "the kernel wrote outside its output");
  const float* out = tensors_.output();
  std::atomic<int64_t> unwritten{0};
  each(spec_.output_elements, [&](int64_t begin, int64_t end) {
    int64_t found = 0;
    for (int64_t i = begin; i < end; i++) {
      uint32_t bits;
      std::memcpy(&bits, out + i, sizeof bits);
      found += bits == SENTINEL;
    }
    unwritten += found;
  });
  return unwritten;
}

void CpuCase::read(int64_t start, int64_t count, void* destination) {
  if (start < 0 || count < 0 || start > spec_.output_elements - count)
    throw Error("internal", "read of elements " + std::to_string(start) + " + " + std::to_string(count) + " outside an output of " +
                                std::to_string(spec_.output_elements));
  std::memcpy(destination, tensors_.output() + start, static_cast<size_t>(count) * sizeof(float));
}

double CpuCase::tick_ns() const { return clock_cost().tick_ns; }

SampleBatch CpuCase::sample(Mode mode, int count, int inner) {
  if (mode == Mode::graph) throw Error("unsupported", "mode graph exists on CUDA only; the CPU has cold and hot");
  if (count < 1 || inner < 1) throw Error("internal", "sample needs a count and an inner count of at least 1");
  const bool cold = mode == Mode::cold;
  const int calls = cold ? 1 : inner;
  const ClockCost& cost = clock_cost();
  SampleBatch batch{};
  batch.state.sm_clock_mhz = batch.state.mem_clock_mhz = batch.state.temperature_c = batch.state.power_w = batch.state.energy_j = std::numeric_limits<double>::quiet_NaN();
  batch.ns.resize(static_cast<size_t>(count));
  team_.lead([&] {
    for (double& ns : batch.ns) {
      if (cold) evict(team_);
      const int64_t start = now_ns();
      for (int i = 0; i < calls; i++) call();
      const int64_t end = now_ns();
      // What reading the clock costs is not the call's; nothing shorter than a tick can be told.
      ns = std::max(static_cast<double>(end - start) - cost.read_ns, cost.tick_ns) / calls;
    }
  });
  return batch;
}

}  // namespace opscope::cpu
