// Row operations: what rows.cu computes, and which kernels a case takes (rows/shape.h). dims: [rows, cols], for group_norm
// [batch, channels, plane, groups].
#include "group_norm/shape.h"
#include "group_norm/stay.h"
#include "rows/launch.h"
#include "rows/norm_backward.h"
#include "softmax/shape.h"

namespace opscope::cuda {

namespace {

// Elements up to which rows_few.cu takes a case. Rows of whole vectors are sooner read as such from 64Ki elements on, but for rms_norm, and longer ones of two inputs from the beginning
// (H200: cross_entropy_backward bf16 1000x256 5.2 us, by elements 5.6; softmax_backward bf16 2x4096 4.9 and 5.2).
int64_t few_of(const Planner& p, int64_t cols) {
  constexpr int64_t most_of_two = 512;
  if (cols % lanes_of(p.spec.dtype) != 0 || p.spec.op == "rms_norm") return few_most;
  return p.spec.op == "softmax_backward" && cols > most_of_two ? 0 : few_most_of_vectors;
}

void plan_rows(Planner& p, const RaggedOp& op, const SeveralOp& several) {
  const RowArguments a = arguments_of(p, p.dim(0), p.dim(1));
  if (launch_few_rows(p, a.rows, a.cols, few_of(p, a.cols)) || launch_narrow_rows(p, a) || launch_ragged_rows(p, a, op)) return;
  if (launch_several_rows(p, a, several) || (p.spec.op == "cross_entropy_backward" && launch_staying_rows(p, a, stay_cross_entropy_backward))) return;
  launch_rows(p, a, op.inputs, true, true);
}

// Short rows that do not start on 16 bytes by lanes with single elements.
void plan_rms_norm(Planner& p) {
  const RowArguments a = arguments_of(p, p.dim(0), p.dim(1));
  const int64_t lanes = lanes_of(p.spec.dtype);
  const ShortShape s = short_shape(p.device.sm_count, lanes, a.rows, a.cols);
  if (s.each == 0 || s.vectors || a.cols >= tile_columns || a.rows * a.cols <= few_most || narrow_shape(p.device.sm_count, lanes, a.rows, a.cols, false).rows > 0) return plan_rows(p, ragged_rms_norm, several_rms_norm);
  p.launch(p.kernel_in("layer_norm_short", "rms_norm_short_" + p.dtype() + short_kernel(s)), {s.blocks}, s.threads, 0, p.input(0), p.input(1), a.number, p.output(), a.rows, static_cast<int>(a.cols));
}

void plan_group_norm(Planner& p) {
  const int64_t groups = p.dim(3);
  const int64_t channels = p.dim(1) / groups, plane = p.dim(2), cols = channels * plane;
  const int64_t lanes = lanes_of(p.spec.dtype), all = p.dim(0) * groups;
  if (launch_few_rows(p, all, cols, few_of(p, cols), groups, channels, plane)) return;
  const bool clusters = p.device.major >= 9;
  GroupNormArguments g = {p.input(0), p.input(1), p.input(2), p.output(), static_cast<int>(cols), static_cast<int>(plane), static_cast<int>(channels), static_cast<int>(groups), 0, 1, 0, 0, all, 0, 0, static_cast<float>(p.scalar(0))};
  const Division by_plane = division_by(plane);
  g.factor = by_plane.factor, g.shift = by_plane.shift;
  if (const ShortGroupShape s = short_group_shape(p.device.sm_count, lanes, all, channels, plane); s.vectors > 0) {
    g.parts = s.log2;
    p.launch(p.kernel_in("group_norm_short", "group_norm_short_" + p.dtype() + "_" + std::to_string(s.vectors) + (plane % lanes == 0 ? "_whole" : "")), {s.blocks}, group_short_threads, 0, g);
    return;
  }
  const auto launch = [&](const char* module, const std::string& kernel, int64_t blocks, unsigned threads, int64_t part, int parts, int64_t shared) {
    g.part = static_cast<int>(part), g.parts = parts;
    p.launch(p.kernel_in(module, kernel, static_cast<unsigned>(shared)), {blocks}, threads, static_cast<unsigned>(shared), g).cluster(static_cast<unsigned>(parts));
  };
  if (const StayGroupShape s = clusters ? stay_group_shape(p.device.sm_count, p.device.shared_bytes_per_block, lanes, all, channels, plane) : StayGroupShape{}; s.vectors > 0) {
    g.piece = static_cast<int>(s.piece), g.pieces = s.stages;
    return launch("group_norm_stay", "group_norm_stay_" + p.dtype() + "_" + std::to_string(s.vectors), s.blocks, group_threads, s.part, s.parts, s.shared);
  }
  if (const LongGroupShape s = clusters ? long_group_shape(p.device.sm_count, p.device.shared_bytes_per_block, lanes, all, channels, plane) : LongGroupShape{}; s.part > 0) {
    g.piece = s.piece, g.pieces = s.pieces;
    return launch("group_norm_long", "group_norm_long_" + p.dtype() + (s.ragged ? "_ragged" : ""), s.blocks, s.threads, s.part, s.parts, s.shared);
  }
  if (const GroupShape s = group_shape(p.device.sm_count, lanes, all, channels, plane, clusters); s.vectors > 0)
    return launch("group_norm", "group_norm_" + p.dtype() + "_" + std::to_string(s.vectors) + (s.ragged ? "_ragged" : "") + (s.parts > 1 ? "_cluster" : "") + (s.three ? "_three" : ""), s.blocks, s.threads, s.part, s.parts, channels * 8);
  RowArguments a = arguments_of(p, all, cols);
  a.groups = static_cast<int>(groups);
  a.plane = plane;
  launch_rows(p, a, 1, true);
}

void plan_softmax_backward(Planner& p) {
  if (launch_narrow_rows(p, arguments_of(p, p.dim(0), p.dim(1)))) return;
  const ShortShape s = short_shape(p.device.sm_count, lanes_of(p.spec.dtype), p.dim(0), p.dim(1));
  if (s.each == 0 || s.vectors) return plan_rows(p, ragged_softmax_backward, several_none);
  p.launch(p.kernel_in("softmax_short", "softmax_backward_short_" + p.dtype() + short_kernel(s)), {s.blocks}, s.threads, 0, p.input(0), p.input(1), p.output(), static_cast<long long>(p.dim(0)),
           static_cast<int>(p.dim(1)));
}

void plan_cross_entropy(Planner& p) {
  RowArguments a = arguments_of(p, p.dim(0), p.dim(1));
  if (const FewLaunch few = few_loss_shape(lanes_of(p.spec.dtype), a.rows, a.cols); few.taken) {
    const CUdeviceptr absent = 0, shares = few.blocks > 1 ? p.workspace(few.blocks * 4) : absent, counter = few.blocks > 1 ? p.workspace(4) : absent;
    const FewRows f = {{p.input(0), p.input(1), 0}, p.output(), {shares, counter}, static_cast<int>(a.rows), static_cast<int>(a.cols), few.log2, 0.0f, 1.0f / static_cast<float>(a.rows), 0, 0, {}, {}};
    p.launch(p.kernel_in("rows_few", "cross_entropy_few_" + p.dtype() + (few.blocks_each ? "_block" : "_lanes_" + std::to_string(few.log2))), {few.blocks}, few.threads, 0, f);
    return;
  }
  a.per_row = p.workspace(a.rows * 4);
  if (const LossShape whole = loss_shape(p.device.sm_count, lanes_of(p.spec.dtype), a.rows, a.cols, p.device.major >= 9); whole.vectors > 0) {
    if (loss_slots(p.device.sm_count, lanes_of(p.spec.dtype), a.rows, a.cols)) {
      a.slots = p.workspace(ceil_div(a.rows, 4) * 16);
      p.launch(p.kernel("cross_entropy_" + p.dtype() + "_" + std::to_string(whole.vectors)), {a.rows}, whole.threads, 0, a);
      const bool many = a.rows > many_loss_slots;
      p.launch(p.kernel_in("row_sums", "rows_mean_slots_" + p.dtype() + (many ? "_many" : "")), {1}, many ? 1024 : 512, 0, a.slots, static_cast<int>(a.rows), p.output()).early(p.device);
      return;
    }
    const bool averages = a.rows <= most_tickets;
    if (averages) a.parts_at = p.workspace(4);
    p.launch(p.kernel("cross_entropy_" + p.dtype() + "_" + std::to_string(whole.vectors)), {a.rows}, whole.threads, 0, a);
    if (averages) return;
  } else if (!launch_ragged_rows(p, a, ragged_any) && !launch_several_rows(p, a, several_losses) && launch_rows(p, a, 1, true, true)) {
    return;
  }
  // One block that waits for no other, where it is soon done (4096 rows on an H200: 2 us less than two blocks and a counter).
  if (a.rows <= most_averaged) {
    p.launch(p.kernel_in("row_sums", "rows_mean_once_" + p.dtype()), {1}, 1024, 0, a.per_row, a.rows, p.output()).early(p.device);
    return;
  }
  const int64_t blocks = std::clamp<int64_t>(ceil_div(a.rows, 2048), 1, 1024);
  p.launch(p.kernel_in("row_sums", "rows_mean_" + p.dtype()), {blocks}, 256, 0, a.per_row, p.workspace(blocks * 4), p.workspace(4), a.rows, p.output());
}

// `centered`: layer_norm, which has a mean and a bias.
void plan_norm_backward(Planner& p, bool centered) {
  const int64_t tokens = p.dim(0), dim = p.dim(1), tiles = ceil_div(dim, 32);
  const CUdeviceptr absent = 0, mean = centered ? p.input(3) : absent, rstd = p.input(centered ? 4 : 3), dbias = centered ? p.output(2) : absent;
  const auto join = [&](CUdeviceptr parts, int64_t splits) {
    const bool fours = dim % 4 == 0;
    p.launch(p.kernel_in("row_sums", (fours ? "norm_columns_join_fours_" : "norm_columns_join_") + p.dtype()), {tiles, centered ? 2 : 1}, fours ? 256 : 512, 0, parts, static_cast<int>(splits), static_cast<long long>(dim), p.output(1), dbias).early(p.device);
  };
  const std::string form = (centered ? "layer_" : "rms_") + p.dtype(), kernel = "norm_backward_" + form + "_";
  const bool aligned = dim % lanes_of(p.spec.dtype) == 0;
  const NormBackwardShape s = norm_backward_shape(p.device.sm_count, p.device.shared_bytes_per_block, static_cast<int64_t>(dtype_bytes(p.spec.dtype)), tokens, dim, centered, p.device.major >= 9);
  switch (s.kind) {
    case NormBackward::small:
      p.launch(p.kernel_in("norm_backward", kernel + "small"), {1}, norm_small_threads, 0, p.input(0), p.input(1), p.input(2), mean, rstd, p.output(0), p.output(1), dbias, static_cast<int>(tokens), static_cast<int>(dim), s.group);
      return;
    case NormBackward::long_rows: {
      const NormLongShape& l = s.long_rows;
      const NormLongArguments a = {p.input(0), p.input(1), p.input(2), mean, rstd, p.output(0), p.output(1), dbias, p.workspace(tokens * l.chunks * 8), dim, l.chunk, static_cast<int>(tokens), static_cast<int>(l.chunks), l.columns};
      const std::string name = "norm_backward_long_" + form;
      p.launch(p.kernel_in("norm_backward_long", name + "_sums"), {l.chunks, tokens}, norm_long_threads, 0, a);
      p.launch(p.kernel_in("norm_backward_long", name), {l.blocks}, norm_long_threads, 0, a).early(p.device);
      return;
    }
    case NormBackward::few: {
      const NormFewShape& few = s.few;
      const bool split = few.splits > 1;
      const NormFewArguments a = {p.input(0), p.input(1), p.input(2), mean, rstd, p.output(0), p.output(1), dbias, split ? p.workspace(few.splits * 2 * dim * 4) : absent, split ? p.workspace(few.tiles * 4) : absent,
                                  static_cast<int>(tokens), static_cast<int>(dim), static_cast<int>(few.tiles), static_cast<int>(few.splits), static_cast<int>(few.rows_per_split), few.group};
      p.launch(p.kernel_in("norm_backward_few", "norm_backward_few_" + form + (aligned ? "_wide" : "_one")), {few.tiles * few.splits + few.row_blocks}, norm_few_threads, 0, a);
      return;
    }
    case NormBackward::once: {
      const NormShape& once = s.once;
      const CUdeviceptr parts = p.workspace(once.blocks * 2 * dim * 4);
      const auto shared = static_cast<unsigned>(once.shared);
      p.launch(p.kernel_in("norm_backward", kernel + (aligned ? "" : "ragged_") + std::to_string(once.vectors), shared), {once.blocks}, once.threads * once.groups, shared,
               p.input(0), p.input(1), p.input(2), mean, rstd, p.output(0), parts, static_cast<long long>(tokens), static_cast<int>(dim), static_cast<int>(once.threads));
      return join(parts, once.blocks);
    }
    case NormBackward::wide: {
      const NormWideShape& wide = s.wide;
      const CUdeviceptr parts = p.workspace(wide.clusters * 2 * dim * 4);
      const auto shared = static_cast<unsigned>(wide.shared);
      p.launch(p.kernel_in("norm_backward_wide", "norm_backward_wide_" + form, shared), {wide.clusters * wide.slices}, wide.threads, shared, p.input(0), p.input(1), p.input(2), mean, rstd, p.output(0), parts,
               static_cast<long long>(tokens), static_cast<int>(dim), wide.slices)
          .cluster(static_cast<unsigned>(wide.slices));
      return join(parts, wide.clusters);
    }
    case NormBackward::short_rows: {
      const NormShortShape& t = s.tiles;
      const NormShortArguments a = {p.input(0), p.input(1), p.input(2), mean, rstd, p.output(0), p.workspace(t.blocks * 2 * dim * 4), tokens, static_cast<int>(dim), t.rows, t.lanes};
      const auto shared = static_cast<unsigned>(t.shared);
      p.launch(p.kernel_in("norm_backward_short", "norm_backward_short_" + form, shared), {t.blocks}, t.threads, shared, a);
      return join(a.parts, t.blocks);
    }
    case NormBackward::apart: {
      launch_rows(p, arguments_of(p, tokens, dim), 2);
      const CUdeviceptr parts = s.splits > 1 ? p.workspace(s.splits * 2 * dim * 4) : absent;
      p.launch(p.kernel_in("row_sums", "norm_columns_" + p.dtype()), {tiles, s.splits}, 256, 0, p.input(0), p.input(1), mean, rstd, parts, static_cast<long long>(tokens), static_cast<long long>(dim),
               static_cast<long long>(ceil_div(tokens, s.splits)), p.output(1), dbias);
      if (s.splits > 1) join(parts, s.splits);
    }
  }
}

using Shapes = std::vector<TensorShape>;

const bool registered = [] {
  const auto add = [](const char* op, std::vector<TensorShape> (*tensors)(const OpKernels&, const Dims&), PlanFunction plan, size_t scalars = 0, size_t dims = 2) {
    Register({op, real_dtypes, {dims}, tensors, plan, scalars});
  };
  add("cross_entropy", [](const OpKernels&, const Dims& d) { return Shapes{in(d[0] * d[1]), in(d[0], Storage::i32), out(1)}; }, plan_cross_entropy);
  add("cross_entropy_backward", [](const OpKernels&, const Dims& d) { return Shapes{in(d[0] * d[1]), in(d[0], Storage::i32), in(1, Storage::f32), out(d[0] * d[1])}; }, [](Planner& p) { plan_rows(p, ragged_any, several_losses); });
  add("softmax_backward", [](const OpKernels&, const Dims& d) { return Shapes{in(d[0] * d[1]), in(d[0] * d[1]), out(d[0] * d[1])}; }, plan_softmax_backward);
  add("rms_norm", [](const OpKernels&, const Dims& d) { return Shapes{in(d[0] * d[1]), in(d[1]), out(d[0] * d[1])}; }, plan_rms_norm, 1);
  add("group_norm", [](const OpKernels&, const Dims& d) {
    const int64_t n = d[3] > 0 && d[3] <= d[1] && d[1] % d[3] == 0 ? d[0] * d[1] * d[2] : 0;
    return Shapes{in(n), in(d[1]), in(d[1]), out(n)};
  }, plan_group_norm, 1, 4);
  add("layer_norm_backward", [](const OpKernels&, const Dims& d) {
    const int64_t n = d[0] * d[1];
    return Shapes{in(n), in(n), in(d[1]), in(d[0], Storage::f32), in(d[0], Storage::f32), out(n), out(d[1]), out(d[1])};
  }, [](Planner& p) { plan_norm_backward(p, true); });
  add("rms_norm_backward", [](const OpKernels&, const Dims& d) {
    const int64_t n = d[0] * d[1];
    return Shapes{in(n), in(n), in(d[1]), in(d[0], Storage::f32), out(n), out(d[1])};
  }, [](Planner& p) { plan_norm_backward(p, false); });
  return true;
}();

}  // namespace

}  // namespace opscope::cuda
