// Checks every CUDA kernel against float64 and times the catalogue's shapes, without Node.
//   opscope_cuda_kernels check [small|full] [OP]  every op x dtype over ordinary and odd sizes, and the modes of
//                                                 sampling (OP `modes`: those alone); exit 1 when one is wrong.
//                                                 `small`: few and small cases, for compute-sanitizer
//   opscope_cuda_kernels time [FILE] [OP]         median times cold, hot and in a graph; JSON lines to FILE
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

#include "modes.h"
#include "reference.h"

using namespace opscope;
using namespace opscope::cuda::tools;

namespace {

using Dims = std::vector<int64_t>;

const char* name(Dtype d) { return d == Dtype::f32 ? "f32" : d == Dtype::f16 ? "f16" : d == Dtype::bf16 ? "bf16" : "tf32"; }

std::string label(const CaseSpec& spec) {
  std::string text = spec.op + " " + name(spec.dtype) + " ";
  for (size_t i = 0; i < spec.dims.size(); i++) text += (i ? "x" : "") + std::to_string(spec.dims[i]);
  return text;
}

struct Group {
  std::vector<std::string> ops;
  std::vector<Dims> dims;
};

std::vector<Group> check_groups(bool small) {
  const Dims vector_sizes = small ? Dims{1, 12345, 300007} : Dims{1, 3, 7, 127, 1000, 12345, 65536, 1000003, 8650757};
  std::vector<Dims> vectors, sums, rows, products;
  for (const int64_t n : vector_sizes) {
    vectors.push_back({n});
    sums.push_back({1, n, 1});
  }
  for (const Dims& s : small ? std::vector<Dims>{{127, 127}, {3, 9001}, {33, 4096}}
                             : std::vector<Dims>{{3, 1}, {1, 3}, {127, 127}, {1000, 1000}, {33, 12345}, {12345, 33}, {7, 100003}, {70000, 3}, {70001, 2051}, {4096, 4096}, {100000, 8}}) {
    sums.push_back({s[0], s[1], 1});
    sums.push_back({1, s[0], s[1]});
  }
  if (small)
    rows = {{3, 3}, {5, 127}, {2, 300}, {3, 1000}, {3, 4099}, {200, 2051}, {140, 9001}, {2, 33001}, {140, 8192}, {1, 70001}};
  else
    rows = {{1, 1},     {3, 3},      {1, 127},    {127, 1},  {7, 1000},  {5, 12345}, {3, 40000}, {2, 70001},   {1, 1000003}, {1000, 1024},
            {300, 512}, {300, 4096}, {257, 4099}, {2, 65536}, {40, 32768}, {150, 32768}, {150, 16384}, {150, 12345}, {2000, 257},  {9, 2048}};
  const std::vector<Dims> shapes = small ? std::vector<Dims>{{1, 3, 5, 7}, {2, 130, 70, 33}, {1, 136, 264, 72}, {1, 1664, 1664, 40}, {1, 1663, 1665, 33}}
                                         : std::vector<Dims>{{1, 1, 1, 1},         {1, 3, 5, 7},         {1, 127, 127, 127},  {1, 128, 128, 64},   {2, 130, 70, 33},      {3, 65, 129, 257},
                                                             {1, 8, 4096, 512},    {5, 256, 256, 64},    {1, 1000, 1000, 1000}, {1, 512, 512, 512}, {1, 1024, 1024, 1024}, {1, 2048, 2048, 2048},
                                                             {2, 384, 640, 200},   {1, 136, 264, 72},    {1, 1664, 1664, 40}, {1, 1663, 1665, 33}, {3, 1000, 2000, 24},   {1, 4096, 16, 4096}};
  for (const Dims& s : shapes)
    for (int layout = 0; layout < 4; layout++) products.push_back({s[0], s[1], s[2], s[3], layout >> 1, layout & 1});
  return {{{"copy", "add", "mul", "exp", "gelu"}, vectors}, {{"sum"}, sums}, {{"softmax", "layer_norm"}, rows}, {{"matmul"}, products},
          {{"peak_fma"}, {{1, 1}, {1000, 37}, {12345, 256}}}, {{"peak_mma"}, {{1, 1}, {3, 7}, {127, 50}, {4001, 256}}},
          {{"spin"}, {{8, 1}, {8, 255}, {8, 256}, {8, 1000}}}, {{"spin_ns"}, {{8, 1}, {8, 5000}}}};
}

std::vector<Dtype> dtypes_of(const std::string& op) {
  if (op == "matmul") return {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::tf32};
  if (op == "peak_fma" || op == "spin" || op == "spin_ns") return {Dtype::f32};
  if (op == "peak_mma") return {Dtype::f16, Dtype::bf16, Dtype::tf32};
  return {Dtype::f32, Dtype::f16, Dtype::bf16};
}

// Elements to compare: all of a small output, else runs at the start, the end and random places.
std::vector<int64_t> picks(const CaseSpec& spec, std::mt19937_64& random) {
  const int64_t total = spec.output_elements;
  const int64_t cost = spec.op == "sum" ? spec.dims[1] : spec.op == "matmul" ? spec.dims[3] : 4;
  const int64_t budget = std::max<int64_t>(spec.op == "sum" ? 1 : 64, 4'000'000 / cost);
  std::vector<int64_t> list;
  if (total <= budget) {
    for (int64_t i = 0; i < total; i++) list.push_back(i);
    return list;
  }
  // Row-wise ops pay for a row once, so whole rows are taken.
  const int64_t run = spec.op == "softmax" || spec.op == "layer_norm" ? std::min(spec.dims[1], budget) : std::clamp<int64_t>(budget / 8, 1, 1024);
  for (int64_t taken = 0, r = 0; taken < budget; taken += run, r++) {
    int64_t start = r == 0 ? 0 : r == 1 ? total - run : static_cast<int64_t>(random() % static_cast<uint64_t>(total - run + 1));
    if (spec.op == "softmax" || spec.op == "layer_norm") start -= start % spec.dims[1];
    for (int64_t i = 0; i < run && start + i < total; i++) list.push_back(start + i);
  }
  return list;
}

std::string check_case(const CaseSpec& spec, double& error) {
  static std::mt19937_64 random(1);
  const auto prepared = cuda::open(spec);
  const int64_t total = spec.output_elements;
  std::vector<unsigned char> raw(static_cast<size_t>(total) * dtype_bytes(spec.dtype)), again(raw.size());
  prepared->poison();
  prepared->run();
  if (const int64_t unwritten = prepared->count_unwritten()) return std::to_string(unwritten) + " elements never written";
  prepared->read(0, total, raw.data());
  prepared->run();
  prepared->read(0, total, again.data());
  if (raw != again) return "two runs differ";
  const auto indices = picks(spec, random);
  const auto expected = reference(spec, indices);
  double difference = 0, norm = 0;
  for (size_t i = 0; i < indices.size(); i++) {
    const double got = decode(raw.data(), indices[i], spec.dtype);
    if (std::isnan(got)) return "NaN at " + std::to_string(indices[i]);
    difference += (got - expected[i]) * (got - expected[i]);
    norm += expected[i] * expected[i];
  }
  // Sums and products may cancel: their typical size counts as well.
  const double length = spec.op == "sum" ? static_cast<double>(spec.dims[1]) : spec.op == "matmul" ? static_cast<double>(spec.dims[3]) : 0;
  norm = std::max(norm, length * static_cast<double>(indices.size()));
  // Half the step of the smallest f16 numbers is rounding that no kernel can avoid (softmax over very long rows).
  if (spec.dtype == Dtype::f16) norm = std::max(norm, static_cast<double>(indices.size()) * std::pow(std::ldexp(1.0, -25) / tolerance(spec), 2));
  error = norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
  if (error > tolerance(spec)) return "relative error " + std::to_string(error) + " above " + std::to_string(tolerance(spec));
  return {};
}

int check(bool small, const std::string& only) {
  int wrong = 0, cases = 0;
  for (const auto& group : check_groups(small))
    for (const auto& op : group.ops) {
      if (!only.empty() && op != only) continue;
      for (const Dtype dtype : dtypes_of(op)) {
        double worst = 0;
        int failed = 0, count = 0;
        for (const Dims& dims : group.dims) {
          const CaseSpec spec = make_case(op, dtype, dims);
          double error = 0;
          std::string problem;
          try {
            problem = check_case(spec, error);
          } catch (const Error& e) {
            problem = std::string(e.what()) + " (" + e.detail + ")";
            if (e.code == "kernel-failed") {
              std::printf("WRONG %s: %s\n", label(spec).c_str(), problem.c_str());
              return 1;
            }
          }
          if (!problem.empty()) std::printf("WRONG %s: %s\n", label(spec).c_str(), problem.c_str()), failed++;
          worst = std::max(worst, error);
          count++;
        }
        std::printf("%-10s %-4s %3d cases, %d wrong, worst relative error %.1e\n", op.c_str(), name(dtype), count, failed, worst);
        std::fflush(stdout);
        wrong += failed;
        cases += count;
      }
    }
  if (only.empty() || only == "modes") wrong += check_modes(small);
  std::printf("%d cases, %d wrong\n", cases, wrong);
  return wrong ? 1 : 0;
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v.size() % 2 ? v[v.size() / 2] : (v[v.size() / 2 - 1] + v[v.size() / 2]) / 2;
}

std::vector<CaseSpec> timed_cases() {
  std::vector<CaseSpec> list;
  const auto add = [&](const std::string& op, Dtype dtype, std::vector<Dims> all) {
    for (auto& dims : all) list.push_back(make_case(op, dtype, dims));
  };
  constexpr int64_t K = 1 << 10, M = 1 << 20;
  const std::vector<Dims> vectors = {{64 * K}, {256 * K}, {M}, {4 * M}, {16 * M}, {64 * M}};
  for (const char* op : {"copy", "add", "mul", "exp", "gelu"}) add(op, Dtype::f32, vectors);
  for (const char* op : {"copy", "add", "exp", "gelu"}) add(op, Dtype::bf16, {{64 * M}});
  add("sum", Dtype::f32, {{1, 64 * K, 1}, {1, M, 1}, {1, 16 * M, 1}, {1, 64 * M, 1}, {4096, 4096, 1}, {1, 4096, 4096}});
  add("sum", Dtype::bf16, {{1, 64 * M, 1}, {4096, 4096, 1}, {1, 4096, 4096}, {1, 16384, 4096}});
  for (const char* op : {"softmax", "layer_norm"}) {
    add(op, Dtype::bf16, {{1024, 1024}, {4096, 4096}, {16384, 4096}, {4096, 32768}, {1024, 131072}, {1, 4 * M}});
    add(op, Dtype::f32, {{4096, 4096}, {16384, 4096}, {65536, 512}});
  }
  for (const Dtype dtype : {Dtype::f32, Dtype::tf32, Dtype::bf16, Dtype::f16}) {
    for (const int64_t e : {256, 512, 1024, 2048, 4096, 8192}) {
      if (e == 8192 && dtype == Dtype::f32) continue;
      add("matmul", dtype, {{1, e, e, e, 0, 0}});
    }
    add("matmul", dtype, {{1, 4096, 4096, 4096, 0, 1}});
  }
  add("matmul", Dtype::bf16, {{1, 4096, 4096, 4096, 1, 0}, {64, 512, 512, 128, 0, 0}, {1, 16, 4096, 4096, 0, 0}, {1, 1000, 1000, 1000, 0, 0}, {1, 8192, 8192, 8192, 0, 1}});
  add("peak_fma", Dtype::f32, {{132 * 2048 * 4, 4096}});
  for (const Dtype dtype : {Dtype::tf32, Dtype::bf16, Dtype::f16}) add("peak_mma", dtype, {{132 * 12 * 4, 4096}});
  return list;
}

int time_all(const char* path, const std::string& only) {
  std::FILE* file = path ? std::fopen(path, "w") : nullptr;
  double copy_rate = 0;  // bytes per second of the largest f32 copy
  {
    const auto spec = make_case("copy", Dtype::f32, {64 << 20});
    const auto prepared = cuda::open(spec);
    prepared->run();
    prepared->sample(Mode::cold, 20, 1);
    copy_rate = bytes(spec) / median(prepared->sample(Mode::cold, 60, 1).ns) * 1e9;
    std::printf("event tick %.0f ns; copy 64M f32 %.2f TB/s\n", prepared->tick_ns(), copy_rate / 1e12);
  }
  std::printf("%-38s %9s %9s %9s %10s %7s\n", "case", "cold us", "hot us", "graph us", "cold rate", "of copy");
  for (const auto& spec : timed_cases()) {
    if (!only.empty() && spec.op != only) continue;
    try {
      const auto prepared = cuda::open(spec);
      prepared->run();
      prepared->sample(Mode::hot, 5, 5);
      const auto cold = prepared->sample(Mode::cold, 80, 1);
      const double cold_ns = median(cold.ns), hot_ns = median(prepared->sample(Mode::hot, 12, 20).ns), graph_ns = median(prepared->sample(Mode::graph, 12, 20).ns);
      const double work = flops(spec), rate = (work ? work : bytes(spec)) / cold_ns * 1e-3;
      char share[16] = "";
      if (!work) std::snprintf(share, sizeof share, "%.0f %%", rate * 1e14 / copy_rate);
      std::printf("%-38s %9.2f %9.2f %9.2f %7.2f %s %6s\n", label(spec).c_str(), cold_ns / 1e3, hot_ns / 1e3, graph_ns / 1e3, rate, work ? "TF" : "TB", share);
      std::fflush(stdout);
      if (file) {
        std::fprintf(file, "{\"op\":\"%s\",\"dtype\":\"%s\",\"dims\":[", spec.op.c_str(), name(spec.dtype));
        for (size_t i = 0; i < spec.dims.size(); i++) std::fprintf(file, "%s%lld", i ? "," : "", static_cast<long long>(spec.dims[i]));
        std::fprintf(file, "],\"coldUs\":%.3f,\"hotUs\":%.3f,\"graphUs\":%.3f,\"bytes\":%.0f,\"flops\":%.0f,\"shareOfCopy\":%s,\"smClockMhz\":%s}\n", cold_ns / 1e3, hot_ns / 1e3,
                     graph_ns / 1e3, bytes(spec), work, work ? "null" : std::to_string(rate * 1e12 / copy_rate).c_str(),
                     std::isnan(cold.state.sm_clock_mhz) ? "null" : std::to_string(cold.state.sm_clock_mhz).c_str());
      }
    } catch (const Error& e) {
      std::printf("%-38s %s: %s (%s)\n", label(spec).c_str(), e.code.c_str(), e.what(), e.detail.c_str());
      if (e.code == "kernel-failed") return 1;
    }
  }
  if (file) std::fclose(file);
  return 0;
}

int list_devices() {
  for (const auto& device : cuda::devices()) {
    std::printf("%s %s%s%s\n", device.id.c_str(), device.name.c_str(), device.available ? "" : ": ", device.reason.c_str());
    for (const auto& [key, value] : device.facts) std::printf("  %s: %s\n", key.c_str(), value.c_str());
    std::printf("  driver %s\n", device.driver.c_str());
    for (const auto& [cache, size] : device.caches) std::printf("  %s: %.0f KiB\n", cache.c_str(), size / 1024);
    for (const auto& disturbance : device.disturbances) std::printf("  disturbance: %s\n", disturbance.c_str());
    for (const auto& warning : device.warnings) std::printf("  warning: %s\n", warning.c_str());
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const std::string verb = count > 1 ? words[1] : "";
  try {
    if (verb == "devices") return list_devices();
    const std::string only = count > 3 ? words[3] : "";
    if (verb == "check") return check(count > 2 && std::strcmp(words[2], "small") == 0, only);
    if (verb == "time") return time_all(count > 2 ? words[2] : nullptr, only);
  } catch (const Error& e) {
    std::printf("%s: %s (%s)\n", e.code.c_str(), e.what(), e.detail.c_str());
    return 1;
  }
  std::printf("usage: opscope_cuda_kernels devices | check [small|full] [OP] | time [FILE] [OP]\n");
  return 2;
}
