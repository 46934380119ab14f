#include "copy_view/shape.h"
#include "plan.h"

namespace opscope::cuda {

namespace {

// dims: [elements, views, distance, offset, four extents, three strides].
std::vector<TensorShape> tensors(const OpKernels&, const Dims& d) {
  const auto real = [&](size_t at) { return static_cast<double>(d[at]); };
  const double count = real(4) * real(5) * real(6) * real(7);
  bool inside = d[1] >= 1 && d[1] <= most_views && count >= 1 && count <= static_cast<double>(MAX_ELEMENTS);
  // The last element of the last view is one of x.
  double last = real(3) + (real(1) - 1) * real(2) + real(7) - 1;
  for (size_t axis = 0; axis < 3; axis++) last += (real(4 + axis) - 1) * real(8 + axis);
  inside = inside && last < real(0);
  std::vector<TensorShape> list = {in(inside ? d[0] : 0)};
  for (int64_t view = 0; view < (inside ? d[1] : 1); view++) list.push_back(out(inside ? d[4] * d[5] * d[6] * d[7] : 0));
  return list;
}

void plan(Planner& p) {
  const auto& d = p.spec.dims;
  const auto element = static_cast<int64_t>(dtype_bytes(p.spec.dtype)), bytes = view_vector(element, d);
  const ViewShape s = view_shape(bytes / element, d);
  const auto out = [&](size_t view) { return p.output(static_cast<int64_t>(view) < d[1] ? view : 0); };
  p.launch(p.kernel((s.count < near_vectors ? "copy_view_" : "copy_view_far_") + std::to_string(bytes)), {ceil_div(s.count, 256), d[1]}, 256, 0, p.input(0), out(0), out(1), out(2), s);
}

const Register registered({"copy_view", real_dtypes, {11}, tensors, plan, 0, 0, true});

}  // namespace

}  // namespace opscope::cuda
