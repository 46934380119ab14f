// Convolutions whose windows are not read from the input itself: a part of it is padded, widened to f32 and split by what is left of a place
// divided by the stride (its phase). In such a copy the places that one element of the kernel meets lie next to one another for all outputs of
// a row. Tiles read them there: vectors of outputs alone, each from the one or two rows that it meets, where outputs are written in that order;
// else across rows, and what falls between two rows of outputs is computed and left out; or, where that would be much, panels are packed from the
// copy without a look at edges and strides.
#pragma once
#include "fetch.h"
#include "padded_rows.h"
#include "tile_shapes.h"
#include "windows.h"

namespace {

// One axis of a part of `outputs` outputs: `cells` of each of the phases.
struct PhaseAxis {
  int64_t phases, cells;
  PhaseAxis(const Geometry& g, const Axis& axis, int64_t outputs) {
    const int64_t reach = (axis.kernel - 1) * g.dilation;
    phases = least(g.stride, reach + 1);
    cells = outputs + reach / g.stride;
  }
};

// The elements of an axis of the input that a part meets, from output `first` of it on, and where they go in its copy.
struct Met {
  int64_t stride, phases, past, begin, end, step, phase_step, cell_step;  // past: of the first element, from where the copy starts
  Met(const Geometry& g, const Axis& axis, const PhaseAxis& copied, int64_t first, int64_t to_phase, int64_t to_cell)
      : stride(g.stride), phases(copied.phases), past(axis.padding - first * g.stride), begin(past < 0 ? -past : 0), end(least(axis.input, copied.cells * g.stride - past)), step(axis.step), phase_step(to_phase), cell_step(to_cell) {}
  // Calls use(from, to) for the elements from .. to - 1 of them.
  template <class F>
  OPSCOPE_INLINE void each(int64_t from, int64_t to, const F& use) const {
    if (from >= to) return;
    int64_t cell = (from + past) / stride, phase = from + past - cell * stride;
    for (int64_t i = from; i < to; i++) {
      if (phase < phases) use(i * step, phase * phase_step + cell * cell_step);
      if (++phase == stride) phase = 0, cell++;
    }
  }
};

constexpr int64_t PART_FLOATS = 1 << 16, LEAST_COLUMNS = 1024, MOST_COLUMNS = 1 << 14;  // of a part, so that sums and copied input stay in the second-level cache
constexpr int64_t MOST_FLOATS = 4 << 20;  // of one thread
constexpr int64_t COMPACT_FILTERS = 7, COMPACT_TERMS = 200;  // these by filters: few of them wait for loads, and tiles of vectors by themselves take longer to start
constexpr int64_t PLANES_FLOATS = 1 << 18; // of several planes that are copied together: about a second-level cache
constexpr int64_t LEAST_OF_STRIDED = 256;  // columns of a part
constexpr int64_t FILTERS_OF_STRIDED = 64, TERMS_OF_STRIDED = 256;  // from these on panels of compact windows with a stride are packed (AVX-512)
constexpr int64_t PACKING = 12, PACKING_RUNS = NR * 8 / 5;  // takes about as long as so many rows of a product, these by the outputs of a row; rows that start within lines take 1.05x

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
  bool fits() const { return input_floats <= MOST_FLOATS && floats <= MOST_FLOATS; }

  // Of a part of so many images.
  void offsets(int64_t some_images, int32_t* to) const {
    const int64_t s = g.stride, depth = some_images * plane, phase = depth_axis(depths).cells * depth, depth_phases = depth_axis(depths).phases;
    for (int64_t c = 0; c < g.group_channels(); c++, to += g.volume())
      for (int64_t kd = 0; kd < g.depth.kernel; kd++)
        for (int64_t kh = 0; kh < g.height.kernel; kh++)
          for (int64_t kw = 0; kw < g.width.kernel; kw++) {
            const int64_t at_d = kd * g.dilation, at_h = kh * g.dilation, at_w = kw * g.dilation;
            const int64_t nth = ((c * depth_phases + at_d % s) * h.phases + at_h % s) * w.phases + at_w % s;
            to[kd * g.depth.kernel_step + kh * g.height.kernel_step + kw * g.width.kernel_step] = static_cast<int32_t>(nth * phase + at_d / s * depth + at_h / s * w.cells + at_w / s);
          }
  }

  // The input of one group, of `channels` channels, that `some` images from `first` on meet, from output (depth, row, column) of each on. Written
  // in order, by whole vectors that reach over what comes next.
  template <class Rows, class T>
  void copy(const T* x, int64_t channels, int64_t group, int64_t first, int64_t some, int64_t depth, int64_t row, int64_t column, float* to) const {
    if (copies_planes) return copy_planes<Rows>(x, channels, group, first, some, to);
    if (turns_rows(Rows::CHANNELS)) return copy_turned<Rows>(x, channels, group, first, some, depth, row, column, to);
    const PhaseAxis d = depth_axis(depths);
    const int64_t image = g.groups * channels * g.in_plane();
    const T* channel = x + (first * g.groups + group) * channels * g.in_plane();
    for (int64_t c = 0; c < channels; c += Rows::CHANNELS, channel += Rows::CHANNELS * g.in_plane())
      for (int64_t pd = 0; pd < d.phases; pd++)
        for (int64_t ph = 0; ph < h.phases; ph++)
          for (int64_t pw = 0; pw < w.phases; pw++) {
            const int64_t first_w = column * g.stride + pw - g.width.padding;
            const Row of_row{g.stride, g.width.step, w.cells, first_w, of_axis(first_w, g.width.input, w.cells)};
            const int64_t first_h = row * g.stride + ph - g.height.padding;
            const Range met = of_axis(first_h, g.height.input, h.cells);
            const int64_t last = least(g.width.input, (column + w.cells) * g.stride);
            const auto copy_rows = [&](const auto& one) {
              for (int64_t i = 0; i < d.cells; i++) {
                const int64_t at_d = (depth + i) * g.stride + pd - g.depth.padding;
                const Range own = at_d >= 0 && at_d < g.depth.input ? met : Range{h.cells, h.cells};
                for (int64_t n = 0; n < some; n++) {
                  const T* from = channel + n * image + at_d * g.depth.step + (first_h + own.begin * g.stride) * g.height.step;
                  to = zeroed(to, own.begin * w.cells);
                  for (int64_t j = own.begin; j < own.end; j++, from += g.stride * g.height.step, to += w.cells) {
                    // With each phase a share of the same row of the channel that follows: the processor does not fetch every second row.
                    if (g.stride > 1)
                      for (int64_t q = column * g.stride + pw * LINE; q < last; q += w.phases * LINE) fetch_line(from + Rows::CHANNELS * g.in_plane() + q, Far{});
                    one.copy(Rows(from, g.in_plane(), c + 1 == channels), to);
                  }
                  to = zeroed(to, (h.cells - own.end) * w.cells);
                }
              }
            };
            if (!of_row.vector()) copy_rows(of_row);
            else if (g.stride == 1) copy_rows(RowOfVector<false>(of_row));
            else copy_rows(RowOfVector<true>(of_row));
          }
    zeroed(to, shared);  // the padding behind the last row
  }

 private:
  Parts(const Geometry& geometry, int threads, bool by_tiles, int64_t parts_across)
      : Parts(geometry, threads, by_tiles, parts_across, parts_down(geometry, threads, parts_across), (geometry.width.output + parts_across - 1) / parts_across) {}
  Parts(const Geometry& geometry, int threads, bool by_tiles, int64_t parts_across, int64_t parts_down, int64_t part_columns)
      : g(geometry), across(parts_across), down(parts_down), columns(part_columns), rows(part_rows(geometry, threads, parts_across, parts_down)), filter_parts(shares_filters(geometry, threads, parts_across) ? threads : 1), h(g, g.height, rows), w(g, g.width, columns) {
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
    sum_stride = packs || compact ? outputs : up(flat(planes, rows, columns), LINE) + LINE;
    sum_floats = up(filters * sum_stride, LINE);
    block_floats = s.a_floats();
    if (by_tiles) cut_for_tiles(planes, outputs, least(joined, apart), used);
    floats = input_floats + slab_floats + sum_floats + block_floats + up(s.k, LINE);
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
    return g.stride > 1 || both < 0 ? 0 : both;
  }
  // Of `down` parts: as many for each, or (one thread) so many that the fewest vectors are partly filled.
  static int64_t part_rows(const Geometry& g, int threads, int64_t across, int64_t down) {
    const int64_t all = g.height.output, even = parts_of(all, down);
    if (threads > 1 || across > 1 || down == 1) return even;
    const PhaseAxis w(g, g.width, g.width.output);
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
  PhaseAxis depth_axis(int64_t outputs) const { return {g, g.depth, outputs}; }
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

  // The same where the cells of a row lie apart in the input: what lies together there is read together, some elements of it for all cells of a row, and
  // where tiles can be turned in registers, for some of them at a time.
  template <class Rows, class T>
  OPSCOPE_APART void copy_turned(const T* x, int64_t channels, int64_t group, int64_t first, int64_t some, int64_t depth, int64_t row, int64_t column, float* to) const {
    const PhaseAxis d = depth_axis(depths);
    const int64_t image = g.groups * channels * g.in_plane(), of_depth = some * plane, of_width = d.cells * of_depth, of_height = w.phases * of_width, of_phase = h.phases * of_height, of_channel = d.phases * of_phase;
    const Met of_d{g, g.depth, d, depth, of_phase, of_depth}, of_h{g, g.height, h, row, of_height, w.cells}, of_w{g, g.width, w, column, of_width, 1};
    const bool by_height = g.height.step == 1;
    const Met &near = by_height ? of_h : of_d, &other = by_height ? of_d : of_h;
    const T* channel = x + (first * g.groups + group) * channels * g.in_plane();
    for (int64_t c = 0; c < channels; c += Rows::CHANNELS, channel += Rows::CHANNELS * g.in_plane(), to += of_channel) {
      zeroed(to, of_channel);
      for (int64_t n = 0; n < some; n++)
        other.each(other.begin, other.end, [&](int64_t from_other, int64_t to_other) {
          copy_across(Rows(channel + n * image, g.in_plane(), c + 1 == channels), near, of_w, from_other, to + to_other + n * plane);
        });
    }
    zeroed(to, shared);  // the padding behind the last row
  }

  // The elements of `near`, which lie together, for all cells of the width. start: of both in a channel.
  template <class Rows>
  void copy_across(const Rows& source, const Met& near, const Met& of_w, int64_t start, float* to) const {
    constexpr int64_t TOGETHER = 16;
    for (int64_t from = near.begin; from < near.end; from += TOGETHER) {
      const int64_t count = least(TOGETHER, near.end - from);
      int64_t at[TOGETHER];  // -1: no element of the kernel meets it
      for (int64_t k = 0; k < count; k++) at[k] = -1;
      near.each(from, from + count, [&](int64_t place, int64_t to_near) { at[place - from] = to_near; });
      for (int64_t phase = 0; phase < of_w.phases; phase++) {
        const int64_t s = g.stride, first = of_w.begin + (phase + s - (of_w.begin + of_w.past) % s) % s, cells = first < of_w.end ? (of_w.end - 1 - first) / s + 1 : 0;
        const int64_t row = start + first * of_w.step + from, step = s * of_w.step;
        float* const cell = to + phase * of_w.phase_step + (first + of_w.past) / s;
        int64_t q = 0;
#if defined(OPSCOPE_TRANSPOSE_ROWS)
        constexpr int64_t SIDE = TILE<uint32_t>;
        // Tiles reach into the rows behind, which the last of them do not have.
        for (; q + SIDE <= cells && row + (q + SIDE - 1) * step + up(count, SIDE) <= g.in_plane(); q += SIDE)
          for (int64_t k = 0; k < count; k += SIDE) {
            alignas(64) float turned[SIDE * SIDE];
            transpose_rows([=](int nth, int half) { return source.four(row + (q + nth) * step + k + 4 * half); }, reinterpret_cast<uint32_t*>(turned), SIDE);
            for (int64_t i = 0; i < least(SIDE, count - k); i++)
              if (at[k + i] >= 0) __builtin_memcpy(cell + at[k + i] + q, turned + i * SIDE, SIDE * sizeof(float));
          }
#endif
        for (; q < cells; q++)
          for (int64_t k = 0; k < count; k++)
            if (at[k] >= 0) cell[at[k] + q] = source.one(row + q * step + k);
      }
    }
  }

  // Whole planes as they are, those of a channel next to one another.
  template <class Rows, class T>
  void copy_planes(const T* x, int64_t channels, int64_t group, int64_t first, int64_t some, float* to) const {
    const int64_t image = g.groups * channels * plane;
    x += (first * g.groups + group) * channels * plane;
    for (int64_t c = 0; c < channels; c += Rows::CHANNELS, to += some * plane)
      for (int64_t n = 0; n < some; n++) {
        const Rows from(x + n * image + c * plane, plane, c + 1 == channels);
        float* const cells = to + n * plane;
        int64_t i = 0;
        for (; i + W <= plane; i += W) vstore(cells + i, from.next(i));
        if (i < plane) vstore(cells + i, from.load(i, Lanes(0, static_cast<int>(plane - i))));
      }
  }

  // Whether rows whose cells lie apart in the input are read across: in tiles, unless few elements of one channel lie together, or where they lie in more
  // lines than the second-level cache holds.
  bool turns_rows([[maybe_unused]] int64_t channels) const {
#if defined(OPSCOPE_TRANSPOSE_ROWS)
    const int64_t least_together = channels > 1 ? 3 : 8;
    const bool meets_all = channels > 1 || h.phases == g.stride;
    if (g.width.step > 1 && meets_all && (g.height.step == 1 ? g.height : g.depth).input >= least_together) return true;
#endif
    return g.width.step > 1 && w.cells * g.stride * LINE > PLANES_FLOATS;
  }

  // Which of the cells of an axis lie inside the input, where the first is at place `first` of it.
  Range of_axis(int64_t first, int64_t extent, int64_t cells) const {
    const int64_t past = extent <= first ? 0 : least(cells, (extent - 1 - first) / g.stride + 1), begin = least(cells, first < 0 ? (g.stride - 1 - first) / g.stride : 0);
    return {begin, past > begin ? past : begin};
  }
  static float* zeroed(float* to, int64_t n) {
    for (int64_t i = 0; i < n; i += W) vstore(to + i, vset(0));
    return to + n;
  }
};

}  // namespace
