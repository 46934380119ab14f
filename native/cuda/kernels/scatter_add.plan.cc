// dims: [rows, dim, indices]. See scatter_add.cu for the kernels.
#include <algorithm>

#include "common/divide.h"
#include "elementwise/launch.h"
#include "order/launch.h"
#include "scatter_add/shape.h"

namespace opscope::cuda {

namespace {

long long number(int64_t n) { return n; }

// Few rows: each looks through all indices.
void plan_scan(Planner& p, int64_t rows, int64_t dim, int64_t n) {
  const int64_t cells = rows * ceil_div(dim, 32), splits = std::clamp<int64_t>(std::min(int64_t{p.device.sm_count} * 4 / cells, n / 512), 1, 512);
  const CUdeviceptr shares = splits > 1 ? p.workspace(splits * rows * dim * 4) : 0;
  const int lanes = dim >= 32 ? 32 : lanes_of_row(dim);
  p.launch(p.kernel("scatter_scan_" + p.dtype()), {cells * splits}, 256, 0, p.input(0), p.input(1), p.input(2), p.output(), shares, number(rows), static_cast<int>(dim), number(n), lanes, static_cast<int>(splits));
  if (splits > 1) p.launch(p.kernel("scatter_join_" + p.dtype()), {ceil_div(rows * dim, 256)}, 256, 0, p.input(0), shares, p.output(), number(rows * dim), static_cast<int>(splits));
}

void plan_table(Planner& p, int64_t rows, int64_t dim, int64_t n, unsigned warps) {
  const int lanes = lanes_of_row(dim);
  const int64_t splits = std::clamp<int64_t>(n / (int64_t{warps} * 32), 1, p.device.sm_count);
  const CUdeviceptr shares = p.workspace(splits * rows * dim * 4);
  const auto shared = static_cast<unsigned>(warps * rows * lanes * 4);
  p.launch(p.kernel("scatter_table_" + p.dtype(), shared), {splits}, warps * 32, shared, p.input(1), p.input(2), shares, static_cast<int>(rows), static_cast<int>(dim), number(n), lanes);
  p.launch(p.kernel("scatter_join_" + p.dtype()), {ceil_div(rows * dim, 256)}, 256, 0, p.input(0), shares, p.output(), number(rows * dim), static_cast<int>(splits));
}

// The same for longer rows.
void plan_columns(Planner& p, int64_t rows, int64_t dim, int64_t n, const ScatterColumns& c) {
  const CUdeviceptr shares = p.workspace(c.splits * rows * dim * 4);
  const auto shared = static_cast<unsigned>(c.groups * rows * dim * 4);
  p.launch(p.kernel("scatter_columns_" + p.dtype(), shared), {c.splits}, static_cast<unsigned>(c.groups * c.width), shared, p.input(1), p.input(2), shares, static_cast<int>(rows), static_cast<int>(dim), number(n),
           static_cast<int>(c.width));
  p.launch(p.kernel("scatter_join_" + p.dtype()), {ceil_div(rows * dim, 256)}, 256, 0, p.input(0), shares, p.output(), number(rows * dim), static_cast<int>(c.splits));
}

constexpr CUdeviceptr absent = 0;

std::string row_kernel(const Planner& p, const std::string& name, const ScatterShape& s) {
  const int64_t vector = name == "few" && !scatter_vectors(s) ? 0 : scatter_vector(s);
  const bool pairs = scatter_pairs(s) && name != "few" && name != "look";
  return "scatter_" + name + "_" + p.dtype() + (pairs ? "_4" : vector > 0 ? "_" + std::to_string(vector) : "");
}

// The indices of each row in slots of its own, or in lists.
void plan_rows(Planner& p, const ScatterShape& s, bool slots) {
  const int dim = static_cast<int>(s.dim), n = static_cast<int>(s.indices), lanes = scatter_lanes(s), room = slots ? scatter_room(s) : list_room;
  const CUdeviceptr firsts = p.workspace(s.rows * 4), rest = p.workspace(slots ? s.rows * room * 4 : s.indices * 4);
  const int64_t threads = scatter_threads(p.device.sm_count, s.rows * lanes), blocks = ceil_div(s.indices, link_threads);
  if (slots) p.launch(p.kernel_in("scatter_rows", "scatter_drop"), {blocks}, link_threads, 0, p.input(1), firsts, rest, number(s.rows), n, room);
  else p.launch(p.kernel_in("scatter_rows", "scatter_link"), {blocks}, link_threads, 0, p.input(1), firsts, rest, number(s.rows), n);
  p.launch(p.kernel_in("scatter_rows", row_kernel(p, slots ? "slots" : "chains", s)), {ceil_div(s.rows, threads / lanes)}, static_cast<unsigned>(threads), 0, p.input(0), p.input(1), p.input(2), p.output(), firsts, rest,
           number(s.rows), dim, n, lanes, room)
      .early(p.device);
}

// Lists of the indices of the rows that have any.
void plan_lists(Planner& p, const ScatterShape& s) {
  const int dim = static_cast<int>(s.dim), n = static_cast<int>(s.indices), lanes = scatter_list_lanes(p.device.sm_count, s);
  const CUdeviceptr heads = p.workspace(s.rows * 4), next = p.workspace(s.indices * 4);
  const int64_t threads = scatter_list_threads(p.device.sm_count, s);
  const int64_t links = ceil_div(s.indices, link_threads), halves = s.rows * s.dim * s.bytes / 2;
  p.launch(p.kernel_in("scatter_rows", "scatter_link_copy"), {links + ceil_div(ceil_div(halves, 8), link_threads)}, link_threads, 0, p.input(1), heads, next, number(s.rows), n, static_cast<int>(links), p.input(0), p.output(), number(halves));
  p.launch(p.kernel_in("scatter_rows", row_kernel(p, "lists", s)), {ceil_div(s.indices, threads / lanes)}, static_cast<unsigned>(threads), 0, p.input(0), p.input(1), p.input(2), p.output(), heads, next, number(s.rows), dim, n,
           lanes)
      .early(p.device);
}

// Indices in bins of 1 << `shift` rows.
void launch_bins(Planner& p, const ScatterShape& s, int64_t count, int shift, int64_t room, CUdeviceptr counts, CUdeviceptr bins) {
  const int threads = bin_threads_of(count);
  const auto shared = static_cast<unsigned>(bin_shared_of(count));
  p.launch(p.kernel_in("scatter_range", count > few_bins ? "scatter_bin_many" : "scatter_bin", shared), {ceil_div(s.indices, threads * bin_indices)}, static_cast<unsigned>(threads), shared, p.input(1), counts, bins, number(s.rows), static_cast<int>(s.indices), shift, static_cast<int>(room));
}

// The same with their elements.
void launch_pack(Planner& p, const ScatterShape& s, const PackBlock& pack, int shift, int64_t room, CUdeviceptr counts, CUdeviceptr bins) {
  const auto shared = static_cast<unsigned>(pack.shared);
  p.launch(p.kernel_in("scatter_packed", "scatter_pack_" + std::to_string(s.dim * s.bytes) + "_" + std::to_string(pack.bins), shared), {ceil_div(s.indices, pack.threads * pack.each)}, static_cast<unsigned>(pack.threads), shared,
           p.input(1), p.input(2), counts, bins, number(s.rows), static_cast<int>(s.indices), shift, static_cast<int>(room));
}

// A block for a range of rows.
void plan_range(Planner& p, const ScatterShape& s, bool bins) {
  const ScatterRange r = scatter_range(p.device.sm_count, p.device.shared_bytes_per_block, s, bins);
  const int64_t ranges = ceil_div(s.rows, r.span);
  const int n = static_cast<int>(s.indices), room = static_cast<int>(r.room);
  const CUdeviceptr counts = bins ? p.workspace(ranges * 4) : absent, of_bins = bins ? p.workspace(ranges * r.room * 8) : absent;
  if (bins) launch_bins(p, s, ranges, r.shift, r.room, counts, of_bins);
  const std::string kind = bins ? "bins" : "found", name = scatter_single(s) ? "scatter_" + kind + "_" + p.dtype() + "_single" : row_kernel(p, kind, s);
  const auto shared = static_cast<unsigned>(r.shared);
  const int lanes = bins ? scatter_lanes(s) : scatter_found_lanes(p.device.sm_count, s);
  Launch& launch = p.launch(p.kernel_in("scatter_range", name, shared), {ranges}, link_threads, shared, p.input(0), p.input(1), p.input(2), p.output(), counts, of_bins, number(s.rows), static_cast<int>(s.dim), n, lanes,
                            static_cast<int>(r.span), room);
  if (bins) launch.early(p.device);
}

// A block for a tile of rows.
void plan_tiles(Planner& p, const ScatterShape& s) {
  const ScatterTiles t = scatter_tiles(p.device.shared_bytes_per_block, s);
  const int n = static_cast<int>(s.indices), room_of_bin = static_cast<int>(t.room_of_bin);
  const CUdeviceptr counts = p.workspace(t.bins * 4), readers = p.workspace(t.bins * 4), bins = p.workspace(t.bins * t.room_of_bin * 8);
  const auto shared = static_cast<unsigned>(t.shared);
  launch_bins(p, s, t.bins, t.shift, t.room_of_bin, counts, bins);
  p.launch(p.kernel_in("scatter_tile", "scatter_tiles_" + p.dtype(), shared), {ceil_div(s.rows, t.span)}, link_threads, shared, p.input(0), p.input(1), p.input(2), p.output(), counts, readers, bins, number(s.rows),
           static_cast<int>(s.dim), n, static_cast<int>(t.span), t.tiles, room_of_bin, static_cast<int>(t.room))
      .early(p.device);
}

// The same of wider rows.
void plan_wide(Planner& p, const ScatterShape& s) {
  const ScatterTiles t = scatter_tiles(p.device.shared_bytes_per_block, s);
  const CUdeviceptr counts = p.workspace(t.bins * 4), readers = p.workspace(t.bins * 4), bins = p.workspace(t.bins * t.room_of_bin * 8);
  const auto shared = static_cast<unsigned>(t.shared);
  launch_bins(p, s, t.bins, t.shift, t.room_of_bin, counts, bins);
  p.launch(p.kernel_in("scatter_wide", row_kernel(p, "wide", s), shared), {ceil_div(s.rows, t.span)}, wide_threads, shared, p.input(0), p.input(1), p.input(2), p.output(), counts, readers, bins, number(s.rows), static_cast<int>(s.dim),
           static_cast<int>(s.indices), scatter_lanes(s), static_cast<int>(t.span), t.tiles, static_cast<int>(t.room_of_bin), static_cast<int>(t.room))
      .early(p.device);
}

// The same of narrow rows whose indices go to bins with their elements.
void plan_packed(Planner& p, const ScatterShape& s) {
  const ScatterPacked t = scatter_packed(p.device.sm_count, p.device.shared_bytes_per_block, s);
  const int n = static_cast<int>(s.indices), room_of_bin = static_cast<int>(t.room_of_bin);
  const int64_t row_bytes = s.dim * s.bytes;
  const CUdeviceptr counts = p.workspace(t.bins * 4), readers = p.workspace(t.bins * 4), bins = p.workspace(t.bins * t.room_of_bin * packed_word(row_bytes));
  const auto shared = static_cast<unsigned>(t.shared);
  launch_pack(p, s, t.pack, t.shift, t.room_of_bin, counts, bins);
  p.launch(p.kernel_in("scatter_packed", "scatter_packed_" + p.dtype() + "_" + std::to_string(s.dim), shared), {ceil_div(s.rows, t.span)}, packed_threads, shared, p.input(0), p.input(1), p.input(2), p.output(), counts, readers, bins,
           number(s.rows), n, static_cast<int>(t.span), t.tiles, room_of_bin, static_cast<int>(t.room))
      .early(p.device);
}

// Sums that are the same in any order, by a block for a range of rows.
void plan_exact(Planner& p, const ScatterShape& s) {
  const ScatterExact t = scatter_exact(p.device.sm_count, p.device.shared_bytes_per_block, s);
  const int n = static_cast<int>(s.indices), room = static_cast<int>(t.room);
  const CUdeviceptr counts = p.workspace(t.bins * 4), bins = p.workspace(t.bins * t.room * 8);
  const auto shared = static_cast<unsigned>(t.shared);
  launch_bins(p, s, t.bins, t.shift, t.room, counts, bins);
  p.launch(p.kernel_in("scatter_exact", "scatter_exact_" + p.dtype() + "_" + std::to_string(t.vector), shared), {t.bins}, exact_threads, shared, p.input(0), p.input(1), p.input(2), p.output(), counts, bins, number(s.rows),
           static_cast<int>(s.dim), n, t.lanes, t.sharers, static_cast<int>(t.span), room, divide_by(t.lanes))
      .early(p.device);
}

// Sums in integers, by a block for a span of rows.
void plan_spans(Planner& p, const ScatterShape& s) {
  const ScatterSpans t = scatter_spans(p.device.sm_count, p.device.shared_bytes_per_block, s);
  const int64_t cells = s.rows * s.dim, row_bytes = s.dim * s.bytes;
  const int n = static_cast<int>(s.indices), span = static_cast<int>(t.span), room = static_cast<int>(t.room), bits = scatter_bits(s);
  const CUdeviceptr counts = p.workspace(t.bins * 4), bins = p.workspace(t.bins * t.room * (t.packed ? packed_word(row_bytes) : 8)), words = p.workspace(cells * 8 * sum_words), special = p.workspace(cells * 4);
  const auto shared = static_cast<unsigned>(t.shared);
  const std::string name = "scatter_spans_" + p.dtype();
  if (t.packed) {
    launch_pack(p, s, t.pack, t.shift, t.room, counts, bins);
    p.launch(p.kernel_in("scatter_spans", name + "_" + std::to_string(s.dim) + "_packed", shared), {t.bins}, span_threads, shared, p.input(0), p.input(1), p.input(2), p.output(), words, special, counts, bins, number(s.rows), n, span,
             room, bits)
        .early(p.device);
  } else {
    launch_bins(p, s, t.bins, t.shift, t.room, counts, bins);
    p.launch(p.kernel_in("scatter_spans", name, shared), {t.bins}, span_threads, shared, p.input(0), p.input(1), p.input(2), p.output(), words, special, counts, bins, number(s.rows), static_cast<int>(s.dim), n, span, room, bits,
             divide_by(s.dim))
        .early(p.device);
  }
}

// Sums in integers.
void plan_fixed(Planner& p, const ScatterShape& s, bool table) {
  const int64_t cells = s.rows * s.dim, elements = s.indices * s.dim;
  const CUdeviceptr own = p.workspace(table ? p.device.sm_count * cells * 8 : ceil_div(cells, 4) * 32), words = p.workspace(cells * 8 * sum_words), special = p.workspace(cells * 4), notes = p.workspace((1 + ceil_div(cells, noted_cells)) * 4);
  const int rows = static_cast<int>(s.rows), dim = static_cast<int>(s.dim), all = static_cast<int>(elements), bits = scatter_bits(s);
  if (table) {
    const auto shared = static_cast<unsigned>(cells * 8);
    p.launch(p.kernel_in("scatter_fixed", "scatter_table64_" + p.dtype(), shared), {p.device.sm_count}, table_threads, shared, p.input(1), p.input(2), own, words, special, notes, rows, dim, all, bits, divide_by(s.dim));
    p.launch(p.kernel_in("scatter_fixed", "scatter_table_ends64_" + p.dtype()), {ceil_div(cells, 32)}, 512, 0, p.input(0), p.output(), own, words, special, notes, number(cells), p.device.sm_count).early(p.device);
  } else {
    p.launch(p.kernel_in("scatter_fixed", "scatter_cells64_" + p.dtype()), {std::min(ceil_div(elements, 256 * 4), int64_t{p.device.sm_count} * 8)}, 256, 0, p.input(1), p.input(2), own, words, special, notes, rows, dim, all, bits,
             divide_by(s.dim));
    p.launch(p.kernel_in("scatter_fixed", "scatter_ends64_" + p.dtype()), {ceil_div(cells, 256 * 4)}, 256, 0, p.input(0), p.output(), own, words, special, notes, number(cells)).early(p.device);
  }
}

void plan_look(Planner& p, const ScatterShape& s) {
  const int lanes = scatter_look_lanes(p.device.sm_count, s);
  const int64_t parts = ceil_div(s.dim, scatter_look_columns(s, lanes));
  p.launch(p.kernel_in("scatter_look", row_kernel(p, "look", s)), {s.rows * parts}, link_threads, 0, p.input(0), p.input(1), p.input(2), p.output(), static_cast<int>(s.dim), static_cast<int>(s.indices), static_cast<int>(parts), lanes);
}

void plan_few(Planner& p, const ScatterShape& s) {
  const int64_t part = scatter_part(p.device.sm_count, s), parts = ceil_div(s.dim, part);
  p.launch(p.kernel_in("scatter_look", row_kernel(p, "few", s)), {s.rows * parts}, link_threads, 0, p.input(0), p.input(1), p.input(2), p.output(), number(s.dim), static_cast<int>(s.indices),
           static_cast<int>(parts), static_cast<int>(part));
}

// A copy that looks for few indices.
void plan_touch(Planner& p, const ScatterShape& s) {
  const int64_t elements = s.rows * s.dim, vectors = std::max<int64_t>(1, elements * s.bytes / 16);
  p.launch(p.kernel_in("scatter_touch", "scatter_touch_" + p.dtype()), {ceil_div(vectors, touch_threads * touch_vectors)}, touch_threads, 0, p.input(0), p.input(1), p.input(2), p.output(), number(elements), number(s.rows), number(s.dim),
           static_cast<int>(s.indices));
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
  const int64_t rows = p.dim(0), dim = p.dim(1), n = p.dim(2), shared_bytes = p.device.shared_bytes_per_block;
  const ScatterShape s = {rows, dim, n, static_cast<int64_t>(dtype_bytes(p.spec.dtype))};
  switch (scattering(p.device.sm_count, shared_bytes, s)) {
    case Scattering::scan: return plan_scan(p, rows, dim, n);
    case Scattering::table: return plan_table(p, rows, dim, n, static_cast<unsigned>(scatter_table_warps(shared_bytes, s)));
    case Scattering::columns: return plan_columns(p, rows, dim, n, scatter_columns(p.device.sm_count, shared_bytes, s));
    case Scattering::few: return plan_few(p, s);
    case Scattering::look: return plan_look(p, s);
    case Scattering::found: return plan_range(p, s, false);
    case Scattering::fixed_table: return plan_fixed(p, s, true);
    case Scattering::fixed: return plan_fixed(p, s, false);
    case Scattering::bins: return plan_range(p, s, true);
    case Scattering::tiles: return plan_tiles(p, s);
    case Scattering::wide: return plan_wide(p, s);
    case Scattering::touch: return plan_touch(p, s);
    case Scattering::spans: return plan_spans(p, s);
    case Scattering::exact: return plan_exact(p, s);
    case Scattering::packed: return plan_packed(p, s);
    case Scattering::slots: return plan_rows(p, s, true);
    case Scattering::chains: return plan_rows(p, s, false);
    case Scattering::lists: return plan_lists(p, s);
    case Scattering::sorted: return plan_sorted(p, rows, dim, n);
  }
}

const Register registered({"scatter_add", real_dtypes, {3}, [](const OpKernels&, const Dims& d) { return std::vector{in(d[0] * d[1]), in(d[2], Storage::i32), in(d[2] * d[1]), out(d[0] * d[1])}; }, plan});

}  // namespace

}  // namespace opscope::cuda
