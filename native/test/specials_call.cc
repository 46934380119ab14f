#include "specials_call.h"

#include <bit>
#include <cfenv>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>

#include "isa.h"
#include "narrow.h"

namespace opscope {

namespace {

float from_f16(uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31), fraction = static_cast<int>(bits & 1023);
  const float magnitude = exponent == 31 ? (fraction ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity())
                          : exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                          : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  return std::copysign(magnitude, bits & 0x8000 ? -1.0f : 1.0f);
}

uint32_t bf16_bits(float x) { return cpu::to_bf16(x); }
float from_bf16(uint32_t bits) { return std::bit_cast<float>(bits << 16); }

std::vector<std::byte> stored(const Format& f, std::span<const float> values) {
  std::vector<std::byte> place(f.unit + values.size() * f.bytes);
  for (size_t i = 0; i < values.size(); i++) {
    const uint32_t bits = f.bits(values[i]);
    std::memcpy(place.data() + f.unit + i * f.bytes, &bits, f.bytes);
  }
  return place;
}

}  // namespace

const std::vector<Format>& formats() {
  constexpr float BF16_LARGEST = 0x1.fep127f;
  static const std::vector<Format> all{
      {"f32", 4, 4, [](const cpu::Kernel& k) { return k.run.f32; }, [](float x) { return std::bit_cast<uint32_t>(x); }, [](uint32_t bits) { return std::bit_cast<float>(bits); }, FLT_MAX, FLT_MIN, 1e-40f, 1e-30f, 0},
      {"f16", 2, 2, [](const cpu::Kernel& k) { return k.run.f16; }, [](float x) { return static_cast<uint32_t>(cpu::to_f16(x)); }, from_f16, 65504, 0x1p-14f, 0x1p-20f, 0x1p-11f, 0x1p-10},
      {"bf16", 2, 2, [](const cpu::Kernel& k) { return k.run.bf16; }, bf16_bits, from_bf16, BF16_LARGEST, FLT_MIN, 1e-40f, 1e-30f, 0x1p-8},
      {"bf16 of pairs", 2, 4, [](const cpu::Kernel& k) { return cpu::multiplies_bf16_pairs() ? k.run.bf16_pairs : nullptr; }, bf16_bits, from_bf16, BF16_LARGEST, FLT_MIN, 1e-40f, 1e-30f, 0x1p-8},
  };
  return all;
}

namespace {

// The parts of a loop for a team of one thread (cpu::Call::take).
struct Loop {
  int number = -1, next = 0;

  int take(int parts, int loop) {
    if (loop != number) number = loop, next = 0;
    return next < parts ? next++ : -1;
  }
};

}  // namespace

void call(const cpu::Kernel& kernel, const Format& f, const std::vector<std::span<const float>>& in, const std::vector<Output>& out, const std::vector<int64_t>& dims, const double* scalars) {
  std::vector<std::vector<std::byte>> places;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  places.reserve(in.size() + out.size());
  for (const std::span<const float> values : in) inputs.push_back(places.emplace_back(stored(f, values)).data() + f.unit);
  for (const Output& one : out) {
    const size_t bytes = one.places ? sizeof(int32_t) : f.bytes, unit = one.places ? bytes : f.unit;
    outputs.push_back(places.emplace_back(unit + one.values.size() * bytes).data() + unit);
  }
  std::vector<float> scratch(kernel.scratch ? kernel.scratch(dims.data(), static_cast<int>(dims.size()), 1, f.bytes) + 32 : 0);
  void* aligned = scratch.data();
  size_t room = scratch.size() * sizeof(float);
  if (room > 0) std::align(64, 64, aligned, room);
  cpu::Call c{};
  c.in = inputs.data();
  c.out = outputs.data();
  c.dims = dims.data();
  c.dim_count = static_cast<int>(dims.size());
  c.scalars = scalars;
  c.scratch = static_cast<float*>(aligned);
  c.threads = 1;
  c.barrier = [](void*) {};
  c.parts = c.most_parts = 1;
  Loop loop;
  c.team = &loop;
  c.take = [](void* team, int, int parts, int number) { return static_cast<Loop*>(team)->take(parts, number); };
  // As on a thread of a team; the numbers of a test keep their denormals.
  std::fenv_t before;
  std::fegetenv(&before);
  cpu::denormals_off();
  f.run(kernel)(c);
  std::fesetenv(&before);
  for (size_t o = 0; o < out.size(); o++)
    for (size_t i = 0; i < out[o].values.size(); i++) {
      uint32_t bits = 0;
      std::memcpy(&bits, static_cast<std::byte*>(outputs[o]) + i * (out[o].places ? sizeof(int32_t) : f.bytes), out[o].places ? sizeof(int32_t) : f.bytes);
      out[o].values[i] = out[o].places ? static_cast<float>(static_cast<int32_t>(bits)) : f.number(bits);
    }
}

void Faults::add(const char* what, int64_t at, float received) {
  if (count_++ == 0)
    std::printf("WRONG %.*s %.*s %s: %s at %lld, received %g\n", static_cast<int>(entry_.isa.size()), entry_.isa.data(), static_cast<int>(entry_.op.size()), entry_.op.data(), format_.name, what, static_cast<long long>(at), static_cast<double>(received));
}

}  // namespace opscope
