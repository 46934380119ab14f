// matmul of f16 and bf16 whatever the alignment of rows, where copies of operands would not pay (matmul/small.h says when it is used). Such a call waits for memory
// more than it works: a block has a square of results, all its loads of a stage of k are on their way together, each of its eight warps has 32 x 32 results and a part
// of the stage, and parts are added up in shared memory, in the order of the warps. `a` repeats after `batches_a` products; blocks may take shares of k.
//   matmul_small_<dtype>_<side>_<layout>       side: 32 results and 256 of k, or 64 and 128; layout as in matmul_mma.cu
//   matmul_small_<dtype>_32_<layout>_joined   the blocks that share k are a cluster, and add up in shared memory
// How to build and run: scripts/gpu/kernels.sh.
#include "common/cluster_send.cuh"
#include "common/mma.cuh"
#include "common/tiles.cuh"
#include "matmul/sizes.h"
#include "matmul/small_pairs.cuh"

namespace {

constexpr int WARPS = 8;

// SIDE rows of an operand by KC of k, as ldmatrix wants them: rows of k, or of SIDE elements, spaced so that eight of them meet different banks.
template <class T, int SIDE, bool KMAJOR>
struct Panel {
  static constexpr int KC = opscope::cuda::small_stage<SIDE>, PITCH = KMAJOR ? KC * 2 + 16 : SIDE * 2 + 16, LINES = KMAJOR ? SIDE : KC, BYTES = PITCH * LINES;
  // Rounds of a warp: 64 elements of one line, or 32 of each of two.
  static constexpr int ACROSS = KMAJOR || SIDE == 64 ? 32 : 16, DOWN = 32 / ACROSS, PARTS = KMAJOR ? KC / 64 : 1, EACH = LINES * PARTS / DOWN / WARPS;

  // This thread's part of a panel on its way: two neighbouring elements of every STEP-th line, which start equally far behind a word.
  static constexpr int STEP = WARPS / PARTS * DOWN;
  static_assert(WARPS % PARTS == 0 && STEP % 2 == 0);
  int line, column;
  bool odd, pair;       // elements lie in two words; both are there
  uint32_t w[EACH][2];  // the words that hold them

  // `rows`, `k`: what the operand has from this panel's first on; `pitch`: elements between lines.
  __device__ __forceinline__ void load(const T* from, long long pitch, int rows, int k) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, lines = KMAJOR ? rows : k, columns = KMAJOR ? k : rows;
    line = warp / PARTS * DOWN + lane / ACROSS, column = warp % PARTS * 64 + lane % ACROSS * 2;
    const unsigned long long at = reinterpret_cast<unsigned long long>(from + line * pitch + column);
    const uint32_t* words = reinterpret_cast<const uint32_t*>(at & ~3ull);
    odd = at & 2, pair = column + 1 < columns;
#pragma unroll
    for (int i = 0; i < EACH; i++, words += STEP / 2 * pitch) {
      const bool there = line + i * STEP < lines && column < columns;
      w[i][0] = there ? words[0] : 0;
      w[i][1] = there && odd && pair ? words[1] : 0;
    }
  }
  __device__ __forceinline__ void store(char* to) const {
    to += line * PITCH + column * 2;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      const uint32_t elements = odd ? __funnelshift_r(w[i][0], w[i][1], 16) : w[i][0];
      *reinterpret_cast<uint32_t*>(to + i * STEP * PITCH) = pair ? elements : elements & 0xffff;
    }
  }

  // Four 8 x 8 parts: of A rows first, of B k first.
  template <bool IS_A>
  static __device__ __forceinline__ void fragment(uint32_t (&r)[4], const char* panel, int mn, int step, int lane) {
    const int part = lane >> 3, high_mn = IS_A ? part & 1 : part >> 1, high_k = IS_A ? part >> 1 : part & 1;
    if constexpr (KMAJOR) ldmatrix(r, shared_address(panel + (mn + high_mn * 8 + (lane & 7)) * PITCH + step * 32 + high_k * 16));
    else ldmatrix_trans(r, shared_address(panel + (step * 16 + high_k * 8 + (lane & 7)) * PITCH + (mn + high_mn * 8) * 2));
  }
};

// JOINED: the blocks that share k are a cluster, and send each other their sums.
template <class T, int SIDE, bool TRANS_A, bool TRANS_B, bool JOINED>
__device__ __forceinline__ void matmul(const T* a, const T* b, T* c, int m, int n, int k, int tiles_m, int tiles_n, float* shares, int splits, int batches_a) {
  using A = Panel<T, SIDE, !TRANS_A>;
  using B = Panel<T, SIDE, TRANS_B>;
  // Squares of 32 x 32 in the tile, and the warps that share each of them.
  constexpr int KC = A::KC, QUADS = SIDE / 32 * (SIDE / 32), SLICES = WARPS / QUADS, SUMS = 32 * 32 * 4 * WARPS;
  __shared__ __align__(16) char shared[A::BYTES + B::BYTES > SUMS ? A::BYTES + B::BYTES : SUMS];
  __shared__ float2 received[JOINED ? SIDE * SIDE / 2 : 1];  // [splits][own][lane]
  if constexpr (JOINED) cluster_arrive();
  const int tiles = tiles_m * tiles_n, split = blockIdx.x % splits, batch = blockIdx.x / splits / tiles, batches = gridDim.x / splits / tiles, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int quad = warp % QUADS, slice = warp / QUADS, quad_m = quad / (SIDE / 32) * 32, quad_n = quad % (SIDE / 32) * 32;
  int tm, tn;
  tile_of(blockIdx.x / splits % tiles, tiles_m, tiles_n, tm, tn);
  const int m0 = tm * SIDE, n0 = tn * SIDE;
  a += static_cast<long long>(batch % batches_a) * m * k;
  b += static_cast<long long>(batch) * k * n;
  float sums[2][4][4] = {};
  constexpr int UNIT = JOINED ? 16 : KC;  // of k, in shares
  const int units = (k + UNIT - 1) / UNIT, each = (units + splits - 1) / splits * UNIT, first = split * each, end = min(k, first + each);
  const long long pitch_a = TRANS_A ? m : k, pitch_b = TRANS_B ? k : n;
  for (int k0 = first; k0 < end; k0 += KC) {
    if (k0 > first) __syncthreads();
    // Both operands are on their way together.
    A panel_a;
    B panel_b;
    panel_a.load(TRANS_A ? a + k0 * pitch_a + m0 : a + m0 * pitch_a + k0, pitch_a, m - m0, end - k0);
    panel_b.load(TRANS_B ? b + n0 * pitch_b + k0 : b + k0 * pitch_b + n0, pitch_b, n - n0, end - k0);
    panel_a.store(shared);
    panel_b.store(shared + A::BYTES);
    __syncthreads();
#pragma unroll
    for (int step = slice; step < KC / 16; step += SLICES) {
      if (k0 + step * 16 >= end) break;
      uint32_t fa[2][4], fb[2][4];
#pragma unroll
      for (int i = 0; i < 2; i++) {
        A::template fragment<true>(fa[i], shared, quad_m + i * 16, step, lane);
        B::template fragment<false>(fb[i], shared + A::BYTES, quad_n + i * 16, step, lane);
      }
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) mma(sums[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1], T());
    }
  }
  __syncthreads();
  float2* parts = reinterpret_cast<float2*>(shared);  // [warp][pair of a lane][lane]
  leave_pairs(parts + warp * 512, sums, lane);
  __syncthreads();
  const auto store = [&](int p, float2 total) {
    const int of = p / 16, row = m0 + of / (SIDE / 32) * 32 + p % 16 / 8 * 16 + p % 2 * 8 + lane / 4, column = n0 + of % (SIDE / 32) * 32 + p / 2 % 4 * 8 + lane % 4 * 2;
    if (row >= m || column >= n) return;
    const long long at = (static_cast<long long>(batch) * m + row) * n + column;
    if (!JOINED && splits > 1) {
      float* out = shares + static_cast<long long>(split) * batches * m * n + at;
      out[0] = total.x;
      if (column + 1 < n) out[1] = total.y;
    } else if (n % 2 == 0) {
      *reinterpret_cast<uint32_t*>(c + at) = pack_pair(total.x, total.y, T());
    } else {
      c[at] = from_float<T>(total.x);
      if (column + 1 < n) c[at + 1] = from_float<T>(total.y);
    }
  };
  const int own = 16 * QUADS / splits;  // that this block joins
  if constexpr (JOINED) cluster_wait();
#pragma unroll
  for (int p = warp; p < 16 * QUADS; p += WARPS) {
    float2 total = parts[p * 32 + lane];
#pragma unroll
    for (int w = 1; w < SLICES; w++) {
      const float2 v = parts[(w * QUADS * 16 + p) * 32 + lane];
      total.x += v.x, total.y += v.y;
    }
    if constexpr (JOINED) {
      float2& to = received[(split * own + p % own) * 32 + lane];
      store_to_block(to.x, p / own, total.x), store_to_block(to.y, p / own, total.y);
    } else {
      store(p, total);
    }
  }
  if constexpr (JOINED) {
    cluster_arrive();
    cluster_wait();
    for (int p = warp; p < own; p += WARPS) {
      float2 total = make_float2(0, 0);
      for (int r = 0; r < splits; r++) {
        const float2 v = received[(r * own + p) * 32 + lane];
        total.x += v.x, total.y += v.y;
      }
      store(split * own + p, total);
    }
  }
}

}  // namespace

#define MATMUL(T, SIDE, LAYOUT, TA, TB)                                                                                                                                  \
  extern "C" __global__ void __launch_bounds__(256, SIDE == 32 ? 1 : 2)                                                                                                                  \
      matmul_small_##T##_##SIDE##_##LAYOUT(const T* a, const T* b, T* c, int m, int n, int k, int tiles_m, int tiles_n, float* shares, int splits, int batches_a) { \
    matmul<T, SIDE, TA, TB, false>(a, b, c, m, n, k, tiles_m, tiles_n, shares, splits, batches_a);                                                                       \
  }
#define MATMUL_JOINED(T, LAYOUT, TA, TB)                                                                                                                                                  \
  extern "C" __global__ void __launch_bounds__(256) matmul_small_##T##_32_##LAYOUT##_joined(const T* a, const T* b, T* c, int m, int n, int k, int tiles_m, int tiles_n, int splits, int batches_a) { \
    matmul<T, 32, TA, TB, true>(a, b, c, m, n, k, tiles_m, tiles_n, nullptr, splits, batches_a);                                                                                          \
  }
#define MATMUL_LAYOUTS(T, SIDE)     \
  MATMUL(T, SIDE, nn, false, false) \
  MATMUL(T, SIDE, nt, false, true)  \
  MATMUL(T, SIDE, tn, true, false)  \
  MATMUL(T, SIDE, tt, true, true)
MATMUL_LAYOUTS(f16, 32)
MATMUL_LAYOUTS(bf16, 32)
MATMUL_LAYOUTS(f16, 64)
MATMUL_LAYOUTS(bf16, 64)
#define MATMUL_JOINED_LAYOUTS(T)     \
  MATMUL_JOINED(T, nn, false, false) \
  MATMUL_JOINED(T, nt, false, true)  \
  MATMUL_JOINED(T, tn, true, false)  \
  MATMUL_JOINED(T, tt, true, true)
MATMUL_JOINED_LAYOUTS(f16)
MATMUL_JOINED_LAYOUTS(bf16)
