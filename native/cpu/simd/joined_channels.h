// Convolutions of one channel a group whose planes have a few elements (AVX-512): the outputs of some channels, which follow one another, as one vector. Each
// element of the kernel meets it with those of the input, put in their lanes by a permutation, and with a vector of factors, made once for all images.
#pragma once
#include "few_outputs.h"
#include "map.h"

namespace {

#if defined(OPSCOPE_ISA_avx512)
#define OPSCOPE_JOINED_CHANNELS 1

struct JoinedChannels {
  static constexpr int64_t MOST_TAPS = 27, MOST_INPUTS = 2 * W, FACTORS = 1 << 13;  // of a pass over the images, in the first-level cache
  const Geometry& g;
  int64_t plane, outputs, together;  // outputs of a channel; channels of a vector
  int count = 0;                     // elements of the kernel that meet the input
  int64_t element[MOST_TAPS];
  VLanes met[MOST_TAPS];
  __m512i order[MOST_TAPS], order_of_factors[MOST_TAPS];

  static int64_t channels_together(const Geometry& g) { return least(W / (g.group_filters() * g.out_plane()), MOST_INPUTS / g.in_plane()); }
  // Rows of one dimension that fill half a vector are met as they lie (simd/direct_rows.h).
  static bool pays(const Geometry& g) {
    constexpr int64_t LEAST_CHANNELS = 8, LEAST_IMAGES = 6;
    const int64_t outputs = times(g.group_filters(), g.out_plane());
    const bool one_row = g.in_plane() == g.width.input && g.out_plane() == g.width.output && g.group_filters() == 1;
    return g.group_channels() == 1 && g.groups >= LEAST_CHANNELS && outputs <= (one_row ? W / 2 : W) && g.in_plane() <= (one_row ? W : MOST_INPUTS) && g.volume() <= MOST_TAPS && (g.batch >= LEAST_IMAGES || factors_lie(g));
  }
  // Whether the factors of a vector lie in two.
  static bool factors_lie(const Geometry& g) { return channels_together(g) * g.group_filters() * g.volume() <= 2 * W; }

  explicit JoinedChannels(const Geometry& geometry) : g(geometry), plane(g.in_plane()), outputs(g.group_filters() * g.out_plane()), together(channels_together(geometry)) {
    const int64_t volume = g.volume(), of_filter = g.out_plane();
    int64_t at[W][MOST_TAPS];
    for (int64_t o = 0; o < of_filter; o++) list_taps(g, o, at[o]);
    for (int64_t v = 0; v < volume; v++) {
      alignas(64) int32_t lanes[W] = {}, of_factors[W] = {};
      uint32_t some = 0;
      for (int64_t lane = 0; lane < together * outputs; lane++)
        if (const int64_t place = at[lane % of_filter][v]; place >= 0) {
          lanes[lane] = static_cast<int32_t>(lane / outputs * plane + place);
          of_factors[lane] = static_cast<int32_t>(lane / of_filter * volume + v);
          some |= 1u << lane;
        }
      if (some == 0) continue;
      element[count] = v;
      met[count] = static_cast<VLanes>(some);
      order[count] = _mm512_load_si512(lanes);
      order_of_factors[count++] = _mm512_load_si512(of_factors);
    }
  }
  int64_t vectors() const { return (g.groups + together - 1) / together; }
  int64_t at_once() const { return FACTORS / W / (count > 0 ? count : 1); }

  // The factors of `some` vectors from `first` on, zero where a lane meets padding.
  template <class T>
  void factors(const T* weight, int64_t first, int64_t some, float* to) const {
    const int64_t volume = g.volume(), of_filter = g.out_plane(), all = g.filters * of_filter;
    const bool lie = factors_lie(g);
    for (int64_t i = 0; i < some; i++) {
      const int64_t begin = (first + i) * together * outputs, lanes = least(together * outputs, all - begin), span = lanes / of_filter * volume;
      const T* const from = weight + begin / of_filter * volume;
      if (lie) {
        const V low = vload_masked(from, vlanes_to(static_cast<int>(least(span, W)))), high = vload_masked(from + W, vlanes_to(static_cast<int>(span > W ? span - W : 0)));
        for (int t = 0; t < count; t++, to += W) vstore(to, _mm512_maskz_permutex2var_ps(met[t], low, order_of_factors[t], high));
        continue;
      }
      for (int t = 0; t < count; t++, to += W) {
        vstore(to, vset(0));
        for (int64_t lane = 0; lane < lanes; lane++)
          if (met[t] >> lane & 1) to[lane] = to_float(from[lane / of_filter * volume + element[t]]);
      }
    }
  }
};

template <class T, class Out>
OPSCOPE_APART void run_joined_channels(const Call& c, const Geometry& g, Out* const output) {
  const JoinedChannels s(g);
  alignas(64) float factors[JoinedChannels::FACTORS];
  const int64_t vectors = s.vectors(), image_in = g.groups * s.plane, image_out = g.groups * s.outputs;
  const bool by_vector = vectors >= 4 * c.threads || vectors >= g.batch;
  const Range mine = by_vector ? part(vectors, 1, c.thread, c.threads) : Range{0, vectors}, images = by_vector ? Range{0, g.batch} : part(g.batch, 1, c.thread, c.threads);
  const int64_t in_step = s.together * s.plane, out_step = s.together * s.outputs;
  for (int64_t first = mine.begin; first < mine.end && images.begin < images.end; first += s.at_once()) {
    const int64_t some = least(s.at_once(), mine.end - first);
    s.factors(input<T>(c, 1), first, some, factors);
    for (int64_t n = images.begin; n < images.end; n++) {
      const T* x = input<T>(c, 0) + n * image_in + first * in_step;
      Out* to = output + n * image_out + first * out_step;
      const float* factor = factors;
      for (int64_t i = 0; i < some; i++, x += in_step, to += out_step) {
        const int64_t channels = least(s.together, g.groups - (first + i) * s.together), elements = channels * s.plane;
        const V low = vload_masked(x, vlanes_to(static_cast<int>(least(elements, W)))), high = vload_masked(x + W, vlanes_to(static_cast<int>(elements > W ? elements - W : 0)));
        V sum = vset(0);
        for (int t = 0; t < s.count; t++, factor += W) sum = vfma(_mm512_maskz_permutex2var_ps(s.met[t], low, s.order[t], high), vload(factor), sum);
        vstore_n(to, sum, static_cast<int>(channels * s.outputs));
      }
    }
  }
}
#endif

}  // namespace
