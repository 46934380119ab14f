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

void plan(Planner& p) {
  constexpr int64_t tile = 64, most = int64_t{1} << 31;
  for (const int64_t dim : p.spec.dims)
    if (dim >= most / 4) throw Error("unsupported", "The CUDA kernels for " + p.spec.op + " take extents of less than 2^29.");
  const auto dim = [&](size_t i) { return static_cast<int>(p.dim(i)); };
  ConvSizes s = {dim(0), dim(1), dim(2), dim(3), dim(4), dim(5), {}, {}, {}};
  ConvAxis* axes[] = {&s.depth, &s.height, &s.width};
  for (size_t i = 0; i < 3; i++) *axes[i] = {dim(6 + 4 * i), dim(7 + 4 * i), dim(8 + 4 * i), dim(9 + 4 * i)};
  const int64_t outputs = int64_t{s.depth.output} * s.height.output * s.width.output, products = p.dim(0) * p.dim(3), filters = p.dim(2) / p.dim(3);
  const int64_t terms = p.dim(1) / p.dim(3) * s.depth.kernel * s.height.kernel * s.width.kernel;
  if (outputs >= most || terms >= most || products >= most) throw Error("unsupported", "The CUDA kernels for " + p.spec.op + " take images and filters of less than 2^31 elements.");
  for (int64_t first = 0; first < products; first += Launch::max_blocks_yz)
    p.launch(p.kernel_in("convolution", "convolution_" + p.dtype()), {ceil_div(outputs, tile), ceil_div(filters, tile), std::min(Launch::max_blocks_yz, products - first)}, 256, 0, p.input(0), p.input(1), p.output(),
             s, static_cast<int>(first));
}

const bool registered = [] {
  for (const char* op : {"conv1d", "conv2d", "conv3d"}) Register({op, real_dtypes, {18}, tensors, plan});
  return true;
}();

}  // namespace

}  // namespace opscope::cuda
