// Infinities, NaN, zeros of both signs, denormals and the largest numbers through the element-wise kernels and the sums, in every lane
// of a vector and of a tail: the class of every result is that of the same function in double, with denormals zero going in and coming out.
// A NaN is the largest and the smallest element of what it is in, and above all others where elements are ordered, as in PyTorch.
#include "specials.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "isa.h"
#include "registry.h"

namespace opscope {

namespace {

constexpr float INF = std::numeric_limits<float>::infinity(), NOT = std::numeric_limits<float>::quiet_NaN();
const std::vector<float> VALUES{0.0f, 1.0f, INF, -1.0f, -0.0f, NOT, 1e-40f, FLT_MAX, -INF, 3.5f, -1e-40f, -FLT_MAX, FLT_MIN, 90.0f, -90.0f, 1e-30f, -2.5f};

constexpr double LIMITS[] = {-1.5, 2};  // of clamp

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Function {
  std::string_view op;
  double (*of)(double a, double b);
};
const Function FUNCTIONS[] = {
    {"copy", [](double a, double) { return a; }},
    {"add", [](double a, double b) { return a + b; }},
    {"sub", [](double a, double b) { return a - b; }},
    {"mul", [](double a, double b) { return a * b; }},
    {"div", [](double a, double b) { return a / b; }},
    {"abs", [](double a, double) { return std::fabs(a); }},
    {"neg", [](double a, double) { return -a; }},
    {"exp", [](double a, double) { return std::exp(a); }},
    {"log", [](double a, double) { return std::log(a); }},
    {"sqrt", [](double a, double) { return std::sqrt(a); }},
    {"rsqrt", [](double a, double) { return 1 / std::sqrt(a); }},
    {"relu", [](double a, double) { return a < 0 ? 0 : a; }},
    {"hardswish", [](double a, double) { return std::isnan(a) || a > FLT_MAX / 6 ? a * INF : a * std::min(std::max(a + 3, 0.0), 6.0) / 6; }},
    {"clamp", [](double a, double) { return std::isnan(a) ? a : std::min(std::max(a, LIMITS[0]), LIMITS[1]); }},
    {"sigmoid", [](double a, double) { return sigmoid(a); }},
    {"tanh", [](double a, double) { return std::tanh(a); }},
    {"gelu", [](double a, double) { return a * 0.5 * std::erfc(-a * std::sqrt(0.5)); }},
    {"silu", [](double a, double) { return a * sigmoid(a); }},
};

double without_denormal(double x) { return std::fabs(x) < FLT_MIN ? std::copysign(0.0, x) : x; }

// Copies of numbers and denormals by moves alone keep them; everything else makes them zero.
bool agrees(std::string_view op, float out, float a, float b, double expected) {
  if (std::isnan(expected)) return std::isnan(out);
  if (std::fabs(expected) > FLT_MAX) return std::isinf(out) && std::signbit(out) == (expected < 0);
  // Where the sigmoid is a denormal, its product with x is zero too.
  if (op == "silu" && a < -87 && out == 0) return true;
  if (std::fabs(expected) < FLT_MIN) {
    const bool moves = op == "copy" || op == "abs" || op == "neg" || op == "relu";
    return out == 0 || std::fabs(out) == FLT_MIN || (moves && (std::fabs(out) == std::fabs(a) || std::fabs(out) == std::fabs(b)));
  }
  return std::fabs(out - expected) <= 1e-5 * std::fabs(expected);
}

// One call by one thread, as the team makes it.
void call(const cpu::Kernel& kernel, std::vector<const void*> in, std::vector<void*> out, std::vector<int64_t> dims) {
  std::thread([&] {
    cpu::denormals_off();
    std::vector<float> scratch(kernel.scratch ? kernel.scratch(dims.data(), static_cast<int>(dims.size()), 1, sizeof(float)) + 32 : 0);
    void* aligned = scratch.data();
    size_t room = scratch.size() * sizeof(float);
    if (room > 0) std::align(64, 64, aligned, room);
    cpu::Call c{};
    c.in = in.data();
    c.out = out.data();
    c.dims = dims.data();
    c.dim_count = static_cast<int>(dims.size());
    c.scalars = LIMITS;
    c.scratch = static_cast<float*>(aligned);
    c.threads = 1;
    c.barrier = [](void*) {};
    kernel.run.f32(c);
  }).join();
}

int elementwise(const cpu::Entry& entry, const Function& function) {
  int wrong = 0;
  const auto count = static_cast<int64_t>(VALUES.size());
  // A length that leaves a tail at every width, from every place of the list on, against every other.
  for (int64_t from = 0; from < count; from++) {
    for (const int64_t n : {count * 4 + from % 5, from % 16 + 1}) {
      // One element off the alignment of a vector.
      std::vector<float> a(static_cast<size_t>(n) + 1), b(a), out(a);
      for (int64_t i = 0; i < n; i++) {
        a[static_cast<size_t>(i) + 1] = VALUES[static_cast<size_t>((i + from) % count)];
        b[static_cast<size_t>(i) + 1] = VALUES[static_cast<size_t>((i * 3 + from * 5) % count)];
      }
      call(*entry.kernel, {a.data() + 1, b.data() + 1}, {out.data() + 1}, {n});
      for (size_t i = 1; i <= static_cast<size_t>(n); i++) {
        const double expected = function.of(without_denormal(a[i]), without_denormal(b[i]));
        if (agrees(entry.op, out[i], a[i], b[i], expected)) continue;
        if (wrong++ == 0) std::printf("WRONG %.*s %.*s(%g, %g): expected %g, received %g\n", static_cast<int>(entry.isa.size()), entry.isa.data(), static_cast<int>(entry.op.size()), entry.op.data(), a[i], b[i], expected, out[i]);
      }
    }
  }
  return wrong;
}

int sums(const cpu::Entry& entry) {
  int wrong = 0;
  for (const int64_t n : {1, 7, 33, 1000, 20000})
    for (const float special : {INF, -INF, NOT, 1e-40f})
      for (int64_t at = 0; at < n; at += n > 40 ? n / 27 : 1) {
        std::vector<float> x(static_cast<size_t>(n), 1.0f);
        x[static_cast<size_t>(at)] = special;
        float out = 0;
        call(*entry.kernel, {x.data()}, {&out}, {1, n, 1});
        const double expected = static_cast<double>(n - 1) + without_denormal(special);
        if (agrees(entry.op, out, 0, 0, expected)) continue;
        if (wrong++ == 0) std::printf("WRONG %.*s sum of %lld with %g: received %g\n", static_cast<int>(entry.isa.size()), entry.isa.data(), static_cast<long long>(n), special, out);
      }
  return wrong;
}

// A number for each element, none of them special.
std::vector<float> numbers(int64_t n) {
  std::vector<float> x(static_cast<size_t>(n));
  for (size_t i = 0; i < x.size(); i++) x[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50);
  return x;
}

int report(const cpu::Entry& entry, const char* where, int64_t at, int& wrong) {
  if (wrong++ == 0) std::printf("WRONG %.*s %.*s: %s, NaN at %lld\n", static_cast<int>(entry.isa.size()), entry.isa.data(), static_cast<int>(entry.op.size()), entry.op.data(), where, static_cast<long long>(at));
  return wrong;
}

// Of [1, n, inner]: a NaN in one column, and another behind it.
int extremes(const cpu::Entry& entry) {
  int wrong = 0;
  const bool place = entry.op.starts_with("arg");
  for (const int64_t inner : {1, 5, 37})
    for (const int64_t n : {1, 7, 33, 150, 9000})
      for (int64_t at = 0; at < n; at += n > 40 ? n / 13 : 1) {
        std::vector<float> x = numbers(n * inner), out(static_cast<size_t>(inner)), plain(out);
        call(*entry.kernel, {x.data()}, {plain.data()}, {1, n, inner});
        const int64_t column = at % inner;
        x[static_cast<size_t>(at * inner + column)] = NOT;
        if (at + 3 < n) x[static_cast<size_t>((at + 3) * inner + column)] = -NOT;
        call(*entry.kernel, {x.data()}, {out.data()}, {1, n, inner});
        for (int64_t j = 0; j < inner; j++) {
          const float found = out[static_cast<size_t>(j)];
          const bool right = j != column ? std::bit_cast<uint32_t>(found) == std::bit_cast<uint32_t>(plain[static_cast<size_t>(j)]) : place ? std::bit_cast<int32_t>(found) == at : std::isnan(found);
          if (!right) report(entry, inner == 1 ? "a row" : "columns", at, wrong);
        }
      }
  return wrong;
}

// Of 70 rows of n: a NaN in one of them, and another behind it.
int short_rows(const cpu::Entry& entry) {
  constexpr int64_t ROWS = 70, ROW = 66;
  int wrong = 0;
  const bool place = entry.op.starts_with("arg");
  for (const int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 17, 31, 32})
    for (int64_t at = 0; at < n; at++) {
      std::vector<float> x = numbers(ROWS * n), out(ROWS), plain(ROWS);
      call(*entry.kernel, {x.data()}, {plain.data()}, {ROWS, n, 1});
      x[static_cast<size_t>(ROW * n + at)] = NOT;
      if (at + 2 < n) x[static_cast<size_t>(ROW * n + at + 2)] = -NOT;
      call(*entry.kernel, {x.data()}, {out.data()}, {ROWS, n, 1});
      for (int64_t row = 0; row < ROWS; row++) {
        const float found = out[static_cast<size_t>(row)];
        const bool right = row != ROW ? std::bit_cast<uint32_t>(found) == std::bit_cast<uint32_t>(plain[static_cast<size_t>(row)]) : place ? std::bit_cast<int32_t>(found) == at : std::isnan(found);
        if (!right) report(entry, "short rows", at, wrong);
      }
    }
  return wrong;
}

// Planes, the last of which has a NaN: the windows that hold it are NaN, the others are as without it.
int windows(const cpu::Entry& entry, int64_t planes, int64_t plane_height, int64_t plane_width) {
  int wrong = 0;
  const bool adaptive = entry.op.starts_with("adaptive");
  for (const auto& [kernel, stride, padding] : {std::array<int64_t, 3>{1, 1, 0}, {2, 2, 0}, {3, 1, 1}, {3, 2, 1}}) {
    const int64_t height = adaptive ? 3 : (plane_height + 2 * padding - kernel) / stride + 1, width = adaptive ? plane_width / 9 + 3 + 2 * kernel : (plane_width + 2 * padding - kernel) / stride + 1;
    std::vector<int64_t> dims{planes, plane_height, plane_width, height, width, kernel, stride, padding};
    if (adaptive) dims.resize(5);
    const auto holds = [&, k = kernel, s = stride, p = padding](int64_t o, int64_t outputs, int64_t inputs, int64_t at) {
      return adaptive ? at >= o * inputs / outputs && at < ((o + 1) * inputs + outputs - 1) / outputs : at >= o * s - p && at < o * s - p + k;
    };
    const int64_t size = plane_height * plane_width, last = planes - 1;
    for (int64_t at = 0; at < size; at += 5) {
      std::vector<float> x = numbers(planes * size), out(static_cast<size_t>(planes * height * width)), plain(out);
      call(*entry.kernel, {x.data()}, {plain.data()}, dims);
      x[static_cast<size_t>(last * size + at)] = NOT;
      call(*entry.kernel, {x.data()}, {out.data()}, dims);
      for (int64_t i = 0; i < planes * height * width; i++) {
        const bool within = i / (height * width) == last && holds(i / width % height, height, plane_height, at / plane_width) && holds(i % width, width, plane_width, at % plane_width);
        const float found = out[static_cast<size_t>(i)];
        if (within ? !std::isnan(found) : found != plain[static_cast<size_t>(i)]) report(entry, "windows", at, wrong);
      }
    }
  }
  return wrong;
}

// NaN of either sign is above infinity, the first of them first.
int order(const cpu::Entry& entry) {
  int wrong = 0;
  const bool top = entry.op == "topk";
  for (const int64_t n : {4, 6, 7, 40, 700})
    for (int64_t at = 0; at + 1 < n; at += n > 40 ? 53 : 1) {
      std::vector<float> x = numbers(n), values(x);
      std::vector<int32_t> places(x.size());
      x[static_cast<size_t>(at)] = -NOT;
      x[static_cast<size_t>(n) - 1] = NOT;
      x[static_cast<size_t>(at / 2 + 1)] = at / 2 + 1 == at || at / 2 + 2 == n ? x[static_cast<size_t>(at / 2 + 1)] : INF;
      call(*entry.kernel, {x.data()}, {values.data(), places.data()}, {1, n, top ? 3 : 0});
      const size_t first = top ? 0 : x.size() - 2;
      if (!std::isnan(values[first]) || !std::isnan(values[first + 1]) || places[first] != at || places[first + 1] != n - 1) report(entry, "order", at, wrong);
    }
  return wrong;
}

}  // namespace

int check_specials() {
  int wrong = 0, checked = 0;
  for (const cpu::Entry& entry : cpu::all_kernels()) {
    bool usable = false;
    for (const cpu::Isa& isa : cpu::isas()) usable = usable || (isa.id == entry.isa && isa.available);
    if (!usable) continue;
    for (const Function& function : FUNCTIONS)
      if (function.op == entry.op) checked++, wrong += elementwise(entry, function);
    if (entry.op == "sum") checked++, wrong += sums(entry);
    for (const std::string_view op : {"max", "min", "norm_linf", "argmax", "argmin"})
      if (op == entry.op) checked++, wrong += extremes(entry) + short_rows(entry);
    if (entry.op.ends_with("_pool2d")) checked++, wrong += windows(entry, 1, 9, 43) + windows(entry, 70, 4, 8) + windows(entry, 70, 3, 5);
    if (entry.op == "sort" || entry.op == "topk") checked++, wrong += order(entry);
  }
  std::printf("%d kernels checked\n", checked);
  return wrong > 0;
}

}  // namespace opscope
