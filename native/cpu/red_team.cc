#include "red_team.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace opscope::cpu {

namespace {

constexpr int64_t LINE = 16;  // floats in a cache line

struct Range {
  int64_t begin, end;
};

Range share(const Call& c, int64_t n) {
  const int64_t lines = (n + LINE - 1) / LINE;
  return {std::min(lines * c.thread / c.threads * LINE, n), std::min(lines * (c.thread + 1) / c.threads * LINE, n)};
}

void add(const Call& c, int64_t begin, int64_t end, float* out) {
  for (int64_t i = begin; i < end; i++) out[i] = c.in[0][i] + c.in[1][i];
}

// The fastest kernel there is.
void nothing(const Call&) {}

// The first half, right.
void half(const Call& c) {
  const Range r = share(c, c.dims[0] / 2);
  add(c, r.begin, r.end, c.out);
}

// Right the first time, then that same output whatever the inputs are. The scratch holds a flag per thread, then the output.
void stale(const Call& c) {
  const Range r = share(c, c.dims[0]);
  float* flag = c.scratch + c.thread * LINE;
  float* kept = c.scratch + c.threads * LINE;
  if (*flag == 0) add(c, r.begin, r.end, kept);
  *flag = 1;
  std::copy(kept + r.begin, kept + r.end, c.out + r.begin);
}

size_t stale_scratch(const int64_t* dims, int threads) { return static_cast<size_t>(dims[0] + threads * LINE); }

// Right but for one element, which is no number.
void nan_once(const Call& c) {
  const Range r = share(c, c.dims[0]);
  const int64_t at = c.dims[0] / 2;
  add(c, r.begin, r.end, c.out);
  if (at >= r.begin && at < r.end) c.out[at] = std::numeric_limits<float>::quiet_NaN();
}

// To the nearest bf16, ties to even; inputs are finite.
float to_bf16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// Inputs rounded to half the bits.
void half_precision(const Call& c) {
  const Range r = share(c, c.dims[0]);
  for (int64_t i = r.begin; i < r.end; i++) c.out[i] = to_bf16(c.in[0][i]) + to_bf16(c.in[1][i]);
}

void shape(const int64_t* d, int64_t* sizes) { sizes[0] = sizes[1] = sizes[2] = d[0]; }

constexpr Kernel NOTHING{1, 2, shape, nullptr, nothing}, HALF{1, 2, shape, nullptr, half}, STALE{1, 2, shape, stale_scratch, stale},
    NAN_ONCE{1, 2, shape, nullptr, nan_once}, HALF_PRECISION{1, 2, shape, nullptr, half_precision};

constexpr Cheat CHEATS[] = {
    {"red-noop", "Red team: does nothing", &NOTHING},
    {"red-half", "Red team: writes half of its output", &HALF},
    {"red-stale", "Red team: returns its first output again", &STALE},
    {"red-nan", "Red team: one element is not a number", &NAN_ONCE},
    {"red-half-precision", "Red team: rounds its inputs to bf16", &HALF_PRECISION},
};

}  // namespace

std::span<const Cheat> cheats() {
  const char* asked = std::getenv("OPSCOPE_RED_TEAM");
  if (!asked || std::strcmp(asked, "1") != 0) return {};
  return CHEATS;
}

}  // namespace opscope::cpu
