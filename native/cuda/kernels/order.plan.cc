// sort: [rows, cols, descending]; topk: [rows, cols, k]. Kernels: order_few.cu, order_network.cu, order_best.cu, order_block.cu, order_choose.cu, order_radix.cu, order.cu; order/shape.h chooses.
#include "order/launch.h"
#include "order/shape.h"

namespace opscope::cuda {

namespace {

// Bytes of keys in shared memory, with their gaps (order/keys.cuh).
unsigned shared_of(int64_t keys) { return static_cast<unsigned>((keys + keys / keys_of_thread) * 8); }
long long number(int64_t n) { return n; }
constexpr CUdeviceptr absent = 0;

// Sorts rows by the lowest bits of the upper half of their keys, eight in each pass of two launches (order_radix.cu).
class Radix {
 public:
  Radix(Planner& planner, int64_t rows, int64_t cols)
      : p_(planner), rows_(rows), cols_(cols), tiles_(ceil_div(cols, radix_tile)), counts_(planner.workspace(rows * tiles_ * radix_digits * 4)), starts_(planner.workspace(rows * radix_digits * 4)),
        arrived_(planner.workspace(rows * 4)) {}

  // `scatter` launches the second part of a pass: from keys, or x where absent, to keys, or results where absent. `last`: what kernels that count
  // take last. Returns where the keys are.
  template <class Scatter>
  CUdeviceptr sort(const std::string& type, int passes, bool to_keys, CUdeviceptr x, uint32_t last, const Scatter& scatter) {
    CUdeviceptr from = absent, buffers[2] = {};
    for (int pass = 0; pass < passes; pass++) {
      CUdeviceptr& to = buffers[pass % 2];
      const bool keys = to_keys || pass + 1 < passes;
      if (keys && !to) to = p_.workspace(rows_ * cols_ * 8);
      const int shift = 32 + 8 * pass;
      p_.launch(p_.kernel_in("order_radix", "radix_count_" + type), {rows_ * tiles_}, 256, 0, x, from, counts_, starts_, arrived_, number(cols_), static_cast<int>(tiles_), shift, last);
      scatter(Dim3{rows_ * tiles_}, from, keys ? to : absent, counts_, starts_, static_cast<int>(tiles_), shift);
      from = to;
    }
    return from;
  }

 private:
  Planner& p_;
  const int64_t rows_, cols_, tiles_;
  const CUdeviceptr counts_, starts_, arrived_;
};

// The first `keep` of every row, in order.
class Order {
 public:
  Order(Planner& planner, int64_t keep, bool descending) : p_(planner), rows_(p_.dim(0)), cols_(p_.dim(1)), keep_(keep), bytes_(static_cast<int64_t>(dtype_bytes(p_.spec.dtype))), descending_(descending) {
    if (cols_ >= int64_t{1} << 31) throw Error("unsupported", "The CUDA kernels for " + p_.spec.op + " take rows of less than 2^31 elements.");
  }

  void plan() {
    const OrderShape shape = order_shape(p_.device.sm_count, p_.device.shared_bytes_per_block, rows_, cols_, keep_, bytes_);
    const CUdeviceptr x = p_.input(0), values = p_.output(0), indices = p_.output(1);
    const int cols = static_cast<int>(cols_), keep = static_cast<int>(keep_);
    switch (shape.kind) {
      case OrderKind::rank:
      case OrderKind::threads:
        p_.launch(p_.kernel_in("order_few", (shape.kind == OrderKind::rank ? "order_rank_" : "order_threads_") + std::to_string(8 * bytes_)), {rows_}, static_cast<unsigned>(shape.threads), 0, x, values, indices, cols,
                  keep, infinity(), flip());
        return;
      case OrderKind::single:
        p_.launch(p_.kernel_in("order_few", "order_single_" + std::to_string(8 * bytes_)), {blocks_of(p_.spec.dtype, rows_)}, static_cast<unsigned>(shape.threads), 0, x, values, indices, number(rows_));
        return;
      case OrderKind::network:
        p_.launch(bits_kernel("network", shape.each), {ceil_div(rows_ * shape.threads, 128)}, 128, 0, x, values, indices, number(rows_), cols, shape.threads, keep, infinity(), flip());
        return;
      case OrderKind::best_warp:
        p_.launch(p_.kernel_in("order_best", "order_best_warp_" + suffix(shape.each)), {ceil_div(rows_, 4)}, 128, 0, x, values, indices, number(rows_), cols, keep, infinity(), flip());
        return;
      case OrderKind::best:
      case OrderKind::best_tile: {
        const CUdeviceptr to = shape.parts > 1 ? p_.workspace(rows_ * shape.parts * keep_ * 8) : absent, arrived = shape.parts > 1 && shape.kind == OrderKind::best ? p_.workspace(rows_ * 4) : absent;
        p_.launch(bits_kernel("best", shape.each), {rows_ * shape.parts}, static_cast<unsigned>(shape.threads), 0, x, values, indices, to, arrived, number(cols_), static_cast<int>(shape.parts),
                  static_cast<int>(shape.part), keep, infinity(), flip());
        if (shape.kind == OrderKind::best_tile) tile(to, shape.parts * keep_);
        return;
      }
      case OrderKind::block: {
        const auto shared = static_cast<unsigned>(block_shared(shape, bytes_));
        p_.launch(bits_kernel("block", shape.each, shared), {rows_}, static_cast<unsigned>(shape.threads), shared, x, values, indices, cols, keep, infinity(), flip());
        return;
      }
      case OrderKind::choose:
      case OrderKind::choose_far: {
        const bool held = shape.kind == OrderKind::choose;
        const auto shared = held ? static_cast<unsigned>(choose_shared(cols_, bytes_)) : 0;
        p_.launch(p_.kernel_in("order_choose", std::string("order_choose_") + (held ? "" : "far_") + std::to_string(8 * bytes_), shared), {rows_}, choose_threads, shared, x, values, indices, cols, keep, infinity(), flip());
        return;
      }
      case OrderKind::filter: {
        const std::string bits = std::to_string(8 * bytes_);
        const int parts = static_cast<int>(shape.parts);
        if (parts == 1) {
          p_.launch(p_.kernel_in("order_filter", "order_filter_row_" + bits), {rows_}, choose_threads, 0, x, values, indices, cols, keep, infinity(), flip());
          return;
        }
        const CUdeviceptr least = p_.workspace(rows_ * parts * filter_least(parts) * 8), bounds = p_.workspace(rows_ * 8), arrived = p_.workspace(rows_ * 4), keys = p_.workspace(rows_ * most_chosen_far * 8), counts = p_.workspace(rows_ * 4);
        p_.launch(p_.kernel_in("order_filter", "order_least_" + bits), {rows_ * parts}, choose_threads, 0, x, cols, keep, infinity(), flip(), parts, least, bounds, arrived);
        p_.launch(p_.kernel_in("order_filter", "order_filter_" + bits), {rows_ * parts}, choose_threads, 0, x, values, indices, cols, keep, infinity(), flip(), parts, bounds, keys, counts, arrived).early(p_.device);
        return;
      }
      case OrderKind::filter_more: {
        const std::string bits = std::to_string(8 * bytes_);
        const int parts = static_cast<int>(shape.parts);
        constexpr auto shared = static_cast<unsigned>(filter_more_shared);
        const CUdeviceptr least = p_.workspace(rows_ * parts * filter_more_least(parts) * 8), bounds = p_.workspace(rows_ * 8), arrived = p_.workspace(rows_ * 4), keys = p_.workspace(rows_ * filter_more_keys * 8), counts = p_.workspace(rows_ * 4);
        p_.launch(p_.kernel_in("order_filter", "order_least_more_" + bits), {rows_ * parts}, choose_threads, 0, x, cols, keep, infinity(), flip(), parts, least, bounds, arrived);
        p_.launch(p_.kernel_in("order_filter", "order_filter_more_" + bits), {rows_ * parts}, choose_threads, 0, x, values, indices, cols, keep, infinity(), flip(), parts, bounds, keys, counts, arrived).early(p_.device);
        p_.launch(p_.kernel_in("order_filter", "order_filter_sort_" + bits, shared), {rows_}, filter_more_threads, shared, x, values, indices, cols, keep, infinity(), flip(), keys, counts).early(p_.device);
        return;
      }
      case OrderKind::select: return select();
      case OrderKind::radix: return radix();
    }
  }

 private:
  CUfunction kernel(const std::string& name, unsigned shared = 0) const { return p_.kernel_in("order", "order_" + name + "_" + p_.dtype(), shared); }

  // Kernels for elements of 16 or 32 bits, whatever their dtype.
  std::string suffix(int each) const { return std::to_string(8 * bytes_) + "_" + std::to_string(each); }
  CUfunction bits_kernel(const std::string& name, int each, unsigned shared = 0) const { return p_.kernel_in("order_" + name, "order_" + name + "_" + suffix(each), shared); }
  unsigned infinity() const { return p_.spec.dtype == Dtype::f16 ? 0x7c00u : p_.spec.dtype == Dtype::bf16 ? 0x7f80u : 0x7f800000u; }
  unsigned flip() const { return !descending_ ? 0 : bytes_ == 2 ? 0xffffu : ~0u; }

  void radix() {
    Radix(p_, rows_, cols_).sort(p_.dtype(), bytes_ == 2 ? 2 : 4, false, p_.input(0), static_cast<uint32_t>(descending_), [&](Dim3 grid, CUdeviceptr from, CUdeviceptr to, CUdeviceptr counts, CUdeviceptr starts, int tiles, int shift) {
      p_.launch(p_.kernel_in("order_radix", "radix_scatter_" + p_.dtype()), grid, 256, 0, p_.input(0), from, to, p_.output(0), p_.output(1), counts, starts, number(cols_), tiles, shift, number(keep_), descending_);
    });
  }

  // Sorts rows of `cols` keys each.
  void tile(CUdeviceptr from, int64_t cols) {
    const int64_t size = tile_of_row(cols);
    p_.launch(kernel("tile", shared_of(size)), {rows_}, static_cast<unsigned>(size / keys_of_thread), shared_of(size), p_.input(0), from, p_.output(0), p_.output(1), number(cols), number(cols_),
              static_cast<int>(keep_), descending_);
  }

  // The best of parts of each row, of what those leave, and so on.
  void select() {
    CUdeviceptr from = absent;
    int64_t left = cols_;
    for (;;) {
      if (from && left <= largest_tile) return tile(from, left);
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
  const int64_t rows_, cols_, keep_, bytes_;
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

CUdeviceptr sort_indices(Planner& p, CUdeviceptr indices, int64_t count, int64_t rows) {
  if (count > largest_tile) {
    const auto most = static_cast<uint32_t>(rows);
    return Radix(p, 1, count).sort("i32", radix_passes(most), true, indices, most, [&](Dim3 grid, CUdeviceptr from, CUdeviceptr to, CUdeviceptr counts, CUdeviceptr starts, int tiles, int shift) {
      p.launch(p.kernel_in("order_radix", "radix_scatter_i32"), grid, 256, 0, indices, from, to, counts, starts, number(count), tiles, shift, most);
    });
  }
  const int64_t size = tile_of_row(count);
  const CUdeviceptr keys = p.workspace(count * 8);
  p.launch(p.kernel_in("order", "order_tile_i32", shared_of(size)), {1}, static_cast<unsigned>(size / keys_of_thread), shared_of(size), indices, keys, static_cast<int>(count));
  return keys;
}

}  // namespace opscope::cuda
