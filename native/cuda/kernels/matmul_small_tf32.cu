// matmul of tf32 with few multiplications, whatever the alignment of rows (matmul/small_tf32.h says when). Such a call waits for memory more than it works: a block copies all that it needs of both operands to shared memory as it lies, words or 16 bytes at a time, its
// eight warps share k, and so do the blocks of a cluster where tiles are few, which send each other their sums. Sums are added up in the order of warps and blocks. `a` repeats after `batches_a` products.
//   matmul_small_tf32_<rows>_<columns>_<layout>   results of a block; layout as in matmul_mma.cu
// How to build and run: scripts/gpu/kernels.sh.
#include "common/cluster_send.cuh"
#include "common/mma.cuh"
#include "common/start_early.cuh"
#include "matmul/small_pairs.cuh"
#include "matmul/small_tf32_task.h"

namespace {

constexpr int WARPS = 8;

// Elements between lines of a panel of `rows` rows by `share` of k.
__device__ __forceinline__ int pitch_of(int rows, int share, bool k_contiguous) { return k_contiguous ? (share + 31) / 32 * 32 + 4 : rows + 8; }

// ROWS rows of A, or columns of B, by a share of k. K: k is contiguous. Lines are spaced so that the lanes of a fragment meet different banks.
template <int ROWS, bool K>
struct Panel {
  int pitch, lines;
  __device__ __forceinline__ explicit Panel(int share) : pitch(pitch_of(ROWS, share, K)), lines(K ? ROWS : share) {}
  __device__ __forceinline__ int floats() const { return pitch * lines; }

  // `rows`, `count`: what there is from this panel's first on; of k, zeros to the end of the last product. WIDE: 16 bytes at a time.
  template <bool WIDE>
  __device__ __forceinline__ void load(float* to, const float* from, long long line_pitch, int rows, int count) const {
    constexpr int EACH = WIDE ? 4 : 1, ACROSS = WIDE ? 8 : 32, DOWN = WARPS * 32 / ACROSS;  // elements of a copy; copies of a line at a time; lines
    const int line = static_cast<int>(threadIdx.x) / ACROSS, column = static_cast<int>(threadIdx.x) % ACROSS * EACH, padded = (count + 7) / 8 * 8;
    from += line * line_pitch + column;
    uint32_t at = shared_address(to + line * pitch + column);
    const auto copy = [&](uint32_t to_at, const float* p, bool there) {
      if constexpr (WIDE) copy_async_16(to_at, p, there ? 16 : 0);
      else copy_async_4(to_at, p, there ? 4 : 0);
    };
    // Elements that are not there are not read.
    if constexpr (K) {
#pragma unroll
      for (int i = 0; i < ROWS; i += DOWN, from += DOWN * line_pitch, at += DOWN * pitch * 4) {
        const bool there = line + i < rows;
#pragma unroll 4
        for (int k = 0; column + k < padded; k += 32) copy(at + k * 4, from + k, there && column + k < count);
      }
    } else {
#pragma unroll
      for (int i = 0; i < ROWS; i += 32) {
        const bool there = column + i < rows;
        const float* p = from + i;
        uint32_t p_at = at + i * 4;
#pragma unroll 4
        for (int k = line; k < padded; k += DOWN, p += DOWN * line_pitch, p_at += DOWN * pitch * 4) copy(p_at, p, there && k < count);
      }
    }
  }
  __device__ __forceinline__ uint32_t at(const float* panel, int row, int k) const { return round_tf32(__float_as_uint(K ? panel[row * pitch + k] : panel[k * pitch + row])); }
};

template <int BM, int BN, bool TRANS_A, bool TRANS_B>
__device__ __forceinline__ void product(const float* a, const float* b, float* c, const SmallTaskTf32& t) {
  // Squares of 32 x 32 in the tile, and the warps that share each of them; pairs of results that lanes have at a time.
  constexpr int QN = BN / 32, QUADS = BM / 32 * QN, SLICES = WARPS / QUADS, PARTS = 16 * QUADS;
  extern __shared__ __align__(16) float shared[];  // what other blocks sent; panels, then sums
  start_early();
  if (t.blocks > 1) cluster_arrive();
  const Panel<BM, !TRANS_A> of_a(t.share);
  const Panel<BN, TRANS_B> of_b(t.share);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, rank = t.blocks > 1 ? static_cast<int>(cluster_rank()) : 0, tile = static_cast<int>(blockIdx.x) / t.blocks, tm = tile / t.tiles_n, tn = tile - tm * t.tiles_n, batch = static_cast<int>(blockIdx.y);
  const int m0 = tm * BM, n0 = tn * BN, from = rank * t.share, count = min(t.share, t.k - from), rows = min(BM, t.m - m0), columns = min(BN, t.n - n0);
  const long long pitch_a = TRANS_A ? t.m : t.k, pitch_b = TRANS_B ? t.k : t.n;
  a += static_cast<long long>(batch % t.batches_a) * t.m * t.k + (TRANS_A ? from * pitch_a + m0 : m0 * pitch_a + from);
  b += static_cast<long long>(batch) * t.n * t.k + (TRANS_B ? n0 * pitch_b + from : from * pitch_b + n0);
  c += (static_cast<long long>(batch) * t.m + m0) * t.n + n0;
  float2* const received = reinterpret_cast<float2*>(shared);  // [blocks][each][lane]
  float *const panel_a = shared + (t.blocks > 1 ? BM * BN : 0), *const panel_b = panel_a + of_a.floats();
  if (t.wide_a) of_a.template load<true>(panel_a, a, pitch_a, rows, count);
  else of_a.template load<false>(panel_a, a, pitch_a, rows, count);
  if (t.wide_b) of_b.template load<true>(panel_b, b, pitch_b, columns, count);
  else of_b.template load<false>(panel_b, b, pitch_b, columns, count);
  copy_commit();
  copy_wait<0>();
  __syncthreads();
  const int quad = warp % QUADS, qm = quad / QN * 32, qn = quad % QN * 32, g = lane / 4, q = lane % 4;
  float sums[2][4][4] = {};
  for (int k0 = warp / QUADS * 8; k0 < count; k0 += SLICES * 8) {
    uint32_t fa[2][4], fb[4][2];
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
      for (int r = 0; r < 4; r++) fa[i][r] = of_a.at(panel_a, qm + i * 16 + r % 2 * 8 + g, k0 + r / 2 * 4 + q);
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int r = 0; r < 2; r++) fb[j][r] = of_b.at(panel_b, qn + j * 8 + g, k0 + r * 4 + q);
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
      for (int j = 0; j < 4; j++) mma(sums[i][j], fa[i], fb[j][0], fb[j][1], tf32());
  }
  __syncthreads();
  float2* const parts = reinterpret_cast<float2*>(panel_a);  // [warp][pair of a lane][lane]
  leave_pairs(parts + warp * 512, sums, lane);
  __syncthreads();
  const bool even = t.n % 2 == 0;
  const auto store = [&](int p, float2 v) {
    const int of = p / 16, row = of / QN * 32 + p % 16 / 8 * 16 + p % 2 * 8 + g, column = of % QN * 32 + p / 2 % 4 * 8 + q * 2;
    if (row >= rows || column >= columns) return;
    float* const to = c + static_cast<long long>(row) * t.n + column;
    if (even) {
      *reinterpret_cast<float2*>(to) = v;
    } else {
      to[0] = v.x;
      if (column + 1 < columns) to[1] = v.y;
    }
  };
  const int each = PARTS / t.blocks;
  if (t.blocks > 1) cluster_wait();
#pragma unroll
  for (int p = warp; p < PARTS; p += WARPS) {
    float2 total = parts[p * 32 + lane];
#pragma unroll
    for (int w = 1; w < SLICES; w++) {
      const float2 v = parts[(w * PARTS + p) * 32 + lane];
      total.x += v.x, total.y += v.y;
    }
    if (t.blocks == 1) {
      store(p, total);
    } else {
      float2& to = received[(rank * each + p % each) * 32 + lane];
      store_to_block(to.x, p / each, total.x), store_to_block(to.y, p / each, total.y);
    }
  }
  if (t.blocks == 1) return;
  cluster_arrive();
  cluster_wait();
  for (int p = warp; p < each; p += WARPS) {
    float2 total = make_float2(0, 0);
    for (int r = 0; r < t.blocks; r++) {
      const float2 v = received[(r * each + p) * 32 + lane];
      total.x += v.x, total.y += v.y;
    }
    store(rank * each + p, total);
  }
}

}  // namespace

#define MATMUL(BM, BN, LAYOUT, TA, TB)                                                                                                                                                           \
  extern "C" __global__ void __launch_bounds__(WARPS * 32) matmul_small_tf32_##BM##_##BN##_##LAYOUT(const float* a, const float* b, float* c, const __grid_constant__ SmallTaskTf32 t) { \
    product<BM, BN, TA, TB>(a, b, c, t);                                                                                                                                                         \
  }
#define MATMUL_LAYOUTS(BM, BN)     \
  MATMUL(BM, BN, nn, false, false) \
  MATMUL(BM, BN, nt, false, true)  \
  MATMUL(BM, BN, tn, true, false)  \
  MATMUL(BM, BN, tt, true, true)
MATMUL_LAYOUTS(32, 32)
MATMUL_LAYOUTS(64, 32)
MATMUL_LAYOUTS(64, 64)
