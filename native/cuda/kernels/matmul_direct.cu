// matmul of f16 and bf16 with few results and rows that start on 16 bytes (matmul/direct.h says when it is used). Such a call waits for memory more than it works: the warps of a block share k, and each reads its operands straight into registers as mma.sync takes
// them, without a barrier before the sums are added up in the order of the warps. The order of k is that of the pieces that a lane has, the same for both operands. `a` repeats after `batches_a` products.
//   matmul_direct_<dtype>_<rows of results of a block>_<warps>_<layout>   layout as in matmul_mma.cu
// grid: (tiles of 32 columns, tiles of rows, batch). How to build and run: scripts/gpu/kernels.sh.
#include "common/mma.cuh"
#include "common/start_early.cuh"
#include "matmul/sizes.h"

namespace {

constexpr int STEP = opscope::cuda::direct_step, COLUMNS = opscope::cuda::direct_columns, RN = COLUMNS / 8;

// WORDS words from `from` on, which start together.
template <int WORDS>
__device__ __forceinline__ void load_words(uint32_t (&w)[WORDS], const void* from, bool there) {
  if constexpr (WORDS == 1) {
    w[0] = there ? __ldg(static_cast<const uint32_t*>(from)) : 0;
  } else if constexpr (WORDS == 2) {
    const uint2 v = there ? __ldg(static_cast<const uint2*>(from)) : make_uint2(0, 0);
    w[0] = v.x, w[1] = v.y;
  } else {
    const uint4 v = there ? __ldg(static_cast<const uint4*>(from)) : make_uint4(0, 0, 0, 0);
    w[0] = v.x, w[1] = v.y, w[2] = v.z, w[3] = v.w;
  }
}

// 8 * GROUPS rows of A, or columns of B, by STEP of k. K: k is contiguous. Lane 4 g + t has k from 8 t on, of row g of every eight, or of GROUPS rows that lie together.
template <class T, int GROUPS, bool K>
struct Piece {
  static constexpr int LINES = K ? GROUPS : 8, WORDS = K ? 4 : GROUPS / 2;
  uint32_t w[LINES][WORDS];
  // `rows`, `k`: what there is from the first of this piece on, zeros behind.
  __device__ __forceinline__ void load(const T* from, long long pitch, int rows, int k) {
    const int g = threadIdx.x % 32 / 4, at_k = threadIdx.x % 4 * 8;
#pragma unroll
    for (int i = 0; i < LINES; i++) {
      const int row = K ? i * 8 + g : g * GROUPS, at = K ? at_k : at_k + i;
      load_words(w[i], K ? from + row * pitch + at : from + at * pitch + row, row < rows && at < k);
    }
  }
  // Two of k of a row of group j: half 0 or 1 of product s of 16 of k.
  __device__ __forceinline__ uint32_t word(int s, int half, int j) const {
    if constexpr (K) return w[j][s * 2 + half];
    else return __byte_perm(w[s * 4 + half * 2][j / 2], w[s * 4 + half * 2 + 1][j / 2], j % 2 ? 0x7632 : 0x5410);
  }
  // Row `index` of group j.
  static __device__ __forceinline__ int row(int j, int index) { return K ? j * 8 + index : index * GROUPS + j; }
};

template <class T, int RM, int WARPS, bool KA, bool KB>
__device__ __forceinline__ void matmul(const T* a, const T* b, T* c, int m, int n, int k, int batches_a) {
  using A = Piece<T, RM * 2, KA>;
  using B = Piece<T, RN, KB>;
  constexpr int SLOTS = RM * RN;
  start_early();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, m0 = blockIdx.y * RM * 16, n0 = blockIdx.x * COLUMNS;
  const long long pitch_a = KA ? k : m, pitch_b = KB ? k : n;
  a += static_cast<long long>(blockIdx.z % batches_a) * m * k + (KA ? m0 * pitch_a : m0);
  b += static_cast<long long>(blockIdx.z) * k * n + (KB ? n0 * pitch_b : n0);
  c += static_cast<long long>(blockIdx.z) * m * n;
  float sums[RM][RN][4] = {};
  for (int k0 = warp * STEP; k0 < k; k0 += WARPS * STEP) {
    A piece_a;
    B piece_b;
    piece_a.load(KA ? a + k0 : a + k0 * pitch_a, pitch_a, m - m0, k - k0);
    piece_b.load(KB ? b + k0 : b + k0 * pitch_b, pitch_b, n - n0, k - k0);
#pragma unroll
    for (int s = 0; s < 2; s++)
#pragma unroll
      for (int i = 0; i < RM; i++) {
        const uint32_t fragment[4] = {piece_a.word(s, 0, i * 2), piece_a.word(s, 0, i * 2 + 1), piece_a.word(s, 1, i * 2), piece_a.word(s, 1, i * 2 + 1)};
#pragma unroll
        for (int j = 0; j < RN; j++) mma(sums[i][j], fragment, piece_b.word(s, 0, j), piece_b.word(s, 1, j), T());
      }
  }
  extern __shared__ __align__(16) float2 parts[];  // [warp][16 x 8 results][half of the rows][lane]
#pragma unroll
  for (int slot = 0; slot < SLOTS; slot++)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const float(&f)[4] = sums[slot / RN][slot % RN];
      parts[((warp * SLOTS + slot) * 2 + half) * 32 + lane] = make_float2(f[half * 2], f[half * 2 + 1]);
    }
  __syncthreads();
  if constexpr (KB) {
    // Two neighbouring columns.
    for (int p = warp; p < SLOTS * 2; p += WARPS) {
      float total[2] = {};
#pragma unroll
      for (int w = 0; w < WARPS; w++) {
        const float2 v = parts[(w * SLOTS * 2 + p) * 32 + lane];
        total[0] += v.x, total[1] += v.y;
      }
      const int slot = p / 2, row = m0 + A::row(slot / RN * 2 + p % 2, lane / 4), column = n0 + slot % RN * 8 + lane % 4 * 2;
      if (row >= m || column >= n) continue;
      T* out = c + static_cast<long long>(row) * n + column;
      if (n % 2 == 0) {
        *reinterpret_cast<uint32_t*>(out) = pack_pair(total[0], total[1], T());
      } else {
        out[0] = from_float<T>(total[0]);
        if (column + 1 < n) out[1] = from_float<T>(total[1]);
      }
    }
  } else {
    // RN columns that lie together: one of the two of every 16 x 8 results of a row of them.
    for (int p = warp; p < RM * 4; p += WARPS) {
      const int i = p / 4, half = p / 2 % 2, one = p % 2;
      float total[RN] = {};
#pragma unroll
      for (int w = 0; w < WARPS; w++)
#pragma unroll
        for (int j = 0; j < RN; j++) {
          const float2 v = parts[((w * SLOTS + i * RN + j) * 2 + half) * 32 + lane];
          total[j] += one ? v.y : v.x;
        }
      const int row = m0 + A::row(i * 2 + half, lane / 4), column = n0 + (lane % 4 * 2 + one) * RN;
      if (row < m && column < n) *reinterpret_cast<uint2*>(c + static_cast<long long>(row) * n + column) = make_uint2(pack_pair(total[0], total[1], T()), pack_pair(total[2], total[3], T()));
    }
  }
}

}  // namespace

#define MATMUL(T, RM, ROWS, WARPS, LAYOUT, KA, KB)                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(WARPS * 32) matmul_direct_##T##_##ROWS##_##WARPS##_##LAYOUT(const T* a, const T* b, T* c, int m, int n, int k, int batches_a) { \
    matmul<T, RM, WARPS, KA, KB>(a, b, c, m, n, k, batches_a);                                                                                                             \
  }
// Of rows of B, and of its columns.
#define MATMUL_N(T, RM, ROWS, WARPS) MATMUL(T, RM, ROWS, WARPS, nn, true, false) MATMUL(T, RM, ROWS, WARPS, tn, false, false)
#define MATMUL_T(T, RM, ROWS, WARPS) MATMUL(T, RM, ROWS, WARPS, nt, true, true) MATMUL(T, RM, ROWS, WARPS, tt, false, true)
#define MATMULS(T) MATMUL_N(T, 1, 16, 8) MATMUL_N(T, 1, 16, 16) MATMUL_N(T, 2, 32, 8) MATMUL_T(T, 2, 32, 8) MATMUL_T(T, 2, 32, 16)
MATMULS(f16)
MATMULS(bf16)
