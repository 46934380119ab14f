// Convolutions of few outputs and many channels, whose padded copies take longer than their products, or fit nowhere: the sums over the channels of every
// element of the kernel times every element of the input plane, of which each output adds up those that it meets. Filters and input are read once, as they
// lie.
#pragma once
#include "few_outputs.h"
#include "few_rows.h"

namespace {

#if defined(OPSCOPE_FEW_ROWS)
struct TapProducts {
  static constexpr int64_t CHANNELS = 512;  // at a time, widened within the first-level cache
  static constexpr int64_t MOST_IMAGES = 4, MOST_INPUTS = 3 * W, MOST_VOLUME = 27, MOST_OUTPUTS = 3 * W;
  const Geometry& g;
  int64_t volume, plane, pairs;  // pairs: sums of a filter

  explicit TapProducts(const Geometry& geometry) : g(geometry), volume(g.volume()), plane(g.in_plane()), pairs(volume * plane) {}

  // Floats of a thread: the sums of all filters and images, then those of some channels, the widened filter and the widened input.
  int64_t sums() const { return up(g.batch * g.filters * pairs, LINE); }
  int64_t floats() const { return sums() + up(pairs, LINE) + CHANNELS * (up(volume, LINE) + up(plane * g.batch, LINE)) + W; }
  size_t scratch(int threads) const { return static_cast<size_t>(floats() * threads); }
  // Vectors of sums that each channel meets are few beside the channels, for the sums are added up once for every element of the kernel.
  bool pays() const {
    constexpr int64_t LEAST_TERMS = 512, FEW_SUMS = 8, CHANNELS_OF_SUM = 12, MANY_TERMS = 1 << 16, MOST_FILTERS = 16;
    const int64_t terms = times(g.group_channels(), volume), sums = g.batch * g.group_filters();
    if (g.batch > MOST_IMAGES || plane > MOST_INPUTS || g.is_matrix() || volume > MOST_VOLUME || g.out_plane() > MOST_OUTPUTS) return false;
    if (terms >= MANY_TERMS) return g.filters <= MOST_FILTERS;
    return terms >= LEAST_TERMS && g.batch * g.filters <= FEW_SUMS && g.group_channels() >= CHANNELS_OF_SUM * sums * ((plane + W - 1) / W);
  }
};

template <class T>
void run_tap_products(const Call& c, const Geometry& g) {
  const TapProducts taps(g);
  const int64_t channels = g.group_channels(), filters = g.group_filters(), volume = taps.volume, plane = taps.plane, pairs = taps.pairs;
  float *const all = c.scratch + c.thread * taps.floats(), *const some = all + taps.sums(), *const filter = some + up(pairs, LINE), *const inputs = filter + TapProducts::CHANNELS * up(volume, LINE);
  const auto same = [](V v) { return v; };
  for (int64_t i = 0; i < taps.sums(); i++) all[i] = 0;
  const Range own = part(channels, LINE, c.thread, c.threads);
  for (int64_t group = 0; group < g.groups; group++)
    for (int64_t from = own.begin; from < own.end; from += TapProducts::CHANNELS) {
      const int64_t met = least(TapProducts::CHANNELS, own.end - from);
      const auto widened = [&](const T* stored, float* to, int64_t n) -> const float* {
        if constexpr (sizeof(T) == sizeof(float)) return stored;
        else return map1<false>(stored, to, 0, n, same), to;
      };
      const float* of_image[TapProducts::MOST_IMAGES] = {};
      for (int64_t n = 0; n < g.batch; n++) of_image[n] = widened(input<T>(c, 0) + ((n * g.groups + group) * channels + from) * plane, inputs + n * TapProducts::CHANNELS * plane, met * plane);
      for (int64_t f = 0; f < filters; f++) {
        const float* const w = widened(input<T>(c, 1) + ((group * filters + f) * channels + from) * volume, filter, met * volume);
        for (int64_t n = 0; n < g.batch; n++) {
          float* const to = all + ((n * g.groups + group) * filters + f) * pairs;
          for (int64_t v = 0; v < volume; v += MOST_ROWS_OF_FACTORS) few_rows(least(MOST_ROWS_OF_FACTORS, volume - v), Factors{w + v, 1, volume}, of_image[n], plane, met, plane, Results{some + v * plane, plane, 1});
          for (int64_t i = 0; i < pairs; i++) to[i] += some[i];
        }
      }
    }
  c.barrier(c.team);
  const int64_t outputs = g.out_plane();
  const Range mine = part(g.batch * g.filters * outputs, LINE, c.thread, c.threads);
  int64_t at[TapProducts::MOST_VOLUME];
  for (int64_t i = mine.begin; i < mine.end; i++) {
    const int64_t of_filter = i / outputs;
    list_taps(g, i - of_filter * outputs, at);
    float sum = 0;
    for (int t = 0; t < c.threads; t++)
      for (int64_t v = 0; v < volume; v++)
        if (at[v] >= 0) sum += c.scratch[t * taps.floats() + of_filter * pairs + v * plane + at[v]];
    set(output<T>(c) + i, sum);
  }
}
#endif

}  // namespace
