// The launches of a row operation from rows.cu, by rows/shape.h.
#pragma once
#include <string>

#include "../plan.h"
#include "arguments.h"
#include "shape.h"

namespace opscope::cuda {

inline int64_t lanes_of(Dtype dtype) { return 16 / static_cast<int64_t>(dtype_bytes(dtype)); }

// The tensors of the op in order, those that are read first.
inline RowArguments arguments_of(const Planner& p, int64_t rows, int64_t cols) {
  RowArguments a = {};
  size_t read = 0;
  for (const TensorDesc& tensor : p.spec.tensors)
    if (tensor.role != Role::out && read < 5) {
      a.in[read] = p.input(read);
      read++;
    }
  a.out = p.output();
  a.rows = rows;
  a.cols = cols;
  a.plane = 1;
  a.groups = 1;
  a.number = p.spec.scalars.empty() ? 0.0f : static_cast<float>(p.scalar(0));
  return a;
}

// `inputs`: how many of them have rows, which a tile holds.
inline void launch_rows(Planner& p, RowArguments a, int inputs = 1) {
  const RowsSplit split = rows_split(p.device.sm_count, lanes_of(p.spec.dtype), a.rows, a.cols);
  const std::string name = "rows_" + p.spec.op + "_" + p.dtype();
  const auto kernel = [&](const std::string& suffix) { return p.kernel_in("rows", name + suffix); };
  a.group = split.group;
  a.parts = split.parts;
  a.part = split.part;
  if (split.tiled) {
    p.launch(kernel("_tile"), {split.blocks}, split.threads, static_cast<unsigned>(inputs * split.part * a.cols * static_cast<int64_t>(dtype_bytes(p.spec.dtype))), a);
    return;
  }
  if (split.parts == 1) {
    p.launch(kernel(""), {split.blocks}, split.threads, 0, a);
    return;
  }
  constexpr int64_t most_floats = 4;  // of a statistic
  a.parts_at = p.workspace(split.blocks * most_floats * 4);
  p.launch(kernel("_part"), {split.blocks}, split.threads, 0, a);
  p.launch(kernel("_join"), {split.blocks}, split.threads, 0, a);
}

}  // namespace opscope::cuda
