#include "guest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <new>

#include "guest_case.h"
#include "json.h"

using namespace opscope;

namespace {

constexpr double ABSENT = std::numeric_limits<double>::quiet_NaN();

struct Open {
  std::unique_ptr<GuestCase> guest;
  std::vector<int64_t> outputs;  // elements of each
  size_t fills;                  // tensors that have one
  std::string state = "{}";  // of the samples taken last
};

std::string failure;
std::map<int, Open> cases;
int last_handle = 0;

void fail(const std::string& code, const std::string& message, const std::string& detail) {
  failure = guest::Object().text("code", code).text("message", message).optional_text("detail", detail).done();
}

// What `work` gives, or `failed` with the reason kept.
template <class T, class F>
T guarded(T failed, const F& work) {
  try {
    failure.clear();
    return work();
  } catch (const Error& error) {
    fail(error.code, error.what(), error.detail);
  } catch (const std::bad_alloc&) {
    fail("out-of-memory", "The system gave no memory.", "std::bad_alloc");
  } catch (const std::exception& error) {
    fail("internal", error.what(), "");
  }
  return failed;
}

// 0, or -1 where `work` failed.
template <class F>
int succeeded(const F& work) {
  return guarded(-1, [&] {
    work();
    return 0;
  });
}

Open& at(int handle) {
  const auto found = cases.find(handle);
  if (found == cases.end()) throw Error("internal", "there is no open case number " + std::to_string(handle));
  return found->second;
}

Fill fill_of(const opscope_guest_fill& given) {
  if (!std::isfinite(given.factor)) throw Error("internal", "the factor of a fill must be finite");
  if (given.kind < 0 || given.kind > 5) throw Error("internal", "a fill is of kind 0 to 5, received " + std::to_string(given.kind));
  Fill fill;
  fill.kind = static_cast<FillKind>(given.kind);
  fill.key0 = given.key0;
  fill.key1 = given.key1;
  fill.factor = given.factor;
  fill.low = given.low;
  fill.below = given.below;
  if ((fill.kind == FillKind::integers || fill.kind == FillKind::permutation) && fill.below < 1) throw Error("internal", "a fill with integers needs at least one of them");
  return fill;
}

opscope_guest_fill fill_of(const opscope_guest_input& given) { return {given.positive ? 1 : 0, given.key0, given.key1, given.factor, 0, 0}; }

TensorDesc tensor_of(const opscope_guest_tensor& given, int index) {
  const std::string name = "tensor " + std::to_string(index);
  const auto in_range = [&](const char* what, int value, int most) {
    if (value < 0 || value > most) throw Error("internal", std::string(what) + " of " + name + " must be 0 .. " + std::to_string(most) + ", received " + std::to_string(value));
  };
  in_range("the storage type", given.storage, static_cast<int>(Storage::u8));
  in_range("the role", given.role, static_cast<int>(Role::inout));
  if (given.elements < 1 || given.elements > MAX_ELEMENTS) throw Error("internal", name + " must have 1 to 2^40 elements, received " + std::to_string(given.elements));
  TensorDesc tensor;
  tensor.name = name;
  tensor.elements = given.elements;
  tensor.storage = static_cast<Storage>(given.storage);
  tensor.role = static_cast<Role>(given.role);
  tensor.has_fill = tensor.role != Role::out;
  if (tensor.has_fill) tensor.fill = fill_of(given.fill);
  return tensor;
}

CaseSpec spec_of(const opscope_guest_case& given) {
  if (!given.call) throw Error("internal", "a case needs the function that is called");
  if (given.dtype < 0 || given.dtype > 5) throw Error("internal", "dtype must be 0 (f32), 1 (f16), 2 (bf16), 3 (tf32), 4 (i8) or 5 (f8e4m3), received " + std::to_string(given.dtype));
  if (given.threads < 1 || given.threads > 4096) throw Error("internal", "threads must be 1 .. 4096, received " + std::to_string(given.threads));
  if (given.tensors < 1 || static_cast<size_t>(given.tensors) > MAX_TENSORS || !given.tensor) throw Error("internal", "a case has 1 to 32 tensors, received " + std::to_string(given.tensors));
  CaseSpec spec;
  spec.op = spec.impl = "guest";
  spec.device = given.device;
  spec.dtype = static_cast<Dtype>(given.dtype);
  spec.threads = given.threads;
  spec.rotated = given.rotated != 0;
  for (int i = 0; i < given.tensors; i++) spec.tensors.push_back(tensor_of(given.tensor[i], i));
  if (std::all_of(spec.tensors.begin(), spec.tensors.end(), [](const TensorDesc& tensor) { return tensor.role == Role::in; })) throw Error("internal", "a case has at least one output");
  return spec;
}

int open_case(const opscope_guest_case& given) {
  const CaseSpec spec = spec_of(given);
  auto made = given.cuda ? cuda::open_guest(spec, given.call) : cpu::open_guest(spec, given.call);
  Open open{std::move(made), {}, 0};
  for (const TensorDesc& tensor : spec.tensors) {
    open.fills += tensor.has_fill;
    if (tensor.role != Role::in) open.outputs.push_back(tensor.elements);
  }
  cases[++last_handle] = std::move(open);
  return last_handle;
}

Mode mode_of(int mode) {
  if (mode < 0 || mode > 3) throw Error("internal", "mode must be 0 (cold), 1 (hot), 2 (rotated) or 3 (graph), received " + std::to_string(mode));
  return static_cast<Mode>(mode);
}

std::string json_of(const DeviceState& state) {
  guest::Object object;
  object.number("smClockMhz", state.sm_clock_mhz)
      .number("memClockMhz", state.mem_clock_mhz)
      .number("temperatureC", state.temperature_c)
      .number("powerW", state.power_w)
      .number("energyJ", state.energy_j);
  if (state.has_throttle) object.texts("throttle", state.throttle);
  if (state.foreign_processes >= 0) object.number("foreignProcesses", state.foreign_processes);
  if (state.involuntary_switches >= 0) object.number("involuntarySwitches", static_cast<double>(state.involuntary_switches));
  return object.number("stealMs", state.steal_ms).number("probeBestNs", state.probe_best_ns).done();
}

// One entry per sample, or none.
void give(const std::vector<double>& values, size_t samples, double* destination) {
  for (size_t i = 0; i < samples; i++) destination[i] = i < values.size() ? values[i] : ABSENT;
}

}  // namespace

static_assert(static_cast<int>(Dtype::f32) == 0 && static_cast<int>(Dtype::f16) == 1 && static_cast<int>(Dtype::bf16) == 2 && static_cast<int>(Dtype::tf32) == 3);
static_assert(static_cast<int>(Mode::cold) == 0 && static_cast<int>(Mode::hot) == 1 && static_cast<int>(Mode::rotated) == 2 && static_cast<int>(Mode::graph) == 3);

const char* opscope_guest_error() { return failure.c_str(); }
int opscope_guest_version() { return OPSCOPE_GUEST_VERSION; }

int opscope_guest_open_case(const opscope_guest_case* given) {
  return guarded(-1, [&] {
    if (!given) throw Error("internal", "a case needs a specification");
    return open_case(*given);
  });
}

int opscope_guest_open(const opscope_guest_spec* given) {
  return guarded(-1, [&] {
    if (!given) throw Error("internal", "a case needs a specification");
    if (given->inputs < 0 || static_cast<size_t>(given->inputs) >= MAX_TENSORS || (given->inputs > 0 && !given->input)) throw Error("internal", "a case has 0 to 31 inputs, received " + std::to_string(given->inputs));
    if (given->dtype < 0 || given->dtype > 3) throw Error("internal", "dtype must be 0 (f32), 1 (f16), 2 (bf16) or 3 (tf32), received " + std::to_string(given->dtype));
    const auto storage = static_cast<int32_t>(storage_of(static_cast<Dtype>(given->dtype)));
    std::vector<opscope_guest_tensor> tensors;
    for (int i = 0; i < given->inputs; i++) tensors.push_back({given->input[i].elements, storage, 0, fill_of(given->input[i])});
    tensors.push_back({given->output_elements, storage, 1, {}});
    return open_case({given->cuda, given->device, given->dtype, given->threads, given->rotated, given->inputs + 1, tensors.data(), given->call});
  });
}

void opscope_guest_close(int handle) {
  succeeded([&] { cases.erase(handle); });
}

int opscope_guest_sets(int handle) {
  return guarded(-1, [&] { return at(handle).guest->sets(); });
}
void* opscope_guest_input_at(int handle, int set, int input) {
  return guarded<void*>(nullptr, [&] { return at(handle).guest->input_at(set, input); });
}
void* opscope_guest_outputs_at(int handle, int set, int output) {
  return guarded<void*>(nullptr, [&] { return at(handle).guest->output_at(set, output); });
}
void* opscope_guest_output_at(int handle, int set) { return opscope_guest_outputs_at(handle, set, 0); }
void* opscope_guest_stream(int handle) {
  return guarded<void*>(nullptr, [&] { return at(handle).guest->stream(); });
}
int64_t opscope_guest_bytes(int handle) {
  return guarded(int64_t{-1}, [&] { return at(handle).guest->prepared().case_bytes(); });
}
int64_t opscope_guest_delta_bytes(int handle) {
  return guarded(int64_t{-1}, [&] { return at(handle).guest->prepared().device_delta_bytes(); });
}
double opscope_guest_tick_ns(int handle) {
  return guarded(-1.0, [&] { return at(handle).guest->prepared().tick_ns(); });
}
double opscope_guest_callback_ns(int handle) {
  return guarded(-1.0, [&] { return at(handle).guest->callback_ns(); });
}

int opscope_guest_fill_again(int handle, const opscope_guest_fill* given) {
  return succeeded([&] {
    Open& open = at(handle);
    std::vector<Fill> fills;
    for (size_t i = 0; i < open.fills; i++) fills.push_back(fill_of(given[i]));
    open.guest->prepared().refill(fills);
  });
}
int opscope_guest_refill(int handle, const opscope_guest_input* inputs) {
  return succeeded([&] {
    Open& open = at(handle);
    std::vector<Fill> fills;
    for (size_t i = 0; i < open.fills; i++) fills.push_back(fill_of(fill_of(inputs[i])));
    open.guest->prepared().refill(fills);
  });
}
int opscope_guest_poison(int handle) {
  return succeeded([&] { at(handle).guest->prepared().poison(); });
}
int opscope_guest_run(int handle) {
  return succeeded([&] { at(handle).guest->run(); });
}
int opscope_guest_scan(int handle, int64_t* unwritten, int64_t* non_finite) {
  return guarded(-1, [&] {
    const std::vector<OutputScan> scans = at(handle).guest->prepared().scan();
    for (size_t i = 0; i < scans.size(); i++) {
      unwritten[i] = scans[i].unwritten;
      non_finite[i] = scans[i].non_finite;
    }
    return static_cast<int>(scans.size());
  });
}
int64_t opscope_guest_count_unwritten(int handle) {
  int64_t unwritten[MAX_TENSORS], non_finite[MAX_TENSORS];
  return opscope_guest_scan(handle, unwritten, non_finite) < 0 ? -1 : unwritten[0];
}
int opscope_guest_read_output(int handle, int output, int64_t start, int64_t count, void* destination) {
  return succeeded([&] {
    Open& open = at(handle);
    if (output < 0 || static_cast<size_t>(output) >= open.outputs.size()) throw Error("internal", "there is no output " + std::to_string(output));
    const int64_t elements = open.outputs[static_cast<size_t>(output)];
    if (start < 0 || count < 0 || start > elements - count)
      throw Error("internal", "read of elements " + std::to_string(start) + " + " + std::to_string(count) + " outside an output of " + std::to_string(elements));
    open.guest->prepared().read(static_cast<size_t>(output), start, count, destination);
  });
}
int opscope_guest_read(int handle, int64_t start, int64_t count, void* destination) { return opscope_guest_read_output(handle, 0, start, count, destination); }

int opscope_guest_sample(int handle, int mode, int count, int inner, double* ns, double* clock_mhz, double* probe_ns, double* host_call_ns, int* calls) {
  return guarded(-1, [&] {
    Open& open = at(handle);
    if (count < 1 || inner < 1) throw Error("internal", "samples need a count and an inner count of at least 1");
    const SampleBatch batch = open.guest->prepared().sample(mode_of(mode), count, inner);
    const size_t taken = std::min(batch.ns.size(), static_cast<size_t>(count));
    give(batch.ns, taken, ns);
    give(batch.clock_mhz, taken, clock_mhz);
    give(batch.probe_ns, taken, probe_ns);
    *host_call_ns = batch.host_call_ns;
    *calls = batch.inner;
    open.state = json_of(batch.state);
    return static_cast<int>(taken);
  });
}

const char* opscope_guest_state(int handle) {
  return guarded("{}", [&] { return at(handle).state.c_str(); });
}
