// Cases of the CPU backend over standard input and output, so that a build that no Node can load (another processor, sanitizers) is
// checked by the conformance tests of the addon (test/conformance/piped.ts). A line in, a line out: `ok ...` or `error code message`;
// elements that were read follow `ok bytes` on a line of their own.
// Names of types are their numbers, in the order of prepared.h.
#include "serve.h"

#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "prepared.h"

namespace opscope {

namespace {

template <class T>
T next() {
  T value{};
  if (!(std::cin >> value)) throw Error("internal", "malformed request");
  return value;
}

// `count` of them, where the request says how many first.
template <class T>
std::vector<T> next_list() {
  std::vector<T> list(next<size_t>());
  for (T& value : list) value = next<T>();
  return list;
}

// Doubles through text of their own: a stream refuses those too small for a normal number.
double next_number() { return std::stod(next<std::string>()); }

Fill next_fill() {
  Fill fill;
  fill.kind = static_cast<FillKind>(next<int>());
  fill.factor = static_cast<float>(next_number());
  fill.key0 = next<uint32_t>();
  fill.key1 = next<uint32_t>();
  fill.low = next<int32_t>();
  fill.below = next<uint32_t>();
  return fill;
}

std::vector<double> next_scalars() {
  std::vector<double> scalars(next<size_t>());
  for (double& scalar : scalars) scalar = next_number();
  return scalars;
}

// Without its fill.
TensorDesc next_tensor() {
  TensorDesc tensor;
  tensor.name = next<std::string>();
  tensor.elements = next<int64_t>();
  tensor.storage = static_cast<Storage>(next<int>());
  tensor.role = static_cast<Role>(next<int>());
  return tensor;
}

PartSpec next_part() {
  PartSpec part;
  part.name = next<std::string>();
  part.op = next<std::string>();
  part.dims = next_list<int64_t>();
  part.scalars = next_scalars();
  part.tensors.resize(next<size_t>());
  for (TensorDesc& tensor : part.tensors) {
    tensor = next_tensor();
    part.buffers.push_back(next<size_t>());
  }
  return part;
}

CaseSpec next_spec() {
  CaseSpec spec;
  spec.op = next<std::string>();
  spec.impl = next<std::string>();
  spec.dtype = static_cast<Dtype>(next<int>());
  spec.threads = next<int>();
  spec.dims = next_list<int64_t>();
  spec.scalars = next_scalars();
  spec.tensors.resize(next<size_t>());
  for (TensorDesc& tensor : spec.tensors) {
    tensor = next_tensor();
    tensor.has_fill = tensor.role != Role::out;
    if (tensor.has_fill) tensor.fill = next_fill();
  }
  spec.scratch_bytes = next_list<int64_t>();
  spec.parts.resize(next<size_t>());
  for (PartSpec& part : spec.parts) part = next_part();
  return spec;
}

// `threads n..`, then of every implementation with kernels `impl id count`, and of every kernel `op count dtypes..`.
void describe(const DeviceInfo& device) {
  std::cout << "ok " << device.threads.size();
  for (const int threads : device.threads) std::cout << ' ' << threads;
  for (const ImplInfo& impl : device.impls) {
    if (!impl.available || impl.kernels.empty()) continue;
    std::cout << ' ' << impl.id << ' ' << impl.kernels.size();
    for (const KernelInfo& kernel : impl.kernels) {
      std::cout << ' ' << kernel.op << ' ' << kernel.dtypes.size();
      for (const Dtype dtype : kernel.dtypes) std::cout << ' ' << static_cast<int>(dtype);
    }
  }
}

struct Open {
  CaseSpec spec;
  std::unique_ptr<Prepared> prepared;
};

Prepared& opened(Open& open) {
  if (!open.prepared) throw Error("internal", "no case is open");
  return *open.prepared;
}

void answer(const std::string& request, Open& open) {
  if (request == "devices") return describe(cpu::devices().at(0));
  if (request == "open") {
    open = {next_spec(), nullptr};
    open.prepared = cpu::open(open.spec);
    std::cout << "ok " << open.prepared->case_bytes();
    return;
  }
  if (request == "close") {
    open.prepared.reset();
  } else if (request == "refill") {
    std::vector<Fill> fills(next<size_t>());
    for (Fill& fill : fills) fill = next_fill();
    opened(open).refill(fills);
  } else if (request == "poison") {
    opened(open).poison();
  } else if (request == "run") {
    opened(open).run();
  } else if (request == "scan") {
    std::cout << "ok";
    for (const OutputScan& scan : opened(open).scan()) std::cout << ' ' << scan.unwritten << ' ' << scan.non_finite;
    return;
  } else if (request == "read") {
    const auto output = next<size_t>();
    const auto start = next<int64_t>(), count = next<int64_t>();
    size_t index = 0, written = 0;
    while (index < open.spec.tensors.size() && (open.spec.tensors[index].role == Role::in || written++ != output)) index++;
    if (index == open.spec.tensors.size() || count < 0 || count > open.spec.tensors[index].elements) throw Error("internal", "malformed request");
    std::vector<char> bytes(static_cast<size_t>(count) * storage_bytes(open.spec.tensors[index].storage));
    opened(open).read(output, start, count, bytes.data());
    std::cout << "ok " << bytes.size() << '\n';
    std::cout.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return;
  } else {
    throw Error("internal", "unknown request " + request);
  }
  std::cout << "ok";
}

}  // namespace

int serve() {
  std::ios::sync_with_stdio(false);
  Open open;
  for (std::string request; std::cin >> request;) {
    try {
      answer(request, open);
    } catch (const Error& error) {
      std::cout << "error " << error.code << ' ' << error.what();
    }
    std::cout << std::endl;
  }
  return 0;
}

}  // namespace opscope
