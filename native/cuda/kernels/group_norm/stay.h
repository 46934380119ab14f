// Long groups of group_norm by blocks that stay and hold them in registers (group_norm_stay.cu): which, and how they are spread. Pure; rows_test.cc has what holds over the whole range.
#pragma once
#include <algorithm>
#include <cstdint>

#include "../group_norm.h"

namespace opscope::cuda {

struct StayGroupShape {
  int vectors = 0;   // of a thread; 0: other kernels take the case
  int parts = 1;     // blocks of a group, a cluster
  int64_t part = 0;  // vectors of a block
  int64_t piece = 0; // vectors of a warp
  int stages = 0;    // groups in shared memory
  int64_t blocks = 0, shared = 0;
};

// `most_shared`: bytes of a block at most; `lanes`: elements of 16 bytes; `channels` and `plane`: of a group.
inline StayGroupShape stay_group_shape(int sm_count, int64_t most_shared, int64_t lanes, int64_t groups, int64_t channels, int64_t plane) {
  constexpr int64_t warps = group_threads / 32, line = 8, most = warps * 32 * 16;
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t cols = channels * plane, vectors = cols / lanes;
  if (cols % lanes != 0 || vectors <= int64_t{group_threads} * group_vectors || vectors > most * group_parts || plane < lanes || channels > group_channels) return {};
  StayGroupShape s;
  s.parts = vectors <= most ? 1 : group_parts;
  s.part = s.parts == 1 ? vectors : over(over(vectors, s.parts), line) * line;
  // Many groups, and few multiprocessors without one in the last round (H200: f32 268 groups of 5 channels of 4096 16.1 to 17.1 us, 288 of 8 of 3136 21.3 to 21.0).
  const int64_t places = sm_count / s.parts, rounds = over(groups, places);
  if (groups < int64_t{sm_count} * 2 || groups * 10 < rounds * places * 7) return {};
  // Lanes of a warp have equally many vectors, but for the last piece.
  s.piece = over(over(s.part, warps), 32) * 32;
  s.vectors = s.piece <= 10 * 32 ? 10 : s.piece <= 13 * 32 ? 13 : 16;
  const int64_t bytes = s.piece * warps * 16, weights = 2 * channels * 8;
  s.stages = static_cast<int>(std::min<int64_t>(group_stages, (most_shared - group_fixed_bytes - weights) / bytes));
  s.shared = s.stages * bytes + weights;
  s.blocks = std::min(groups, places) * s.parts;
  return s.stages > 0 ? s : StayGroupShape{};
}

}  // namespace opscope::cuda
