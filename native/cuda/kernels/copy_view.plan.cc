#include "copy_view/shape.h"
#include "plan.h"

namespace opscope::cuda {

namespace {

// dims: [elements, views, distance, offset, four extents, three strides, 1 with a bias].
std::vector<TensorShape> tensors(const OpKernels&, const Dims& d) {
  const auto real = [&](size_t at) { return static_cast<double>(d[at]); };
  const double count = real(4) * real(5) * real(6) * real(7);
  bool inside = d[1] >= 1 && d[1] <= most_views && count >= 1 && count <= static_cast<double>(MAX_ELEMENTS) && d[11] <= 1;
  // The last element of the last view is one of x.
  const double in_row = real(3) + (real(1) - 1) * real(2) + (real(5) - 1) * real(9) + real(7);
  inside = inside && in_row + (real(4) - 1) * real(8) + (real(6) - 1) * real(10) <= real(0);
  // Rows of x lie one after the other, and no run of elements reaches into the next.
  const bool bias = d[11] == 1;
  inside = inside && (!bias || (d[10] >= 1 && d[8] % d[10] == 0 && in_row <= real(10)));
  std::vector<TensorShape> list = {in(inside ? d[0] : 0)};
  if (bias) list.push_back(in(inside ? d[10] : 0));
  for (int64_t view = 0; view < (inside ? d[1] : 1); view++) list.push_back(out(inside ? d[4] * d[5] * d[6] * d[7] : 0));
  return list;
}

void plan(Planner& p) {
  const auto& d = p.spec.dims;
  const auto element = static_cast<int64_t>(dtype_bytes(p.spec.dtype)), widest = view_vector(element, d);
  const bool bias = d[11] == 1;
  const int64_t bytes = bias && widest < 16 ? element : widest;
  const ViewShape s = view_shape(bytes / element, d);
  const auto out = [&](size_t view) { return p.output(static_cast<int64_t>(view) < d[1] ? view : 0); };
  const std::string name = s.count < near_vectors ? "copy_view_" : "copy_view_far_";
  const Dim3 grid = {ceil_div(s.count, 256), d[1]};
  if (bias) p.launch(p.kernel(name + "bias_" + p.dtype() + "_" + std::to_string(bytes / element)), grid, 256, 0, p.input(0), p.input(1), out(0), out(1), out(2), s).always_waits();
  else p.launch(p.kernel(name + std::to_string(bytes)), grid, 256, 0, p.input(0), out(0), out(1), out(2), s).always_waits();
}

const Register registered({"copy_view", real_dtypes, {12}, tensors, plan, 0, 0, true});

}  // namespace

}  // namespace opscope::cuda
