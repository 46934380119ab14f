// The backend's own kernels, buffers and timer as a shared library with C functions, so that other tools (Triton's do_bench,
// Nsight Compute) time exactly the launches that Opscope times: scripts/gpu/agreement.py. Functions return 0, or -1 with
// the reason in opscope_error.
#include <map>
#include <memory>
#include <numeric>

#include "buffers/buffer_set.h"
#include "timing/kernel_calls.h"
#include "timing/timer.h"

#define OPSCOPE_EXPORT extern "C" __attribute__((visibility("default")))

using namespace opscope;
using namespace opscope::cuda;

namespace {

std::string error;

// Buffers and launches of one case; op `empty` has none of the former and one launch that does nothing.
struct Case {
  std::unique_ptr<BufferSet> set;
  std::vector<Launch> empty;
  const std::vector<Launch>* launches = nullptr;
  std::unique_ptr<KernelCalls> calls;

  void call(const std::vector<Launch>& list) {
    launches = &list;
    calls = std::make_unique<KernelCalls>(std::vector{launches});
  }
};

std::map<int, Case> cases;

Context& context() {
  Context& c = Context::of(0);
  c.use();
  return c;
}

constexpr int most_stamps = 8192;

// For stamps of other tools' samples; those of the timer are its own.
DeviceBuffer& stamps() {
  static DeviceBuffer buffer(most_stamps * sizeof(Stamp));
  return buffer;
}

template <class F>
int guarded(const F& work) {
  try {
    work();
    return 0;
  } catch (const Error& e) {
    error = std::string(e.what()) + " " + e.detail;
  } catch (const std::exception& e) {
    error = e.what();
  }
  return -1;
}

Dtype dtype_of(const std::string& name) { return name == "f16" ? Dtype::f16 : name == "bf16" ? Dtype::bf16 : name == "tf32" ? Dtype::tf32 : Dtype::f32; }

void open_case(int id, const std::string& op, const std::string& dtype, std::vector<int64_t> dims) {
  Case& made = cases[id];
  if (op == "empty") {
    made.empty.emplace_back(context().kernel("service", "empty"), Dim3{}, 1u, 0u);
    made.call(made.empty);
    return;
  }
  const OpKernels* kernels = find_op(op);
  if (!kernels) throw Error("unsupported", "There is no op " + op + ".");
  CaseSpec spec;
  spec.op = op;
  spec.dtype = dtype_of(dtype);
  spec.dims = std::move(dims);
  // Small enough to change nothing where it is added (eps): no time depends on it.
  spec.scalars.assign(kernels->scalars, 1e-5);
  std::vector<Fill> fills;
  for (const TensorShape& shape : kernels->tensors(*kernels, spec.dims)) {
    TensorDesc& tensor = spec.tensors.emplace_back();
    tensor.elements = shape.elements;
    tensor.storage = shape.storage.value_or(storage_of(spec.dtype));
    tensor.role = shape.role;
    // Values of about one, other ones in each tensor: no time depends on which.
    if (shape.role != Role::out) fills.push_back({.factor = 1.0f / 37837, .key0 = static_cast<uint32_t>(fills.size()), .key1 = 1});
  }
  check_shape(spec, *kernels);
  made.set = std::make_unique<BufferSet>(spec, kernels->plan, context());
  made.set->fill(fills);
  context().synchronize("filling the inputs");
  made.call(made.set->launches());
}

}  // namespace

OPSCOPE_EXPORT const char* opscope_error() { return error.c_str(); }

// Opens a case under a number of the caller's.
OPSCOPE_EXPORT int opscope_open(int id, const char* op, const char* dtype, const long long* dims, int count) {
  return guarded([&] { open_case(id, op, dtype, std::vector<int64_t>(dims, dims + count)); });
}

OPSCOPE_EXPORT int opscope_close(int id) {
  return guarded([&] {
    context();
    cases.erase(id);
  });
}

// Queues one call on a stream of the device's primary context.
OPSCOPE_EXPORT int opscope_launch(int id, void* stream) {
  return guarded([&] {
    for (const auto& launch : *cases.at(id).launches) launch.enqueue(static_cast<CUstream>(stream));
  });
}

// Number of kernels in one call.
OPSCOPE_EXPORT int opscope_kernels(int id) { return static_cast<int>(cases.at(id).launches->size()); }

// One call by the driver's legacy stream, and waits: what Nsight Compute is run around.
OPSCOPE_EXPORT int opscope_run(int id) {
  return guarded([&] {
    for (const auto& launch : *cases.at(id).launches) launch.enqueue(context().stream());
    context().synchronize("running a kernel");
  });
}

// As the backend samples. mode: 0 cold, 1 hot, 2 graph; flush: 0 read, 1 write, 2 write and read. `ns` and `clock_mhz` have
// room for `count`; gives the number taken, or -1. What events cost is left in the times.
OPSCOPE_EXPORT int opscope_sample(int id, int mode, int flush, int stamps, int count, int inner, double* ns, double* clock_mhz) {
  int taken = -1;
  const int result = guarded([&] {
    Timer& timer = Timer::of(context());
    timer.set_flush(flush == 0 ? Flush::read : flush == 1 ? Flush::write : Flush::write_and_read);
    timer.set_stamps(stamps != 0);
    // As the events give it, to be held against tools that take nothing off.
    timer.set_costs_taken_off(false);
    const Samples samples = timer.sample(*cases.at(id).calls, mode == 0 ? Mode::cold : mode == 1 ? Mode::hot : Mode::graph, count, inner);
    std::copy(samples.ns.begin(), samples.ns.end(), ns);
    std::copy(samples.clock_mhz.begin(), samples.clock_mhz.end(), clock_mhz);
    taken = static_cast<int>(samples.ns.size());
  });
  return result == 0 ? taken : -1;
}

// Notes the clocks on a stream, as stamp number `index` below 8192.
OPSCOPE_EXPORT int opscope_stamp(int index, void* stream) {
  return guarded([&] {
    if (index < 0 || index >= most_stamps) throw Error("internal", "stamp number " + std::to_string(index) + ": expected 0 to " + std::to_string(most_stamps - 1));
    constexpr unsigned long long no_wait = 0;
    Launch(context().kernel("service", "settle"), {}, 1, 0, no_wait, stamps().address() + static_cast<CUdeviceptr>(index) * sizeof(Stamp)).enqueue(static_cast<CUstream>(stream));
  });
}

// MHz between neighbours of the stamps [first, first + count]: `count` values, or fewer when they say nothing.
OPSCOPE_EXPORT int opscope_clocks(int first, int count, double* mhz) {
  int known = -1;
  const int result = guarded([&] {
    std::vector<Stamp> list(static_cast<size_t>(count) + 1);
    context();
    check(api().MemcpyDtoH(list.data(), stamps().address() + static_cast<CUdeviceptr>(first) * sizeof(Stamp), list.size() * sizeof(Stamp)), "reading the clocks");
    std::vector<int> before(list.size());
    std::iota(before.begin(), before.end(), 0);
    const auto clocks = clocks_mhz(list, before, Timer::of(context()).timer_step_ns());
    std::copy(clocks.begin(), clocks.end(), mhz);
    known = static_cast<int>(clocks.size());
  });
  return result == 0 ? known : -1;
}

OPSCOPE_EXPORT double opscope_tick_ns() { return Timer::of(context()).tick_ns(); }
OPSCOPE_EXPORT double opscope_timer_step_ns() { return Timer::of(context()).timer_step_ns(); }
