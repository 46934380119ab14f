#include "batch_norm/shape.h"
#include "plan.h"

namespace opscope::cuda {

namespace {

// dims: [batch, channels, plane, training]; scalars: [eps].
std::vector<TensorShape> tensors(const OpKernels&, const Dims& d) {
  const int64_t n = d[0] * d[1] * d[2];
  const auto each = [&](Role role) { return TensorShape{d[1], role, Storage::f32}; };
  if (d[3] == 0) return {in(n), each(Role::in), each(Role::in), each(Role::in), each(Role::in), out(n)};
  return {in(n), each(Role::in), each(Role::in), out(n), each(Role::out), each(Role::out)};
}

void plan(Planner& p) {
  const auto batch = static_cast<long long>(p.dim(0)), channels = static_cast<long long>(p.dim(1)), plane = static_cast<long long>(p.dim(2));
  const long long count = batch * plane, n = count * channels;
  const int64_t lanes = 16 / static_cast<int64_t>(dtype_bytes(p.spec.dtype));
  const auto eps = static_cast<float>(p.scalar(0));
  const int training = p.dim(3) != 0;
  const std::string name = "batch_norm_" + p.dtype(), few_name = "batch_norm_few_" + p.dtype();
  const auto whole = [](int64_t size) { return static_cast<int>(size); };
  const BatchNormShape s = batch_norm_shape(p.device.sm_count, p.device.major >= 9, lanes, batch, channels, plane, training != 0);
  switch (s.kind) {
    case BatchNorm::each: {
      const FewRows a = {{p.input(0), p.input(1), p.input(2)}, p.output(), {p.input(3), p.input(4)}, whole(n), 0, 0, eps, 0.0f, whole(channels), 0, divide_by(channels), divide_by(plane)};
      p.launch(p.kernel_in("batch_norm_few", few_name + "_each"), {ceil_div(n, 256)}, 256, 0, a);
      return;
    }
    case BatchNorm::few: {
      const FewRows a = {{p.input(0), p.input(1), p.input(2)}, p.output(), {p.output(1), p.output(2)}, whole(channels), whole(count), s.few.log2, eps, 1.0f / static_cast<float>(count), whole((channels - 1) * plane),
                         whole(plane), {}, divide_by(plane)};
      p.launch(p.kernel_in("batch_norm_few", few_name + (s.few.blocks_each ? "_block" : "_lanes")), {s.few.blocks}, s.few.threads, 0, a);
      return;
    }
    case BatchNorm::held: {
      const BatchNormVectors& v = s.held.vectors;
      Launch& launch = p.launch(p.kernel_in("batch_norm_held", "batch_norm_held_" + p.dtype() + "_" + std::to_string(s.held.each) + (s.held.ragged ? "_ragged" : "") + (v.parts > 1 ? "_cluster" : "")), {channels * v.parts}, s.held.threads, 0, p.input(0),
                                p.input(1), p.input(2), p.output(), p.output(1), p.output(2), v, static_cast<float>(count), eps);
      if (v.parts > 1) launch.cluster(static_cast<unsigned>(v.parts));
      return;
    }
    case BatchNorm::cluster:
      p.launch(p.kernel(name + "_cluster"), {channels * s.blocks}, 256, 0, p.input(0), p.input(1), p.input(2), p.output(), p.output(1), p.output(2), channels, plane, batch, static_cast<long long>(s.images), s.group,
               static_cast<int>(s.blocks), eps)
          .cluster(static_cast<unsigned>(s.blocks));
      return;
    case BatchNorm::channels:
    case BatchNorm::parts: {
      const CUdeviceptr moments = p.workspace(channels * s.parts * 12);
      if (s.kind == BatchNorm::channels) p.launch(p.kernel(name + "_channels"), {ceil_div(channels, 8)}, 256, 0, p.input(0), moments, channels, plane, count);
      else if (s.vectors.vectors > 0) p.launch(p.kernel(name + "_part_vectors"), {channels * s.parts}, 256, 0, p.input(0), moments, s.vectors);
      else p.launch(p.kernel(name + "_part"), {channels * s.parts}, 256, 0, p.input(0), moments, channels, plane, count, static_cast<long long>(s.part), static_cast<int>(s.parts));
      p.launch(p.kernel("batch_norm_join"), {ceil_div(channels, 8)}, 256, 0, moments, p.output(1), p.output(2), channels, static_cast<int>(s.parts), eps);
      break;
    }
    case BatchNorm::apply: break;
  }
  const CUdeviceptr mean = training ? p.output(1) : p.input(3), spread = training ? p.output(2) : p.input(4);
  p.launch(p.kernel(name + "_apply"), {ceil_div(ceil_div(n, lanes), 256)}, 256, 0, p.input(0), p.input(1), p.input(2), mean, spread, p.output(), channels, plane, n, eps, training);
}

const Register registered({"batch_norm", real_dtypes, {4}, tensors, plan, 1});

}  // namespace

}  // namespace opscope::cuda
