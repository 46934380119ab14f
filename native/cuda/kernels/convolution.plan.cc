// conv1d, conv2d and conv3d. dims: [batch, channels, filters, groups, stride, dilation, then depth, height, width each of: input, kernel,
// padding, output].
#include "convolution.h"

#include <algorithm>

#include "plan.h"

namespace opscope::cuda {

namespace {

std::vector<TensorShape> tensors(const OpKernels&, const Dims& d) {
  const int64_t groups = d[3], stride = d[4], dilation = d[5];
  bool sensible = groups >= 1 && groups <= std::min(d[1], d[2]) && d[1] % groups == 0 && d[2] % groups == 0 && stride >= 1 && dilation >= 1;
  int64_t input = 1, kernel = 1, output = 1;
  for (size_t axis = 6; axis < 18; axis += 4) {
    sensible = sensible && d[axis] >= 1 && d[axis + 1] >= 1 && d[axis + 3] >= 1 && (d[axis + 3] - 1) * stride + dilation * (d[axis + 1] - 1) + 1 <= d[axis] + 2 * d[axis + 2];
    input *= d[axis], kernel *= d[axis + 1], output *= d[axis + 3];
  }
  if (!sensible) return {in(0), in(0), out(0)};
  return {in(d[0] * d[1] * input), in(d[2] * (d[1] / groups) * kernel), out(d[0] * d[2] * output)};
}

// How many axes the kernels on tensor cores see, 0 where coordinates or elements exceed what they pack (convolution_mma.cu).
int packed_axes(const Dims& d, const ConvSizes& s) {
  const auto reach = [&](const ConvAxis& axis) { return int64_t{axis.output} * s.stride; };
  const int64_t elements = d[0] * d[1] * d[6] * d[10] * d[14], outputs = d[0] * reach(s.depth) * reach(s.height) * reach(s.width);
  constexpr int64_t most = int64_t{1} << 30;
  if (elements >= most || outputs >= most || d[3] > Launch::max_blocks_yz || ceil_div(d[2] / d[3], 64) > Launch::max_blocks_yz) return 0;
  if (d[6] == 1 && d[7] == 1 && d[10] == 1 && d[11] == 1 && d[8] == 0 && d[12] == 0) return 1;
  if (d[6] == 1 && d[7] == 1 && d[8] == 0) return reach(s.height) < 1 << 16 && reach(s.width) < 1 << 16 ? 2 : 0;
  return reach(s.depth) < 1 << 10 && reach(s.height) < 1 << 11 && reach(s.width) < 1 << 11 ? 3 : 0;
}

void plan_mma(Planner& p, const ConvSizes& s, int axes) {
  const int64_t columns = int64_t{s.batch} * s.depth.output * s.height.output * s.width.output, filters = s.filters / s.groups;
  const auto tiles = [&](int64_t side) { return ceil_div(columns, side) * ceil_div(filters, side) * s.groups; };
  const bool large = filters > 64 && tiles(128) * 10 >= p.device.sm_count * 9;
  const int64_t side = large ? 128 : 64;
  // Stages of 64 bytes of the sum (common/product.cuh).
  const unsigned shared = (large ? 4 : 8) * 2 * static_cast<unsigned>(side) * 64;
  p.launch(p.kernel_in("convolution_mma", "convolution_mma_" + p.dtype() + "_" + std::to_string(side) + "_" + std::to_string(axes), shared), {ceil_div(columns, side), ceil_div(filters, side), s.groups}, large ? 256 : 128,
           shared, p.input(0), p.input(1), p.output(), s);
}

void plan(Planner& p) {
  constexpr int64_t tile = 64, most = int64_t{1} << 31;
  for (const int64_t dim : p.spec.dims)
    if (dim >= most / 4) throw Error("unsupported", "The CUDA kernels for " + p.spec.op + " take extents of less than 2^29.");
  const auto dim = [&](size_t i) { return static_cast<int>(p.dim(i)); };
  ConvSizes s = {dim(0), dim(1), dim(2), dim(3), dim(4), dim(5), {}, {}, {}};
  ConvAxis* axes[] = {&s.depth, &s.height, &s.width};
  for (size_t i = 0; i < 3; i++) *axes[i] = {dim(6 + 4 * i), dim(7 + 4 * i), dim(8 + 4 * i), dim(9 + 4 * i)};
  const int64_t outputs = int64_t{s.depth.output} * s.height.output * s.width.output, filters = p.dim(2) / p.dim(3);
  const int64_t terms = p.dim(1) / p.dim(3) * s.depth.kernel * s.height.kernel * s.width.kernel;
  if (outputs >= most || terms >= most) throw Error("unsupported", "The CUDA kernels for " + p.spec.op + " take images and filters of less than 2^31 elements.");
  // Few operations are done sooner without the stages of tensor cores.
  constexpr double least = 1e7;
  const bool much = terms >= 8 && 2.0 * static_cast<double>(p.dim(0)) * static_cast<double>(p.dim(2)) * static_cast<double>(outputs) * static_cast<double>(terms) >= least;
  const int packed = p.spec.dtype == Dtype::f32 || !much ? 0 : packed_axes(p.spec.dims, s);
  if (packed > 0) return plan_mma(p, s, packed);
  const int64_t columns = p.dim(0) * outputs;
  for (int64_t first = 0; first < p.dim(3); first += Launch::max_blocks_yz)
    p.launch(p.kernel_in("convolution", "convolution_" + p.dtype()), {ceil_div(columns, tile), ceil_div(filters, tile), std::min(Launch::max_blocks_yz, p.dim(3) - first)}, 256, 0, p.input(0), p.input(1), p.output(),
             s, static_cast<int>(first));
}

const bool registered = [] {
  for (const char* op : {"conv1d", "conv2d", "conv3d"}) Register({op, real_dtypes, {18}, tensors, plan});
  return true;
}();

}  // namespace

}  // namespace opscope::cuda
