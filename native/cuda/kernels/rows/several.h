// Many short rows that start on 16 bytes, several vectors of each lane on their way (rows_several.cu): which, and how they are spread. Pure; stay_test.cc has what holds over the whole range.
#pragma once
#include <cstdint>
#include <limits>

#include "several_sizes.h"

namespace opscope::cuda {

// An operation: whether it has kernels for two rows of each lane, and for rows of more vectors than `several_two`; vectors in all from which on rows are many.
struct SeveralOp {
  bool two, more;
  int64_t least;
};
constexpr int64_t several_two = 32, several_more = 128;
constexpr SeveralOp several_layer_norm = {true, true, int64_t{1} << 18}, several_rms_norm = {true, true, int64_t{1} << 17}, several_losses = {true, false, int64_t{1} << 17}, several_softmax = {false, false, int64_t{1} << 17}, several_none = {false, false, std::numeric_limits<int64_t>::max()};

struct SeveralShape {
  int vectors = 0;  // of a lane; 0: other kernels take the case
  int rows = 1;     // of a lane
  int log2 = 0;     // 1 << log2 lanes of a warp have a row
  int64_t blocks = 0;
};

// `lanes`: elements of 16 bytes.
inline SeveralShape several_shape(int64_t lanes, int64_t rows, int64_t cols, const SeveralOp& op) {
  const int64_t vectors = cols / lanes;
  if (cols % lanes != 0 || vectors < 5 || vectors > (op.more ? several_more : several_two) || rows * vectors < op.least) return {};
  SeveralShape s;
  // The largest power of two below.
  while (int64_t{2} << s.log2 < vectors) s.log2++;
  const bool three = vectors <= int64_t{3} << (s.log2 - 1);
  if (vectors > several_two) {
    // A warp, or half of one, for a row.
    s.vectors = vectors <= 48 ? 3 : vectors <= 64 ? 2 : vectors <= 96 ? 3 : 4, s.log2 = vectors <= 48 ? 4 : 5;
  } else if (lanes > 4 && three) {
    // No more than a quarter of the lanes is without a vector.
    s.vectors = 3, s.log2--;
  } else if (op.two) {
    s.vectors = 1, s.rows = 2, s.log2++;
  } else {
    return {};
  }
  const int64_t together = int64_t{several_threads >> s.log2} * s.rows;
  s.blocks = (rows + together - 1) / together;
  return s;
}

}  // namespace opscope::cuda
