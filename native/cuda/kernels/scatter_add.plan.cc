// dims: [rows, dim, indices]. See scatter_add.cu for the kernels.
#include <algorithm>

#include "elementwise/launch.h"
#include "order/launch.h"
#include "order/shape.h"
#include "scatter_add.h"

namespace opscope::cuda {

namespace {

long long number(int64_t n) { return n; }

// Lanes of a row of few elements: a power of two.
int lanes_of_row(int64_t dim) {
  int lanes = 1;
  while (lanes < dim) lanes *= 2;
  return lanes;
}

// Few rows: each looks through all indices.
void plan_scan(Planner& p, int64_t rows, int64_t dim, int64_t n) {
  const int64_t cells = rows * ceil_div(dim, 32), splits = std::clamp<int64_t>(std::min(int64_t{p.device.sm_count} * 4 / cells, n / 512), 1, 512);
  const CUdeviceptr shares = splits > 1 ? p.workspace(splits * rows * dim * 4) : 0;
  const int lanes = dim >= 32 ? 32 : lanes_of_row(dim);
  p.launch(p.kernel("scatter_scan_" + p.dtype()), {cells * splits}, 256, 0, p.input(0), p.input(1), p.input(2), p.output(), shares, number(rows), static_cast<int>(dim), number(n), lanes, static_cast<int>(splits));
  if (splits > 1) p.launch(p.kernel("scatter_join_" + p.dtype()), {ceil_div(rows * dim, 256)}, 256, 0, p.input(0), shares, p.output(), number(rows * dim), static_cast<int>(splits));
}

// Many indices of narrow rows that fit shared memory several times. Fewer rows than indices that a warp takes at a time would wait for each other.
unsigned table_warps(const Traits& device, int64_t rows, int64_t dim, int64_t n) {
  constexpr int64_t most_warps = 16, least_warps = 4, scratch = 1 << 10;
  if (dim > 32 || rows > 1 << 16) return 0;
  const int64_t lanes = lanes_of_row(dim), warps = std::min(most_warps, (device.shared_bytes_per_block - scratch) / (rows * lanes * 4));
  return warps >= least_warps && rows >= 32 / lanes && n >= rows * 8 ? static_cast<unsigned>(warps) : 0;
}

void plan_table(Planner& p, int64_t rows, int64_t dim, int64_t n, unsigned warps) {
  const int lanes = lanes_of_row(dim);
  const int64_t splits = std::clamp<int64_t>(n / (int64_t{warps} * 32), 1, p.device.sm_count);
  const CUdeviceptr shares = p.workspace(splits * rows * dim * 4);
  const auto shared = static_cast<unsigned>(warps * rows * lanes * 4);
  p.launch(p.kernel("scatter_table_" + p.dtype(), shared), {splits}, warps * 32, shared, p.input(1), p.input(2), shares, static_cast<int>(rows), static_cast<int>(dim), number(n), lanes);
  p.launch(p.kernel("scatter_join_" + p.dtype()), {ceil_div(rows * dim, 256)}, 256, 0, p.input(0), shares, p.output(), number(rows * dim), static_cast<int>(splits));
}

// Rows of a range that a block keeps in shared memory, 0 where others do it: a range for each multiprocessor, or more where they do not fit, as long as all look through the indices
// sooner than these are sorted.
int64_t range_span(const Traits& device, int64_t rows, int64_t dim, int64_t n) {
  constexpr int64_t most_looks = int64_t{1} << 25, least_rows = 4096, scratch = 2 << 10;
  if (dim > 32 || rows < least_rows || rows >= int64_t{1} << 31) return 0;
  const int64_t fit = (device.shared_bytes_per_block - range_bytes - scratch) / (lanes_of_row(dim) * 4), span = std::min(ceil_div(rows, device.sm_count), std::min<int64_t>(fit, 1 << 16));
  return span > 0 && ceil_div(rows, span) * n <= most_looks ? span : 0;
}

constexpr CUdeviceptr absent = 0;

// Few indices: each looks for others of its row.
void plan_match(Planner& p, int64_t rows, int64_t dim, int64_t n) {
  launch_elementwise(p, "copy_" + p.dtype(), p.spec.dtype, rows * dim, p.input(0));
  const auto threads = static_cast<unsigned>(std::min<int64_t>(256, ceil_div(dim, 32) * 32));
  p.launch(p.kernel("scatter_match_" + p.dtype()), {n * ceil_div(dim, threads)}, threads, 0, p.input(0), p.input(1), p.input(2), p.output(), number(rows), number(dim), static_cast<int>(n));
}

void plan_sorted(Planner& p, int64_t rows, int64_t dim, int64_t n) {
  if (n >= int64_t{1} << 32 || rows >= int64_t{1} << 31) throw Error("unsupported", "The CUDA kernels for " + p.spec.op + " take fewer than 2^31 rows and 2^32 indices.");
  const CUdeviceptr keys = sort_indices(p, p.input(1), n, rows);
  launch_elementwise(p, "copy_" + p.dtype(), p.spec.dtype, rows * dim, p.input(0));
  const int64_t chunk = std::max<int64_t>(32, ceil_div(n, 8192)), chunks = ceil_div(n, chunk), threads = chunks * dim;
  const CUdeviceptr head = chunks > 1 ? p.workspace(threads * 4) : absent, tail = chunks > 1 ? p.workspace(threads * 4) : absent;
  p.launch(p.kernel("scatter_chunks_" + p.dtype()), {ceil_div(threads, 256)}, 256, 0, keys, p.input(0), p.input(2), p.output(), head, tail, number(rows), number(dim), number(n), number(chunk), number(threads));
  if (chunks > 1) p.launch(p.kernel("scatter_ends_" + p.dtype()), {ceil_div(threads, 256)}, 256, 0, keys, p.input(0), p.output(), head, tail, number(rows), number(dim), number(n), number(chunk), number(threads));
}

void plan(Planner& p) {
  const int64_t rows = p.dim(0), dim = p.dim(1), n = p.dim(2), cells = rows * ceil_div(dim, 32);
  constexpr int64_t most_cells = 4096, most_looks = int64_t{1} << 24;
  constexpr int64_t most_matched = 4096, most_matches = int64_t{1} << 26;
  if (cells <= most_cells && cells * n <= most_looks) plan_scan(p, rows, dim, n);
  else if (const unsigned warps = table_warps(p.device, rows, dim, n)) plan_table(p, rows, dim, n, warps);
  else if (n <= most_matched && n * n * ceil_div(dim, 256) <= most_matches) plan_match(p, rows, dim, n);
  else if (const int64_t span = range_span(p.device, rows, dim, n)) {
    const int lanes = lanes_of_row(dim);
    const auto shared = static_cast<unsigned>(span * lanes * 4 + range_bytes);
    p.launch(p.kernel("scatter_ranges_" + p.dtype(), shared), {ceil_div(rows, span)}, range_threads, shared, p.input(0), p.input(1), p.input(2), p.output(), number(rows), static_cast<int>(dim), static_cast<int>(n), lanes,
             static_cast<int>(span));
  } else plan_sorted(p, rows, dim, n);
}

const Register registered({"scatter_add", real_dtypes, {3}, [](const OpKernels&, const Dims& d) { return std::vector{in(d[0] * d[1]), in(d[2], Storage::i32), in(d[2] * d[1]), out(d[0] * d[1])}; }, plan});

}  // namespace

}  // namespace opscope::cuda
