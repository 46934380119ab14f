#include "draw.h"

#include <algorithm>
#include <cmath>

namespace opscope::cuda {

namespace {

class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}

  int64_t below(int64_t n) {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return static_cast<int64_t>((state_ >> 11) % static_cast<uint64_t>(n));
  }
  bool once_in(int64_t n) { return below(n) == 0; }
  // Of the same chance in each doubling; half of them whole multiples of a power of two, or one beside it.
  int64_t extent(int64_t least, int64_t most) {
    const double exact = static_cast<double>(least) * std::pow(static_cast<double>(most) / static_cast<double>(least), static_cast<double>(below(1 << 20)) / (1 << 20));
    auto n = static_cast<int64_t>(exact);
    if (once_in(2)) {
      const int64_t unit = int64_t{1} << below(10);
      if (n >= unit) n = n / unit * unit;
      if (once_in(4)) n += once_in(2) ? 1 : -1;
    }
    return std::clamp(n, least, std::max(least, most));
  }
  // So that the product with `others` stays below `all`.
  int64_t rest(int64_t all, int64_t others, int64_t most) { return extent(1, std::clamp<int64_t>(all / others, 1, most)); }

 private:
  uint64_t state_;
};

constexpr int64_t most = int64_t{1} << 30;

Dims product(Draw& d, bool batched) {
  const int64_t m = d.extent(1, 1 << 20), n = d.rest(most, m, 1 << 20), k = d.rest(most, std::max(m, n), 1 << 20), batch = batched && d.once_in(3) ? d.rest(most, std::max({m * n, m * k, n * k}), 4096) : 1;
  Dims dims = {m, n, k};
  for (int64_t i = 2; i > 0; i--) std::swap(dims[static_cast<size_t>(i)], dims[static_cast<size_t>(d.below(i + 1))]);
  if (!batched) return dims;
  return {batch, dims[0], dims[1], dims[2], d.below(2), d.below(2)};
}

Dims rows(Draw& d) {
  const int64_t cols = d.extent(1, 1 << 22);
  return {d.rest(most, cols, 1 << 24), cols};
}

Dims convolution(Draw& d, int axes) {
  const int64_t channels = d.extent(1, 1024), groups = d.once_in(4) ? channels : d.once_in(4) && channels % 4 == 0 ? 4 : 1, filters = d.extent(1, 1024 / groups) * groups;
  const int64_t stride = d.once_in(3) ? d.extent(1, 4) : 1, dilation = d.once_in(6) ? 2 : 1, kernels[] = {1, 1, 2, 3, 3, 5, 7}, kernel = d.once_in(10) ? d.extent(1, 33) : kernels[d.below(7)];
  Dims dims = {0, channels, filters, groups, stride, dilation};
  int64_t input = 1, output = 1;
  for (int axis = 0; axis < 3; axis++) {
    if (axis < 3 - axes) {
      dims.insert(dims.end(), {1, 1, 0, 1});
      continue;
    }
    const int64_t padding = d.once_in(2) ? kernel / 2 : 0, reach = dilation * (kernel - 1) + 1, least = std::max<int64_t>(1, reach - 2 * padding);
    const int64_t length = d.once_in(8) ? least : std::max(least, d.extent(1, axes == 1 ? 1 << 16 : axes == 2 ? 512 : 64)), out = (length + 2 * padding - reach) / stride + 1;
    dims.insert(dims.end(), {length, kernel, padding, out});
    input *= length, output *= out;
  }
  dims[0] = d.rest(most / 4, std::max(channels * input, filters * output), 256);
  return dims;
}

Dims pooling(Draw& d, bool signals, bool adaptive) {
  const int64_t height = signals ? 1 : d.extent(1, 1024), width = d.extent(1, signals ? 1 << 20 : 4096), planes = d.rest(most, height * width, 1 << 16);
  if (adaptive) return {planes, height, width, d.extent(1, height), d.extent(1, width)};
  const int64_t kernel = std::min({d.once_in(2) ? d.extent(2, 3) : d.extent(1, 16), signals ? width : height, width}), stride = d.once_in(3) ? d.extent(1, 8) : kernel, padding = d.once_in(2) ? kernel / 2 : 0;
  return {planes, height, width, signals ? 1 : (height + 2 * padding - kernel) / stride + 1, (width + 2 * padding - kernel) / stride + 1, kernel, stride, padding};
}

Dims attention(Draw& d) {
  const int64_t kv = d.extent(1, 32), heads = kv * (d.once_in(3) ? d.extent(1, 8) : 1), queries = d.once_in(4) ? 1 : d.extent(1, 8192), keys = d.once_in(2) ? queries : d.extent(1, 16'384);
  const int64_t dim = d.once_in(8) ? d.extent(1, 400) : d.once_in(2) ? 8 * d.extent(1, 32) : d.extent(8, 256);
  return {d.rest(most / 4, heads * std::max(queries, keys) * dim, 64), heads, kv, queries, keys, dim, d.below(2)};
}

Dims dims_of(Draw& d, const OpKernels& op) {
  const std::string& name = op.op;
  const auto starts = [&](const char* with) { return name.rfind(with, 0) == 0; };
  if (starts("conv")) return convolution(d, name[4] - '0');
  if (name.find("_pool") != std::string::npos) return pooling(d, name.back() == '1' || name.find("pool1d") != std::string::npos, starts("adaptive"));
  if (name == "matmul") return product(d, true);
  if (name == "scaled_matmul") return product(d, false);
  if (name == "scaled_dot_product_attention") return attention(d);
  if (name == "copy_view") {
    // Heads of tokens, of which a view is every third, some or all.
    const int64_t width = d.extent(1, 512), heads = d.extent(1, 64), views = 1 + d.below(3), tokens = d.rest(most / 4, width * heads * views, 1 << 20), batch = d.rest(most / 4, width * heads * views * tokens, 64);
    const int64_t offset = d.once_in(3) ? d.extent(1, 64) : 0, across = width * heads * views + offset + (d.once_in(3) ? d.extent(1, 64) : 0);
    return {batch * tokens * across, views, width * heads, offset, batch, heads, tokens, width, tokens * across, width, across, d.below(2)};
  }
  if (name == "add_residual") {
    const Dims dims = rows(d);
    return {dims[0] * dims[1], dims[1]};
  }
  if (starts("spin")) return {8, 100};
  if (starts("peak")) return {d.extent(1, 1 << 16), 100};
  if (name == "sort" || name == "topk") {
    Dims dims = rows(d);
    dims.push_back(name == "sort" ? d.below(2) : d.extent(1, dims[1]));
    return dims;
  }
  if (name == "embedding" || name == "gather" || name == "scatter_add") {
    const int64_t dim = d.extent(1, d.once_in(4) ? 1 << 20 : 4096);
    return {d.rest(most, dim, 1 << 24), dim, d.rest(most, dim, 1 << 24)};
  }
  if (name == "rope") {
    const int64_t dim = 2 * d.extent(1, 256), heads = d.extent(1, 64);
    return {d.rest(most, dim * heads, 1 << 20), heads, dim, d.below(2)};
  }
  if (name == "group_norm" || name == "batch_norm") {
    const int64_t groups = d.extent(1, 64), channels = groups * d.extent(1, 64), plane = d.extent(1, 1 << 16);
    return {d.rest(most, channels * plane, 4096), channels, plane, name == "group_norm" ? groups : d.below(2)};
  }
  const size_t count = op.dims[static_cast<size_t>(d.below(static_cast<int64_t>(op.dims.size())))];
  if (count == 1) return {d.extent(1, most)};
  if (count == 2) return rows(d);
  if (count == 3 && op.dims[0] == 1) {
    Dims dims = rows(d);
    return {dims[0] * dims[1], dims[1], 1 + d.below(3)};
  }
  Dims dims;
  for (int64_t left = most; dims.size() < count;) dims.push_back(d.once_in(4) ? 1 : d.extent(1, left)), left = std::max<int64_t>(1, left / dims.back());
  for (auto i = static_cast<int64_t>(count) - 1; i > 0; i--) std::swap(dims[static_cast<size_t>(i)], dims[static_cast<size_t>(d.below(i + 1))]);
  return dims;
}

}  // namespace

std::vector<CaseSpec> drawn_cases(const OpKernels& op, int count, uint64_t seed) {
  Draw draw(seed);
  std::vector<CaseSpec> cases;
  // What does not fit together is drawn again.
  for (int tries = 0; static_cast<int>(cases.size()) < count && tries < count * 4; tries++) {
    CaseSpec spec;
    spec.op = op.op;
    spec.dtype = op.dtypes[cases.size() % op.dtypes.size()];
    spec.dims = dims_of(draw, op);
    spec.scalars.assign(op.scalars, 0.5);
    for (const TensorShape& shape : op.tensors(op, spec.dims)) {
      TensorDesc& tensor = spec.tensors.emplace_back();
      tensor.elements = shape.elements;
      tensor.storage = shape.storage.value_or(storage_of(spec.dtype));
      tensor.role = shape.role;
    }
    try {
      check_shape(spec, op);
      cases.push_back(std::move(spec));
    } catch (const Error&) {
    }
  }
  return cases;
}

std::string words_of(const CaseSpec& spec) {
  const char* dtypes[] = {"f32", "f16", "bf16", "tf32", "i8", "f8e4m3"};
  std::string words = spec.op + " " + dtypes[static_cast<int>(spec.dtype)];
  for (const int64_t dim : spec.dims) words += " " + std::to_string(dim);
  return words;
}

}  // namespace opscope::cuda
