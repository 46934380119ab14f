// Convolutions whose windows are not read from the input itself: a part of it is padded, widened to f32 and split by what is left of a place
// divided by the stride (its phase). In such a copy the places that one element of the kernel meets lie next to one another for all outputs of
// a row. Tiles read them there: vectors of outputs alone, each from the one or two rows that it meets, where outputs are written in that order;
// else across rows, and what falls between two rows of outputs is computed and left out; or, where that would be much, panels are packed from the
// copy without a look at edges and strides.
#pragma once
#include "fetch.h"
#include "spread_rows.h"
#include "tile_shapes.h"
#include "windows.h"

namespace {

// One axis of a part of `outputs` outputs: `cells` of each of the phases, or (spread) of each element of the kernel a cell for each output.
struct PhaseAxis {
  int64_t phases, cells;
  PhaseAxis(const Geometry& g, const Axis& axis, int64_t outputs, bool spread = false) {
    const int64_t reach = (axis.kernel - 1) * g.dilation;
    phases = spread ? axis.kernel : least(g.stride, reach + 1);
    cells = spread ? outputs : outputs + reach / g.stride;
  }
};

constexpr int64_t PART_FLOATS = 1 << 16, LEAST_COLUMNS = 1024, MOST_COLUMNS = 1 << 14;  // of a part, so that sums and copied input stay in the second-level cache
constexpr int64_t MOST_FLOATS = 4 << 20;  // of one thread
constexpr int64_t COMPACT_FILTERS = 7, COMPACT_TERMS = 200;  // these by filters: few of them wait for loads, and tiles of vectors by themselves take longer to start
constexpr int64_t PLANES_FLOATS = 1 << 18; // of several planes that are copied together: about a second-level cache
constexpr int64_t NEAR_OF_SPREAD = 1 << 16;  // of rows that are copied for each element of the kernel
constexpr int64_t LEAST_OF_STRIDED = 256;  // columns of a part
constexpr int64_t FILTERS_OF_STRIDED = 64, TERMS_OF_STRIDED = 256;  // from these on panels of compact windows with a stride are packed (AVX-512)

// How a convolution is cut into parts, each of some whole planes of outputs (some depths of one image, or all depths of some) or some rows or
// columns of one, and what one thread needs for them. Cells lie by channel, phase, depth, image, row and column, so that outputs of one depth
// and image after another are `plane` cells apart.
struct Parts {
  const Geometry& g;
  int64_t across, down;  // parts of a plane
  int64_t columns, rows, depths, images;  // of a part
  int64_t filter_parts;  // of each of them: threads share its filters where they could not share what it is a part of
  PhaseAxis h, w;
  int64_t shared;        // cells of padding behind a row that are those in front of the next one
  int64_t plane;         // cells of one depth of an image
  bool packs;            // panels are packed, for many vectors would lie between rows of outputs
  bool compact;          // tiles meet outputs alone, row after row, and end with a plane
  bool by_planes;        // tiles end with a plane, for many vectors would lie between planes
  bool lies = false;     // tiles of pairs are read in the copy
  bool copies_planes;    // parts are whole planes of the input without padding
  // Floats: the copied input and a slab (vectors reach behind their ends), sums, a block of filters, and where each term lies.
  int64_t input_floats, slab_floats, sum_stride, sum_floats, block_floats, floats;

  // by_tiles: of pairs that tiles multiply (simd/part_tiles.h).
  Parts(const Geometry& geometry, int threads, bool by_tiles = false) : Parts(geometry, threads, by_tiles, parts_of(geometry.width.output, most_across(geometry))) {}
  int64_t count() const { return filter_parts * g.groups * parts_of(g.batch, images) * parts_of(g.depth.output, depths) * down * across; }
  int64_t flat(int64_t planes, int64_t some_rows, int64_t some_columns) const { return (planes - 1) * plane + (some_rows - 1) * w.cells + some_columns; }
  // Vectors of one plane of a part, where tiles meet planes by themselves.
  int64_t plane_vectors(int64_t some_rows, int64_t some_columns) const { return parts_of(flat(1, some_rows, some_columns), W); }
  bool fits() const { return input_floats <= MOST_FLOATS && floats <= MOST_FLOATS; }

  // Of a part of so many images.
  void offsets(int64_t some_images, int32_t* to) const {
    const int64_t s = g.stride, depth = some_images * plane, phase = depth_axis(depths).cells * depth, depth_phases = depth_axis(depths).phases;
    for (int64_t c = 0; c < g.group_channels(); c++, to += g.volume())
      for (int64_t kd = 0; kd < g.depth.kernel; kd++)
        for (int64_t kh = 0; kh < g.height.kernel; kh++)
          for (int64_t kw = 0; kw < g.width.kernel; kw++) {
            const int64_t at_d = kd * g.dilation, at_h = kh * g.dilation, at_w = kw * g.dilation;
            const int64_t nth = ((c * depth_phases + at_d % s) * h.phases + at_h % s) * w.phases + (g.spread ? kw : at_w % s);
            to[kd * g.depth.kernel_step + kh * g.height.kernel_step + kw * g.width.kernel_step] = static_cast<int32_t>(nth * phase + at_d / s * depth + at_h / s * w.cells + (g.spread ? 0 : at_w / s));
          }
  }

  PhaseAxis depth_axis(int64_t outputs) const { return {g, g.depth, outputs}; }
  // Whether rows that are spread are copied by vectors across their ends, which are listed.
  bool crosses_rows() const {
#if defined(OPSCOPE_GATHERED)
    return g.spread && w.cells <= SpreadRows::MOST_CELLS;
#else
    return false;
#endif
  }
  int64_t list_floats() const {
#if defined(OPSCOPE_GATHERED)
    if (crosses_rows()) return w.phases * static_cast<int64_t>(sizeof(SpreadRows) / sizeof(float));
#endif
    return 0;
  }

 private:
  Parts(const Geometry& geometry, int threads, bool by_tiles, int64_t parts_across)
      : Parts(geometry, threads, by_tiles, parts_across, parts_down(geometry, threads, parts_across), (geometry.width.output + parts_across - 1) / parts_across) {}
  Parts(const Geometry& geometry, int threads, bool by_tiles, int64_t parts_across, int64_t parts_down, int64_t part_columns)
      : g(geometry), across(parts_across), down(parts_down), columns(part_columns), rows(part_rows(geometry, threads, parts_across, parts_down)), filter_parts(shares_filters(geometry, threads, parts_across) ? threads : 1), h(g, g.height, rows), w(g, g.width, columns, g.spread) {
    shared = across == 1 ? shared_cells(g, w) : 0;
    w.cells -= shared;
    const Products s = g.products();
    const int64_t all_planes = g.batch * g.depth.output, own_planes = g.groups >= threads || filter_parts > 1 ? all_planes : parts_of(all_planes, threads);
    // Few, for the first-level cache, but more where each part reads many filters again.
    const int64_t most = (s.m < 128 ? 256 : least(2 * s.m, LEAST_COLUMNS)) / (rows * columns), enough = parts_of(NR, rows * columns);
    plane = times(h.cells, w.cells);
    int64_t planes = across * down > 1 || most < 1 ? 1 : least(own_planes, most);
    for (take_planes(planes); planes > enough && copied_floats() > PLANES_FLOATS; take_planes(planes)) planes = planes * 3 / 4;
    planes = depths * images;
    copies_planes = across * down == 1 && g.width.step == 1 && g.depth.input == 1 && plane == g.in_plane() && depth_axis(1).phases * h.phases * w.phases == 1 && g.depth.padding + g.height.padding + g.width.padding == 0 && w.cells == g.width.input;
    const int64_t filters = s.m, outputs = planes * rows * columns, alone = planes * parts_of(rows * columns, W), joined = parts_of(flat(planes, rows, columns), W), apart = planes * parts_of(flat(1, rows, columns), W), used = parts_of(outputs, W);
    by_planes = apart < joined;
    compact = across == 1 && is_compact(g) && alone <= least(joined, apart) && rows * columns >= NR && s.m >= COMPACT_FILTERS && times(s.m, s.k) >= COMPACT_TERMS;
    packs = 21 * (compact ? alone : least(joined, apart)) * filters > 20 * used * (filters + PACKING + PACKING_RUNS / columns);
    // Windows with a stride lie in more lines and pages than their panels, and every tile of filters meets all of them.
    packs |= W == 16 && compact && g.stride > 1 && filters >= FILTERS_OF_STRIDED && s.k >= TERMS_OF_STRIDED;
    compact &= !packs;
    input_floats = up(least(copied_floats(), MOST_FLOATS) + 2 * NR, LINE);
    slab_floats = packs ? up(s.terms() * up(outputs, NR) + W, LINE) : 0;
    sum_stride = packs || compact ? outputs : up(by_planes ? planes * plane_vectors(rows, columns) * W : flat(planes, rows, columns), LINE) + LINE;
    sum_floats = up(filters * sum_stride, LINE);
    block_floats = s.a_floats();
    if (by_tiles) cut_for_tiles(planes, outputs, least(joined, apart), used);
    floats = up(input_floats + slab_floats + sum_floats + block_floats + up(s.k, LINE), LINE) + list_floats();
  }

  // A part that tiles multiply: its windows lie, or panels of them are packed.
  void cut_for_tiles(int64_t planes, int64_t outputs, int64_t lying_vectors, int64_t output_vectors) {
    const int64_t channels = g.group_channels(), filters = g.group_filters(), units = up(channels * g.volume(), LINE);
    lies = tiles_lie(g, lying_vectors, output_vectors);
    packs = !lies;
    compact = false;
    if (const int64_t copied = copied_floats(); lies && copied <= MOST_FLOATS) input_floats = up(copied / channels * TileChannels(channels).all() + 2 * NR, LINE);
    slab_floats = lies ? 0 : least(units, TILE_TERMS) * tile_columns(units, outputs) + LINE;
    sum_stride = up(lies ? flat(planes, rows, columns) : outputs, NR) + LINE;
    sum_floats = up(filters, LINE) * sum_stride;
    block_floats = units;
  }

  // Whether the rows of a plane follow one another as they are written, and a vector of outputs meets at most two of them (others than AVX-512: one).
  static bool is_compact(const Geometry& g) {
    if (g.width.output_step > 1) return false;
    if (g.height.output == 1) return true;
    if (g.spread) return g.height.output_step == g.width.output;
#if defined(OPSCOPE_JOINED)
    const bool meets_few = g.width.output >= W - 1;
#else
    const bool meets_few = g.width.output % W == 0;
#endif
    return meets_few && g.height.output_step == g.width.output;
  }
  // Up to NR cells: that many lie behind the copy; and so many that each output of a row has a cell of its own.
  static int64_t shared_cells(const Geometry& g, const PhaseAxis& w) {
    const int64_t before = g.width.padding, behind = w.cells - before - g.width.input, both = least(least(least(before, behind), NR), (g.width.kernel - 1) * g.dilation);
    return g.spread || g.stride > 1 || both < 0 ? 0 : both;
  }
  // Of `down` parts: as many for each, or (one thread) so many that the fewest vectors are partly filled.
  static int64_t part_rows(const Geometry& g, int threads, int64_t across, int64_t down) {
    const int64_t all = g.height.output, even = parts_of(all, down);
    if (threads > 1 || across > 1 || down == 1) return even;
    const PhaseAxis w(g, g.width, g.width.output, g.spread);
    const int64_t cells = w.cells - shared_cells(g, w), columns = g.width.output;
    int64_t best = even, fewest = INT64_MAX;
    for (int64_t rows = even; rows * columns <= most_columns(g) && (down - 1) * rows < all; rows++) {
      const auto vectors = [&](int64_t some) { return parts_of(is_compact(g) ? some * columns : (some - 1) * cells + columns, W); };
      const int64_t used = (down - 1) * vectors(rows) + vectors(all - (down - 1) * rows);
      if (used < fewest) best = rows, fewest = used;
    }
    return best;
  }

  static int64_t parts_of(int64_t n, int64_t size) { return (n + size - 1) / size; }
  int64_t copied_floats() const { return times(times(g.group_channels(), h.phases * w.phases), times(times(depth_axis(depths).phases, depth_axis(depths).cells), times(images, plane))); }
  // As equal parts of up to so many planes as there are: those of one image share what they meet.
  void take_planes(int64_t planes) {
    depths = parts_of(g.depth.output, parts_of(g.depth.output, planes));
    images = depths < g.depth.output ? 1 : parts_of(g.batch, parts_of(g.batch, planes / depths));
  }

  static int64_t most_columns(const Geometry& g) {
    const int64_t columns = PART_FLOATS / (g.group_filters() > g.group_channels() ? g.group_filters() : g.group_channels());
    // Of the columns alone, whatever the rest of a part is.
    const int64_t reach = ((g.height.kernel - 1) * g.dilation + 1) * ((g.depth.kernel - 1) * g.dilation + 1), fit = MOST_FLOATS / 2 / g.stride / times(g.group_channels(), reach);
    int64_t most = columns < LEAST_COLUMNS ? LEAST_COLUMNS : least(columns, MOST_COLUMNS);
    // Panels of windows with a stride read the copy out of order: it stays in half of a second-level cache of 2 MiB.
    if (const int64_t near = PLANES_FLOATS / (g.stride * g.stride * g.group_channels()); W == 16 && g.stride > 1 && near < most) most = near < LEAST_OF_STRIDED ? LEAST_OF_STRIDED : near;
    if (const int64_t near = NEAR_OF_SPREAD / (g.stride * g.width.kernel * g.group_channels()); g.spread && near < most) most = near < LEAST_OF_STRIDED ? LEAST_OF_STRIDED : near;
    return fit < NR ? NR : least(most, fit);
  }
  // Of a part's rows: fewer where all rows of a part lie across the output.
  static int64_t most_across(const Geometry& g) {
    const int64_t most = most_columns(g);
    return g.width.output_step > 1 && g.height.output <= W / 2 ? (most < g.height.output * NR ? NR : most / g.height.output) : most;
  }
  static int64_t least_down(const Geometry& g, int64_t across) {
    const int64_t columns = parts_of(g.width.output, across), most = columns < most_columns(g) ? most_columns(g) / columns : 1;
    return (g.height.output + most - 1) / most;
  }
  // Threads would else have nothing or unequal work, or each read all filters for a few rows of outputs.
  static bool shares_filters(const Geometry& g, int threads, int64_t across) {
    constexpr int64_t MANY_PARTS = 4;  // for each thread: one more or less is then little beside what copying the input for each takes
    const int64_t parts = g.batch * g.groups * g.depth.output * across * least_down(g, across);
    return threads > 1 && g.group_filters() >= 2 * MR * threads && parts < MANY_PARTS * threads && parts % threads != 0;
  }
  // More where threads would else have nothing or unequal work.
  static int64_t parts_down(const Geometry& g, int threads, int64_t across) {
    const int64_t planes = g.batch * g.groups * g.depth.output * across;
    int64_t parts = least_down(g, across);
    if (shares_filters(g, threads, across)) return parts;
    for (int tries = 0; planes * parts % threads != 0 && parts < g.height.output && tries < threads; tries++) parts++;
    return parts;
  }

};

}  // namespace
