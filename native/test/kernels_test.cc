// Runs every kernel on every usable instruction set with several team sizes, through the same interface as the addon.
// Made for sanitizers, where Node gets in the way:
//   cmake -S native -B /tmp/tsan -G Ninja -DOPSCOPE_WITH_CUDA=OFF -DCMAKE_CXX_FLAGS=-fsanitize=thread
//   ninja -C /tmp/tsan opscope_native_test && /tmp/tsan/opscope_native_test [scalar|sse2|avx2|avx512 [op]]
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "fill.h"
#include "isa.h"
#include "registry.h"

#include "cache_sizes.h"
#include "hardware_counters.h"
#include "prepared.h"
#include "serve.h"
#include "specials.h"
#include "streamed.h"
#include "threads.h"
#include "topology.h"

using namespace opscope;

namespace {

using Dims = std::vector<int64_t>;

// A few sizes for every number of dims; the kernel's own shape function says how large the tensors are.
std::vector<Dims> sizes(int dims) {
  if (dims == 1) return {{1}, {15}, {4099}, {100003}};
  if (dims == 2) return {{1, 1}, {2, 9001}, {67, 129}, {33, 1024}, {70, 1}, {67, 5}, {35, 40}};
  if (dims == 3) return {{1, 50021, 1}, {61, 127, 1}, {1, 77, 1030}, {2, 1000, 3}, {9, 5, 7}};
  if (dims == 4) return {{1, 5003, 1, 7}, {61, 127, 1, 3}, {1, 77, 1030, 2}, {9, 5, 7, 4}, {3001, 1, 1, 3}, {1, 7, 1, 200}, {2, 12, 35, 4}, {3, 6, 71, 0}, {5, 3, 1030, 1}};
  if (dims == 5) return {{3, 7, 9, 2, 4}, {2, 1, 50, 1, 7}, {2, 13, 200, 1, 1}, {70, 7, 1, 1, 1}, {3, 40, 2, 17, 2}, {4, 57, 1, 20, 1}, {2, 30, 57, 9, 57}};
  if (dims == 7) return {{1, 1, 1, 1, 1, 1, 0}, {2, 4, 2, 37, 53, 24, 0}, {1, 2, 1, 70, 300, 17, 1}, {2, 6, 2, 1, 300, 33, 0}, {2, 3, 3, 4, 70, 17, 1}};
  if (dims == 8) return {{3, 9, 11, 4, 5, 3, 2, 1}, {2, 1, 3001, 1, 1501, 3, 2, 1}, {2, 1, 700, 1, 7, 100, 100, 0}, {4, 6, 7, 6, 7, 1, 1, 0}, {2, 30, 40, 15, 20, 2, 2, 0}, {3, 40, 5, 12, 1, 5, 3, 0}, {2, 1, 333, 1, 165, 5, 2, 0}, {1, 6, 9001, 3, 4501, 3, 2, 1}};
  if (dims == 12) return {{2 * 5 * 3 * 2 * 7, 3, 14, 0, 2, 2, 5, 7, 210, 7, 42, 0}, {2 * 5 * 3 * 2 * 7, 3, 14, 0, 2, 2, 5, 7, 210, 7, 42, 1}, {4100, 1, 0, 3, 1, 1, 1, 4097, 0, 0, 0, 0}, {6000, 2, 900, 5, 3, 40, 7, 1, 1000, 1, 41, 0}, {3 * 64 * 33 * 2, 1, 0, 0, 2, 33, 3, 64, 6336, 64, 2112, 1}};
  if (dims == 18) return {{2, 4, 8, 2, 1, 1, 1, 1, 0, 1, 9, 3, 1, 9, 11, 3, 1, 11}, {1, 3, 6, 3, 2, 1, 5, 2, 0, 2, 9, 3, 1, 5, 11, 2, 1, 6}, {2, 8, 16, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 37, 1, 0, 37},
                            {2, 9, 6, 1, 2, 1, 1, 1, 0, 1, 40, 2, 0, 20, 3, 2, 0, 1}, {4, 40, 30, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 3, 1, 0, 3}, {100, 41, 20, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 2, 1, 2},
                            {70, 5, 9, 1, 1, 1, 1, 1, 0, 1, 2, 2, 0, 1, 3, 3, 0, 1}};
  return {{1, 1, 1, 1, 0, 0}, {1, 61, 131, 270, 0, 0}, {1, 7, 300, 33, 1, 1}, {5, 20, 33, 17, 1, 0}, {2, 50, 40, 300, 0, 1}, {3, 3, 300, 5, 0, 0}, {1, 45, 2048, 9, 0, 0}};
}

TensorDesc tensor(const std::string& name, int64_t elements, Storage storage, Role role) {
  const auto stream = static_cast<uint32_t>(name.size());
  return {name, elements, storage, role, role != Role::out, {1e-5f, 11u + stream, 7u}};
}

// Tensors as Kernel::tensors describes them.
std::vector<TensorDesc> tensors_of(const cpu::Kernel& kernel, const Dims& dims, Dtype dtype, const int64_t* elements) {
  constexpr std::string_view LETTERS = "fhbceiu";  // in the order of Storage
  std::vector<TensorDesc> list;
  Role role = Role::in;
  const char* first = kernel.tensors;
  for (int skip = kernel.list ? kernel.list(dims.data()) : 0; skip > 0; skip--) first = std::strchr(first, '|') + 1;
  for (const char* at = first; *at && *at != '|'; at++) {
    if (*at == '>' || *at == '=') {
      role = *at == '>' ? Role::out : Role::inout;
      continue;
    }
    list.push_back(tensor(std::string(list.size() + 1, 't'), elements[list.size()], *at == 't' ? storage_of(dtype) : static_cast<Storage>(LETTERS.find(*at)), role));
    role = Role::in;
    // Indices and classes that every tensor has.
    if (list.back().storage == Storage::i32) {
      list.back().fill.kind = FillKind::integers;
      list.back().fill.below = static_cast<uint32_t>(std::min(dims[0], dims.size() > 1 ? dims[1] : dims[0]));
    }
  }
  return list;
}

std::vector<std::pair<Dtype, cpu::Run>> dtypes_of(const cpu::Kernel& kernel) {
  return {{Dtype::f32, kernel.run.f32}, {Dtype::f16, kernel.run.f16}, {Dtype::bf16, kernel.run.bf16}, {Dtype::i8, kernel.run.i8}, {Dtype::f8e4m3, kernel.run.f8e4m3}};
}

// Ops whose output may well be the same for other inputs.
bool constant(std::string_view op) { return op == "clamp" || op == "fill"; }

// All outputs, as bytes.
std::vector<std::byte> read_all(Prepared& prepared, const CaseSpec& spec) {
  std::vector<std::byte> all;
  size_t output = 0;
  for (const TensorDesc& tensor : spec.tensors) {
    if (tensor.role == Role::in) continue;
    const size_t start = all.size();
    all.resize(start + static_cast<size_t>(tensor.elements) * storage_bytes(tensor.storage));
    prepared.read(output++, 0, tensor.elements, all.data() + start);
  }
  return all;
}

// Whether every output is as unwritten as `all` says.
bool unwritten(Prepared& prepared, const CaseSpec& spec, bool all) {
  const std::vector<OutputScan> scans = prepared.scan();
  size_t output = 0;
  for (const TensorDesc& tensor : spec.tensors)
    if (tensor.role != Role::in && scans.at(output++).unwritten != (all && tensor.role == Role::out ? tensor.elements : 0)) return false;
  return output == scans.size();
}

std::string check(const cpu::Entry& entry, Dtype dtype, const Dims& dims, int threads) {
  const cpu::Kernel& kernel = *entry.kernel;
  int64_t elements[MAX_TENSORS] = {};
  // Dims that mean something to another kernel with as many of them.
  if (!kernel.shape(dims.data(), static_cast<int>(dims.size()), elements)) return {};
  for (const TensorDesc& tensor : tensors_of(kernel, dims, dtype, elements))
    if (tensor.elements < 1) return {};
  CaseSpec spec;
  spec.op = entry.op;
  spec.impl = entry.isa;
  spec.dtype = dtype;
  spec.threads = threads;
  spec.dims = dims;
  spec.scalars.assign(static_cast<size_t>(kernel.scalars), 0.25);
  spec.tensors = tensors_of(kernel, dims, dtype, elements);
  auto prepared = cpu::open(spec);
  if (!unwritten(*prepared, spec, true)) return "the outputs were not poisoned";
  prepared->run();
  const auto first = read_all(*prepared, spec);
  std::vector<Fill> fills;
  for (const TensorDesc& tensor : spec.tensors)
    if (tensor.has_fill) fills.push_back(tensor.fill);
  prepared->refill(fills);  // what a call changed
  prepared->poison();
  prepared->sample(Mode::hot, 3, 2);
  if (!unwritten(*prepared, spec, false)) return "elements were never written";
  prepared->refill(fills);
  prepared->run();
  if (first != read_all(*prepared, spec)) return "a second run gave other values";
  for (Fill& fill : fills) fill.key0 += 5;
  prepared->refill(fills);
  prepared->poison();
  prepared->run();
  // Some results do not depend on the values of one element (softmax), or hardly on any (the place of the largest).
  if (first.size() > 400 && first == read_all(*prepared, spec) && !constant(entry.op)) return "new inputs gave the old output";
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
  spec.tensors = {tensor("x", n, Storage::f32, Role::in), tensor("out", n, Storage::f32, Role::out)};
  auto prepared = cpu::open(spec);
  const auto sets = static_cast<int>(prepared->case_bytes() / (8 * n));
  std::vector<float> first(static_cast<size_t>(n)), again(first);
  prepared->run();
  prepared->read(0, 0, n, first.data());
  prepared->poison();
  for (int call = 0; call <= sets; call++) {
    prepared->sample(call % 7 == 6 ? Mode::cold : Mode::rotated, 1, 1);
    prepared->read(0, 0, n, again.data());
    if (first != again) return "set " + std::to_string(call) + " gave other values";
  }
  return unwritten(*prepared, spec, false) ? "" : "a set was not written";
}

// The best probe of the process is known after a few samples, never grows, and is absent where threads take turns.
std::string check_best_probe(int threads) {
  CaseSpec spec;
  spec.op = "copy";
  spec.impl = "scalar";
  spec.threads = threads;
  spec.dims = {64};
  spec.tensors = {tensor("x", 64, Storage::f32, Role::in), tensor("out", 64, Storage::f32, Role::out)};
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

// For every line `storage kind key0 key1 factor-bits low below start` of the input: the bits of the eight elements from `start` on.
int print_fills() {
  unsigned storage, kind, key0, key1, factor, below;
  int low;
  long long start;
  while (std::scanf("%u %u %u %u %u %d %u %lld", &storage, &kind, &key0, &key1, &factor, &low, &below, &start) == 8) {
    const Fill fill{std::bit_cast<float>(factor), key0, key1, static_cast<FillKind>(kind), low, below};
    const size_t bytes = storage_bytes(static_cast<Storage>(storage));
    unsigned char elements[8 * 4];
    // fill_range counts from the tensor's first element, of which only these eight are there.
    const auto first = reinterpret_cast<uintptr_t>(elements) - static_cast<uintptr_t>(start) * bytes;
    cpu::fill_range(fill, static_cast<Storage>(storage), start, start + 8, reinterpret_cast<void*>(first));
    for (size_t i = 0; i < 8; i++) {
      uint32_t bits = 0;
      std::memcpy(&bits, elements + i * bytes, bytes);
      std::printf("%u%c", bits, i < 7 ? ' ' : '\n');
    }
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1 && std::string_view(arguments[1]) == "fills") return print_fills();
  if (count > 1 && std::string_view(arguments[1]) == "serve") return serve();
  if (count > 1 && std::string_view(arguments[1]) == "specials") return check_specials() | check_streamed();
  if (count > 1 && std::string_view(arguments[1]) == "threads") return check_threads();
  if (count > 1 && std::string_view(arguments[1]) == "caches") return check_caches();
  if (count > 1 && std::string_view(arguments[1]) == "counters") return check_counters();
  int failed = 0, passed = 0;
  for (const cpu::Entry& entry : cpu::all_kernels()) {
    if ((count > 1 && entry.isa != arguments[1]) || (count > 2 && entry.op != arguments[2])) continue;
    bool usable = false;
    for (const cpu::Isa& isa : cpu::isas()) usable = usable || (isa.id == entry.isa && isa.available);
    if (!usable) continue;
    for (int count = entry.kernel->dims_least; count <= entry.kernel->dims_most; count++)
      for (const Dims& dims : sizes(count))
        for (const auto& [dtype, run] : dtypes_of(*entry.kernel))
          for (int threads : {1, 2, 3}) {
            if (!run) continue;
            const std::string fault = check(entry, dtype, dims, threads);
            fault.empty() ? passed++ : failed++;
            if (fault.empty()) continue;
            std::printf("%.*s %.*s dtype %d dims", static_cast<int>(entry.op.size()), entry.op.data(), static_cast<int>(entry.isa.size()), entry.isa.data(), static_cast<int>(dtype));
            for (const int64_t dim : dims) std::printf(" %lld", static_cast<long long>(dim));
            std::printf(" threads=%d: %s\n", threads, fault.c_str());
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
