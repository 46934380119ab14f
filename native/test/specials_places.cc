// One NaN among numbers: what meets it is NaN (or names its place), and all else is as without it. A NaN is the largest and the smallest element of
// what it is in, and above all others where elements are ordered, as in PyTorch.
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "specials_call.h"

namespace opscope {

namespace {

constexpr float INF = std::numeric_limits<float>::infinity(), NOT = std::numeric_limits<float>::quiet_NaN();

bool same(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); }

// A number for each element, none of them special, exact in every dtype.
std::vector<float> numbers(int64_t n) {
  std::vector<float> x(static_cast<size_t>(n));
  for (size_t i = 0; i < x.size(); i++) x[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50);
  return x;
}

// Of [1, n, inner]: a NaN in one column, and another behind it. Of long columns in few places: an emulator takes long for their tensors.
void columns(const cpu::Entry& entry, const Format& f, Faults& faults) {
  const bool place = entry.op.starts_with("arg");
  for (const int64_t inner : {1, 5, 37})
    for (const int64_t n : {1, 7, 33, 150, 9000}) {
      const std::vector<float> original = numbers(n * inner);
      std::vector<float> out(static_cast<size_t>(inner)), plain(out);
      call(*entry.kernel, f, {original}, {{plain, place}}, {1, n, inner});
      for (int64_t at = 0; at < n; at += n > 1000 ? n / 5 : n > 40 ? n / 13 : 1) {
        std::vector<float> x = original;
        const int64_t column = at % inner;
        x[static_cast<size_t>(at * inner + column)] = NOT;
        if (at + 3 < n) x[static_cast<size_t>((at + 3) * inner + column)] = -NOT;
        call(*entry.kernel, f, {x}, {{out, place}}, {1, n, inner});
        for (int64_t j = 0; j < inner; j++) {
          const float found = out[static_cast<size_t>(j)];
          const bool right = j != column ? same(found, plain[static_cast<size_t>(j)]) : place ? found == static_cast<float>(at) : std::isnan(found);
          if (!right) faults.add(inner == 1 ? "a row, NaN" : "columns, NaN", at, found);
        }
      }
    }
}

// Of 70 rows of n: a NaN in one of them, and another behind it.
void short_rows(const cpu::Entry& entry, const Format& f, Faults& faults) {
  constexpr int64_t ROWS = 70, ROW = 66;
  const bool place = entry.op.starts_with("arg");
  for (const int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 17, 31, 32}) {
    const std::vector<float> original = numbers(ROWS * n);
    std::vector<float> out(ROWS), plain(ROWS);
    call(*entry.kernel, f, {original}, {{plain, place}}, {ROWS, n, 1});
    for (int64_t at = 0; at < n; at++) {
      std::vector<float> x = original;
      x[static_cast<size_t>(ROW * n + at)] = NOT;
      if (at + 2 < n) x[static_cast<size_t>(ROW * n + at + 2)] = -NOT;
      call(*entry.kernel, f, {x}, {{out, place}}, {ROWS, n, 1});
      for (int64_t row = 0; row < ROWS; row++) {
        const float found = out[static_cast<size_t>(row)];
        const bool right = row != ROW ? same(found, plain[static_cast<size_t>(row)]) : place ? found == static_cast<float>(at) : std::isnan(found);
        if (!right) faults.add("short rows, NaN", at, found);
      }
    }
  }
}

// Planes, the last of which has a NaN: the windows that hold it are NaN, the others are as without it.
void windows(const cpu::Entry& entry, const Format& f, int64_t planes, int64_t plane_height, int64_t plane_width, Faults& faults) {
  const bool adaptive = entry.op.starts_with("adaptive");
  for (const auto& [kernel, stride, padding] : {std::array<int64_t, 3>{1, 1, 0}, {2, 2, 0}, {3, 1, 1}, {3, 2, 1}}) {
    const int64_t height = adaptive ? 3 : (plane_height + 2 * padding - kernel) / stride + 1, width = adaptive ? plane_width / 9 + 3 + 2 * kernel : (plane_width + 2 * padding - kernel) / stride + 1;
    std::vector<int64_t> dims{planes, plane_height, plane_width, height, width, kernel, stride, padding};
    if (adaptive) dims.resize(5);
    const auto holds = [&, k = kernel, s = stride, p = padding](int64_t o, int64_t outputs, int64_t inputs, int64_t at) {
      return adaptive ? at >= o * inputs / outputs && at < ((o + 1) * inputs + outputs - 1) / outputs : at >= o * s - p && at < o * s - p + k;
    };
    const int64_t size = plane_height * plane_width, last = planes - 1;
    std::vector<float> x = numbers(planes * size), out(static_cast<size_t>(planes * height * width)), plain(out);
    call(*entry.kernel, f, {x}, {{plain}}, dims);
    for (int64_t at = 0; at < size; at += 5) {
      float& special = x[static_cast<size_t>(last * size + at)];
      const float number = std::exchange(special, NOT);
      call(*entry.kernel, f, {x}, {{out}}, dims);
      special = number;
      for (int64_t i = 0; i < planes * height * width; i++) {
        const bool within = i / (height * width) == last && holds(i / width % height, height, plane_height, at / plane_width) && holds(i % width, width, plane_width, at % plane_width);
        const float found = out[static_cast<size_t>(i)];
        if (within ? !std::isnan(found) : found != plain[static_cast<size_t>(i)]) faults.add("windows, NaN", at, found);
      }
    }
  }
}

// One image, stride 1: a NaN in one channel of the input reaches the outputs of all filters of its group whose windows hold it, and no others.
void convolution(const cpu::Entry& entry, const Format& f, int64_t batch, int64_t channels, int64_t filters, int64_t height, int64_t width, int64_t kernel, int64_t padding, Faults& faults, int64_t groups = 1) {
  const int64_t out_height = height + 2 * padding - kernel + 1, out_width = width + 2 * padding - kernel + 1, size = height * width;
  const std::vector<int64_t> dims{batch, channels, filters, groups, 1, 1, 1, 1, 0, 1, height, kernel, padding, out_height, width, kernel, padding, out_width};
  std::vector<float> x = numbers(batch * channels * size), weight = numbers(filters * channels / groups * kernel * kernel), out(static_cast<size_t>(batch * filters * out_height * out_width)), plain(out);
  call(*entry.kernel, f, {x, weight}, {{plain}}, dims);
  const int64_t image = batch - 1, channel = channels / 2;
  for (int64_t at = 0; at < size; at += size > 40 ? size / 9 : 3) {
    float& special = x[static_cast<size_t>((image * channels + channel) * size + at)];
    const float number = std::exchange(special, NOT);
    call(*entry.kernel, f, {x, weight}, {{out}}, dims);
    special = number;
    const auto meets = [=](int64_t o, int64_t place) { return place >= o - padding && place < o - padding + kernel; };
    for (size_t i = 0; i < out.size(); i++) {
      const auto o = static_cast<int64_t>(i);
      const bool within = o / (filters * out_height * out_width) == image && o / (out_height * out_width) % filters / (filters / groups) == channel / (channels / groups) && meets(o / out_width % out_height, at / width) && meets(o % out_width, at % width);
      if (within ? !std::isnan(out[i]) : out[i] != plain[i]) faults.add("a convolution, NaN", at, out[i]);
    }
  }
}

}  // namespace

int check_extremes(const cpu::Entry& entry, const Format& f) {
  Faults faults(entry, f);
  columns(entry, f, faults);
  short_rows(entry, f, faults);
  return faults.count();
}

int check_windows(const cpu::Entry& entry, const Format& f) {
  Faults faults(entry, f);
  windows(entry, f, 1, 9, 43, faults);
  windows(entry, f, 70, 4, 8, faults);
  windows(entry, f, 70, 3, 5, faults);
  return faults.count();
}

// NaN of either sign is above infinity, the first of them first.
int check_order(const cpu::Entry& entry, const Format& f) {
  Faults faults(entry, f);
  const bool top = entry.op == "topk";
  for (const int64_t n : {4, 6, 7, 40, 700})
    for (int64_t at = 0; at + 1 < n; at += n > 40 ? 53 : 1) {
      std::vector<float> x = numbers(n), values(x), places(x);
      x[static_cast<size_t>(at)] = -NOT;
      x[static_cast<size_t>(n) - 1] = NOT;
      x[static_cast<size_t>(at / 2 + 1)] = at / 2 + 1 == at || at / 2 + 2 == n ? x[static_cast<size_t>(at / 2 + 1)] : INF;
      call(*entry.kernel, f, {x}, {{values}, {places, true}}, {1, n, top ? 3 : 0});
      const size_t first = top ? 0 : x.size() - 2;
      if (!std::isnan(values[first]) || !std::isnan(values[first + 1]) || places[first] != static_cast<float>(at) || places[first + 1] != static_cast<float>(n - 1)) faults.add("an order, NaN", at, values[first]);
    }
  return faults.count();
}

// A NaN in one operand reaches one row or one column of the result, an infinity makes it infinite or NaN.
int check_products(const cpu::Entry& entry, const Format& f) {
  Faults faults(entry, f);
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{1, 37, 19}, {37, 1, 19}, {3, 5, 130}, {9, 7, 301}, {5, 40, 33}, {33, 35, 41}, {70, 19, 5}, {4, 1000, 3}, {19, 33, 1}, {7, 13, 700}, {20, 33, 250}, {70, 17, 1024}, {6, 1, 4097}})
    for (int transposed = 0; transposed < 4; transposed++) {
      const int64_t trans_a = transposed & 1, trans_b = transposed >> 1;
      const std::vector<int64_t> dims{1, m, n, k, trans_a, trans_b};
      std::vector<float> a = numbers(m * k), b = numbers(k * n), out(static_cast<size_t>(m * n)), plain(out);
      call(*entry.kernel, f, {a, b}, {{plain}}, dims);
      for (const float special : {NOT, INF})
        for (const bool left : {true, false}) {
          const int64_t line = (left ? m : n) - 1, term = k / 2;
          std::vector<float> changed = left ? a : b;
          const bool by_terms = left ? trans_a != 0 : trans_b == 0;
          changed[static_cast<size_t>(by_terms ? term * (left ? m : n) + line : line * k + term)] = special;
          call(*entry.kernel, f, {left ? changed : a, left ? b : changed}, {{out}}, dims);
          for (int64_t i = 0; i < m * n; i++) {
            const float found = out[static_cast<size_t>(i)];
            const bool met = (left ? i / n : i % n) == line;
            if (met ? std::isfinite(found) || (std::isnan(special) && !std::isnan(found)) : found != plain[static_cast<size_t>(i)]) faults.add(std::isnan(special) ? "a product, NaN" : "a product, infinity", i, found);
          }
        }
    }
  return faults.count();
}

int check_convolutions(const cpu::Entry& entry, const Format& f) {
  Faults faults(entry, f);
  convolution(entry, f, 1, 3, 5, 9, 13, 3, 1, faults);
  convolution(entry, f, 1, 20, 17, 7, 7, 3, 1, faults);
  convolution(entry, f, 2, 33, 20, 5, 37, 1, 0, faults);
  convolution(entry, f, 18, 5, 9, 3, 4, 2, 1, faults);
  convolution(entry, f, 1, 40, 17, 3, 2, 3, 1, faults);
  convolution(entry, f, 1, 1, 1, 6, 70, 5, 2, faults);
  convolution(entry, f, 2, 32, 37, 18, 19, 3, 1, faults);
  convolution(entry, f, 1, 701, 3, 7, 9, 3, 1, faults);
  convolution(entry, f, 7, 13, 13, 2, 3, 3, 1, faults, 13);
  convolution(entry, f, 3, 17, 34, 7, 9, 3, 1, faults, 17);
  return faults.count();
}

}  // namespace opscope
