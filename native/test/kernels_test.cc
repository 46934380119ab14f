// Runs every kernel on every usable instruction set with several team sizes, through the same interface as the addon.
// Made for sanitizers, where Node gets in the way:
//   cmake -S native -B /tmp/tsan -G Ninja -DOPSCOPE_WITH_CUDA=OFF -DCMAKE_CXX_FLAGS=-fsanitize=thread
//   ninja -C /tmp/tsan opscope_native_test && /tmp/tsan/opscope_native_test
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "isa.h"
#include "registry.h"

#include "prepared.h"
#include "topology.h"

using namespace opscope;

namespace {

using Dims = std::vector<int64_t>;

// A few sizes for every number of dims; the kernel's own shape function says how large the tensors are.
std::vector<Dims> sizes(int dims) {
  if (dims == 1) return {{1}, {15}, {4099}, {100003}};
  if (dims == 2) return {{1, 1}, {2, 9001}, {67, 129}, {33, 1024}};
  if (dims == 3) return {{1, 50021, 1}, {61, 127, 1}, {1, 77, 1030}, {2, 1000, 3}, {9, 5, 7}};
  return {{1, 1, 1, 1, 0, 0}, {1, 61, 131, 270, 0, 0}, {1, 7, 300, 33, 1, 1}, {5, 20, 33, 17, 1, 0}, {2, 50, 40, 300, 0, 1}};
}

std::string check(const cpu::Entry& entry, const Dims& dims, int threads) {
  const cpu::Kernel& kernel = *entry.kernel;
  int64_t elements[5] = {};
  kernel.shape(dims.data(), elements);
  CaseSpec spec;
  spec.op = entry.op;
  spec.impl = entry.isa;
  spec.threads = threads;
  spec.dims = dims;
  for (int i = 0; i < kernel.inputs; i++) spec.inputs.push_back({elements[i], {false, 1e-5f, 11u + static_cast<uint32_t>(i), 7u}});
  spec.output_elements = elements[kernel.inputs];
  auto prepared = cpu::open(spec);
  if (prepared->count_unwritten() != spec.output_elements) return "the output was not poisoned";
  std::vector<float> first(static_cast<size_t>(spec.output_elements)), again(first);
  prepared->run();
  prepared->read(0, spec.output_elements, first.data());
  prepared->poison();
  prepared->sample(Mode::hot, 3, 2);
  if (prepared->count_unwritten() != 0) return "elements were never written";
  prepared->read(0, spec.output_elements, again.data());
  if (first != again) return "a second run gave other values";
  std::vector<Fill> fills;
  for (const InputDesc& input : spec.inputs) fills.push_back({input.fill.positive, input.fill.factor, input.fill.key0 + 5, input.fill.key1});
  prepared->refill(fills);
  prepared->poison();
  prepared->run();
  prepared->read(0, spec.output_elements, again.data());
  // A softmax over one element is 1 whatever that is.
  if (spec.output_elements > 1 && first == again) return "new inputs gave the old output";
  if (prepared->sample(Mode::cold, 2, 1).probe_ns.size() != 2) return "cold samples without probes";
  return {};
}

// Every set of buffers in turn, each with the same inputs; cold calls between.
std::string check_rotated(const std::string& isa, int threads) {
  CaseSpec spec;
  spec.op = "copy";
  spec.impl = isa;
  spec.threads = threads;
  spec.rotated = true;
  const int64_t n = cpu::reached_cache(threads) / 40;
  spec.dims = {n};
  spec.inputs = {{n, {false, 1e-5f, 11u, 7u}}};
  spec.output_elements = n;
  auto prepared = cpu::open(spec);
  const auto sets = static_cast<int>(prepared->case_bytes() / (8 * n));
  std::vector<float> first(static_cast<size_t>(n)), again(first);
  prepared->run();
  prepared->read(0, n, first.data());
  prepared->poison();
  for (int call = 0; call <= sets; call++) {
    prepared->sample(call % 7 == 6 ? Mode::cold : Mode::rotated, 1, 1);
    prepared->read(0, n, again.data());
    if (first != again) return "set " + std::to_string(call) + " gave other values";
  }
  return prepared->count_unwritten() == 0 ? "" : "a set was not written";
}

// The best probe of the process is known after a few samples, never grows, and is absent where threads take turns.
std::string check_best_probe(int threads) {
  CaseSpec spec;
  spec.op = "copy";
  spec.impl = "scalar";
  spec.threads = threads;
  spec.dims = {64};
  spec.inputs = {{64, {false, 1e-5f, 11u, 7u}}};
  spec.output_elements = 64;
  auto prepared = cpu::open(spec);
  const bool turns = static_cast<size_t>(threads) > cpu::topology().processors.size();
  double last = std::numeric_limits<double>::infinity();
  for (int batch = 0; batch < 3; batch++) {
    const SampleBatch taken = prepared->sample(Mode::hot, 64, 1);
    const double best = taken.state.probe_best_ns;
    if (turns && !std::isnan(best)) return "a best probe of threads that take turns";
    if (turns) continue;
    if (!(best > 0)) return "no best probe after 64 samples";
    if (best > last || best > *std::max_element(taken.probe_ns.begin(), taken.probe_ns.end())) return "the best probe is not the best";
    last = best;
  }
  return {};
}

}  // namespace

int main() {
  int failed = 0, passed = 0;
  for (const cpu::Entry& entry : cpu::all_kernels()) {
    bool usable = false;
    for (const cpu::Isa& isa : cpu::isas()) usable = usable || (isa.id == entry.isa && isa.available);
    if (!usable) continue;
    for (const Dims& dims : sizes(entry.kernel->dims))
      for (int threads : {1, 2, 3}) {
        const std::string fault = check(entry, dims, threads);
        fault.empty() ? passed++ : failed++;
        if (!fault.empty())
          std::printf("%.*s %.*s threads=%d: %s\n", static_cast<int>(entry.op.size()), entry.op.data(), static_cast<int>(entry.isa.size()), entry.isa.data(), threads, fault.c_str());
      }
  }
  for (const cpu::Isa& isa : cpu::isas())
    for (int threads : {1, 2, 3}) {
      if (!isa.available) continue;
      const std::string fault = check_rotated(isa.id, threads);
      fault.empty() ? passed++ : failed++;
      if (!fault.empty()) std::printf("rotated %s threads=%d: %s\n", isa.id.c_str(), threads, fault.c_str());
    }
  for (int threads : {1, 2, static_cast<int>(cpu::topology().processors.size()) + 1}) {
    const std::string fault = check_best_probe(threads);
    fault.empty() ? passed++ : failed++;
    if (!fault.empty()) std::printf("probe threads=%d: %s\n", threads, fault.c_str());
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed ? 1 : 0;
}
