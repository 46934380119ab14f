// Shares of a call in parts where its tensors stay in the caches.
#pragma once
#include "simd.h"

namespace {

// The parts of a thread's share of so many bytes in all. A thread that takes a part of another one reads it from that one's caches: a share is one part
// unless it is long enough to lose more by a thread that is late, on a core that something else uses as well.
inline int parts_of_bytes(const Call& c, int64_t bytes) {
  constexpr int64_t PART_BYTES = 64 << 10, FEWEST = 4;
  if (c.stream) return c.parts;
  const int64_t parts = bytes / (c.threads * PART_BYTES);
  return parts < FEWEST || c.most_parts == 1 ? 1 : static_cast<int>(least(parts, c.most_parts));
}

}  // namespace
