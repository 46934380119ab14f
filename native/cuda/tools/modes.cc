#include "modes.h"

#include <cmath>
#include <cstdio>
#include <functional>

#include "kernels/red_team.h"
#include "reference.h"

namespace opscope::cuda::tools {

namespace {

// Empty when every element of add's output is right for the inputs of `spec`, else what is wrong.
std::string wrong_output(Prepared& prepared, const CaseSpec& spec) {
  if (const int64_t unwritten = prepared.count_unwritten()) return std::to_string(unwritten) + " elements never written";
  const int64_t n = spec.output_elements;
  std::vector<float> out(static_cast<size_t>(n));
  prepared.read(0, n, out.data());
  double difference = 0, norm = 0;
  for (int64_t i = 0; i < n; i++) {
    const double expected = filled_value(spec.inputs[0].fill, i, spec.dtype) + filled_value(spec.inputs[1].fill, i, spec.dtype), got = out[static_cast<size_t>(i)];
    if (std::isnan(got)) return "NaN at " + std::to_string(i);
    difference += (got - expected) * (got - expected);
    norm += expected * expected;
  }
  const double error = std::sqrt(difference / norm);
  return error <= 1e-6 ? "" : "relative error " + std::to_string(error);
}

// The same case with other inputs, as another seed would give.
CaseSpec other_inputs(CaseSpec spec) {
  for (auto& input : spec.inputs) input.fill.key0 ^= 0x5bd1e995u;
  return spec;
}

std::vector<Fill> fills_of(const CaseSpec& spec) {
  std::vector<Fill> fills;
  for (const auto& input : spec.inputs) fills.push_back(input.fill);
  return fills;
}

std::string check_mode(Mode mode, int64_t n, int samples) {
  CaseSpec spec = make_case("add", Dtype::f32, {n});
  spec.rotated = mode == Mode::rotated;
  const auto prepared = cuda::open(spec);
  prepared->poison();
  prepared->run();
  if (const auto wrong = wrong_output(*prepared, spec); !wrong.empty()) return "first run: " + wrong;
  const CaseSpec other = other_inputs(spec);
  prepared->refill(fills_of(other));
  prepared->poison();
  const SampleBatch batch = prepared->sample(mode, samples, 3);
  if (const auto wrong = wrong_output(*prepared, other); !wrong.empty()) return "after timing other inputs: " + wrong;
  if (batch.ns.empty()) return "no sample";
  for (const double ns : batch.ns)
    if (!(ns > 0)) return "a sample of " + std::to_string(ns) + " ns";
  if (batch.clock_mhz.size() != batch.ns.size()) return std::to_string(batch.clock_mhz.size()) + " clocks for " + std::to_string(batch.ns.size()) + " samples";
  for (const double mhz : batch.clock_mhz)
    if (!(mhz > 100 && mhz < 4000)) return "a clock of " + std::to_string(mhz) + " MHz";
  return {};
}

// As a measurement verifies: on other inputs first, then on the recorded ones after timing. True when something was noticed.
std::string check_red(const std::string& impl) {
  CaseSpec spec = make_case("add", Dtype::f32, {100'003});
  spec.impl = impl;
  const CaseSpec first = other_inputs(spec);
  const auto prepared = cuda::open(first);
  prepared->poison();
  prepared->run();
  const auto before = wrong_output(*prepared, first);
  prepared->refill(fills_of(spec));
  prepared->poison();
  prepared->sample(Mode::hot, 3, 3);
  const auto after = wrong_output(*prepared, spec);
  return before.empty() && after.empty() ? "taken for good" : "";
}

std::string refusal(CaseSpec spec) {
  spec.rotated = true;
  try {
    cuda::open(spec);
  } catch (const Error& e) {
    return e.code == "unsupported" ? "" : e.code + ": " + e.what();
  }
  return "not refused";
}

}  // namespace

int check_modes(bool small) {
  int failed = 0;
  const auto report = [&](const std::string& name, const std::function<std::string()>& check) {
    std::string problem;
    try {
      problem = check();
    } catch (const Error& e) {
      problem = e.code + ": " + e.what() + " " + e.detail;
    }
    std::printf("%-36s %s\n", name.c_str(), problem.empty() ? "right" : ("WRONG " + problem).c_str());
    std::fflush(stdout);
    failed += !problem.empty();
  };
  const int64_t n = small ? 300'007 : 3'000'017;
  const int samples = small ? 3 : 40;
  for (const auto& [name, mode] : {std::pair{"cold", Mode::cold}, {"hot", Mode::hot}, {"rotated", Mode::rotated}, {"graph", Mode::graph}})
    report(std::string("mode ") + name, [&] { return check_mode(mode, n, samples); });
  report("rotated refuses what caches can hold", [] { return refusal(make_case("add", Dtype::f32, {100})); });
  if (!small) report("rotated refuses too much memory", [] { return refusal(make_case("copy", Dtype::f32, {int64_t{3} << 30})); });
  for (const auto& red : red_team()) report(red.id, [&] { return check_red(red.id); });
  return failed;
}

}  // namespace opscope::cuda::tools
