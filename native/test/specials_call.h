// One call of a kernel on numbers that are given and read as floats, in every dtype that it has.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "registry.h"

namespace opscope {

// A dtype of floats, and the way a kernel computes in it.
struct Format {
  const char* name;
  size_t bytes, unit;  // of an element, and of what a kernel may read at once: tensors are aligned to that alone
  cpu::Run (*run)(const cpu::Kernel&);  // null: not here
  uint32_t (*bits)(float);              // rounded to nearest even
  float (*number)(uint32_t);
  float largest, smallest, denormal, tiny;  // smallest: of the normal numbers; tiny: normal, with a finite reciprocal
  double precision;                         // an error of so much of a result comes from rounding
};

const std::vector<Format>& formats();

inline float rounded(const Format& f, float x) { return f.number(f.bits(x)); }

struct Output {
  std::vector<float>& values;
  bool places = false;  // i32
};

// One call by one thread, as the team makes it. Every tensor starts one unit off the alignment of a vector, and ends where its memory ends.
void call(const cpu::Kernel& kernel, const Format& format, const std::vector<std::span<const float>>& in, const std::vector<Output>& out, const std::vector<int64_t>& dims, const double* scalars = nullptr);

// Prints the first fault of a kernel. Returns how many there are.
class Faults {
 public:
  Faults(const cpu::Entry& entry, const Format& format) : entry_(entry), format_(format) {}
  void add(const char* what, int64_t at, float received);
  int count() const { return count_; }

 private:
  const cpu::Entry& entry_;
  const Format& format_;
  int count_ = 0;
};

// Where one element is NaN or infinite: how many faults of reductions, windows, orders, products and convolutions.
int check_extremes(const cpu::Entry& entry, const Format& format);
int check_windows(const cpu::Entry& entry, const Format& format);
int check_order(const cpu::Entry& entry, const Format& format);
int check_products(const cpu::Entry& entry, const Format& format);
int check_convolutions(const cpu::Entry& entry, const Format& format);

}  // namespace opscope
