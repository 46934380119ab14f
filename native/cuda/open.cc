// A case on a GPU: buffers filled by the rule in core/random.ts, a plan of launches, and timed samples.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "buffers/buffer_set.h"
#include "buffers/rotation.h"
#include "driver/context.h"
#include "kernels/plan.h"
#include "kernels/red_team.h"
#include "nvml/nvml.h"
#include "nvml/window.h"
#include "prepared.h"
#include "timing/timer.h"

namespace opscope::cuda {

namespace {

int64_t free_bytes() {
  size_t free = 0, total = 0;
  return api().MemGetInfo(&free, &total) == CUDA_SUCCESS ? static_cast<int64_t>(free) : -1;
}

std::unique_ptr<Nvml> management_of(int ordinal) {
  char bus[32] = "";
  if (api().DeviceGetPCIBusId(bus, sizeof bus, ordinal) != CUDA_SUCCESS) return nullptr;
  return Nvml::of_pci_bus(bus, nullptr);
}

std::vector<Fill> fills_of(const CaseSpec& spec) {
  std::vector<Fill> fills;
  for (const auto& input : spec.inputs) fills.push_back(input.fill);
  return fills;
}

class CudaCase final : public Prepared {
 public:
  CudaCase(const CaseSpec& spec, PlanFunction plan, Context& context)
      : context_(context), timer_(Timer::of(context)), nvml_(management_of(context.traits().ordinal)), rotated_(spec.rotated) {
    const int64_t before = free_bytes();
    const auto add_set = [&] {
      sets_.push_back(std::make_unique<BufferSet>(spec, plan, context));
      sets_.back()->fill(fills_of(spec));
    };
    add_set();
    if (rotated_) {
      const int64_t count = sets_to_rotate(sets_[0]->tensor_bytes(), sets_[0]->bytes(), context.traits().l2_bytes, before);
      while (static_cast<int64_t>(sets_.size()) < count) add_set();
    }
    for (const auto& set : sets_) calls_.sets.push_back(&set->launches());
    used_.assign(sets_.size(), false);
    context_.synchronize("filling the inputs");
    const int64_t after = free_bytes();
    delta_ = before >= 0 && after >= 0 ? std::max<int64_t>(0, before - after) : -1;
  }

  ~CudaCase() override {
    try {
      context_.use();
    } catch (const Error&) {
      // The context is dead, and its memory with it.
    }
  }

  void refill(const std::vector<Fill>& fills) override {
    context_.use();
    for (const auto& set : sets_) set->fill(fills);
    context_.synchronize("filling the inputs");
  }

  void poison() override {
    context_.use();
    for (const auto& set : sets_) set->poison();
    used_.assign(sets_.size(), false);
    context_.synchronize("filling the output with the sentinel");
  }

  // On every set: each is checked, and a kernel that remembers its output does so in each.
  void run() override {
    context_.use();
    for (const auto& set : sets_)
      for (const auto& launch : set->launches()) launch.enqueue(context_.stream());
    used_.assign(sets_.size(), true);
    calls_.last = sets_.size() - 1;
    context_.synchronize("running a kernel");
  }

  int64_t count_unwritten() override {
    context_.use();
    int64_t count = 0;
    for (size_t i = 0; i < sets_.size(); i++)
      if (used_[i]) count += sets_[i]->count_unwritten();
    return count;
  }

  void read(int64_t start, int64_t count, void* destination) override {
    context_.use();
    const auto size = static_cast<int64_t>(element_bytes());
    check(api().MemcpyDtoH(destination, sets_[calls_.last]->output() + static_cast<CUdeviceptr>(start * size), static_cast<size_t>(count * size)), "reading the output");
  }

  SampleBatch sample(Mode mode, int count, int inner) override {
    context_.use();
    if (mode == Mode::rotated && !rotated_) throw Error("internal", "This case was opened with one set of buffers, and cannot be sampled in mode rotated.");
    // The counter moves about ten times a second and takes milliseconds to read: short batches go without.
    const bool count_energy = nvml_ && seconds_per_sample_ * count >= least_energy_seconds;
    double energy_before = absent;
    StateWindow window;
    const auto watch = [&] {
      window.add(nvml_->state());
      if (count_energy && std::isnan(energy_before)) energy_before = nvml_->energy_j();
    };
    const size_t first = calls_.next;
    const auto start = std::chrono::steady_clock::now();
    Samples taken = timer_.sample(calls_, mode, count, inner, nvml_ ? std::function<void()>(watch) : nullptr);
    mark_used(first, mode == Mode::rotated ? taken.calls : 1);
    SampleBatch batch;
    batch.ns = std::move(taken.ns);
    batch.clock_mhz = std::move(taken.clock_mhz);
    batch.state = window.state();
    seconds_per_sample_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / static_cast<double>(batch.ns.size());
    if (!std::isnan(energy_before)) {
      const double used = nvml_->energy_j() - energy_before;
      // A batch that saw no step has no reading, rather than zero.
      if (used > 0) batch.state.energy_j = used;
    }
    return batch;
  }

  int64_t case_bytes() const override {
    int64_t bytes = 0;
    for (const auto& set : sets_) bytes += set->bytes();
    return bytes;
  }
  int64_t device_delta_bytes() const override { return delta_; }
  double tick_ns() const override { return timer_.tick_ns(); }
  std::string timer() const override { return "cuda-event"; }
  std::vector<std::string> notes() const override {
    if (!rotated_) return {};
    return {"Calls rotate over " + std::to_string(sets_.size()) + " sets of buffers, together at least twice the L2 cache."};
  }

 private:
  static constexpr double absent = std::numeric_limits<double>::quiet_NaN();
  static constexpr double least_energy_seconds = 0.2;

  size_t element_bytes() const { return dtype_bytes(sets_[0]->dtype()); }
  // `calls` sets from `first` on, around the end.
  void mark_used(size_t first, size_t calls) {
    for (size_t i = 0; i < std::min(calls, sets_.size()); i++) used_[(first + i) % sets_.size()] = true;
  }

  Context& context_;
  Timer& timer_;
  std::unique_ptr<Nvml> nvml_;
  bool rotated_;
  double seconds_per_sample_ = 0;  // wall time, of the newest batch
  int64_t delta_ = -1;
  std::vector<std::unique_ptr<BufferSet>> sets_;
  std::vector<bool> used_;  // by a call since the outputs were poisoned
  Calls calls_;
};

}  // namespace

std::unique_ptr<Prepared> open(const CaseSpec& spec) {
  if (!api().missing.empty()) throw Error("unsupported", api().missing);
  const OpKernels* op = find_op(spec.op);
  if (!op || std::find(op->dtypes.begin(), op->dtypes.end(), spec.dtype) == op->dtypes.end())
    throw Error("unsupported", "There is no CUDA kernel for " + spec.op + " in this dtype.");
  const RedImpl* red = spec.op == "add" && spec.dtype == Dtype::f32 ? find_red(spec.impl) : nullptr;
  if (spec.impl != "kernel" && !red) throw Error("unsupported", "The CUDA backend has no implementation called \"" + spec.impl + "\"; it has \"kernel\".");
  check_shape(spec, op->shape);
  int count = 0;
  check(api().DeviceGetCount(&count), "counting the GPUs");
  if (spec.device < 0 || spec.device >= count)
    throw Error("unsupported", "There is no GPU number " + std::to_string(spec.device) + " here; this process sees " + std::to_string(count) + ".");
  Context& context = Context::of(spec.device);
  context.use();
  return std::make_unique<CudaCase>(spec, red ? red->plan : op->plan, context);
}

}  // namespace opscope::cuda
