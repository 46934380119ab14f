#include "red_team.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "narrow.h"

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

const float* input(const Call& c, int i) { return static_cast<const float*>(c.in[i]); }
float* output(const Call& c) { return static_cast<float*>(c.out[0]); }

void add(const Call& c, int64_t begin, int64_t end, float* out) {
  for (int64_t i = begin; i < end; i++) out[i] = input(c, 0)[i] + input(c, 1)[i];
}

// The fastest kernel there is.
void nothing(const Call&) {}

// The first half, right.
void half(const Call& c) {
  const Range r = share(c, c.dims[0] / 2);
  add(c, r.begin, r.end, output(c));
}

// Right the first time, then that same output whatever the inputs are. The scratch holds a flag per thread, then the output.
void stale(const Call& c) {
  const Range r = share(c, c.dims[0]);
  float* flag = c.scratch + c.thread * LINE;
  float* kept = c.scratch + c.threads * LINE;
  if (*flag == 0) add(c, r.begin, r.end, kept);
  *flag = 1;
  std::copy(kept + r.begin, kept + r.end, output(c) + r.begin);
}

size_t stale_scratch(const int64_t* dims, int, int threads, size_t) { return static_cast<size_t>(dims[0] + threads * LINE); }

// Right but for one element, which is no number.
void nan_once(const Call& c) {
  const Range r = share(c, c.dims[0]);
  const int64_t at = c.dims[0] / 2;
  add(c, r.begin, r.end, output(c));
  if (at >= r.begin && at < r.end) output(c)[at] = std::numeric_limits<float>::quiet_NaN();
}

// Right, and then one element more.
void beyond(const Call& c) {
  const Range r = share(c, c.dims[0]);
  add(c, r.begin, r.end, output(c));
  if (c.thread == 0) output(c)[c.dims[0]] = 0;
}

// Right, but each thread writes again what it has read of the next one's part: mostly the same, or what was there before.
void race(const Call& c) {
  const Range r = share(c, c.dims[0]);
  add(c, r.begin, r.end, output(c));
  volatile float* const next = output(c) + r.end % c.dims[0];
  *next = *next;
}

float to_bf16(float x) { return std::bit_cast<float>(uint32_t{cpu::to_bf16(x)} << 16); }

// Inputs rounded to half the bits.
void half_precision(const Call& c) {
  const Range r = share(c, c.dims[0]);
  for (int64_t i = r.begin; i < r.end; i++) output(c)[i] = to_bf16(input(c, 0)[i]) + to_bf16(input(c, 1)[i]);
}

bool shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[1] = sizes[2] = d[0];
  return true;
}

constexpr Kernel cheat(Run run, size_t (*scratch)(const int64_t*, int, int, size_t) = nullptr) { return {"ff>f", 1, 1, 0, shape, scratch, run}; }
constexpr Kernel NOTHING = cheat(nothing), HALF = cheat(half), STALE = cheat(stale, stale_scratch), NAN_ONCE = cheat(nan_once), BEYOND = cheat(beyond), RACE = cheat(race),
                 HALF_PRECISION = cheat(half_precision);

constexpr Cheat CHEATS[] = {
    {"red-noop", "Red team: does nothing", &NOTHING},
    {"red-half", "Red team: writes half of its output", &HALF},
    {"red-stale", "Red team: returns its first output again", &STALE},
    {"red-nan", "Red team: one element is not a number", &NAN_ONCE},
    {"red-beyond", "Red team: writes one element beyond its output", &BEYOND},
    {"red-race", "Red team: threads write each other's parts", &RACE},
    {"red-half-precision", "Red team: rounds its inputs to bf16", &HALF_PRECISION},
};

}  // namespace

std::span<const Cheat> cheats() {
  const char* asked = std::getenv("OPSCOPE_RED_TEAM");
  if (!asked || std::strcmp(asked, "1") != 0) return {};
  return CHEATS;
}

}  // namespace opscope::cpu
