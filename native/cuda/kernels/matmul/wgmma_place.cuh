// Which tile a piece of the work of a product by warp groups is (matmul/wgmma.h).
#pragma once
#include "wgmma.h"

__device__ __forceinline__ int quotient(int n, const Divisor& d) { return d.by == 1 ? n : static_cast<int>(__umulhi(static_cast<unsigned>(n), d.multiplier) >> d.shift); }

struct Place {
  int x, y, batch, split;
  int part;  // number of the tile among those whose k is split, -1 of others
};
// Number `number` of all tiles.
__device__ __forceinline__ Place tile_at(const WgmmaTask& s, int number) {
  const int batch = quotient(number, s.tiles), tile = number - batch * static_cast<int>(s.tiles.by);
  const int group = quotient(tile, s.group), rest = tile - group * static_cast<int>(s.group.by);
  const bool whole = (group + 1) * wgmma_group <= s.tiles_x;
  const int y = whole ? rest / wgmma_group : quotient(rest, s.last), x = group * wgmma_group + rest - y * (whole ? wgmma_group : static_cast<int>(s.last.by));
  return {x, y, batch, 0, -1};
}
// Piece t of the work.
__device__ __forceinline__ Place place_of(const WgmmaTask& s, int t) {
  if (t < s.whole) return tile_at(s, t);
  const int part = quotient(t - s.whole, s.splits);
  Place at = tile_at(s, s.whole + part);
  at.split = t - s.whole - part * static_cast<int>(s.splits.by);
  at.part = part;
  return at;
}
// Stages of K of a piece.
struct Steps {
  int from, to;
};
__device__ __forceinline__ Steps steps_of(const WgmmaTask& s, const Place& at) {
  if (at.part < 0) return {0, s.steps};
  const int from = at.split * s.each;
  return {from, from + s.each < s.steps ? from + s.each : s.steps};
}
