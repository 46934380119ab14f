// Which kernels the gradients of a norm take. Pure; see test/rows_test.cc.
#pragma once
#include "norm_long.h"
#include "shape.h"

namespace opscope::cuda {

enum class NormBackward {
  small,    // one block does all
  long_rows,  // few long rows, in two launches
  few,      // one launch, where elements are few
  once,     // each tensor is read once, and a second launch joins the gradients of weights
  apart,    // rows and columns by launches of their own
};

struct NormBackwardShape {
  NormBackward kind;
  int group = 1;  // small: threads of a row
  NormLongShape long_rows = {};
  NormFewShape few = {};
  NormShape once = {};
  int64_t splits = 1;  // apart: of the tokens
};

inline NormBackwardShape norm_backward_shape(int sm_count, int64_t most_shared, int64_t element_bytes, int64_t tokens, int64_t dim) {
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t lanes = 16 / element_bytes, bytes = tokens * dim * element_bytes;
  NormBackwardShape s = {NormBackward::small};
  if (tokens * dim <= norm_small) {
    // Four elements of a row a thread.
    while (s.group < 32 && s.group * 4 < dim) s.group *= 2;
    return s;
  }
  s.long_rows = norm_long_shape(sm_count, tokens, dim);
  s.kind = NormBackward::long_rows;
  if (s.long_rows.blocks > 0) return s;
  s.once = norm_shape(sm_count, most_shared, lanes, tokens, dim);
  // Between these sizes one launch takes less than two (bf16 512x512 in graphs on an H200: 5.8 us, by one pass 7.2).
  const bool once = s.once.vectors > 0 && (dim % lanes == 0 ? bytes <= int64_t{1} << 18 || bytes >= int64_t{1} << 22 : tokens * dim > norm_few_most);
  s.few = norm_few_shape(sm_count, tokens, dim);
  s.kind = once ? NormBackward::once : s.few.tiles > 0 ? NormBackward::few : NormBackward::apart;
  // Enough blocks to fill the GPU, each with some work.
  s.splits = std::clamp<int64_t>(std::min(over(int64_t{sm_count} * 8, over(dim, 32)), over(tokens, 64)), 1, 1024);
  return s;
}

}  // namespace opscope::cuda
