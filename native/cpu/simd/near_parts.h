// Shares of a call whose tensors stay in the caches.
#pragma once
#include "simd.h"

namespace {

// The share of this thread by its speed (Team::share).
inline Range share_by_speed(const Call& c, int64_t n, int64_t granule) {
  constexpr int64_t SHARES = 1 << 14;
  const int own = c.take(c.team, c.thread, 0, 0);
  const int64_t units = (n + granule - 1) / granule, first = own >> 15, count = own & 0x7fff, begin = units * first / SHARES * granule, end = units * (first + count) / SHARES * granule;
  return {least(begin, n), least(end, n)};
}

// Calls f for what this thread computes of n elements, of tensors of so many bytes in all: within the caches, threads on slow cores have smaller shares.
// A part that is taken from another thread is read from that one's caches, so only long shares of what takes much longer than to read, PARTS, are cut into parts.
template <bool PARTS = false, class F>
inline void each_near(const Call& c, int64_t bytes, int64_t n, int64_t granule, F f) {
  constexpr int64_t PART_BYTES = 64 << 10, FEWEST_PARTS = 4, SHARE_BYTES = 16 << 10;
  // Without divisions for small calls, which take a few nanoseconds.
  const int64_t threads = c.threads;
  const bool many = PARTS && bytes >= FEWEST_PARTS * PART_BYTES * threads;
  const int parts = c.stream ? c.parts : many ? static_cast<int>(least(bytes / threads / PART_BYTES, c.most_parts)) : 1;
  const bool alone = threads * parts == 1, by_speed = !c.stream && parts == 1 && c.most_parts > 1 && bytes >= SHARE_BYTES * threads;
  // One call of f, which is compiled into this.
  for (int taken = parts == 1 ? c.thread : c.take(c.team, c.thread, parts, 0); taken >= 0; taken = parts == 1 ? -1 : c.take(c.team, c.thread, parts, 0))
    if (const Range r = alone ? Range{0, n} : by_speed ? share_by_speed(c, n, granule) : part(n, granule, taken, c.threads * parts); r.begin < r.end) f(r);
}

}  // namespace
