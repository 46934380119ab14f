// Registers the operations of reduction/table.h; see reduction/kernel.cuh for the kernels. dims: [outer, reduce, inner], or
// [outer, reduce, inner, groups] where what is reduced lies in several pieces:
// out[o * inner + i] of x[((g * outer + o) * reduce + r) * inner + i] over g and r. A product of vectors: [n].
#include <algorithm>

#include "elementwise/launch.h"
#include "plan.h"
#include "reduction/few.h"
#include "reduction/launch.h"
#include "reduction/rows.h"
#include "reduction/shape.h"

namespace opscope::cuda {

namespace {

struct Row {
  const char* op;
  enum Kind { values, position, product } kind;
};

constexpr Row table[] = {
#define REDUCTION(op, ...) {#op, Row::values},
#define POSITION(op, ...) {#op, Row::position},
#define PRODUCT(op, ...) {#op, Row::product},
#include "reduction/table.h"
};

struct Geometry {
  int64_t outer, reduce, inner, groups;
  int64_t cells() const { return outer * inner; }
};

Geometry geometry(const Dims& d) {
  if (d.size() == 1) return {1, d[0], 1, 1};
  const int64_t groups = d.size() == 4 ? d[3] : 1;
  // Pieces that lie behind each other are one, and those of one element are rows.
  if (d[0] == 1) return {1, groups * d[1], d[2], 1};
  if (d[1] == 1) return {1, groups, d[0] * d[2], 1};
  return {d[0], d[1], d[2], groups};
}

std::vector<TensorShape> tensors(const OpKernels& kernels, const Dims& d) {
  const Geometry g = geometry(d);
  const Row::Kind kind = table[kernels.row].kind;
  const int64_t n = g.groups * g.outer * g.reduce * g.inner;
  if (kind == Row::product) return {in(n), in(n), out(1)};
  return {in(n), kind == Row::position ? out(g.cells(), Storage::i32) : out(g.cells())};
}

// One launch after another over slices of what a grid's y or z dimension holds.
template <class F>
void slices(int64_t count, const F& launch) {
  for (int64_t first = 0; first < count; first += Launch::max_blocks_yz) launch(first, std::min(Launch::max_blocks_yz, count - first));
}

// Elements, and those of one result, up to which one launch that reads them in any order is sooner done than two (4005 of a result on an H200: 8.8 us, by two launches 7.3 us; of 475,000 elements, 68 of
// each 6.8 and 8.5, 500 of each 11.8 and 9.0).
constexpr int64_t most_pieces = int64_t{1} << 20, most_of_cell = 256, few_pieces = int64_t{1} << 16, most_of_few = 512;
// Results up to which a warp each leaves no part of the GPU waiting.
constexpr int64_t most_few = 2048;

// Plans the kernels of one case. Results go to the output, or where there are several groups to `parts`.
class Reduction {
 public:
  Reduction(Planner& planner, const std::string& op, const Geometry& geometry)
      : p_(planner), row_(table[find_op(op)->row]), g_(geometry), part_bytes_(row_.kind == Row::position ? 8 : 4), name_(op + "_" + planner.dtype()), size_(static_cast<int64_t>(dtype_bytes(planner.spec.dtype))) {
    out_bytes_ = row_.kind == Row::position ? 4 : size_;
    count_ = static_cast<long long>(g_.groups * g_.reduce);
    if (row_.kind == Row::position && count_ > int64_t{1} << 31) throw Error("unsupported", "The CUDA kernels for " + p_.spec.op + " find places among up to 2^31 elements.");
  }

  // `counted`: as in launch_row_reduction.
  void plan(int64_t counted = 0) {
    const int64_t outer = g_.groups * g_.outer;
    if (count_ == 1 && row_.kind != Row::product) return plan_single();
    if (counted > 0) count_ = counted;
    else if (plan_few()) return;
    if (const int64_t all = outer * g_.reduce * g_.inner; g_.groups > 1 && ((all <= most_pieces && count_ <= most_of_cell) || (all <= few_pieces && count_ <= most_of_few))) {
      const int lanes = count_ >= 32 || (count_ >= 8 && g_.cells() <= most_few) ? 32 : 1;
      p_.launch(kernel("_pieces"), {ceil_div(g_.cells() * lanes, 256)}, 256, 0, p_.input(0), p_.output(), count_, static_cast<long long>(g_.groups), static_cast<long long>(g_.outer), static_cast<long long>(g_.reduce),
                static_cast<long long>(g_.inner), lanes);
      return;
    }
    if (const int log2 = row_.kind != Row::product && g_.inner == 1 ? spread_rows_log2(p_.device.sm_count, 16 / size_, g_.outer, g_.reduce, g_.groups, row_.kind == Row::position) : -1; log2 >= 0) {
      const SpreadRows a = {p_.input(0), p_.output(), g_.outer, count_, g_.groups, static_cast<int>(g_.reduce), log2};
      p_.launch(p_.kernel_in("reduction_rows", std::string(row_.op) + "_spread_" + p_.dtype()), {ceil_div(g_.outer << log2, reduced_threads)}, reduced_threads, 0, a);
      return;
    }
    if (g_.groups > 1) parts_ = p_.workspace(g_.groups * g_.cells() * part_bytes_);
    if (g_.inner == 1)
      plan_rows(outer, g_.reduce);
    else
      plan_columns(outer, g_.reduce, g_.inner);
    if (g_.groups > 1) {
      const int lanes = g_.groups >= 32 ? 32 : 1;
      p_.launch(kernel("_groups"), {ceil_div(g_.cells() * lanes, 256)}, 256, 0, parts_, p_.output(), count_, static_cast<long long>(g_.groups), static_cast<long long>(g_.cells()),
                static_cast<long long>(g_.reduce), lanes);
    }
  }

 private:
  CUfunction kernel(const std::string& suffix) const { return p_.kernel_in("reduction", name_ + suffix); }
  CUdeviceptr out_at(int64_t cell) const { return p_.output() + static_cast<CUdeviceptr>(cell * out_bytes_); }
  CUdeviceptr parts_at(int64_t cell) const { return parts_ ? parts_ + static_cast<CUdeviceptr>(cell * part_bytes_) : 0; }
  CUdeviceptr input_at(size_t input, int64_t element) const { return p_.input(input) + static_cast<CUdeviceptr>(element * size_); }

  // Of one element: itself, without its sign, or its place.
  void plan_single() {
    if (row_.kind == Row::position) return launch_elementwise(p_, "fill_f32", Dtype::f32, g_.cells(), 0);
    const bool norm = std::string(row_.op).rfind("norm_", 0) == 0;
    launch_elementwise(p_, (norm ? "abs_" : "copy_") + p_.dtype(), p_.spec.dtype, g_.cells(), p_.input(0));
  }

  bool plan_few() {
    const std::string name = std::string(row_.op) + "_few_" + p_.dtype();
    const auto few = [&](const std::string& suffix) { return p_.kernel_in("reduction_few", name + suffix); };
    if (row_.kind == Row::product) {
      if (count_ > few_pairs) return false;
      p_.launch(few("_row"), {1}, static_cast<unsigned>(ceil_div(count_, 32 * few_cell_each) * 32), 0, p_.input(0), p_.input(1), p_.output(), static_cast<int>(count_));
      return true;
    }
    const FewLaunch s = few_cells_shape(p_.device.sm_count, g_.cells(), count_, g_.inner, g_.groups == 1 && g_.inner == 1 && row_.kind == Row::values, 16 / size_);
    if (!s.taken) return false;
    if (g_.groups == 1 && g_.inner == 1) {
      const auto cells = static_cast<int>(g_.cells()), count = static_cast<int>(count_);
      if (s.blocks_each) p_.launch(few("_row"), {s.blocks}, s.threads, 0, p_.input(0), p_.output(), count);
      else p_.launch(few("_whole_" + std::to_string(s.log2)), {s.blocks}, s.threads, 0, p_.input(0), p_.output(), cells, count);
      return true;
    }
    const FewCells a = {p_.input(0), p_.output(), static_cast<int>(g_.cells()), static_cast<int>(count_), s.log2, static_cast<int>(g_.inner), static_cast<int>((g_.outer - 1) * g_.reduce * g_.inner),
                        divide_by(g_.inner), divide_by(g_.reduce), static_cast<int>(g_.reduce * g_.inner)};
    p_.launch(few(s.blocks_each ? "_block" : "_lanes"), {s.blocks}, s.threads, 0, a);
    return true;
  }

  void plan_rows(int64_t rows, int64_t cols) {
    if (const int log2 = row_.kind != Row::product ? several_rows_log2(p_.device.sm_count, 16 / size_, rows, cols, row_.kind == Row::position) : -1; log2 >= 0) {
      const ReducedRows a = {p_.input(0), p_.output(), parts_, rows, count_, static_cast<int>(cols), log2};
      p_.launch(p_.kernel_in("reduction_rows", std::string(row_.op) + "_several_" + p_.dtype()), {ceil_div(ceil_div(rows, several_rows) << log2, reduced_threads)}, reduced_threads, 0, a);
      return;
    }
    if (const ReducedRowsShape s = reduced_rows_shape(p_.device.sm_count, 16 / size_, rows, cols, row_.kind == Row::position); s.vectors > 0) {
      const ReducedRows a = {p_.input(0), p_.output(), parts_, rows, count_, static_cast<int>(cols), s.log2};
      p_.launch(p_.kernel_in("reduction_rows", std::string(row_.op) + "_rows_" + p_.dtype() + "_" + std::to_string(s.vectors)), {s.blocks}, reduced_threads, 0, a);
      return;
    }
    const RowSplit split = row_split(p_.device.sm_count, size_, rows, cols, row_.kind == Row::values ? 4 : 2, p_.device.major >= 9);
    if (split.kind == RowSplit::Kind::group) {
      p_.launch(kernel("_group"), {ceil_div(rows * split.group, split.threads)}, split.threads, 0, p_.input(0), p_.output(), parts_, count_, static_cast<long long>(rows), static_cast<long long>(cols), split.group);
      return;
    }
    if (split.kind == RowSplit::Kind::tile) {
      p_.launch(kernel("_tile"), {ceil_div(rows, split.chunk)}, split.threads, static_cast<unsigned>(split.chunk * cols * size_), p_.input(0), p_.output(), parts_, count_, static_cast<long long>(rows),
                static_cast<int>(cols), static_cast<int>(split.chunk), split.group);
      return;
    }
    const CUdeviceptr slots = split.slots ? p_.workspace(rows * split.splits * 8) : 0;
    slices(rows, [&](int64_t first, int64_t count) {
      const CUdeviceptr x = input_at(0, first * cols), y = input_at(row_.kind == Row::product ? 1 : 0, first * cols);
      const auto length = static_cast<long long>(cols), chunk = static_cast<long long>(split.chunk);
      if (split.slots)
        p_.launch(kernel("_slots"), {split.splits, count}, split.threads, 0, x, y, out_at(first), parts_at(first), count_, length, static_cast<int>(split.chunk), slots + static_cast<CUdeviceptr>(first * split.splits * 8));
      else if (split.cluster)
        p_.launch(kernel("_row_cluster"), {split.splits, count}, split.threads, 0, x, y, out_at(first), parts_at(first), count_, length, chunk).cluster(static_cast<unsigned>(split.splits));
      else
        p_.launch(kernel(cols <= static_cast<int64_t>(split.threads) * short_vectors * (16 / size_) ? "_short" : "_row"), {1, count}, split.threads, 0, x, y, out_at(first), parts_at(first), count_, length);
    });
  }

  void plan_columns(int64_t outer, int64_t reduce, int64_t inner) {
    const ColumnSplit split = column_split(p_.device.sm_count, size_, outer, reduce, inner, row_.kind == Row::values ? 6 : 4, p_.device.major >= 9, row_.kind == Row::values);
    const std::string width = split.width > 1 ? "_wide" : "_one";
    if (split.kind == ColumnSplit::Kind::each) {
      p_.launch(kernel("_each" + (split.few ? "_few" : width)), {ceil_div(split.tiles, 256)}, 256, 0, p_.input(0), p_.output(), parts_, count_, static_cast<long long>(outer), static_cast<long long>(reduce), static_cast<long long>(inner));
      return;
    }
    if (split.kind == ColumnSplit::Kind::strip) {
      slices(outer, [&](int64_t first, int64_t count) {
        p_.launch(kernel("_columns_strip"), {split.tiles, 1, count}, 512, 0, input_at(0, first * reduce * inner), out_at(first * inner), parts_at(first * inner), count_, static_cast<int>(reduce), static_cast<long long>(inner));
      });
      return;
    }
    if (split.kind == ColumnSplit::Kind::cluster) {
      slices(outer, [&](int64_t first, int64_t count) {
        p_.launch(kernel("_columns_cluster"), {split.tiles * split.splits, 1, count}, 256, 0, input_at(0, first * reduce * inner), out_at(first * inner), parts_at(first * inner), count_, static_cast<long long>(reduce),
                  static_cast<long long>(inner), static_cast<long long>(split.rows), static_cast<int>(split.splits))
            .cluster(static_cast<unsigned>(split.splits));
      });
      return;
    }
    const int64_t shares_each = split.tiles * split.splits * split.tile * part_bytes_;
    const CUdeviceptr shares = split.splits > 1 ? p_.workspace(outer * shares_each) : 0;
    const CUdeviceptr counters = split.splits > 1 ? p_.workspace(outer * split.tiles * 4) : 0;
    const bool flat = split.kind == ColumnSplit::Kind::flat;
    slices(outer, [&](int64_t first, int64_t count) {
      const CUdeviceptr x = input_at(0, first * reduce * inner), out = out_at(first * inner), parts = parts_at(first * inner), own_shares = shares + static_cast<CUdeviceptr>(first * shares_each),
                        own_counters = counters + static_cast<CUdeviceptr>(first * split.tiles * 4);
      const auto length = static_cast<long long>(reduce), rows = static_cast<long long>(split.rows);
      if (split.kind == ColumnSplit::Kind::strips)
        p_.launch(kernel(split.shifted ? "_columns_strips_shifted" : "_columns_strips"), {split.tiles * split.splits, 1, count}, 512, 0, x, out, parts, count_, length, static_cast<long long>(inner), static_cast<int>(split.rows), static_cast<int>(split.splits / split.cluster),
                  static_cast<int>(split.cluster), own_shares, own_counters)
            .cluster(static_cast<unsigned>(split.cluster));
      else if (flat)
        p_.launch(kernel("_flat"), {split.splits, count}, 256, 0, x, out, parts, count_, length, static_cast<int>(inner), rows, static_cast<int>(split.step), static_cast<int>(split.cluster), own_shares, own_counters)
            .cluster(static_cast<unsigned>(split.cluster));
      else
        p_.launch(kernel(split.shifted ? "_columns_shifted" : "_columns" + width), {split.tiles, split.splits, count}, 256, 0, x, out, parts, count_, length, static_cast<long long>(inner), rows, own_shares, own_counters);
    });
  }

  Planner& p_;
  const Row& row_;
  const Geometry g_;
  const int64_t part_bytes_;
  const std::string name_;
  const int64_t size_;
  int64_t out_bytes_ = 0;
  long long count_ = 0;
  CUdeviceptr parts_ = 0;
};

const bool registered = [] {
  for (size_t i = 0; i < std::size(table); i++)
    Register({table[i].op, real_dtypes, table[i].kind == Row::product ? std::vector<size_t>{1} : std::vector<size_t>{3, 4}, tensors, [](Planner& p) { Reduction(p, p.spec.op, geometry(p.spec.dims)).plan(); }, 0, i});
  return true;
}();

}  // namespace

void launch_row_reduction(Planner& p, const std::string& op, int64_t rows, int64_t cols, int64_t counted) { Reduction(p, op, {rows, cols, 1, 1}).plan(counted); }

}  // namespace opscope::cuda
