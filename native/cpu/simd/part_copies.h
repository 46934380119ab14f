// The input that a part of a convolution meets (simd/phases.h), copied with its padding and by phase.
#pragma once
#include "phases.h"

namespace {

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

// Copies the input of parts. lists: of Parts::list_floats().
struct PartCopies {
  const Parts& p;
  const Geometry& g;
  const PhaseAxis &h, &w;
  int64_t shared, plane;
#if defined(OPSCOPE_GATHERED)
  const SpreadRows* spread;
#endif

  PartCopies(const Parts& parts, [[maybe_unused]] float* lists) : p(parts), g(p.g), h(p.h), w(p.w), shared(p.shared), plane(p.plane) {
#if defined(OPSCOPE_GATHERED)
    auto* const rows = reinterpret_cast<SpreadRows*>(lists);
    for (int64_t phase = 0; p.crosses_rows() && phase < w.phases; phase++) rows[phase].set(width_row(0, phase), g.stride * g.height.step);
    spread = rows;
#endif
  }

  // The input of one group, of `channels` channels, that `some` images from `first` on meet, from output (depth, row, column) of each on. Written
  // in order, by whole vectors that reach over what comes next.
  template <class Rows, class T>
  void copy(const T* x, int64_t channels, int64_t group, int64_t first, int64_t some, int64_t depth, int64_t row, int64_t column, float* to) const {
    if (p.copies_planes) return copy_planes<Rows>(x, channels, group, first, some, to);
    if (turns_rows(Rows::CHANNELS)) return copy_turned<Rows>(x, channels, group, first, some, depth, row, column, to);
    const PhaseAxis d = p.depth_axis(p.depths);
    const int64_t image = g.groups * channels * g.in_plane();
    const T* channel = x + (first * g.groups + group) * channels * g.in_plane();
    // The same for every channel.
    Row rows[MOST_KERNEL];
    for (int64_t pw = 0; pw < least(w.phases, MOST_KERNEL); pw++) rows[pw] = width_row(column, pw);
    for (int64_t c = 0; c < channels; c += Rows::CHANNELS, channel += Rows::CHANNELS * g.in_plane())
      for (int64_t pd = 0; pd < d.phases; pd++)
        for (int64_t ph = 0; ph < h.phases; ph++)
          for (int64_t pw = 0; pw < w.phases; pw++) {
            const Row of_row = pw < MOST_KERNEL ? rows[pw] : width_row(column, pw);
            const int64_t first_h = row * g.stride + ph - g.height.padding;
            const Range met = of_axis(first_h, g.height.input, h.cells);
            const CopiedRows<T> copied{channel, image, some, depth * g.stride + pd - g.depth.padding, d.cells, first_h, met, c + 1 == channels};
#if defined(OPSCOPE_GATHERED)
            if (p.crosses_rows() && spread[pw].pays(met.end - met.begin, g.stride)) {
              to = copy_crossing<Rows>(copied, spread[pw], to);
              continue;
            }
#endif
            // With each phase a share of the same row of the channel that follows: the processor does not fetch every second row.
            const Range fetched = g.stride > 1 ? Range{column * g.stride + pw * LINE, least(g.width.input, (column + w.cells) * g.stride)} : Range{0, 0};
            if (!of_row.vector()) to = copy_rows<Rows>(copied, of_row, fetched, to);
            else if (g.stride == 1) to = copy_rows<Rows>(copied, RowOfVector<false>(of_row), fetched, to);
            else to = copy_rows<Rows>(copied, RowOfVector<true>(of_row), fetched, to);
          }
    zeroed(to, shared);  // the padding behind the last row
  }

 private:
  // The cells of phase `phase` of the rows of a part, from column `column` on.
  Row width_row(int64_t column, int64_t phase) const {
    const int64_t first = column * g.stride + (g.spread ? phase * g.dilation : phase) - g.width.padding;
    return {g.stride, g.width.step, w.cells, first, of_axis(first, g.width.input, w.cells)};
  }
  // The rows of a phase of a channel that are copied: `met` of each of `cells` depths from `first_d` on, of `some` images, from place `first_h` of the height on.
  template <class T>
  struct CopiedRows {
    const T* channel;
    int64_t image, some, first_d, cells, first_h;
    Range met;
    bool last;  // channel
  };
  // copy(from, to): the rows that are met of one depth of an image; what is not met is made zero.
  template <class T, class F>
  OPSCOPE_INLINE float* each_depth(const CopiedRows<T>& rows, const F& copy, float* to) const {
    for (int64_t i = 0, at_d = rows.first_d; i < rows.cells; i++, at_d += g.stride)
      for (int64_t n = 0; n < rows.some; n++) {
        if (at_d < 0 || at_d >= g.depth.input) {
          to = zeroed(to, plane);
          continue;
        }
        to = zeroed(to, rows.met.begin * w.cells);
        copy(rows.channel + n * rows.image + at_d * g.depth.step + (rows.first_h + rows.met.begin * g.stride) * g.height.step, to);
        to = zeroed(to + (rows.met.end - rows.met.begin) * w.cells, (h.cells - rows.met.end) * w.cells);
      }
    return to;
  }
  template <class Rows, class T, class One>
  OPSCOPE_INLINE float* copy_rows(const CopiedRows<T>& rows, const One one, Range fetched, float* to) const {
    const int64_t apart = g.stride * g.height.step, in_plane = g.in_plane();
    return each_depth(rows, [=, this](const T* from, float* at) __attribute__((always_inline)) {
      for (int64_t j = rows.met.begin; j < rows.met.end; j++, from += apart, at += w.cells) {
        for (int64_t q = fetched.begin; q < fetched.end; q += w.phases * LINE) fetch_line(from + Rows::CHANNELS * in_plane + q, Far{});
        one.copy(Rows(from, in_plane, rows.last), at);
      }
    }, to);
  }
#if defined(OPSCOPE_GATHERED)
  // By vectors across the ends of rows.
  template <class Rows, class T>
  OPSCOPE_APART float* copy_crossing(const CopiedRows<T>& rows, const SpreadRows& spread, float* to) const {
    const int64_t apart = g.stride * g.height.step, in_plane = g.in_plane();
    return each_depth(rows, [&](const T* from, float* at) __attribute__((always_inline)) {
      spread.copy(rows.met.end - rows.met.begin, w.cells, [&](int64_t row) { return Rows(from + row * apart, in_plane, rows.last); }, at);
    }, to);
  }
#endif

  // The same where the cells of a row lie apart in the input: what lies together there is read together, some elements of it for all cells of a row, and
  // where tiles can be turned in registers, for some of them at a time.
  template <class Rows, class T>
  OPSCOPE_APART void copy_turned(const T* x, int64_t channels, int64_t group, int64_t first, int64_t some, int64_t depth, int64_t row, int64_t column, float* to) const {
    const PhaseAxis d = p.depth_axis(p.depths);
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
