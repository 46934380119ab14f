// matmul in full f32 (no tensor cores) on Hopper where whole tiles do not fill the GPU: blocks take equal runs of the stages of all tiles, one after the other, so that a tile may belong to two blocks or more
// (matmul/f32.h says when). A block stores the tiles that it has alone, and pieces of the others, which a second launch adds up in order.
//   matmul_f32_even_<rows of a tile>_<columns>_<layout>, matmul_f32_even_join
// How to build and run: scripts/gpu/kernels.sh.
#include "common/early.cuh"
#include "matmul/f32_copies.cuh"
#include "matmul/sizes.h"

namespace {

using opscope::cuda::F32Even;

// `pieces`: [blocks][2] tiles, the end of one that another block begins and the beginning of one that another ends.
// The first stage of `block`, of `stages` in all.
__device__ __forceinline__ long long first_of(const F32Even& even, long long stages, int block) { return stages * block / even.blocks; }

template <class Tile, class Operands>
__device__ __forceinline__ void multiply(const Operands& operands, const F32Product& p, float* c, float* pieces, const F32Even& even) {
#ifdef OPSCOPE_WGMMA
  const int block = static_cast<int>(blockIdx.x), all = (p.k + BK - 1) / BK;
  const long long stages = static_cast<long long>(even.shared) * all;
  const bool shares = block < even.blocks;
  long long at = shares ? first_of(even, stages, block) : stages + static_cast<long long>(block - even.blocks) * all;
  const long long end = shares ? first_of(even, stages, block + 1) : at + all;
  while (at < end) {
    const int tile = static_cast<int>(at / all), first = static_cast<int>(at - static_cast<long long>(tile) * all), steps = static_cast<int>(min(static_cast<long long>(all - first), end - at));
    const bool piece = steps < all;
    Tile::template multiply<true>(operands, p, tile, first, steps, piece ? pieces + (2ll * block + (first == 0)) * (Tile::BM * Tile::BN) : c, piece);
    at += steps;
    __syncthreads();  // all have read what the next tile's copies overwrite
  }
#endif
}

}  // namespace

#define MATMUL(WM, WN, TY, SLICES, STAGES, BLOCKS, BM, BN, LAYOUT, A_K, B_K)                                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(WM * WN * SLICES * 32, BLOCKS) matmul_f32_even_##BM##_##BN##_##LAYOUT(const float* a, const float* b, float* c, const F32Product p, int wide_a, int wide_b, float* pieces, const F32Even even) { \
    multiply<F32Tile<WM, WN, TY, 16, SLICES, STAGES, false, false>>(CopiedOperands<A_K, B_K>{a, b, wide_a != 0, wide_b != 0}, p, c, pieces, even);                                                                       \
  }
MATMUL_LAYOUTS(2, 1, 4, 4, 6, 1, 128, 64)
MATMUL_LAYOUTS(1, 2, 4, 4, 6, 1, 64, 128)

// Tiles of which blocks have pieces, added up in order. A block has join_tile_elements results of a tile.
extern "C" __global__ void __launch_bounds__(256) matmul_f32_even_join(const float* pieces, float* c, const F32Product p, const F32Even even, int rows, int columns) {
#ifdef OPSCOPE_WGMMA
  constexpr int EACH = opscope::cuda::join_tile_elements;
  const int size = rows * columns, parts = size / EACH, tile = blockIdx.x / parts, i = (blockIdx.x - tile * parts) * EACH + threadIdx.x * 4, all = (p.k + BK - 1) / BK;
  const long long stages = static_cast<long long>(even.shared) * all, first = static_cast<long long>(tile) * all, last = first + all;
  int block = static_cast<int>(first * even.blocks / stages);
  while (first_of(even, stages, block + 1) <= first) block++;
  if (first_of(even, stages, block + 1) >= last) return;  // one block has it alone
  int tm, tn;
  tile_of(tile % (p.tiles_m * p.tiles_n), p.tiles_m, p.tiles_n, tm, tn);
  const int row = tm * rows + i / columns, column = tn * columns + i % columns;
  if (row >= p.m || column >= p.n) return;
  wait_for_last();
  float4 total = *reinterpret_cast<const float4*>(pieces + (2ll * block + 1) * size + i);
  for (block++; first_of(even, stages, block) < last; block++) {
    const float4 v = *reinterpret_cast<const float4*>(pieces + 2ll * block * size + i);
    total.x += v.x, total.y += v.y, total.z += v.z, total.w += v.w;
  }
  float* to = c + (static_cast<long long>(tile / (p.tiles_m * p.tiles_n)) * p.m + row) * p.n + column;
  if (p.n % 4 == 0) {
    *reinterpret_cast<float4*>(to) = total;
  } else {
    const float sums[4] = {total.x, total.y, total.z, total.w};
#pragma unroll
    for (int e = 0; e < 4; e++)
      if (column + e < p.n) to[e] = sums[e];
  }
#endif
}
