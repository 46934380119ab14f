// Guard bands of a case, and what is said of kernels that fail, on a driver whose device memory is the host's. Needs no GPU:
//   cmake --build native/build --target opscope_cuda_case_test && native/build/opscope_cuda_case_test
#include <cstdio>
#include <string>

#include "cuda_case.h"
#include "host_driver.h"

using namespace opscope;
using namespace opscope::cuda;

namespace {

int failed = 0;

void expect(bool right, const std::string& what) {
  std::printf("%s: %s\n", what.c_str(), right ? "right" : "WRONG");
  failed += !right;
}

// 1001 elements end off every vector and page.
CaseSpec addition() {
  CaseSpec spec;
  spec.op = "add";
  for (const auto& [name, role] : {std::pair{"x", Role::in}, {"y", Role::in}, {"out", Role::out}}) {
    TensorDesc& tensor = spec.tensors.emplace_back();
    tensor.name = name, tensor.elements = 1001, tensor.role = role;
  }
  return spec;
}

constexpr int64_t workspace_bytes = 100;
CUdeviceptr workspace = 0;

void plan(Planner& planner) {
  planner.workspace(4);
  workspace = planner.workspace(workspace_bytes);
  planner.launch(planner.kernel_in("service", "empty"), {3}, 64, 0, planner.input(0));
  planner.launch(planner.kernel_in("service", "drain"), {5}, 128, 0, planner.output());
}

// What a kernel that writes one byte at `place` comes to.
std::string said_of(CudaCase& one, CUdeviceptr place) {
  host_driver.kernel = [&](const std::string& kernel, void**) {
    if (kernel == "empty") *reinterpret_cast<unsigned char*>(place) = 0;
  };
  std::string said;
  try {
    one.run();
    one.scan();
  } catch (const Error& e) {
    said = e.code + ": " + e.what();
  }
  host_driver.kernel = {};
  return said;
}

void bands() {
  const CaseSpec spec = addition();
  const auto broken = [&](const auto& place_in) {
    CudaCase one(spec, plan, Context::of(0));
    return said_of(one, place_in(one));
  };
  const auto tensor = [](size_t i, int64_t offset) { return [=](const CudaCase& one) { return one.sets()[0]->tensors()[i].address() + static_cast<CUdeviceptr>(offset); }; };
  const int64_t bytes = 4 * 1001;
  expect(broken(tensor(0, 0)).empty() && broken(tensor(2, bytes - 1)).empty(), "a write into a tensor is none beside it");
  expect(broken(tensor(1, -1)) == "kernel-failed: The kernel wrote outside y: 1 bytes next to it changed.", "a write just before an input");
  expect(broken(tensor(0, bytes)) == "kernel-failed: The kernel wrote outside x: 1 bytes next to it changed.", "a write just behind an input");
  expect(!broken(tensor(0, -guard_bytes)).empty() && !broken(tensor(0, bytes + guard_bytes - 1)).empty(), "a write at the ends of the bands");
  expect(!broken(tensor(2, -1)).empty() && !broken(tensor(2, bytes)).empty(), "a write beside an output");
  expect(broken([](const CudaCase&) { return workspace + workspace_bytes - 1; }).empty(), "a write into a workspace is none beside it");
  expect(broken([](const CudaCase&) { return workspace + workspace_bytes; }) == "kernel-failed: The kernel wrote outside workspace 2 of 2: 1 bytes next to it changed.", "a write just behind a workspace");
  expect(!broken([](const CudaCase&) { return workspace - 1; }).empty(), "a write just before a workspace");
  CudaCase one(spec, plan, Context::of(0));
  one.poison();
  expect(one.case_bytes() <= spec.tensors.size() * 4 * 1001 + workspace_bytes + 5 * (2 * guard_bytes + 256), "bands take 2 KiB each");
  bool aligned = workspace % 256 == 0;
  for (const Tensor& each : one.sets()[0]->tensors()) aligned = aligned && each.address() % 256 == 0;
  expect(aligned && reinterpret_cast<unsigned char*>(workspace)[workspace_bytes - 1] == 0, "addresses are aligned and a workspace is zeroed");
}

void faults() {
  CudaCase one(addition(), plan, Context::of(0));
  constexpr int illegal_address = 700;
  std::string said;
  host_driver.waiting = illegal_address;
  try {
    one.sample(Mode::hot, 3, 2);
  } catch (const Error& e) {
    said = e.code + ": " + e.what();
  }
  host_driver.waiting = 0;
  expect(said.find("kernel-failed: ") == 0 && said.find(" It was one of the 2 launches of add: 1. empty, 3 blocks of 64 threads; 2. drain, 5 blocks of 128 threads.") != std::string::npos, "a fault while timing names the launches");
  expect(one.sample(Mode::hot, 3, 2).ns.size() == 3, "calls that do not fail are timed");
}

// A composite case with two scratch buffers, whose plan launches one kernel for a part.
void composites() {
  CaseSpec spec = addition();
  spec.scratch_bytes = {1600, 16};
  const auto joined = [](Planner& planner) { planner.launch(planner.kernel_in("service", "empty"), {2}, 64, 0, planner.input(0)).set_part("norm"); };
  CudaCase one(spec, joined, Context::of(0));
  const BufferSet& set = *one.sets()[0];
  expect(set.tensors().size() == 5 && set.outputs() == 1 && set.tensor_bytes() == 3 * 4 * 1001 && one.case_bytes() >= 3 * 4 * 1001 + 1616, "scratch buffers are counted in what a case takes, and not in what a call moves");
  one.poison();
  expect(*reinterpret_cast<const uint32_t*>(set.tensors()[3].address()) == 0x7b7b7b7b && *reinterpret_cast<const uint32_t*>(set.tensors()[2].address()) == sentinel_of(Storage::f32), "scratch buffers are poisoned with the outputs");
  expect(said_of(one, set.tensors()[3].address() + 1600) == "kernel-failed: The kernel wrote outside scratch buffer 1 of 2: 1 bytes next to it changed.", "a write beside a scratch buffer");
  std::string said;
  host_driver.waiting = 700;
  try {
    one.sample(Mode::hot, 3, 2);
  } catch (const Error& e) {
    said = e.what();
  }
  host_driver.waiting = 0;
  expect(said.find(" It was empty of add, part norm, launch 1 of 1: 2 blocks of 64 threads.") != std::string::npos, "a fault names the part");
}

}  // namespace

int main() {
  if (!api().missing.empty()) return std::printf("%s\n", api().missing.c_str()), 1;
  bands();
  faults();
  composites();
  return failed ? 1 : 0;
}
