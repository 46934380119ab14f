// A case on a GPU: buffers filled by the rule in core/random.ts, a plan of launches, and timed samples.
#include <algorithm>
#include <cmath>
#include <limits>

#include "driver/context.h"
#include "kernels/plan.h"
#include "nvml/nvml.h"
#include "prepared.h"
#include "timing/timer.h"

namespace opscope::cuda {

namespace {

uint32_t sentinel(Dtype dtype) { return dtype == Dtype::f16 ? 0x7ede : dtype == Dtype::bf16 ? 0x7fde : 0x7fedc0de; }

int64_t free_bytes() {
  size_t free = 0, total = 0;
  return api().MemGetInfo(&free, &total) == CUDA_SUCCESS ? static_cast<int64_t>(free) : -1;
}

std::unique_ptr<Nvml> management_of(int ordinal) {
  char bus[32] = "";
  if (api().DeviceGetPCIBusId(bus, sizeof bus, ordinal) != CUDA_SUCCESS) return nullptr;
  return Nvml::of_pci_bus(bus, nullptr);
}

class CudaCase final : public Prepared {
 public:
  CudaCase(const CaseSpec& spec, const OpKernels& op, Context& context)
      : context_(context), timer_(Timer::of(context)), nvml_(management_of(context.traits().ordinal)), dtype_(spec.dtype), elements_(spec.output_elements) {
    const int64_t before = free_bytes();
    std::vector<CUdeviceptr> addresses;
    for (const auto& input : spec.inputs) {
      addresses.push_back(inputs_.emplace_back(padded(input.elements)).address());
      fill(input, addresses.back());
    }
    output_ = DeviceBuffer(padded(elements_));
    found_ = DeviceBuffer(256);
    Planner planner(spec, context, spec.op, addresses, output_.address());
    op.plan(planner);
    launches_ = planner.take_launches();
    workspaces_ = planner.take_workspaces();
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

  void poison() override {
    context_.use();
    const auto count = static_cast<size_t>(elements_);
    check(dtype_bytes(dtype_) == 2 ? api().MemsetD16Async(output_.address(), static_cast<unsigned short>(sentinel(dtype_)), count, context_.stream())
                                   : api().MemsetD32Async(output_.address(), sentinel(dtype_), count, context_.stream()),
          "filling the output with the sentinel");
    context_.synchronize("filling the output with the sentinel");
  }

  void run() override {
    context_.use();
    for (const auto& launch : launches_) launch.enqueue(context_.stream());
    context_.synchronize("running a kernel");
  }

  int64_t count_unwritten() override {
    context_.use();
    check(api().MemsetD8Async(found_.address(), 0, 8, context_.stream()), "counting unwritten elements");
    const char* kernel = dtype_bytes(dtype_) == 2 ? "count_16" : "count_32";
    Launch(context_.kernel("service", kernel), grid_for(elements_), 256, 0, output_.address(), static_cast<long long>(elements_), sentinel(dtype_), found_.address())
        .enqueue(context_.stream());
    context_.synchronize("counting unwritten elements");
    unsigned long long found = 0;
    check(api().MemcpyDtoH(&found, found_.address(), sizeof found), "counting unwritten elements");
    return static_cast<int64_t>(found);
  }

  void read(int64_t start, int64_t count, void* destination) override {
    context_.use();
    const auto size = static_cast<int64_t>(dtype_bytes(dtype_));
    check(api().MemcpyDtoH(destination, output_.address() + static_cast<CUdeviceptr>(start * size), static_cast<size_t>(count * size)), "reading the output");
  }

  SampleBatch sample(Mode mode, int count, int inner) override {
    context_.use();
    const double energy_before = nvml_ ? nvml_->energy_j() : std::numeric_limits<double>::quiet_NaN();
    SampleBatch batch;
    batch.ns = timer_.sample(launches_, mode, count, inner);
    if (nvml_) {
      batch.state = nvml_->state();
      const double used = nvml_->energy_j() - energy_before;
      // The counter moves about ten times a second: a short batch may see no step, which is no reading rather than zero.
      if (used > 0) batch.state.energy_j = used;
    } else {
      constexpr double absent = std::numeric_limits<double>::quiet_NaN();
      batch.state.sm_clock_mhz = batch.state.mem_clock_mhz = batch.state.temperature_c = batch.state.power_w = batch.state.energy_j = absent;
    }
    return batch;
  }

  int64_t case_bytes() const override {
    int64_t bytes = output_.bytes();
    for (const auto& buffer : inputs_) bytes += buffer.bytes();
    for (const auto& buffer : workspaces_) bytes += buffer.bytes();
    return bytes;
  }
  int64_t device_delta_bytes() const override { return delta_; }
  double tick_ns() const override { return timer_.tick_ns(); }
  std::string timer() const override { return "cuda-event"; }

 private:
  // Kernels may read (never write) up to the end of the last 16-byte vector.
  int64_t padded(int64_t elements) const { return ceil_div(elements * static_cast<int64_t>(dtype_bytes(dtype_)), 256) * 256; }
  Dim3 grid_for(int64_t elements) const {
    return {static_cast<unsigned>(std::clamp<int64_t>(ceil_div(elements, 256), 1, context_.traits().sm_count * 16))};
  }
  void fill(const InputDesc& input, CUdeviceptr address) {
    const char* kernel = dtype_ == Dtype::f16 ? "fill_f16" : dtype_ == Dtype::bf16 ? "fill_bf16" : "fill_f32";
    Launch(context_.kernel("service", kernel), grid_for(input.elements), 256, 0, address, static_cast<long long>(input.elements), input.fill.key0, input.fill.key1,
           input.fill.factor, static_cast<int>(input.fill.positive))
        .enqueue(context_.stream());
  }

  Context& context_;
  Timer& timer_;
  std::unique_ptr<Nvml> nvml_;
  Dtype dtype_;
  int64_t elements_;
  int64_t delta_ = -1;
  std::vector<DeviceBuffer> inputs_, workspaces_;
  DeviceBuffer output_, found_;
  std::vector<Launch> launches_;
};

}  // namespace

std::unique_ptr<Prepared> open(const CaseSpec& spec) {
  if (!api().missing.empty()) throw Error("unsupported", api().missing);
  const OpKernels* op = find_op(spec.op);
  if (!op || std::find(op->dtypes.begin(), op->dtypes.end(), spec.dtype) == op->dtypes.end())
    throw Error("unsupported", "There is no CUDA kernel for " + spec.op + " in this dtype.");
  if (spec.impl != "kernel") throw Error("unsupported", "The CUDA backend has no implementation called \"" + spec.impl + "\"; it has \"kernel\".");
  check_shape(spec, op->shape);
  int count = 0;
  check(api().DeviceGetCount(&count), "counting the GPUs");
  if (spec.device < 0 || spec.device >= count)
    throw Error("unsupported", "There is no GPU number " + std::to_string(spec.device) + " here; this process sees " + std::to_string(count) + ".");
  Context& context = Context::of(spec.device);
  context.use();
  return std::make_unique<CudaCase>(spec, *op, context);
}

}  // namespace opscope::cuda
