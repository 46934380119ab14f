#include "convert.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

namespace opscope {

namespace {

constexpr size_t MAX_TEXT = 200;

// Names of an enumeration's values, in their order.
constexpr const char* DTYPES[] = {"f32", "f16", "bf16", "tf32", "i8", "f8e4m3"};
constexpr const char* STORAGES[] = {"f32", "f16", "bf16", "i8", "f8e4m3", "i32", "u8"};
constexpr const char* ROLES[] = {"in", "out", "inout"};
constexpr const char* MODES[] = {"cold", "hot", "rotated", "graph"};
constexpr int64_t FILL_KINDS = 6;

const char* name_of(Dtype dtype) { return DTYPES[static_cast<size_t>(dtype)]; }
const char* name_of(Mode mode) { return MODES[static_cast<size_t>(mode)]; }

template <class Enum, size_t N>
Enum to_enum(const Napi::Value& value, const char* what, const char* const (&names)[N]) {
  const std::string text = to_text(value, what);
  std::string expected;
  for (size_t i = 0; i < N; i++) {
    if (text == names[i]) return static_cast<Enum>(i);
    expected += (i == 0 ? "" : i + 1 == N ? " or " : ", ") + std::string(names[i]);
  }
  throw Error("internal", std::string(what) + ": expected " + expected + ", received \"" + text + "\"");
}

Napi::Object to_object(const Napi::Value& value, const char* name) {
  if (!value.IsObject()) throw Error("internal", std::string(name) + ": expected an object");
  return value.As<Napi::Object>();
}

Napi::Array to_array(const Napi::Value& value, const char* name, uint32_t longest) {
  if (!value.IsArray()) throw Error("internal", std::string(name) + ": expected an array");
  const auto array = value.As<Napi::Array>();
  if (array.Length() > longest) throw Error("internal", std::string(name) + ": expected at most " + std::to_string(longest) + " entries");
  return array;
}

double to_finite(const Napi::Value& value, const char* name) {
  if (!value.IsNumber() || !std::isfinite(value.As<Napi::Number>().DoubleValue())) throw Error("internal", std::string(name) + ": expected a finite number");
  return value.As<Napi::Number>().DoubleValue();
}

Fill to_fill(const Napi::Value& value) {
  const Napi::Object object = to_object(value, "fill");
  Fill fill;
  fill.kind = static_cast<FillKind>(to_integer(object.Get("kind"), "fill.kind", 0, FILL_KINDS - 1));
  fill.factor = static_cast<float>(to_finite(object.Get("factor"), "fill.factor"));
  fill.key0 = static_cast<uint32_t>(to_integer(object.Get("key0"), "fill.key0", 0, UINT32_MAX));
  fill.key1 = static_cast<uint32_t>(to_integer(object.Get("key1"), "fill.key1", 0, UINT32_MAX));
  fill.low = static_cast<int32_t>(to_integer(object.Get("low"), "fill.low", INT32_MIN, INT32_MAX));
  const bool counts = fill.kind == FillKind::integers || fill.kind == FillKind::permutation;
  fill.below = static_cast<uint32_t>(to_integer(object.Get("below"), "fill.below", counts ? 1 : 0, UINT32_MAX));
  return fill;
}

// Without its fill.
TensorDesc to_bare_tensor(const Napi::Object& object) {
  TensorDesc tensor;
  tensor.name = to_text(object.Get("name"), "tensor.name");
  tensor.elements = to_integer(object.Get("elements"), "tensor.elements", 1, MAX_ELEMENTS);
  tensor.storage = to_enum<Storage>(object.Get("storage"), "tensor.storage", STORAGES);
  tensor.role = to_enum<Role>(object.Get("role"), "tensor.role", ROLES);
  return tensor;
}

TensorDesc to_tensor(const Napi::Value& value) {
  const Napi::Object object = to_object(value, "tensor");
  TensorDesc tensor = to_bare_tensor(object);
  const Napi::Value fill = object.Get("fill");
  tensor.has_fill = !fill.IsUndefined();
  if (tensor.has_fill != (tensor.role != Role::out))
    throw Error("internal", "tensor " + tensor.name + ": expected " + (tensor.has_fill ? "no fill, for a call writes it" : "a fill, for a call reads it"));
  if (tensor.has_fill) tensor.fill = to_fill(fill);
  return tensor;
}

std::vector<int64_t> to_dims(const Napi::Value& value) {
  const Napi::Array list = to_array(value, "dims", MAX_DIMS);
  std::vector<int64_t> dims;
  for (uint32_t i = 0; i < list.Length(); i++) dims.push_back(to_integer(list.Get(i), "dim", 0, MAX_ELEMENTS));
  return dims;
}

std::vector<double> to_scalars(const Napi::Value& value) {
  const Napi::Array list = to_array(value, "scalars", MAX_SCALARS);
  std::vector<double> scalars;
  for (uint32_t i = 0; i < list.Length(); i++) scalars.push_back(to_finite(list.Get(i), "scalar"));
  return scalars;
}

PartSpec to_part(const Napi::Value& value) {
  const Napi::Object object = to_object(value, "part");
  PartSpec part;
  part.name = to_text(object.Get("name"), "part.name");
  part.op = to_text(object.Get("op"), "part.op");
  part.dims = to_dims(object.Get("dims"));
  part.scalars = to_scalars(object.Get("scalars"));
  const Napi::Array tensors = to_array(object.Get("tensors"), "part.tensors", MAX_TENSORS);
  for (uint32_t i = 0; i < tensors.Length(); i++) {
    const Napi::Object tensor = to_object(tensors.Get(i), "part.tensor");
    part.tensors.push_back(to_bare_tensor(tensor));
    part.buffers.push_back(static_cast<size_t>(to_integer(tensor.Get("buffer"), "part.tensor.buffer", 0, MAX_TENSORS + MAX_SCRATCH - 1)));
  }
  return part;
}

Napi::Float64Array to_js(Napi::Env env, const std::vector<double>& values) {
  Napi::Float64Array array = Napi::Float64Array::New(env, values.size());
  if (!values.empty()) std::memcpy(array.Data(), values.data(), values.size() * sizeof(double));
  return array;
}

Napi::Object availability(Napi::Env env, bool ok, const std::string& reason) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("ok", ok);
  if (!ok) object.Set("reason", reason);
  return object;
}

Napi::Object to_js(Napi::Env env, const ImplInfo& impl) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("id", impl.id);
  object.Set("title", impl.title);
  object.Set("available", availability(env, impl.available, impl.reason));
  object.Set("preferred", impl.preferred);
  if (impl.joins) object.Set("joins", true);
  Napi::Object kernels = Napi::Object::New(env);
  for (const KernelInfo& kernel : impl.kernels) {
    Napi::Array dtypes = Napi::Array::New(env);
    for (Dtype dtype : kernel.dtypes) dtypes.Set(dtypes.Length(), name_of(dtype));
    kernels.Set(kernel.op, dtypes);
  }
  object.Set("kernels", kernels);
  return object;
}

}  // namespace

int64_t to_integer(const Napi::Value& value, const char* name, int64_t low, int64_t high) {
  const std::string expected = std::string(name) + ": expected a whole number from " + std::to_string(low) + " to " + std::to_string(high);
  if (!value.IsNumber()) throw Error("internal", expected);
  const double number = value.As<Napi::Number>().DoubleValue();
  if (!(number >= static_cast<double>(low) && number <= static_cast<double>(high)) || number != std::floor(number))
    throw Error("internal", expected + ", received " + std::to_string(number));
  return static_cast<int64_t>(number);
}

std::string to_text(const Napi::Value& value, const char* name) {
  if (!value.IsString()) throw Error("internal", std::string(name) + ": expected text");
  std::string text = value.As<Napi::String>().Utf8Value();
  if (text.empty() || text.size() > MAX_TEXT) throw Error("internal", std::string(name) + ": expected 1 to " + std::to_string(MAX_TEXT) + " bytes of text");
  return text;
}

std::string text_argument(const Napi::CallbackInfo& info, size_t index, const char* name) { return to_text(info[index], name); }

Mode to_mode(const Napi::Value& value) { return to_enum<Mode>(value, "mode", MODES); }

std::vector<Fill> to_fills(const Napi::Value& value, size_t count) {
  const Napi::Array list = to_array(value, "fills", MAX_TENSORS);
  if (list.Length() != count) throw Error("internal", "fills: expected " + std::to_string(count) + ", received " + std::to_string(list.Length()));
  std::vector<Fill> fills;
  for (uint32_t i = 0; i < list.Length(); i++) fills.push_back(to_fill(list.Get(i)));
  return fills;
}

OpenRequest to_request(const Napi::Value& value) {
  const Napi::Object object = to_object(value, "case");
  OpenRequest request;
  request.backend = to_text(object.Get("backend"), "backend");
  CaseSpec& spec = request.spec;
  spec.op = to_text(object.Get("op"), "op");
  spec.impl = to_text(object.Get("impl"), "impl");
  spec.device = static_cast<int>(to_integer(object.Get("device"), "device", 0, 1023));
  spec.dtype = to_enum<Dtype>(object.Get("dtype"), "dtype", DTYPES);
  const Napi::Value threads = object.Get("threads");
  if (!threads.IsUndefined()) spec.threads = static_cast<int>(to_integer(threads, "threads", 1, 4096));
  const Napi::Value rotated = object.Get("rotated");
  if (!rotated.IsUndefined() && !rotated.IsBoolean()) throw Error("internal", "rotated: expected a boolean");
  spec.rotated = rotated.IsBoolean() && rotated.As<Napi::Boolean>().Value();
  spec.dims = to_dims(object.Get("dims"));
  spec.scalars = to_scalars(object.Get("scalars"));
  const Napi::Array tensors = to_array(object.Get("tensors"), "tensors", MAX_TENSORS);
  for (uint32_t i = 0; i < tensors.Length(); i++) spec.tensors.push_back(to_tensor(tensors.Get(i)));
  if (std::all_of(spec.tensors.begin(), spec.tensors.end(), [](const TensorDesc& tensor) { return tensor.role == Role::in; })) throw Error("internal", "tensors: expected at least one output");
  const Napi::Value parts = object.Get("parts");
  if (parts.IsUndefined()) return request;
  const Napi::Array list = to_array(parts, "parts", MAX_PARTS), scratch = to_array(object.Get("scratchBytes"), "scratchBytes", MAX_SCRATCH);
  for (uint32_t i = 0; i < list.Length(); i++) spec.parts.push_back(to_part(list.Get(i)));
  // Whole elements of every storage type.
  for (uint32_t i = 0; i < scratch.Length(); i++) spec.scratch_bytes.push_back(to_integer(scratch.Get(i), "scratchBytes", 16, 4 * MAX_ELEMENTS) / 16 * 16);
  return request;
}

Napi::Array to_js(Napi::Env env, const std::vector<std::string>& list) {
  Napi::Array array = Napi::Array::New(env);
  for (const std::string& text : list) array.Set(array.Length(), text);
  return array;
}

Napi::Object to_js(Napi::Env env, const DeviceInfo& device) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("backend", device.backend);
  object.Set("id", device.id);
  object.Set("name", device.name);
  object.Set("available", availability(env, device.available, device.reason));
  Napi::Array impls = Napi::Array::New(env), modes = Napi::Array::New(env), threads = Napi::Array::New(env), facts = Napi::Array::New(env);
  for (const ImplInfo& impl : device.impls) impls.Set(impls.Length(), to_js(env, impl));
  for (Mode mode : device.modes) modes.Set(modes.Length(), name_of(mode));
  for (int n : device.threads) threads.Set(threads.Length(), n);
  for (const auto& [name, value] : device.facts) {
    Napi::Object fact = Napi::Object::New(env);
    fact.Set("name", name);
    fact.Set("value", value);
    facts.Set(facts.Length(), fact);
  }
  object.Set("impls", impls);
  object.Set("modes", modes);
  object.Set("threads", threads);
  object.Set("memoryBytes", device.memory_bytes);
  if (device.max_tensor_bytes > 0) object.Set("maxTensorBytes", device.max_tensor_bytes);
  object.Set("software", false);
  if (!device.driver.empty()) object.Set("driver", device.driver);
  if (!device.caches.empty()) {
    Napi::Array caches = Napi::Array::New(env);
    for (const auto& [name, bytes] : device.caches) {
      Napi::Object cache = Napi::Object::New(env);
      cache.Set("name", name);
      cache.Set("bytes", bytes);
      caches.Set(caches.Length(), cache);
    }
    object.Set("caches", caches);
  }
  if (device.virtual_machine) object.Set("virtual", true);
  if (!device.disturbances.empty()) object.Set("disturbances", to_js(env, device.disturbances));
  object.Set("facts", facts);
  object.Set("warnings", to_js(env, device.warnings));
  return object;
}

Napi::Object to_js(Napi::Env env, const SampleBatch& batch) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("samplesNs", to_js(env, batch.ns));
  object.Set("inner", batch.inner);
  if (!batch.clock_mhz.empty()) object.Set("clockMhz", to_js(env, batch.clock_mhz));
  if (!batch.probe_ns.empty()) object.Set("probeNs", to_js(env, batch.probe_ns));
  if (!std::isnan(batch.host_call_ns)) object.Set("hostCallNs", batch.host_call_ns);
  Napi::Object state = Napi::Object::New(env);
  const auto reading = [&](const char* name, double value) {
    if (std::isfinite(value)) state.Set(name, value);
  };
  reading("smClockMhz", batch.state.sm_clock_mhz);
  reading("memClockMhz", batch.state.mem_clock_mhz);
  reading("temperatureC", batch.state.temperature_c);
  reading("powerW", batch.state.power_w);
  reading("energyJ", batch.state.energy_j);
  if (batch.state.has_throttle) state.Set("throttle", to_js(env, batch.state.throttle));
  if (batch.state.foreign_processes >= 0) state.Set("foreignProcesses", batch.state.foreign_processes);
  if (batch.state.involuntary_switches >= 0) state.Set("involuntarySwitches", static_cast<double>(batch.state.involuntary_switches));
  reading("stealMs", batch.state.steal_ms);
  reading("probeBestNs", batch.state.probe_best_ns);
  object.Set("state", state);
  return object;
}

Napi::Array to_js(Napi::Env env, const std::vector<OutputScan>& outputs) {
  Napi::Array array = Napi::Array::New(env);
  for (const OutputScan& output : outputs) {
    Napi::Object object = Napi::Object::New(env);
    object.Set("unwritten", static_cast<double>(output.unwritten));
    if (output.non_finite >= 0) object.Set("nonFinite", static_cast<double>(output.non_finite));
    array.Set(array.Length(), object);
  }
  return array;
}

Napi::Array to_js(Napi::Env env, const std::vector<LaunchInfo>& launches) {
  Napi::Array array = Napi::Array::New(env);
  for (const LaunchInfo& launch : launches) {
    Napi::Object object = Napi::Object::New(env);
    const auto known = [&](const char* name, double value) {
      if (value >= 0) object.Set(name, value);
    };
    Napi::Array grid = Napi::Array::New(env);
    for (const int64_t blocks : launch.blocks) grid.Set(grid.Length(), static_cast<double>(blocks));
    object.Set("kernel", launch.kernel);
    object.Set("grid", grid);
    object.Set("threads", launch.threads);
    if (!launch.part.empty()) object.Set("part", launch.part);
    if (launch.cluster > 1) object.Set("cluster", launch.cluster);
    known("registers", launch.registers);
    known("sharedBytes", static_cast<double>(launch.shared_bytes));
    known("localBytes", static_cast<double>(launch.local_bytes));
    known("blocksPerSm", launch.blocks_per_sm);
    known("occupancy", launch.occupancy);
    known("waves", launch.waves);
    array.Set(array.Length(), object);
  }
  return array;
}

Napi::Object to_js(Napi::Env env, const CallCounts& counts) {
  Napi::Object object = Napi::Object::New(env);
  if (!counts.reason.empty()) object.Set("reason", counts.reason);
  const auto known = [&](const char* name, double value) {
    if (value >= 0) object.Set(name, value);
  };
  known("instructions", counts.instructions);
  known("cycles", counts.cycles);
  known("l1Reads", counts.l1_reads);
  known("l1Misses", counts.l1_misses);
  known("llcReads", counts.llc_reads);
  known("llcMisses", counts.llc_misses);
  return object;
}

void throw_js(Napi::Env env, const std::string& code, const std::string& message, const std::string& detail) {
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("code", Napi::String::New(env, code));
  if (!detail.empty()) error.Set("detail", Napi::String::New(env, detail));
  throw error;
}

}  // namespace opscope
