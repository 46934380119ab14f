// Many long rows by blocks that stay (rows_stay.cu): which, and how they are spread. Pure; rows_test.cc has what holds over the whole range.
#pragma once
#include <algorithm>
#include <cstdint>

#include "stay_sizes.h"

namespace opscope::cuda {

// Vectors of 16 bytes of a row: more than blocks of several rows on a multiprocessor take (common/row.h), where an operation says nothing else, and as many as registers hold.
constexpr int64_t stay_least = 4096, stay_most = stay_threads * 16;

// An operation: in 16 bits, vectors of a row and rows of a multiprocessor, of which more are taken, and in f32 vectors of a row (H200: softmax f16 2128x47880 112.5 to 117.1 us, bf16 178x36784 14.5 to 15.4, f32 513x16384 25.1 to
// 20.9, 2000x9001 39.3 to 42.5; log_softmax f32 513x16384 28.6 to 20.7, 1000x12000 28.5 to 27.1, 140x10000 9.0 to 10.2, bf16 1000x32768 48.0 to 37.8, f16 300x24001 16.1 to 16.6; cross_entropy_backward f32 4096x12000 97.0 to 104,
// bf16 1000x32768 38.7 to 42.4, f16 150x60000 19.2 to 20.9).
struct StayOp {
  int64_t half_vectors, half_rows, float_vectors;
};
constexpr StayOp stay_softmax = {6144, 1, 2999}, stay_log_softmax = {stay_least - 1, 1, 2999}, stay_cross_entropy_backward = {stay_least, 2, stay_least};

struct StayRows {
  int vectors = 0;    // of a thread; 0: other kernels take the case
  int64_t piece = 0;  // vectors of a warp
  int stages = 0;     // rows in shared memory
  int64_t blocks = 0, shared = 0;
};

// `most_shared`: bytes of a block at most; `lanes`: elements of 16 bytes.
inline StayRows stay_rows(int sm_count, int64_t most_shared, int64_t lanes, int64_t rows, int64_t cols, const StayOp& op) {
  constexpr int64_t warps = stay_threads / 32, own = 2 << 10;
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  // A row that starts off a boundary can touch one vector more. Of up to `stay_least`, rows that are few were not timed.
  const int64_t vectors = cols % lanes == 0 ? cols / lanes : over(cols + lanes - 1, lanes);
  if (vectors <= (lanes > 4 ? op.half_vectors : op.float_vectors) || vectors > stay_most || rows <= sm_count * (vectors <= stay_least ? 2 : lanes > 4 ? op.half_rows : 1)) return {};
  StayRows s;
  // Lanes of a warp have equally many vectors, but for the last piece.
  s.piece = over(over(vectors, warps), 32) * 32;
  s.vectors = s.piece <= 12 * 32 ? 12 : 16;
  const int64_t bytes = s.piece * warps * 16;
  s.stages = static_cast<int>(std::min<int64_t>(stay_stages, (most_shared - own) / bytes));
  s.shared = s.stages * bytes;
  s.blocks = std::min<int64_t>(rows, sm_count);
  return s.stages > 0 ? s : StayRows{};
}

}  // namespace opscope::cuda
