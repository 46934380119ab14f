#include "cuda_case.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "buffers/rotation.h"
#include "nvml/window.h"
#include "timing/kernel_calls.h"
#include "words.h"

namespace opscope::cuda {

namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();
constexpr double least_energy_seconds = 0.2;

double median_of(std::vector<double> values) {
  if (values.empty()) return absent;
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

int64_t free_bytes() {
  size_t free = 0, total = 0;
  return api().MemGetInfo(&free, &total) == CUDA_SUCCESS ? static_cast<int64_t>(free) : -1;
}

std::unique_ptr<Nvml> management_of(int ordinal) {
  char bus[32] = "";
  if (api().DeviceGetPCIBusId(bus, sizeof bus, ordinal) != CUDA_SUCCESS) return nullptr;
  return Nvml::of_pci_bus(bus, nullptr);
}

}  // namespace

CudaCase::CudaCase(const CaseSpec& spec, PlanFunction plan, Context& context) : CudaCase(spec, plan, nullptr, context) {}

CudaCase::CudaCase(const CaseSpec& spec, std::unique_ptr<Calls> calls, Context& context) : CudaCase(spec, nullptr, std::move(calls), context) {}

CudaCase::CudaCase(const CaseSpec& spec, PlanFunction plan, std::unique_ptr<Calls> calls, Context& context)
    : context_(context), timer_(Timer::of(context)), nvml_(management_of(context.traits().ordinal)), rotated_(spec.rotated), op_(spec.op), calls_(std::move(calls)) {
  const int64_t before = free_bytes();
  const auto add_set = [&] {
    sets_.push_back(std::make_unique<BufferSet>(spec, plan, context));
    sets_.back()->poison();
  };
  add_set();
  if (rotated_) {
    const int64_t count = sets_to_rotate(sets_[0]->tensor_bytes(), sets_[0]->bytes(), context.traits().l2_bytes, before);
    while (static_cast<int64_t>(sets_.size()) < count) add_set();
  }
  if (!calls_) {
    std::vector<const std::vector<Launch>*> launches;
    for (const auto& set : sets_) launches.push_back(&set->launches());
    calls_ = std::make_unique<KernelCalls>(std::move(launches));
  }
  calls_->sets = sets_.size();
  used_.assign(sets_.size(), false);
  context_.synchronize("filling the inputs");
  const int64_t after = free_bytes();
  delta_ = before >= 0 && after >= 0 ? std::max<int64_t>(0, before - after) : -1;
}

CudaCase::~CudaCase() {
  try {
    context_.use();
  } catch (const Error&) {
    // The context is dead, and its memory with it.
  }
}

void CudaCase::refill(const std::vector<Fill>& fills) {
  context_.use();
  for (const auto& set : sets_) set->fill(fills);
  context_.synchronize("filling the inputs");
}

void CudaCase::poison() {
  context_.use();
  for (const auto& set : sets_) set->poison();
  used_.assign(sets_.size(), false);
  context_.synchronize("filling the outputs with the sentinel");
}

void CudaCase::run() {
  context_.use();
  for (size_t i = 0; i < sets_.size(); i++) run(i);
  used_.assign(sets_.size(), true);
  calls_->last = sets_.size() - 1;
  context_.synchronize("running a kernel");
}

void CudaCase::run(size_t set) {
  const std::vector<Launch>& launches = sets_[set]->launches();
  if (launches.empty()) return calls_->enqueue(context_.stream(), set, 1);
  // One at a time, so that a fault has its launch.
  for (size_t i = 0; i < launches.size(); i++) {
    try {
      launches[i].enqueue(context_.stream());
      context_.synchronize("running a kernel");
    } catch (const Error& e) {
      if (e.code != "kernel-failed" || launches[i].is_library_call()) throw;
      throw Error(e.code, e.what() + fault_words(op_, launches[i].info(context_), i, launches.size()), e.detail);
    }
  }
}

std::vector<OutputScan> CudaCase::scan() {
  context_.use();
  const bool none = std::find(used_.begin(), used_.end(), true) == used_.end();
  std::vector<OutputScan> found(sets_[0]->outputs());
  for (size_t i = 0; i < sets_.size(); i++) {
    const bool newest = i == calls_->last;
    if (!used_[i] && !(none && newest)) continue;
    const std::vector<ScanCounts> counts = sets_[i]->scan();
    for (size_t output = 0; output < found.size(); output++) {
      found[output].unwritten += static_cast<int64_t>(counts[output].unwritten);
      if (newest) found[output].non_finite = static_cast<int64_t>(counts[output].non_finite);
    }
  }
  return found;
}

void CudaCase::read(size_t output, int64_t start, int64_t count, void* destination) {
  context_.use();
  const Tensor& tensor = sets_[calls_->last]->output(output);
  const auto size = static_cast<int64_t>(storage_bytes(tensor.storage()));
  check(api().MemcpyDtoH(destination, tensor.address() + static_cast<CUdeviceptr>(start * size), static_cast<size_t>(count * size)), "reading an output");
}

SampleBatch CudaCase::sample(Mode mode, int count, int inner) {
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
  const size_t first = calls_->next;
  const auto start = std::chrono::steady_clock::now();
  Samples taken;
  try {
    taken = timer_.sample(*calls_, mode, count, inner, nvml_ ? std::function<void()>(watch) : nullptr);
  } catch (const Error& e) {
    // A library's launches have no names here.
    if (e.code != "kernel-failed" || calls_->may_wait()) throw;
    throw Error(e.code, e.what() + fault_words(op_, launch_infos()), e.detail);
  }
  mark_used(first, mode == Mode::rotated ? taken.calls : 1);
  SampleBatch batch;
  batch.ns = std::move(taken.ns);
  batch.inner = taken.inner;
  batch.clock_mhz = std::move(taken.clock_mhz);
  batch.host_call_ns = median_of(std::move(taken.host_ns));
  batch.state = window.state();
  seconds_per_sample_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / static_cast<double>(batch.ns.size());
  if (!std::isnan(energy_before)) {
    const double used = nvml_->energy_j() - energy_before;
    // A batch that saw no step has no reading, rather than zero.
    if (used > 0) batch.state.energy_j = used;
  }
  return batch;
}

int64_t CudaCase::case_bytes() const {
  int64_t bytes = 0;
  for (const auto& set : sets_) bytes += set->bytes();
  return bytes;
}

std::vector<std::string> CudaCase::notes() const {
  std::vector<std::string> list = sets_[0]->notes();
  if (rotated_) list.push_back("Calls rotate over " + std::to_string(sets_.size()) + " sets of buffers, together at least twice the L2 cache.");
  return list;
}

std::vector<LaunchInfo> CudaCase::launches() const {
  context_.use();
  return launch_infos();
}

std::vector<LaunchInfo> CudaCase::launch_infos() const {
  std::vector<LaunchInfo> found;
  // The calls of guests and libraries have no launches of ours.
  for (const Launch& launch : sets_[0]->launches())
    if (!launch.is_library_call()) found.push_back(launch.info(context_));
  return found;
}

void CudaCase::mark_used(size_t first, size_t calls) {
  for (size_t i = 0; i < std::min(calls, sets_.size()); i++) used_[(first + i) % sets_.size()] = true;
}

}  // namespace opscope::cuda
