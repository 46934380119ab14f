// Which output tile a block computes. Tiles are taken in groups of 8 rows, so that blocks that run together share
// operands in L2.
#pragma once

struct MatmulShape {
  int m, n, k;
};

__device__ __forceinline__ void tile_of(int tile, int tiles_m, int tiles_n, int& tm, int& tn) {
  constexpr int GROUP = 8;
  const int per_group = GROUP * tiles_n;
  const int first = tile / per_group * GROUP;
  const int height = min(GROUP, tiles_m - first);
  tm = first + tile % per_group % height;
  tn = tile % per_group / height;
}
