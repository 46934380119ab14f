// Convolutions in full f32 on Hopper by tiles of which a multiprocessor has several at a time (matmul/several.cuh), so that one gathers windows (convolution/f32_windows.cuh) or stores while others multiply. convolution/several.h
// says when, and lists the tiles.
//   convolution_several_<filters of a tile>_<outputs>[_shares]   the sum is split
// How to build and run: scripts/gpu/kernels.sh.
#include "convolution/f32_windows.cuh"
#include "matmul/several.cuh"

#ifdef OPSCOPE_WGMMA

// Sums of a tile, through shared memory where planes are no whole vectors, or slices are added up.
template <class Tile, int WN, int TY, int TM, int TN, int SLICES>
__device__ __forceinline__ void store_outputs(const float (&acc)[TM][TN], const F32Product& p, const OutputsOfImages& lie, int m0, int n0, float* c) {
  extern __shared__ __align__(16) float shared[];
  constexpr int BM = Tile::BM, BN = Tile::BN, TX = Tile::TX, PITCH = Tile::PITCH, PART = BM * PITCH, WARPS = Tile::WARPS;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, slice = warp / WARPS, wm = warp % WARPS / WN, wn = warp % WN;
  const int tx = TY == 4 ? (lane & 1) | (lane >> 2 & 6) : (lane & 1) | (lane >> 3 & 2), ty = TY == 4 ? lane >> 1 & 3 : lane >> 1 & 7;
  const auto vector = [&](int i, int j) { return make_float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]); };
  const int row0 = wm * Tile::ROWS + ty * 4, column0 = wn * Tile::COLUMNS + tx * 4, rows = min(BM, p.m - m0), columns = min(BN, p.n - n0);
  const auto row_of = [&](int i) { return row0 + i / 4 * (TY * 4) + i % 4; };
  if (SLICES == 1 && lie.wide()) {
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      if (column0 + j * TX >= columns) continue;
      float* const to = c + lie.column(n0 + column0 + j * TX) + lie.row(m0);
#pragma unroll
      for (int i = 0; i < TM; i++)
        if (row_of(i) < rows) *reinterpret_cast<float4*>(to + lie.row(row_of(i))) = vector(i, j);
    }
    return;
  }
  __syncthreads();  // no stage is read any more
#pragma unroll
  for (int i = 0; i < TM; i++)
#pragma unroll
    for (int j = 0; j < TN; j += 4) *reinterpret_cast<float4*>(shared + slice * PART + row_of(i) * PITCH + column0 + j * TX) = vector(i, j);
  float* to[BN / 32];
#pragma unroll
  for (int j = 0; j < BN / 32; j++) to[j] = c + lie.column(n0 + min(lane + j * 32, columns - 1)) + lie.row(m0);
  __syncthreads();
#pragma unroll 4
  for (int row = warp; row < rows; row += WARPS * SLICES)
#pragma unroll
    for (int j = 0; j < BN / 32; j++) {
      float total = shared[row * PITCH + j * 32 + lane];
#pragma unroll
      for (int s = 1; s < SLICES; s++) total += shared[s * PART + row * PITCH + j * 32 + lane];
      if (j * 32 + lane < columns) to[j][lie.row(row)] = total;
    }
}

// A block has a tile; blocks of row y of the grid have share y of the sum, whose results go to `shares`.
template <bool SHARES, int WM, int WN, int TY, int TM, int TN, int SLICES, int STAGES, int STEP>
__device__ __forceinline__ void convolve(const float* x, const float* weight, float* c, const ConvSizes& s, const ConvNarrow& conv, const F32Product& p, float* shares) {
  using Tile = SeveralProduct<WM, WN, TY, TM, TN, SLICES, STAGES, STEP>;
  static_assert(SLICES * Tile::BM * Tile::PITCH <= STAGES * Tile::STAGE);
  const int tiles = p.tiles_m * p.tiles_n, group = blockIdx.x / tiles, all = (p.k + STEP - 1) / STEP;
  const int each = SHARES ? (all + static_cast<int>(gridDim.y) - 1) / static_cast<int>(gridDim.y) : all, first = SHARES ? static_cast<int>(blockIdx.y) * each : 0, steps = SHARES ? min(each, all - first) : all;
  int tm, tn;
  tile_of(blockIdx.x - group * tiles, p.tiles_m, p.tiles_n, tm, tn);
  float acc[TM][TN] = {};
  const WindowOperands operands = {x, weight, s, conv};
  Tile::add_up(operands, p, group, tm * Tile::BM, tn * Tile::BN, first, steps, acc);
  if (SHARES) c = shares + static_cast<long long>(blockIdx.y) * (static_cast<long long>(s.filters) * p.n);
  store_outputs<Tile, WN, TY, TM, TN, SLICES>(acc, p, operands.results(p, group), tm * Tile::BM, tn * Tile::BN, c);
}
#define CONVOLVE(SHARES, ...) convolve<SHARES, __VA_ARGS__>(x, weight, out, s, c, p, shares);
#else
#define CONVOLVE(...)
#endif

#define KERNEL(NAME, BLOCKS, SHARES, ...)                                                                                                                                                              \
  extern "C" __global__ void __launch_bounds__(128, BLOCKS) convolution_several_##NAME(const float* x, const float* weight, float* out, const ConvSizes s, const ConvNarrow c, const F32Product p, float* shares) { \
    CONVOLVE(SHARES, __VA_ARGS__)                                                                                                                                                                      \
  }
// Warps down and across, lanes of a warp down, results of a thread down and across, slices, stages, terms of a stage.
#define SEVERAL(NAME, BLOCKS, ...) KERNEL(NAME, BLOCKS, false, __VA_ARGS__) KERNEL(NAME##_shares, BLOCKS, true, __VA_ARGS__)
SEVERAL(32_64, 4, 1, 1, 4, 8, 8, 4, 4, 32)
SEVERAL(32_128, 4, 1, 4, 8, 4, 8, 1, 4, 16)
SEVERAL(64_64, 4, 2, 2, 4, 8, 4, 1, 4, 16)
SEVERAL(64_128, 3, 2, 2, 4, 8, 8, 1, 3, 16)
