// The elements of a convolution's kernel that meet the input, and filters copied without the others: as they are, or as pairs of channels.
#pragma once
#include "pairs.h"
#include "windows.h"

namespace {

struct KernelTaps {
  static constexpr int64_t MOST_LISTED = 512;
  int64_t volume, count;  // of the whole kernel; that meet the input
  Range depth, height, width;
  int64_t rows, columns;
  int32_t at[MOST_LISTED];

  explicit KernelTaps(const Geometry& whole) : KernelTaps(whole, whole.taps(whole.depth), whole.taps(whole.height), whole.taps(whole.width)) {}
  // All elements, whether they meet it or not.
  struct All {};
  KernelTaps(const Geometry& whole, All) : KernelTaps(whole, {0, whole.depth.kernel}, {0, whole.height.kernel}, {0, whole.width.kernel}) {}

 private:
  KernelTaps(const Geometry& whole, Range of_depth, Range of_height, Range of_width)
      : volume(whole.volume()), depth(of_depth), height(of_height), width(of_width), rows(whole.height.kernel), columns(whole.width.kernel) {
    count = (depth.end - depth.begin) * (height.end - height.begin) * (width.end - width.begin);
    int32_t* to = at;
    if (listed()) each([&](int64_t place) { *to++ = static_cast<int32_t>(place); });
  }

 public:
  bool listed() const { return count <= MOST_LISTED; }
  bool all() const { return count == volume; }
  template <class F>
  void each(const F& use) const {
    for (int64_t d = depth.begin; d < depth.end; d++)
      for (int64_t h = height.begin; h < height.end; h++)
        for (int64_t w = width.begin; w < width.end; w++) use((d * rows + h) * columns + w);
  }
  // to[i] = of(place of the i-th element)
  template <class T, class F>
  void copy(T* to, const F& of) const {
    if (listed())
      for (int64_t i = 0; i < count; i++) to[i] = of(at[i]);
    else each([&](int64_t place) { *to++ = of(place); });
  }
};

#if defined(OPSCOPE_PAIRS)
// Channels of a filter as pairs. Where the elements of two channels are no more than a vector of pairs, one permutation has those of several.
class PairedChannels {
 public:
  explicit PairedChannels(const KernelTaps& met) : taps(met), together(met.volume <= W ? W / met.volume : 0) {
    alignas(64) uint16_t lanes[2 * W] = {};
    for (int64_t i = 0; i < together * met.count; i++) {
      const int64_t even = i / met.count * 2 * met.volume + met.at[i % met.count];
      lanes[2 * i] = static_cast<uint16_t>(even);
      lanes[2 * i + 1] = static_cast<uint16_t>(even + met.volume);
    }
    order = _mm512_load_si512(lanes);
  }
  // The pairs `some` of a filter of `channels` channels.
  void copy(const BF16* filter, int64_t channels, Range some, float* to) const {
    const int64_t volume = taps.volume, count = taps.count;
    if (together > 0) {
      for (int64_t i = some.begin; i < some.end; i += together) {
        const int64_t now = least(together, some.end - i), elements = least(2 * now, channels - 2 * i) * volume;
        const __m512i met = _mm512_maskz_loadu_epi16(static_cast<__mmask32>((uint64_t{1} << elements) - 1), filter + 2 * i * volume);
        vstore_n(to, _mm512_castsi512_ps(_mm512_permutexvar_epi16(order, met)), static_cast<int>(now * count));
        to += now * count;
      }
      return;
    }
    for (int64_t i = some.begin; i < some.end; i++, to += count) {
      const BF16 *const even = filter + 2 * i * volume, *const odd = 2 * i + 1 < channels ? even + volume : nullptr;
      if (!taps.all()) taps.copy(to, [=](int64_t place) { return pair_of(even[place], odd ? odd[place] : BF16{0}); });
      else
        for (int64_t v = 0; v < volume; v += W) {
          const int n = static_cast<int>(least(W, volume - v));
          vstore_n(to + v, vpairs(even + v, odd ? odd + v : nullptr, n), n);
        }
    }
  }

 private:
  const KernelTaps& taps;
  int64_t together;  // pairs
  __m512i order;
};
#endif

}  // namespace
