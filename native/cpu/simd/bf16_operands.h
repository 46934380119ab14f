// The operands of products of bf16, as pairs of terms (simd/pairs.h) and as tiles of such pairs (simd/tiles.h).
#pragma once
#include "tiles.h"
#if defined(OPSCOPE_PAIRS)
#include "dot_products.h"

namespace {

struct Paired {
  using Term = PairedBF16;
  using State = NoState;
  static constexpr bool TILES = false, PAIRS = true;
  static Products products(const Products& p) { return {p.batch, p.m, p.n, pairs(p.k)}; }
  static RoundedBF16* output(BF16* out) { return rounded(out); }
  static LeftPairs left(const BF16* a, int64_t stride, bool transposed, int64_t terms) { return {a, stride, transposed, terms}; }
  static RightPairs right(const BF16* b, int64_t stride, bool transposed, int64_t terms) { return {b, stride, transposed, terms}; }
};

#if defined(OPSCOPE_TILES)
struct Tiled {
  using Term = BF16;
  using State = Tiles;
  static constexpr bool TILES = true, PAIRS = false;
  static Products products(const Products& p) { return in_tiles(p); }
  static RoundedBF16* output(BF16* out) { return rounded(out); }
  static LeftOfTiles left(const BF16* a, int64_t stride, bool transposed, int64_t terms) { return {a, stride, transposed, terms}; }
  static RightOfTiles right(const BF16* b, int64_t stride, bool transposed, int64_t terms) { return {{b, stride, transposed, terms}}; }
};
#endif

}  // namespace
#endif
