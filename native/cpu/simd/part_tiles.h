// The parts of a convolution (simd/phases.h) as products of tiles of pairs: filters are copied to where their tiles lie one behind another; windows are
// read in the copy of a part as they lie, or panels of them are packed from it; and sums leave the tiles where those of the part lie.
#pragma once
#include "kernel_taps.h"
#include "parts.h"
#include "tile_shapes.h"
#include "tiles.h"

#if defined(OPSCOPE_TILES)
namespace {

// tmm0 .. tmm3, made zero or read from the sums, += tiles of two groups of filters times a panel.
template <int GROUPS, int COLUMNS>
inline void add_tile_sums(const LeftTiles& first, const LeftTiles& second, const float* panel, int64_t steps, bool from_zero, float* sums, float* below, int64_t stride) {
  const int64_t bytes = stride * static_cast<int64_t>(sizeof(float));
  if (from_zero) {
    OPSCOPE_TILE_ZERO(0);
    if constexpr (COLUMNS > 1) OPSCOPE_TILE_ZERO(1);
    if constexpr (GROUPS > 1) OPSCOPE_TILE_ZERO(2);
    if constexpr (GROUPS > 1 && COLUMNS > 1) OPSCOPE_TILE_ZERO(3);
  } else {
    OPSCOPE_TILE_LOAD(0, sums, bytes);
    if constexpr (COLUMNS > 1) OPSCOPE_TILE_LOAD(1, sums + W, bytes);
    if constexpr (GROUPS > 1) OPSCOPE_TILE_LOAD(2, below, bytes);
    if constexpr (GROUPS > 1 && COLUMNS > 1) OPSCOPE_TILE_LOAD(3, below + W, bytes);
  }
  multiply_tiles<GROUPS, COLUMNS>(first, second, panel, steps);
  OPSCOPE_TILE_STORE(0, sums, bytes);
  if constexpr (COLUMNS > 1) OPSCOPE_TILE_STORE(1, sums + W, bytes);
  if constexpr (GROUPS > 1) OPSCOPE_TILE_STORE(2, below, bytes);
  if constexpr (GROUPS > 1 && COLUMNS > 1) OPSCOPE_TILE_STORE(3, below + W, bytes);
}

// The same as add_tile_sums() of windows as they lie from `windows` on, where element v of the kernel lies offsets[v] on and a channel `channel` on.
template <int GROUPS, int COLUMNS>
inline void lying_tile_sums(const LeftTiles& first, const LeftTiles& second, const float* windows, const int32_t* offsets, int64_t volume, int64_t channel, const TileChannels& channels, float* sums, float* below, int64_t stride) {
  OPSCOPE_TILE_ZERO(0);
  if constexpr (COLUMNS > 1) OPSCOPE_TILE_ZERO(1);
  if constexpr (GROUPS > 1) OPSCOPE_TILE_ZERO(2);
  if constexpr (GROUPS > 1 && COLUMNS > 1) OPSCOPE_TILE_ZERO(3);
  const int64_t apart = channel * static_cast<int64_t>(sizeof(float));
  const char *a = first.data, *under = second.data;
  for (int64_t v = 0; v < volume; v++) {
    const float* b = windows + offsets[v];
    for (int64_t c = 0; c < channels.count; c++, a += first.step, under += second.step, b += channels.units * channel) multiply_tile<GROUPS, COLUMNS>({a, first.stride}, {under, second.stride}, reinterpret_cast<const char*>(b), apart);
  }
  const int64_t bytes = stride * static_cast<int64_t>(sizeof(float));
  OPSCOPE_TILE_STORE(0, sums, bytes);
  if constexpr (COLUMNS > 1) OPSCOPE_TILE_STORE(1, sums + W, bytes);
  if constexpr (GROUPS > 1) OPSCOPE_TILE_STORE(2, below, bytes);
  if constexpr (GROUPS > 1 && COLUMNS > 1) OPSCOPE_TILE_STORE(3, below + W, bytes);
}

// The filters of a group of the convolution.
struct TileFilters {
  const float* data;
  int64_t units;  // of a filter, in whole tiles
  TileGroups groups;

  LeftTiles tiles(int64_t group, int64_t l) const { return {reinterpret_cast<const char*>(data + group * TILE_ROWS * units + l * TILE_ROWS), TILE_UNITS * 4, TILE_FLOATS * 4}; }

  // The same of windows that lie, of `flat` cells.
  void multiply_lying(const float* windows, const int32_t* offsets, int64_t volume, int64_t channel, const TileChannels& channels, Range own, int64_t flat, float* sums, int64_t stride) const {
    const int64_t past = (own.end + groups.rows - 1) / groups.rows;
    for (int64_t j = 0; j < flat; j += NR)
      for (int64_t group = own.begin / groups.rows; group < past; group += 2) {
        float *const at = sums + group * groups.rows * stride + j, *const below = at + groups.rows * stride;
        const auto add = [&]<int GROUPS, int COLUMNS>() { lying_tile_sums<GROUPS, COLUMNS>(tiles(group, 0), tiles(group + 1, 0), windows + j, offsets, volume, channel, channels, at, below, stride); };
        const bool two = group + 1 < past, wide = flat - j > W;
        if (two && wide) add.template operator()<2, 2>();
        else if (two) add.template operator()<2, 1>();
        else if (wide) add.template operator()<1, 2>();
        else add.template operator()<1, 1>();
      }
  }

  // Sums of the filters `own`, which are whole groups, and all outputs of a part. terms: of a filter; windows.pack(..) as right operands have it.
  template <class B>
  void multiply(const B& windows, Range own, int64_t outputs, int64_t terms, float* sums, int64_t stride, float* slab) const {
    const int64_t past = (own.end + groups.rows - 1) / groups.rows;
    for (int64_t l = 0; l < units; l += TILE_TERMS) {
      const int64_t kc = least(TILE_TERMS, units - l), met = least(kc, terms - l), together = tile_columns(units, outputs);
      for (int64_t from = 0; from < outputs; from += together) {
        const int64_t to = least(from + together, outputs);
        for (int64_t j = from; j < to; j += NR) {
          float* const panel = slab + (j - from) * kc;
          windows.pack(j, static_cast<int>(least(NR, outputs - j)), l, met, panel);
          for (int64_t rest = met * NR; rest < kc * NR; rest += W) vstore(panel + rest, vset(0));
        }
        for (int64_t group = own.begin / groups.rows; group < past; group += 2)
          for (int64_t j = from; j < to; j += NR) {
            float *const at = sums + group * groups.rows * stride + j, *const below = at + groups.rows * stride;
            const auto add = [&]<int GROUPS, int COLUMNS>() { add_tile_sums<GROUPS, COLUMNS>(tiles(group, l), tiles(group + 1, l), slab + (j - from) * kc, kc / TILE_UNITS, l == 0, at, below, stride); };
            const bool two = group + 1 < past, wide = outputs - j > W;
            if (two && wide) add.template operator()<2, 2>();
            else if (two) add.template operator()<2, 1>();
            else if (wide) add.template operator()<1, 2>();
            else add.template operator()<1, 1>();
          }
      }
    }
  }
};

// A convolution by such parts. Not copied: parts refer to the geometry.
struct TileParts {
  const Geometry &whole, trimmed, g;  // g: of pairs of channels
  const Parts parts;
  const TileGroups groups;
  const int64_t terms, units;  // of a filter: pairs, and those of its tiles

  TileParts(const Geometry& of, int threads)
      : whole(of), trimmed(of.trimmed()), g(paired(trimmed.turned(false))), parts(g, threads, true), groups(g.group_filters()), terms(g.group_channels() * g.volume()), units(parts.lies ? g.volume() * TileChannels(g.group_channels()).count * TILE_UNITS : up(terms, TILE_UNITS)) {}
  TileParts(const TileParts&) = delete;
  TileParts& operator=(const TileParts&) = delete;

  int64_t group_floats() const { return groups.count * TILE_ROWS * units; }
  int64_t filter_floats() const { return g.groups * group_floats(); }
  size_t scratch(int threads) const { return static_cast<size_t>(filter_floats() + threads * parts.floats); }

  // Filters in their tiles, copied by the team. own: of this thread, a filter.
  const float* copy_filters(const Call& c, float* own) const {
    const int64_t filters = g.group_filters(), channels = whole.group_channels(), half = g.group_channels();
    const KernelTaps taps(whole);
    const PairedChannels copied(taps);
    for (int64_t i = terms; !parts.lies && i < units; i++) own[i] = 0;
    const Range mine = part(g.groups * groups.count * TILE_ROWS, 1, c.thread, c.threads);
    for (int64_t i = mine.begin; i < mine.end; i++) {
      const int64_t tile = i / TILE_ROWS, row = i - tile * TILE_ROWS, group = tile / groups.count, filter = (tile - group * groups.count) * groups.rows + row;
      if (row >= groups.rows || filter >= filters) continue;
      copied.copy(input<BF16>(c, 1) + (group * filters + filter) * channels * taps.volume, channels, {0, half}, own);
      float* to = c.scratch + tile * TILE_ROWS * units + row * TILE_UNITS;
      if (parts.lies) copy_by_elements(own, to);
      else
        for (int64_t l = 0; l < units; l += TILE_UNITS) vstore(to + l * TILE_ROWS, vload(own + l));
    }
    c.barrier(c.team);
    return c.scratch;
  }

 private:
  static Geometry paired(Geometry of) {
    of.channels = of.groups * pairs(of.group_channels());
    return of;
  }
  // A filter whose tiles are of single elements of the kernel; channels behind the last are zero.
  void copy_by_elements(const float* filter, float* to) const {
    const int64_t volume = g.volume(), half = g.group_channels(), step = TileChannels(half).units;
    const __m512i apart = _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), _mm512_set1_epi32(static_cast<int>(volume)));
    for (int64_t v = 0; v < volume; v++)
      for (int64_t c = 0; c < half; c += step, to += TILE_FLOATS) vstore(to, _mm512_mask_i32gather_ps(vset(0), vmask_n(static_cast<int>(least(step, half - c))), apart, filter + c * volume + v, sizeof(float)));
  }
};

inline void run_tile_parts(const Call& call, const Geometry& whole) {
  const TileParts p(whole, call.threads);
  Call c = call;
  c.scratch += p.filter_floats();
  const float* const filters = p.copy_filters(call, c.scratch + c.thread * p.parts.floats);
  const Tiles tiles(p.groups.rows, p.parts.lies ? TileChannels(p.g.group_channels()).units : TILE_UNITS);
  run_parts<TwoChannels, BF16>(c, p.parts, whole.group_channels(), [&](int64_t group) { return TileFilters{filters + group * p.group_floats(), p.units, p.groups}; });
}

}  // namespace
#endif
