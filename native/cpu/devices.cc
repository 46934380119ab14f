// What the CPU backend offers here, and how a case is opened.
#include <algorithm>
#include <cstring>
#include <string>

#include "beside.h"
#include "clock.h"
#include "composite.h"
#include "cpu_case.h"
#include "isa.h"
#include "kernel_calls.h"
#include "libraries/libraries.h"
#include "part_calls.h"
#include "pressure.h"
#include "red_team.h"
#include "registry.h"
#include "topology.h"

namespace opscope::cpu {

namespace {

std::string one_decimal(double value) {
  std::string text = std::to_string(value);
  return text.substr(0, text.find('.') + 2);
}

// Powers of two up to the cores, which show how an operation scales; one thread for each core, and for each processor.
std::vector<int> thread_choices() {
  const Topology& t = topology();
  std::vector<int> out{t.physical, static_cast<int>(t.processors.size())};
  for (int threads = 1; threads < t.physical; threads *= 2) out.push_back(threads);
  out.push_back(1);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void describe(DeviceInfo& device) {
  const Topology& t = topology();
  const auto fact = [&](const std::string& name, const std::string& value) { device.facts.emplace_back(name, value); };
  fact("Physical cores", std::to_string(t.physical));
  fact("Logical processors", std::to_string(t.processors.size()));
  fact("Threads", placement_text(t));
  for (const Cache& cache : t.caches) {
    const std::string name = "L" + std::to_string(cache.level) + (cache.type == "Data" ? " data" : cache.type == "Instruction" ? " instruction" : "");
    fact(name + " cache", size_text(cache.bytes) + (cache.shared_by > 1 ? ", shared by " + std::to_string(cache.shared_by) : ", per core"));
  }
  for (const Cache& cache : t.caches)
    if (cache.type != "Instruction")
      device.caches.emplace_back("L" + std::to_string(cache.level) + (cache.type == "Data" ? "d" : ""), static_cast<double>(cache.bytes) * cache.instances);
  const ClockCost& cost = clock_cost();
  fact("Clock", "steady clock, tick " + one_decimal(cost.tick_ns) + " ns, reading " + one_decimal(cost.read_ns) + " ns (subtracted)");
  if (!t.governor.empty()) fact("Frequency governor", t.governor);
  device.disturbances = disturbances();
  device.virtual_machine = virtual_machine();
  if (const double quota = processor_quota(); quota > 0 && quota < static_cast<double>(t.processors.size()))
    device.warnings.push_back("The control group of this process gets " + one_decimal(quota) + " of " + std::to_string(t.processors.size()) +
                              " processors' time; teams of more threads are held up by that.");
  if (device.virtual_machine) device.warnings.push_back("This is a virtual machine: other guests may share its cores and caches and slow it down, and its clock speed cannot be read.");
  if (!t.llc_known) device.warnings.push_back("The size of the last-level cache cannot be read; cold samples assume " + size_text(t.llc_bytes) + ".");
  if (!t.governor.empty() && t.governor != "performance")
    device.warnings.push_back("The frequency governor is \"" + t.governor + "\"; with \"performance\" the figures vary less.");
}

const Kernel* find(const std::string& op, const std::string& isa) {
  for (const Entry& entry : all_kernels())
    if (entry.op == op && entry.isa == isa) return entry.kernel;
  return nullptr;
}

// The kernel of an implementation that can run here. Throws Error("unsupported") with the reason where there is none.
const Kernel* kernel_for(const std::string& op, const std::string& impl) {
  for (const Cheat& cheat : cheats())
    if (cheat.impl == impl && op == "add") return cheat.kernel;
  const auto isa = std::find_if(isas().begin(), isas().end(), [&](const Isa& candidate) { return candidate.id == impl; });
  if (isa == isas().end()) throw Error("unsupported", "no CPU implementation is called \"" + impl + "\"");
  if (!isa->available) throw Error("unsupported", isa->title + " cannot run here: " + isa->reason);
  const Kernel* kernel = find(op, impl);
  if (!kernel) throw Error("unsupported", "no " + isa->title + " kernel for " + op);
  return kernel;
}

Run run_for(const Kernel& kernel, Dtype dtype) {
  switch (dtype) {
    case Dtype::f32: return kernel.run.f32;
    case Dtype::f16: return kernel.run.f16;
    case Dtype::bf16:
      if (kernel.run.bf16_tiles && multiplies_bf16_tiles()) return kernel.run.bf16_tiles;
      return kernel.run.bf16_pairs && multiplies_bf16_pairs() ? kernel.run.bf16_pairs : kernel.run.bf16;
    case Dtype::i8: return kernel.run.i8;
    case Dtype::f8e4m3: return kernel.run.f8e4m3;
    default: return nullptr;
  }
}

std::vector<Dtype> dtypes_of(const Kernel& kernel) {
  std::vector<Dtype> list;
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::i8, Dtype::f8e4m3})
    if (run_for(kernel, dtype)) list.push_back(dtype);
  return list;
}

// What Kernel::tensors says of one tensor.
struct Expected {
  Storage storage;
  Role role;
};

std::vector<Expected> expected_of(const Kernel& kernel, const CaseSpec& spec) {
  constexpr std::string_view LETTERS = "fhbceiu";  // in the order of Storage
  const char* tensors = kernel.tensors;
  for (int skip = kernel.list ? kernel.list(spec.dims.data()) : 0; skip > 0; skip--) tensors = std::strchr(tensors, '|') + 1;
  std::vector<Expected> list;
  Role role = Role::in;
  for (const char* at = tensors; *at && *at != '|'; at++) {
    if (*at == '>' || *at == '=') {
      role = *at == '>' ? Role::out : Role::inout;
      continue;
    }
    list.push_back({*at == 't' ? storage_of(spec.dtype) : static_cast<Storage>(LETTERS.find(*at)), role});
    role = Role::in;
  }
  return list;
}

// Nothing that came from outside may make a kernel touch memory it does not own.
void check(const CaseSpec& spec, const Kernel& kernel) {
  const auto refuse = [](const std::string& what) { throw Error("internal", "malformed case: " + what); };
  const auto dims = static_cast<int>(spec.dims.size());
  if (dims < kernel.dims_least || dims > kernel.dims_most)
    refuse("expected " + std::to_string(kernel.dims_least) + (kernel.dims_most > kernel.dims_least ? " to " + std::to_string(kernel.dims_most) : "") + " dims, received " + std::to_string(dims));
  for (int64_t d : spec.dims)
    if (d < 0 || d > MAX_ELEMENTS) refuse("dim " + std::to_string(d) + " is outside 0 .. 2^40");
  if (spec.scalars.size() != static_cast<size_t>(kernel.scalars))
    refuse("expected " + std::to_string(kernel.scalars) + " scalars, received " + std::to_string(spec.scalars.size()));
  int64_t sizes[MAX_TENSORS] = {};
  if (!kernel.shape(spec.dims.data(), dims, sizes)) refuse("the dims contradict each other");
  const std::vector<Expected> expected = expected_of(kernel, spec);
  if (spec.tensors.size() != expected.size()) refuse("expected " + std::to_string(expected.size()) + " tensors, received " + std::to_string(spec.tensors.size()));
  for (size_t i = 0; i < expected.size(); i++) {
    const TensorDesc& given = spec.tensors[i];
    if (given.storage != expected[i].storage || given.role != expected[i].role) refuse(given.name + " has another storage type or role than the kernel's tensor " + std::to_string(i));
    if (sizes[i] != given.elements || given.elements < 1 || given.elements > MAX_ELEMENTS)
      refuse(given.name + " should have " + std::to_string(sizes[i]) + " elements, received " + std::to_string(given.elements));
  }
}

// A kernel that can run the case, and its function for the dtype. Throws Error where there is none, or where the case is none of its operation.
std::pair<const Kernel*, Run> checked(const CaseSpec& spec, const std::string& impl) {
  const Kernel* kernel = kernel_for(spec.op, impl);
  const Run run = run_for(*kernel, spec.dtype);
  if (!run) throw Error("unsupported", "the CPU kernel for " + spec.op + " does not compute in the dtype asked for");
  check(spec, *kernel);
  return {kernel, run};
}

std::unique_ptr<Calls> calls_of_parts(const CaseSpec& spec) {
  check_parts(spec);
  std::vector<Part> parts;
  for (const PartSpec& part : spec.parts) {
    const auto [kernel, run] = checked(case_of(spec, part), spec.impl);
    parts.push_back({part, kernel, run});
  }
  return std::make_unique<PartCalls>(spec, std::move(parts));
}

}  // namespace

std::vector<DeviceInfo> devices() {
  DeviceInfo device;
  device.backend = "cpu";
  device.id = "cpu";
  device.name = brand();
  device.modes = {Mode::cold, Mode::hot, Mode::rotated};
  device.threads = thread_choices();
  device.memory_bytes = 0.8 * static_cast<double>(available_memory());  // the rest is the system's and the app's
  for (const Isa& isa : isas()) {
    ImplInfo impl;
    impl.id = isa.id;
    impl.title = isa.title;
    impl.available = isa.available;
    impl.joins = true;
    impl.reason = isa.reason;
    for (const Entry& entry : all_kernels())
      if (std::vector<Dtype> dtypes = dtypes_of(*entry.kernel); entry.isa == isa.id && !dtypes.empty()) impl.kernels.push_back({std::string(entry.op), std::move(dtypes)});
    device.impls.push_back(std::move(impl));
  }
  const auto best = std::find_if(device.impls.rbegin(), device.impls.rend(), [](const ImplInfo& impl) { return impl.available; });
  if (best != device.impls.rend()) best->preferred = true;
  for (ImplInfo& impl : library_impls()) device.impls.push_back(std::move(impl));
  for (const Cheat& cheat : cheats()) {
    ImplInfo impl;
    impl.id = cheat.impl;
    impl.title = cheat.title;
    impl.kernels = {{"add", {Dtype::f32}}};
    device.impls.push_back(std::move(impl));
  }
  describe(device);
  return {device};
}

std::unique_ptr<Prepared> open(const CaseSpec& spec) { return open_beside(spec, nullptr); }

std::unique_ptr<Prepared> open_beside(const CaseSpec& spec, const Prepared* other) {
  if (spec.device != 0) throw Error("unsupported", "there is one CPU device; received number " + std::to_string(spec.device));
  if (spec.threads < 1 || spec.threads > 4096) throw Error("internal", "threads must be 1 .. 4096, received " + std::to_string(spec.threads));
  const auto* beside = dynamic_cast<const CpuCase*>(other);
  if (!spec.parts.empty()) return std::make_unique<CpuCase>(spec, calls_of_parts(spec), beside);
  const bool library = is_library(spec.impl);
  // Our scalar kernel says what tensors an operation has, whoever computes it.
  const auto [kernel, run] = checked(spec, library ? "scalar" : spec.impl);
  if (library) {
    const std::vector<ImplInfo> impls = library_impls();
    const auto impl = std::find_if(impls.begin(), impls.end(), [&](const ImplInfo& one) { return one.id == spec.impl; });
    const auto offered = std::find_if(impl->kernels.begin(), impl->kernels.end(), [&](const KernelInfo& one) { return one.op == spec.op; });
    if (offered == impl->kernels.end() || std::find(offered->dtypes.begin(), offered->dtypes.end(), spec.dtype) == offered->dtypes.end())
      throw Error("unsupported", why_not_called(*impl, spec));
    return std::make_unique<CpuCase>(spec, library_calls(spec), beside);
  }
  return std::make_unique<CpuCase>(spec, std::make_unique<KernelCalls>(spec, *kernel, run), beside);
}

}  // namespace opscope::cpu
