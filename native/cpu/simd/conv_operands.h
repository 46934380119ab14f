// The operands of a convolution's products: filters without the parts that meet nothing, the input as the matrix, and windows as tiles of pairs.
#pragma once
#include "dot_products.h"
#include "kernel_taps.h"
#include "padded_rows.h"
#include "tiles.h"
#include "windows.h"

namespace {

// Channels of a filter as they are.
template <class T>
struct OneByOne {
  const KernelTaps& taps;
  explicit OneByOne(const KernelTaps& met) : taps(met) {}
  void copy(const T* filter, int64_t, Range some, T* to) const {
    for (int64_t i = some.begin; i < some.end; i++, to += taps.count) taps.copy(to, [=, from = filter + i * taps.volume](int64_t place) { return from[place]; });
  }
};

// Filters without the parts that meet nothing, as the product takes them: elements as they are..
template <class T>
struct AsStored {
  using State = NoState;
  static constexpr bool TILES = false;
  static constexpr bool PAIRS = false;
  static bool packs_windows(const Geometry& trimmed, int threads) { return sizeof(T) == sizeof(float) && trimmed.packs_even(threads); }
  using Element = T;
  using Term = T;  // of dot products
  using Rows = OneChannel<T>;
  static Geometry units(const Geometry& g) { return g; }
  static T* output(T* out) { return out; }
  using Copied = OneByOne<T>;
  static LeftMatrix<T> filters(const T* a, int64_t terms) { return {a, terms, false}; }
  static LeftMatrix<T> left(const T* a, int64_t terms) { return filters(a, terms); }
  static RightMatrix<T> right(const T* b, int64_t stride, bool transposed, int64_t terms) { return {b, stride, transposed, terms}; }
  static Products products(const Products& p) { return p; }
};
#if defined(OPSCOPE_PAIRS)
// .. or of two channels as pairs.
struct InPairs {
  using State = NoState;
  static constexpr bool TILES = false;
  static bool packs_windows(const Geometry&, int) { return false; }
  static constexpr bool PAIRS = true;
  using Element = float;
  using Term = PairedBF16;
  using Rows = TwoChannels;
  static RoundedBF16* output(BF16* out) { return rounded(out); }
  static Geometry units(const Geometry& g) {
    Geometry half = g;
    half.channels = g.groups * pairs(g.group_channels());
    return half;
  }
  using Copied = PairedChannels;
  static LeftPairs filters(const BF16* a, int64_t terms) { return {a, terms, false, terms}; }
  static LeftPairs left(const BF16* a, int64_t terms) { return filters(a, terms); }
  static RightPairs right(const BF16* b, int64_t stride, bool transposed, int64_t terms) { return {b, stride, transposed, terms}; }
  static Products products(const Products& p) { return {p.batch, p.m, p.n, pairs(p.k)}; }
};
#endif
#if defined(OPSCOPE_TILES)
// .. the same, but as tiles of pairs of terms where the input is the matrix, or where panels packed from it repay what that takes.
struct InTiles : InPairs {
  using State = Tiles;
  static constexpr bool TILES = true;
  static bool packs_windows(const Geometry& trimmed, int) {
    // Packing takes longer where panels meet many rows, or where nothing that is worked out for one channel serves another.
    constexpr int64_t FEW_FILTERS = 32, MANY_FILTERS = 256, FEW_OUTPUTS = 64, NARROW = 12;
    const int64_t filters = trimmed.group_filters(), least_filters = FEW_FILTERS * (trimmed.width.output < NARROW ? 3 : 1) * (trimmed.group_channels() == 1 ? 2 : 1);
    const bool repays = filters >= MANY_FILTERS || (filters >= least_filters && trimmed.out_plane() >= FEW_OUTPUTS);
    return repays && !trimmed.plain(true) && trimmed.out_plane() == trimmed.stored_plane && trimmed.out_plane() >= NR / 2 && trimmed.group_channels() * trimmed.volume() >= TILE_UNITS;
  }
  static LeftOfTiles left(const BF16* a, int64_t terms) { return {a, terms, false, terms}; }
  static RightOfTiles right(const BF16* b, int64_t stride, bool transposed, int64_t terms) { return {{b, stride, transposed, terms}}; }
  static Products products(const Products& p) { return in_tiles(p); }
};
#endif

#if defined(OPSCOPE_TILES)
// The windows of a group of an image, of `terms` terms, as RightOfTiles.
struct WindowsOfTiles {
  Windows<BF16> windows;
  int64_t terms;

  bool stays(int64_t, int64_t, int64_t) const { return false; }
  int64_t lying(int64_t, int64_t, int) const { return 0; }
  void pack(int64_t j, int64_t columns, int64_t l, int64_t kc, float* to) const {
    constexpr int64_t AT_ONCE = 128;  // pairs of terms, widened within the first-level cache
    alignas(64) float widened[2 * AT_ONCE * NR];
    for (int64_t at = 0; at < columns; at += NR)
      for (int64_t p = 0; p < kc; p += AT_ONCE) {
        const int64_t units = least(AT_ONCE, kc - p), first = 2 * (l + p), left = terms - first, met = left < 0 ? 0 : least(2 * units, left);
        if (met > 0) windows.pack(j + at, static_cast<int>(least(NR, columns - at)), first, met, widened);
        for (int64_t rest = met * NR; rest < 2 * units * NR; rest += W) vstore(widened + rest, vset(0));
        float* const panel = to + at * kc + p * NR;
        for (int64_t q = 0; q < units; q++)
          for (int v = 0; v < NR; v += W) vstore(panel + q * NR + v, vpaired(vload(widened + 2 * q * NR + v), vload(widened + (2 * q + 1) * NR + v)));
      }
  }
};
#endif

}  // namespace
