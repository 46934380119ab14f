// matmul on tensor cores by mma.sync, for every shape, layout and alignment (matmul.plan.cc says when it is used).
// f16, bf16: m16n8k16; tf32: m16n8k8 with operands rounded to nearest. f32 accumulation. cp.async pipeline of 4 or 8 stages;
// operands whose rows start on odd 16-bit elements go through registers instead. `a` repeats after `batches_a` products.
// How to build and run: scripts/gpu/kernels.sh.
#include "common/product.cuh"
#include "common/tiles.cuh"

namespace {

// WM x WN warps, each computing (BM / WM) x (BN / WN).
template <class T, int BM, int BN, int WM, int WN, bool TRANS_A, bool TRANS_B>
__device__ __forceinline__ void matmul(const T* a, const T* b, T* c, int m, int n, int k, int tiles_m, int tiles_n, float* shares, int splits, int batches_a) {
  using A = Operand<T, BM, !TRANS_A>;
  using B = Operand<T, BN, TRANS_B>;
  constexpr int THREADS = WM * WN * 32, BK = A::BK;
  const int tiles = tiles_m * tiles_n;
  const int split = blockIdx.x % splits, batch = blockIdx.x / splits / tiles, batches = gridDim.x / splits / tiles;
  int tm, tn;
  tile_of(blockIdx.x / splits % tiles, tiles_m, tiles_n, tm, tn);
  a += static_cast<long long>(batch % batches_a) * m * k;
  b += static_cast<long long>(batch) * k * n;
  const int m0 = tm * BM, n0 = tn * BN;
  // This block's share of k, in steps.
  const int all = (k + BK - 1) / BK, each = (all + splits - 1) / splits, first = split * each, steps = min(each, all - first);
  typename A::template Loader<THREADS> load_a(a, TRANS_A ? m : k, m0, m, first, k);
  typename B::template Loader<THREADS> load_b(b, TRANS_B ? k : n, n0, n, first, k);
  WarpTile<T, BM, BN, WM, WN> tile;
  tile.template multiply<A, B, BM == 64 ? 7 : 1>(steps, load_a, load_b);
  const bool pair = n % 2 == 0;
  const auto store = [&](auto* out) {
    tile.each_pair([&](int i, int j, float x, float y) {
      const int row = m0 + i, column = n0 + j;
      if (row < m && column < n) store_pair(out + static_cast<long long>(row) * n + column, x, y, pair, column + 1 < n);
    });
  };
  if (splits > 1) store(shares + (static_cast<long long>(split) * batches + batch) * m * n);
  else store(c + static_cast<long long>(batch) * m * n);
}

}  // namespace

#define MATMUL(T, TILE, BM, BN, WM, WN, LAYOUT, TA, TB)                                                               \
  extern "C" __global__ void __launch_bounds__(WM * WN * 32, 2)                                                       \
      matmul_mma_##T##_##TILE##_##LAYOUT(const T* a, const T* b, T* c, int m, int n, int k, int tiles_m, int tiles_n, float* shares, int splits, int batches_a) { \
    matmul<T, BM, BN, WM, WN, TA, TB>(a, b, c, m, n, k, tiles_m, tiles_n, shares, splits, batches_a);                                            \
  }
#define MATMUL_LAYOUTS(T, TILE, BM, BN, WM, WN)              \
  MATMUL(T, TILE, BM, BN, WM, WN, nn, false, false)          \
  MATMUL(T, TILE, BM, BN, WM, WN, nt, false, true)           \
  MATMUL(T, TILE, BM, BN, WM, WN, tn, true, false)           \
  MATMUL(T, TILE, BM, BN, WM, WN, tt, true, true)
#define MATMUL_TILES(T)                      \
  MATMUL_LAYOUTS(T, 128, 128, 128, 2, 4)     \
  MATMUL_LAYOUTS(T, 64, 64, 64, 2, 2)
MATMUL_TILES(f16)
MATMUL_TILES(bf16)
MATMUL_TILES(tf32)
