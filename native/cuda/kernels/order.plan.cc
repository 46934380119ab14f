// sort: [rows, cols, descending]; topk: [rows, cols, k]. See order.cu for the kernels and order/shape.h for which runs where.
#include <utility>

#include "order/launch.h"
#include "order/shape.h"

namespace opscope::cuda {

namespace {

// Bytes of keys in shared memory, with their gaps (order/keys.cuh).
unsigned shared_of(int64_t keys) { return static_cast<unsigned>((keys + keys / keys_of_thread) * 8); }
long long number(int64_t n) { return n; }
constexpr CUdeviceptr absent = 0;

// Merges sorted runs of `width` keys until one pass is left; returns where they are.
CUdeviceptr merged(Planner& p, CUdeviceptr keys, CUdeviceptr other, int64_t rows, int64_t cols, int64_t& width, int64_t until) {
  for (; width < until; width *= 2) {
    p.launch(p.kernel_in("order", "order_merge"), {rows * ceil_div(cols, 2048)}, 256, 0, keys, other, number(cols), number(width));
    std::swap(keys, other);
  }
  return keys;
}

// The first `keep` of every row, in order.
class Order {
 public:
  Order(Planner& planner, int64_t keep, bool descending) : p_(planner), rows_(p_.dim(0)), cols_(p_.dim(1)), keep_(keep), descending_(descending) {
    if (cols_ >= int64_t{1} << 31) throw Error("unsupported", "The CUDA kernels for " + p_.spec.op + " take rows of less than 2^31 elements.");
  }

  void plan() {
    if (cols_ <= few_columns) {
      const int group = lanes_of_row(cols_);
      p_.launch(kernel("few"), {ceil_div(rows_ * group, 256)}, 256, 0, p_.input(0), p_.output(0), p_.output(1), number(rows_), number(cols_), group, static_cast<int>(keep_), descending_);
      return;
    }
    if (cols_ <= largest_tile) return tiles(absent, absent, cols_);
    if (keep_ <= most_selected) return select();
    const CUdeviceptr keys = p_.workspace(rows_ * cols_ * 8);
    tiles(absent, keys, cols_);
    int64_t width = largest_tile;
    const CUdeviceptr other = width * 2 < cols_ ? p_.workspace(rows_ * cols_ * 8) : absent, last = merged(p_, keys, other, rows_, cols_, width, ceil_div(cols_, 2));
    p_.launch(kernel("merge"), {rows_ * ceil_div(keep_, 2048)}, 256, 0, p_.input(0), last, p_.output(0), p_.output(1), number(cols_), number(width), number(keep_), descending_);
  }

 private:
  CUfunction kernel(const std::string& name, unsigned shared = 0) const { return p_.kernel_in("order", "order_" + name + "_" + p_.dtype(), shared); }

  // Sorts tiles of rows of x, or of `cols` keys each, to `to`, or to the results.
  void tiles(CUdeviceptr from, CUdeviceptr to, int64_t cols) {
    const int64_t size = tile_of_row(cols), count = ceil_div(cols, size);
    p_.launch(kernel("tiles", shared_of(size)), {rows_ * count}, static_cast<unsigned>(size / keys_of_thread), shared_of(size), p_.input(0), from, to, p_.output(0), p_.output(1), number(cols), static_cast<int>(count),
              number(cols_), static_cast<int>(to ? size : keep_), descending_);
  }

  // The best of parts of each row, of what those leave, and so on.
  void select() {
    CUdeviceptr from = absent;
    for (int64_t left = cols_;;) {
      if (from && left <= largest_tile) return tiles(from, absent, left);
      const SelectSplit split = select_split(p_.device.sm_count, rows_, left, keep_);
      const CUdeviceptr to = split.parts > 1 ? p_.workspace(rows_ * split.parts * keep_ * 8) : absent;
      p_.launch(kernel("select", shared_of(4096)), {rows_ * split.parts}, 512, shared_of(4096), p_.input(0), from, to, p_.output(0), p_.output(1), number(left), static_cast<int>(split.parts), number(split.part),
                number(cols_), static_cast<int>(keep_), descending_);
      if (split.parts == 1) return;
      from = to;
      left = split.parts * keep_;
    }
  }

  Planner& p_;
  const int64_t rows_, cols_, keep_;
  const int descending_;
};

using Shapes = std::vector<TensorShape>;

const bool registered = [] {
  Register({"sort", real_dtypes, {3}, [](const OpKernels&, const Dims& d) { return Shapes{in(d[0] * d[1]), out(d[0] * d[1]), out(d[0] * d[1], Storage::i32)}; },
            [](Planner& p) { Order(p, p.dim(1), p.dim(2) != 0).plan(); }});
  Register({"topk", real_dtypes, {3}, [](const OpKernels&, const Dims& d) {
    const int64_t n = d[2] <= d[1] ? d[0] * d[2] : 0;
    return Shapes{in(d[0] * d[1]), out(n), out(n, Storage::i32)};
  }, [](Planner& p) { Order(p, p.dim(2), true).plan(); }});
  return true;
}();

}  // namespace

CUdeviceptr sort_indices(Planner& p, CUdeviceptr indices, int64_t count) {
  const int64_t size = tile_of_row(count);
  const CUdeviceptr keys = p.workspace(count * 8);
  p.launch(p.kernel_in("order", "order_tiles_i32", shared_of(size)), {ceil_div(count, size)}, static_cast<unsigned>(size / keys_of_thread), shared_of(size), indices, keys, number(count), static_cast<int>(ceil_div(count, size)));
  int64_t width = size;
  return merged(p, keys, width < count ? p.workspace(count * 8) : absent, 1, count, width, count);
}

}  // namespace opscope::cuda
