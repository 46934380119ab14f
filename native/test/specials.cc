// Infinities, NaN, zeros of both signs, denormals and the largest numbers through the element-wise kernels and the sums, in every lane
// of a vector and of a tail: the class of every result is that of the same function in double, with denormals of f32 zero going in and coming out.
#include "specials.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <string_view>

#include "isa.h"
#include "specials_call.h"

namespace opscope {

namespace {

constexpr float INF = std::numeric_limits<float>::infinity(), NOT = std::numeric_limits<float>::quiet_NaN();
constexpr double LIMITS[] = {-1.5, 2};  // of clamp

std::vector<float> values_of(const Format& f) {
  return {0.0f, 1.0f, INF, -1.0f, -0.0f, NOT, f.denormal, f.largest, -INF, 3.5f, -f.denormal, -f.largest, f.smallest, 90.0f, -90.0f, f.tiny, -2.5f};
}

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

// Copies of numbers and denormals by moves alone keep them; everything else makes those of f32 zero.
bool agrees(std::string_view op, const Format& f, float out, float a, float b, double expected) {
  if (std::isnan(expected)) return std::isnan(out);
  if (std::fabs(expected) > FLT_MAX || std::isinf(rounded(f, static_cast<float>(expected)))) return std::isinf(out) && std::signbit(out) == (expected < 0);
  // Where the sigmoid is a denormal, its product with x is zero too.
  if (op == "silu" && a < -87 && out == 0) return true;
  if (std::fabs(expected) < FLT_MIN) {
    const bool moves = op == "copy" || op == "abs" || op == "neg" || op == "relu";
    return out == 0 || std::fabs(out) == FLT_MIN || (moves && (std::fabs(out) == std::fabs(a) || std::fabs(out) == std::fabs(b)));
  }
  const double step_of_denormals = static_cast<double>(f.smallest) * f.precision;
  return std::fabs(out - expected) <= (1e-5 + f.precision) * std::fabs(expected) + step_of_denormals;
}

int elementwise(const cpu::Entry& entry, const Format& f, const Function& function) {
  int wrong = 0;
  const std::vector<float> values = values_of(f);
  const auto count = static_cast<int64_t>(values.size());
  // A length that leaves a tail at every width, from every place of the list on, against every other.
  for (int64_t from = 0; from < count; from++) {
    for (const int64_t n : {count * 4 + from % 5, from % 16 + 1}) {
      std::vector<float> a(static_cast<size_t>(n)), b(a), out(a);
      for (int64_t i = 0; i < n; i++) {
        a[static_cast<size_t>(i)] = rounded(f, values[static_cast<size_t>((i + from) % count)]);
        b[static_cast<size_t>(i)] = rounded(f, values[static_cast<size_t>((i * 3 + from * 5) % count)]);
      }
      call(*entry.kernel, f, {a, b}, {{out}}, {n}, LIMITS);
      for (size_t i = 0; i < out.size(); i++) {
        const double expected = function.of(without_denormal(a[i]), without_denormal(b[i]));
        if (agrees(entry.op, f, out[i], a[i], b[i], expected)) continue;
        if (wrong++ == 0) std::printf("WRONG %.*s %.*s %s(%g, %g): expected %g, received %g\n", static_cast<int>(entry.isa.size()), entry.isa.data(), static_cast<int>(entry.op.size()), entry.op.data(), f.name, a[i], b[i], expected, out[i]);
      }
    }
  }
  return wrong;
}

int sums(const cpu::Entry& entry, const Format& f) {
  Faults faults(entry, f);
  for (const int64_t n : {1, 7, 33, 1000, 20000})
    for (const float special : {INF, -INF, NOT, f.denormal})
      for (int64_t at = 0; at < n; at += n > 40 ? n / 27 : 1) {
        std::vector<float> x(static_cast<size_t>(n), 1.0f), out(1);
        x[static_cast<size_t>(at)] = special;
        call(*entry.kernel, f, {x}, {{out}}, {1, n, 1});
        const double expected = static_cast<double>(n - 1) + without_denormal(rounded(f, special));
        if (!agrees(entry.op, f, out[0], 0, 0, expected)) faults.add("a sum with a special number", at, out[0]);
      }
  return faults.count();
}

// How many faults; none where nothing is checked of this kernel.
std::optional<int> check(const cpu::Entry& entry, const Format& f) {
  for (const Function& function : FUNCTIONS)
    if (function.op == entry.op) return elementwise(entry, f, function);
  if (entry.op == "sum") return sums(entry, f);
  for (const std::string_view op : {"max", "min", "norm_linf", "argmax", "argmin"})
    if (op == entry.op) return check_extremes(entry, f);
  if (entry.op.ends_with("_pool2d")) return check_windows(entry, f);
  if (entry.op == "sort" || entry.op == "topk") return check_order(entry, f);
  if (entry.op == "matmul") return check_products(entry, f);
  if (entry.op == "conv2d") return check_convolutions(entry, f);
  return std::nullopt;
}

}  // namespace

int check_specials() {
  int wrong = 0, checked = 0;
  for (const cpu::Entry& entry : cpu::all_kernels()) {
    bool usable = false;
    for (const cpu::Isa& isa : cpu::isas()) usable = usable || (isa.id == entry.isa && isa.available);
    if (!usable) continue;
    for (const Format& format : formats())
      if (format.run(*entry.kernel))
        if (const std::optional<int> faults = check(entry, format)) checked++, wrong += *faults;
  }
  std::printf("%d kernels checked, those of each dtype by themselves\n", checked);
  return wrong > 0;
}

}  // namespace opscope
