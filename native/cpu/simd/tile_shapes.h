// How parts of a convolution (simd/phases.h) are cut into tiles of pairs of channels (simd/part_tiles.h), and what that takes.
#pragma once
#include "windows.h"

namespace {

// Filters in groups of as many rows each, up to those of a tile: a multiplication takes as long as the left tile has rows.
struct TileGroups {
  int64_t count, rows;
  explicit TileGroups(int64_t filters) : count((filters + LINE - 1) / LINE), rows((filters + count - 1) / count) {}
};

// Tiles of windows that are read as they lie hold one element of the kernel in several channels, which lie equally far apart in the copy.
struct TileChannels {
  int64_t count, units;  // tiles of an element; pairs of channels of each, where those behind the last are zero
  explicit TileChannels(int64_t pairs) : count((pairs + LINE - 1) / LINE), units((pairs + count - 1) / count) {}
  int64_t all() const { return count * units; }
};

// Panels that are packed and met one after the other, of so many pairs of terms.
constexpr int64_t TILE_TERMS = 4096, TILE_SLAB = 1 << 17;
inline int64_t tile_columns(int64_t units, int64_t outputs) {
  const int64_t most = TILE_SLAB / least(units, TILE_TERMS) / NR * NR;
  return least(up(outputs, NR), most < NR ? NR : most);
}

// Whether reading windows as they lie, with what lies between rows of outputs, takes less than packing panels, which hold all terms without gaps.
// g: of pairs; vectors: of cells that lie, and of outputs.
inline bool tiles_lie(const Geometry& g, int64_t lying_vectors, int64_t output_vectors) {
  constexpr int64_t LOADING = 8, PACKING = 60;  // rows of a multiplication
  const TileGroups groups(g.group_filters());
  const int64_t rows = groups.count * groups.rows, terms = g.group_channels() * g.volume();
  return g.volume() * TileChannels(g.group_channels()).count * (rows + LOADING) * lying_vectors <= (terms + LINE - 1) / LINE * (rows + PACKING) * output_vectors;
}

// Whether channels and filters fill enough of a tile.
inline bool tiles_fill(const Geometry& g) {
  constexpr int64_t LEAST_CHANNELS = 3, LEAST_PRODUCTS = 24;  // pairs of channels by filters
  return g.group_channels() >= LEAST_CHANNELS && times((g.group_channels() + 1) / 2, g.group_filters()) >= LEAST_PRODUCTS;
}

// Whether tiles then repay the copies of input and filters. g: trimmed, of channels.
constexpr int64_t MANY_CHANNELS_OF_TILES = 15;
inline bool tiles_pay(const Geometry& g) {
  constexpr int64_t MANY_FILTERS = 256, LEAST_OUTPUTS = 128, FEW_OUTPUTS = W / 2, MOST_OF_SMALL = 64, MOST_OF_TINY = 16, TINY = 3, FEW_IMAGES = 8;
  const bool many_channels = g.group_channels() >= MANY_CHANNELS_OF_TILES;
  const int64_t outputs = times(g.batch, g.out_plane());
  if (outputs < FEW_OUTPUTS) return false;
  // Small planes of single elements, next to one another: of few images each is its own product, and of tiny ones images as columns take less.
  if (g.is_matrix()) return g.batch > FEW_IMAGES && g.out_plane() < NR && g.group_filters() <= (g.out_plane() <= TINY ? MOST_OF_TINY : MOST_OF_SMALL) && many_channels;
  return outputs >= LEAST_OUTPUTS || (g.group_filters() < MANY_FILTERS && many_channels);
}

}  // namespace
