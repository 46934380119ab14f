// How group_norm is spread over blocks and clusters that keep a group in registers (group_norm.cu); see plan_test.cc for what holds over the whole range. Pure.
#pragma once
#include <algorithm>
#include <cstdint>

#include "../group_norm.h"

namespace opscope::cuda {

struct GroupShape {
  int vectors = 0;  // of a thread: 4 or 8; 0: the row operations take the case
  unsigned threads = 0;
  int64_t blocks = 0;
  int parts = 1;     // blocks of a group, a cluster
  int64_t part = 0;  // vectors of one
  bool ragged = false;  // groups that do not start on 16 bytes
};

// Groups of fewer vectors take a warp or less (rows/shape.h).
constexpr int64_t group_least = 129;

// `lanes`: elements of 16 bytes; `channels` and `plane`: of a group.
inline GroupShape group_shape(int sm_count, int64_t lanes, int64_t groups, int64_t channels, int64_t plane, bool clusters) {
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t cols = channels * plane, most = clusters ? 8 : 1;
  const bool ragged = cols % lanes != 0;
  // A group with ragged ends may touch one vector more.
  const int64_t vectors = over(cols + (ragged ? lanes - 1 : 0), lanes);
  if (vectors < group_least || vectors > most * group_threads * group_vectors || plane < lanes || channels > group_channels) return {};
  int64_t parts = 1;
  while (over(vectors, parts) > group_threads * group_vectors) parts *= 2;
  // Few groups: more blocks for each.
  while (parts < most && groups * parts * 2 <= sm_count && vectors >= parts * 4 * group_threads) parts *= 2;
  const int64_t part = over(vectors, parts);
  const bool four = part <= 256 || (part <= group_threads * 4 && groups * parts <= sm_count * 2) || (lanes == 4 && part <= 1024);
  const int each = four ? 4 : 8;
  return {each, static_cast<unsigned>(over(over(part, each), 32) * 32), groups * parts, static_cast<int>(parts), part, ragged};
}

// i / divisor for i below 2^31 as a product and a shift (Granlund & Montgomery 1994).
struct Division {
  unsigned factor, shift;
};
inline Division division_by(int64_t divisor) {
  unsigned bits = 1;
  while ((int64_t{1} << bits) < divisor) bits++;
  return {static_cast<unsigned>(((uint64_t{1} << (31 + bits)) + static_cast<uint64_t>(divisor) - 1) / static_cast<uint64_t>(divisor)), bits - 1};
}

}  // namespace opscope::cuda
