// How group_norm is spread over blocks and clusters that keep a group in registers (group_norm.cu) or in shared memory (group_norm_long.cu); see rows_test.cc for what holds over the whole range. Pure.
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
  bool three = false;   // blocks of a multiprocessor
};

// Threads of a block of which three have registers on a multiprocessor (group_norm.cu).
constexpr unsigned group_three_threads = 416;

// Groups of fewer vectors take a warp or less (rows/shape.h).
constexpr int64_t group_least = 129;

// Many short groups (group_norm_short.cu).
struct ShortGroupShape {
  int vectors = 0;  // of a lane; 0: others take the case
  int log2 = 0;     // 1 << log2 lanes of a group
  int64_t blocks = 0;
};

inline ShortGroupShape short_group_shape(int sm_count, int64_t lanes, int64_t groups, int64_t channels, int64_t plane) {
  constexpr int64_t limit = int64_t{1} << 31;
  const int64_t cols = channels * plane, vectors = cols / lanes;
  if (cols % lanes != 0 || vectors < 2 || vectors >= group_least || plane < lanes || groups >= limit || groups * vectors < int64_t{sm_count} * 16) return {};
  const int64_t each = vectors <= 16 ? 2 : 4;
  int log2 = 0;
  while (each << log2 < vectors) log2++;
  return {static_cast<int>(each), log2, ((groups << log2) + group_short_threads - 1) / group_short_threads};
}

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
  const auto threads = static_cast<unsigned>(over(over(part, each), 32) * 32);
  // H200: bf16 32x256x3136/32 32.5 to 27.5 us, f16 32x128x6400/32 33.4 to 28.1, f32 16x256x1600/32 17.7 to 16.8.
  return {each, threads, groups * parts, static_cast<int>(parts), part, ragged, each == 8 && parts == 1 && !ragged && threads <= group_three_threads};
}

// Blocks, or clusters of two, that keep a long group in shared memory.
struct LongGroupShape {
  int64_t part = 0;  // vectors of a block; 0: other kernels take the case
  int parts = 1;
  unsigned threads = 0;
  int piece = 0, pieces = 0;  // vectors that a warp fetches at a time, and how many times
  int64_t blocks = 0, shared = 0;
  bool ragged = false;  // groups that do not start on 16 bytes
};

// `most_shared`: bytes of a block at most; a multiprocessor has 1 KiB more, and each block takes as much beside its own.
inline LongGroupShape long_group_shape(int sm_count, int64_t most_shared, int64_t lanes, int64_t groups, int64_t channels, int64_t plane) {
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t cols = channels * plane, line = 8 * lanes;
  LongGroupShape s;
  s.ragged = cols % lanes != 0;
  // Shorter ones are sooner done from registers (bf16 128x512x784/32 on an H200: 53.9 us, from shared memory 62.6; ragged, 300x24x1543/8: 17.3 and 25.9), and so are few (f32 2x320x4096/32: 10.9 and 12.5).
  const int64_t vectors = over(cols, lanes), least = s.ragged ? 2048 : int64_t{group_threads} * group_vectors;
  if (vectors <= least || vectors >= int64_t{1} << 20 || groups < int64_t{sm_count} * 2 || plane < lanes || channels > group_channels) return {};
  // A group is read from the line of 128 bytes on in which it starts.
  const int64_t whole = over(cols + (cols % line == 0 ? 0 : s.ragged ? line - 1 : line - lanes), lanes);
  const auto shared = [&](int64_t part) { return part * 16 + 2 * channels * 8; };
  const auto part_of = [&](int64_t parts) { return over(over(whole, parts), 8) * 8; };
  const auto fits = [&](int64_t parts) { return shared(part_of(parts)) + group_fixed_bytes <= most_shared; };
  if (!fits(group_parts)) return {};
  s.parts = fits(1) ? 1 : group_parts;
  s.part = part_of(s.parts);
  s.shared = shared(s.part);
  const int64_t together = std::min<int64_t>(4, (most_shared + 1024) / (s.shared + group_fixed_bytes + 1024));
  const int64_t places = sm_count * together / s.parts;
  const double busy = static_cast<double>(groups) / static_cast<double>(over(groups, places) * places);
  // Clusters of group_norm.cu keep the multiprocessors busier.
  if (!s.ragged && busy < 0.9) return {};
  // From three blocks of a multiprocessor on, some read while others write (bf16 64x253x3025/23: 60.9 us, by blocks that stay 64.0). Fewer stay and fetch the next group, unless many would
  // have none at last (f32 300x20x4099/4, two blocks: 60.6 us, by 512 threads that do not stay 56.4).
  const bool stays = together <= 2 && (together == 1 || busy >= 0.93);
  s.threads = together == 1 || (together == 2 && !stays) ? 512 : 256;
  s.blocks = (stays ? std::min(groups, places) : groups) * s.parts;
  const int64_t own = over(over(s.part, s.threads / 32), 8) * 8;
  s.pieces = static_cast<int>(over(own, group_piece));
  s.piece = static_cast<int>(over(over(own, s.pieces), 8) * 8);
  if (s.pieces * static_cast<int>(s.threads / 32) > group_pieces) return {};
  return s;
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
