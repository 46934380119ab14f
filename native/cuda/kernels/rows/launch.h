// The launches of a row operation from rows.cu, by rows/shape.h.
#pragma once
#include <string>

#include "../plan.h"
#include "../softmax/shape.h"
#include "arguments.h"
#include "few.h"
#include "narrow.h"
#include "several.h"
#include "shape.h"
#include "stay.h"

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

// Launches rows_few.cu, or another `module` of the same form, where the case is one of few elements, of up to `most`; `groups`, `channels` and `plane`: of group_norm. Whether it did.
inline bool launch_few_rows(Planner& p, int64_t rows, int64_t cols, int64_t most = few_most, int64_t groups = 1, int64_t channels = 1, int64_t plane = 1, const char* module = "rows_few") {
  const FewLaunch s = few_shape(p.device.sm_count, rows, cols, most);
  if (!s.taken) return false;
  // Kernels of rows_few.cu know how many lanes they have.
  const bool known = std::string(module) == "rows_few";
  FewRows a = {};
  for (size_t i = 0, read = 0; i < p.spec.tensors.size(); i++)
    if (p.spec.tensors[i].role != Role::out && read < std::size(a.in)) a.in[read] = p.input(read), read++;
  a.out = p.output();
  a.rows = static_cast<int>(rows), a.cols = static_cast<int>(cols), a.log2 = s.log2;
  a.number = p.spec.scalars.empty() ? 0.0f : static_cast<float>(p.scalar(0));
  a.over = 1.0f / static_cast<float>(p.spec.op == "cross_entropy_backward" ? rows : cols);
  a.groups = static_cast<int>(groups), a.channels = static_cast<int>(channels);
  a.by_groups = divide_by(groups), a.by_plane = divide_by(plane);
  Launch& launch = p.launch(p.kernel_in(module, p.spec.op + "_few_" + p.dtype() + (s.blocks_each ? "_block" : known ? "_lanes_" + std::to_string(s.log2) : "_lanes")), {s.blocks}, s.threads, 0, a);
  if (p.spec.op == "layer_norm") launch.always_waits();
  return true;
}

// Launches rows_ragged.cu where the case is one of many rows that do not start on 16 bytes; whether it did.
inline bool launch_ragged_rows(Planner& p, const RowArguments& a, const RaggedOp& op) {
  const RaggedShape s = ragged_shape(p.device.sm_count, static_cast<int>(lanes_of(p.spec.dtype)), a.rows, a.cols, op, short_elements);
  if (s.vectors == 0) return false;
  p.launch(p.kernel_in("rows_ragged", "rows_ragged_" + p.spec.op + "_" + p.dtype() + "_" + std::to_string(s.vectors) + "_" + std::to_string(s.log2)), {s.blocks}, ragged_threads, 0, a);
  return true;
}

// Launches rows_narrow.cu where the case is one of many rows of a few elements; whether it did.
inline bool launch_narrow_rows(Planner& p, const RowArguments& a) {
  const NarrowShape s = narrow_shape(p.device.sm_count, lanes_of(p.spec.dtype), a.rows, a.cols, p.spec.op == "softmax_backward");
  if (s.rows == 0) return false;
  p.launch(p.kernel_in("rows_narrow", "rows_narrow_" + p.spec.op + "_" + p.dtype() + "_" + std::to_string(a.cols)), {s.blocks}, narrow_row_threads, 0, a);
  return true;
}

// Launches rows_several.cu where the case is one of many short rows that start on 16 bytes; whether it did.
inline bool launch_several_rows(Planner& p, RowArguments a, const SeveralOp& op) {
  const SeveralShape s = several_shape(lanes_of(p.spec.dtype), a.rows, a.cols, op);
  if (s.vectors == 0) return false;
  const std::string shape = std::to_string(s.vectors) + "_" + std::to_string(s.rows) + "_" + std::to_string(s.log2);
  const bool early = p.spec.op == "layer_norm" && few_wait(p.device.sm_count, s.blocks);
  a.group = early;
  Launch& launch = p.launch(p.kernel_in("rows_several", "rows_several_" + p.spec.op + "_" + p.dtype() + "_" + shape), {s.blocks}, several_threads, 0, a);
  if (early) launch.always_waits();
  return true;
}

// Launches rows_stay.cu where the case is one of many long rows; whether it did.
inline bool launch_staying_rows(Planner& p, RowArguments a, const StayOp& op) {
  const StayRows s = p.device.major >= 9 ? stay_rows(p.device.sm_count, p.device.shared_bytes_per_block, lanes_of(p.spec.dtype), a.rows, a.cols, op) : StayRows{};
  if (s.vectors == 0) return false;
  a.part = s.piece, a.parts = s.stages;
  const auto shared = static_cast<unsigned>(s.shared);
  p.launch(p.kernel_in("rows_stay", "rows_stay_" + p.spec.op + "_" + p.dtype() + "_" + std::to_string(s.vectors), shared), {s.blocks}, stay_threads, shared, a);
  return true;
}

// Blocks and rows up to which the block that comes last takes the mean of a loss over the rows.
constexpr int64_t most_tickets = 1024, most_averaged = 16384;

// `inputs`: how many of them have rows, which a tile holds. `holds`: whether the op has kernels that keep rows in registers; `ragged`: those off 16 bytes, too. True where the launch takes the mean of what it writes to `per_row` as well.
inline bool launch_rows(Planner& p, RowArguments a, int inputs = 1, bool holds = false, bool ragged = false) {
  const RowsSplit split = rows_split(p.device.sm_count, lanes_of(p.spec.dtype), a.rows, a.cols, p.device.major >= 9, inputs, holds, ragged);
  const std::string name = "rows_" + p.spec.op + "_" + p.dtype();
  const auto kernel = [&](const std::string& suffix) { return p.kernel_in("rows", name + suffix); };
  a.group = split.group;
  a.parts = split.parts;
  a.part = split.part;
  const bool averages = a.per_row != 0 && split.parts == 1 && split.blocks <= most_tickets && a.rows <= most_averaged;
  if (averages) a.parts_at = p.workspace(4);
  if (split.tiled) {
    p.launch(kernel("_tile"), {split.blocks}, split.threads, static_cast<unsigned>(inputs * split.part * a.cols * static_cast<int64_t>(dtype_bytes(p.spec.dtype))), a);
    return averages;
  }
  if (split.parts == 1) {
    p.launch(kernel(split.held > 0 ? (a.cols % lanes_of(p.spec.dtype) != 0 ? "_held_ragged_" : "_held_") + std::to_string(split.held) : ""), {split.blocks}, split.threads, 0, a);
    return averages;
  }
  if (split.cluster) {
    p.launch(kernel("_cluster"), {split.blocks}, split.threads, 0, a).cluster(static_cast<unsigned>(split.parts));
    return false;
  }
  constexpr int64_t most_floats = 4;  // of a statistic
  a.parts_at = p.workspace(split.blocks * most_floats * 4);
  p.launch(kernel("_part"), {split.blocks}, split.threads, 0, a);
  p.launch(kernel("_join"), {split.blocks}, split.threads, 0, a).early(p.device);
  return false;
}

}  // namespace opscope::cuda
