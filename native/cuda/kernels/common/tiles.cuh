// Which output tile a block computes. Tiles are taken in groups of GROUP rows, so that blocks that run together share
// operands in L2.
#pragma once

template <int GROUP = 8>
__device__ __forceinline__ void tile_of(int tile, int tiles_m, int tiles_n, int& tm, int& tn) {
  const int per_group = GROUP * tiles_n;
  const int first = tile / per_group * GROUP;
  const int height = min(GROUP, tiles_m - first);
  tm = first + tile % per_group % height;
  tn = tile % per_group / height;
}
