#include "reference.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/plan.h"

namespace opscope::cuda::tools {

namespace {

constexpr uint32_t seed = 20260101;
constexpr double ln_eps = 1e-5;

uint32_t mix(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

float unit() { return static_cast<float>(1 / std::sqrt((65536.0 * 65536.0 - 1) / 3)); }

float from_bits(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}
uint32_t to_bits(float f) {
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return bits;
}

float round_bf16(float f) { return from_bits((to_bits(f) + 0x7fff + (to_bits(f) >> 16 & 1)) & 0xffff0000u); }
// Nearest even at 11 significant bits, or at 2^-24 below the normal range; no input here overflows f16.
float round_f16(float f) {
  if (std::fabs(f) < 6.103515625e-05f) return std::nearbyint(f * 16777216.0f) / 16777216.0f;
  const uint32_t bits = to_bits(f);
  return from_bits((bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu);
}
double from_f16(uint16_t h) {
  const double sign = h & 0x8000 ? -1 : 1;
  const int exponent = h >> 10 & 31, fraction = h & 1023;
  if (exponent == 31) return fraction ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  return exponent ? sign * std::ldexp(1.0 + fraction / 1024.0, exponent - 15) : sign * std::ldexp(fraction, -24);
}

uint32_t key0(int stream) { return mix(seed + static_cast<uint32_t>(stream) * 0x9e3779b9u); }

struct Row {
  int64_t index = -1;
  double max = 0, sum = 0, mean = 0, scale = 0;
};

}  // namespace

double filled_value(const Fill& fill, int64_t index, Dtype dtype) {
  const uint32_t a = mix(static_cast<uint32_t>(index) + fill.key0), b = mix(a ^ fill.key1);
  const int k = static_cast<int>((a & 0xffff) + (a >> 16) + (b & 0xffff) + (b >> 16)) - 131070;
  const float v = static_cast<float>(fill.positive ? std::abs(k) + 1 : k) * fill.factor;
  return dtype == Dtype::bf16 ? round_bf16(v) : dtype == Dtype::f16 ? round_f16(v) : v;
}

double input_value(int stream, int64_t index, Dtype dtype) {
  const uint32_t k0 = key0(stream);
  return filled_value({false, unit(), k0, mix(k0 ^ 0x85ebca6bu)}, index, dtype);
}

CaseSpec make_case(const std::string& op, Dtype dtype, std::vector<int64_t> dims) {
  CaseSpec spec;
  spec.op = op;
  spec.impl = "kernel";
  spec.dtype = dtype;
  spec.dims = std::move(dims);
  auto sizes = find_op(op)->shape.elements(spec.dims);
  spec.output_elements = sizes.back();
  sizes.pop_back();
  for (size_t stream = 0; stream < sizes.size(); stream++) {
    const uint32_t k0 = key0(static_cast<int>(stream));
    spec.inputs.push_back({sizes[stream], {false, unit(), k0, mix(k0 ^ 0x85ebca6bu)}});
  }
  return spec;
}

std::vector<double> reference(const CaseSpec& spec, const std::vector<int64_t>& indices) {
  const auto& d = spec.dims;
  const auto in = [&](int stream, int64_t i) { return input_value(stream, i, spec.dtype); };
  Row row;
  const auto enter_row = [&](int64_t r, int64_t cols) {
    if (row.index == r) return;
    row = {r, -std::numeric_limits<double>::infinity(), 0, 0, 0};
    for (int64_t i = 0; i < cols; i++) row.max = std::max(row.max, in(0, r * cols + i)), row.mean += in(0, r * cols + i);
    row.mean /= static_cast<double>(cols);
    double squares = 0;
    for (int64_t i = 0; i < cols; i++) {
      const double x = in(0, r * cols + i);
      row.sum += std::exp(x - row.max);
      squares += (x - row.mean) * (x - row.mean);
    }
    row.scale = 1 / std::sqrt(squares / static_cast<double>(cols) + ln_eps);
  };
  std::vector<double> out;
  for (const int64_t i : indices) {
    double v = 0;
    if (spec.op == "copy") v = in(0, i);
    if (spec.op == "add") v = in(0, i) + in(1, i);
    if (spec.op == "mul") v = in(0, i) * in(1, i);
    if (spec.op == "exp") v = std::exp(in(0, i));
    if (spec.op == "gelu") v = 0.5 * in(0, i) * (1 + std::erf(in(0, i) / std::sqrt(2.0)));
    if (spec.op == "peak_mma" || spec.op == "spin_ns") v = in(0, i);
    if (spec.op == "spin") {
      const double a = 0.999f, b = 0.001f, end = b / (1 - a);
      v = end + std::pow(a, static_cast<double>(d[1])) * (in(0, i) - end);
    }
    if (spec.op == "peak_fma") {
      const double a = 0.999f, b = 0.001f, end = b / (1 - a), decay = std::pow(a, static_cast<double>(d[1]));
      v = 8 * end + decay * (8 * (in(0, i) - end) + 28);
    }
    if (spec.op == "sum")
      for (int64_t r = 0; r < d[1]; r++) v += in(0, (i / d[2] * d[1] + r) * d[2] + i % d[2]);
    if (spec.op == "softmax") {
      enter_row(i / d[1], d[1]);
      v = std::exp(in(0, i) - row.max) / row.sum;
    }
    if (spec.op == "layer_norm") {
      enter_row(i / d[1], d[1]);
      v = (in(0, i) - row.mean) * row.scale * in(1, i % d[1]) + in(2, i % d[1]);
    }
    if (spec.op == "matmul") {
      const int64_t m = d[1], n = d[2], k = d[3], batch = i / (m * n), r = i / n % m, c = i % n;
      for (int64_t l = 0; l < k; l++)
        v += in(0, batch * m * k + (d[4] ? l * m + r : r * k + l)) * in(1, batch * k * n + (d[5] ? c * k + l : l * n + c));
    }
    out.push_back(v);
  }
  return out;
}

double tolerance(const CaseSpec& spec) {
  if (spec.op == "copy" || spec.op == "spin_ns") return 1e-12;
  if (spec.op == "peak_fma" || spec.op == "spin") return 1e-4;
  if (spec.dtype == Dtype::bf16) return 1e-2;
  if (spec.dtype == Dtype::f16) return 2e-3;
  if (spec.op == "peak_mma") return 2e-3;
  if (spec.dtype == Dtype::tf32) return 1e-3;
  const int64_t length = spec.op == "sum" ? spec.dims[1] : spec.op == "matmul" ? spec.dims[3] : 0;
  if (length) return std::max(1e-6, 1e-5 * std::sqrt(static_cast<double>(length) / 1024));
  return spec.op == "softmax" || spec.op == "layer_norm" ? 1e-5 : 1e-6;
}

double decode(const void* raw, int64_t index, Dtype dtype) {
  if (dtype == Dtype::f16) return from_f16(static_cast<const uint16_t*>(raw)[index]);
  if (dtype == Dtype::bf16) return from_bits(static_cast<uint32_t>(static_cast<const uint16_t*>(raw)[index]) << 16);
  return static_cast<const float*>(raw)[index];
}

double bytes(const CaseSpec& spec) {
  double elements = static_cast<double>(spec.output_elements);
  for (const auto& input : spec.inputs) elements += static_cast<double>(input.elements);
  return elements * static_cast<double>(dtype_bytes(spec.dtype));
}

double flops(const CaseSpec& spec) {
  const auto& d = spec.dims;
  if (spec.op == "matmul") return 2.0 * static_cast<double>(d[0]) * static_cast<double>(d[1]) * static_cast<double>(d[2]) * static_cast<double>(d[3]);
  if (spec.op == "peak_fma") return 16.0 * static_cast<double>(d[0]) * static_cast<double>(d[1]);
  if (spec.op == "peak_mma") return 2.0 * 16 * 8 * 16 * 8 * static_cast<double>(d[0]) * static_cast<double>(d[1]);
  return 0;
}

}  // namespace opscope::cuda::tools
