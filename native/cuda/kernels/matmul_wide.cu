// matmul of f16, bf16 and tf32 with a short k and long rows of results, whose bytes bound it (matmul/wide.h says when). A block keeps its columns of b in shared memory and goes down rows of a; results go through shared memory, from where a warp stores
// runs of 480 bytes of a row that start on 32, whatever the alignment of rows: tiles overlap by what a row can lie behind.
//   matmul_wide_<dtype>_<words of k>_<layout>   layout as in matmul_mma.cu
// How to build and run: scripts/gpu/kernels.sh.
#include "common/start_early.cuh"
#include "matmul/panels.cuh"
#include "matmul/wide_task.h"

namespace {

using opscope::cuda::WideTask;

// What results are stored as.
template <class T>
struct Stored {
  using type = T;
};
template <>
struct Stored<tf32> {
  using type = float;
};

// Where row `row` of a tile of rows lies in a panel: those with even numbers first, so that all rows of a warp are the same of odd and even.
__device__ __forceinline__ int place_of(int row) { return row % 2 * (opscope::cuda::wide_rows / 2) + row / 2; }

// Rows of A, in that order.
template <class T, int WORDS, bool K>
struct Rows : panels::Panel<T, opscope::cuda::wide_rows, WORDS, K> {
  using P = panels::Panel<T, opscope::cuda::wide_rows, WORDS, K>;
  __device__ __forceinline__ void store(char* to) const {
    if (this->line >= P::DOWN) return;
#pragma unroll
    for (int i = 0; i < P::EACH; i++) {
      const int line = this->line + i * P::DOWN;
      if (P::LINES % P::DOWN != 0 && line >= P::LINES) break;
      uint32_t elements;
      if constexpr (sizeof(T) == 4) {
        elements = round_tf32(this->w[i][0]);
      } else {
        elements = this->odd ? __funnelshift_r(this->w[i][0], this->w[i][1], 16) : this->w[i][0];
        if (!this->pair) elements &= 0xffff;
      }
      if constexpr (K) {
        *reinterpret_cast<uint32_t*>(to + place_of(line) * P::PITCH + this->column * static_cast<int>(sizeof(T))) = elements;
      } else if constexpr (sizeof(T) == 4) {
        *reinterpret_cast<uint32_t*>(to + line * P::PITCH + place_of(this->column) * 4) = elements;
      } else {
        unsigned short* const half = reinterpret_cast<unsigned short*>(to + line * P::PITCH) + this->column / 2;
        half[0] = static_cast<unsigned short>(elements), half[opscope::cuda::wide_rows / 2] = static_cast<unsigned short>(elements >> 16);
      }
    }
  }
};

template <class T, int WORDS, bool TRANS_A, bool TRANS_B>
__device__ __forceinline__ void product(const T* a, const T* b, T* c, const WideTask& t) {
  using E = typename Stored<T>::type;
  constexpr int SECTOR = 32 / sizeof(T), BN = opscope::cuda::wide_panel / sizeof(T), W = BN - SECTOR, BM = opscope::cuda::wide_rows, L = LANES<T>, NT = BN / 4 / 8, STEP = 32 / sizeof(T), PITCH = BN + L, WARPS = panels::WARPS;
  using A = Rows<T, WORDS, !TRANS_A>;
  using B = panels::Panel<T, BN, WORDS, TRANS_B>;
  extern __shared__ __align__(128) char shared[];  // of A; of B; results
  char* const panel_b = shared + A::BYTES;
  E* const staged = reinterpret_cast<E*>(panel_b + B::BYTES);
  start_early();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warp_m = warp % 2 * 16, warp_n = warp / 2 * (BN / 4), batch = static_cast<int>(blockIdx.y);
  const int down = divided(static_cast<int>(blockIdx.x), t.by_tiles), tile = static_cast<int>(blockIdx.x) - down * t.tiles;
  // A row has its columns from c0 on, and those before that its place takes; the panel begins that much before, but at the first.
  const int c0 = tile * W, p0 = tile == 0 ? 0 : c0 - SECTOR, first = down * t.each * BM, end = min(t.m, first + t.each * BM);
  a += static_cast<long long>(batch % t.batches_a) * t.m * t.k;
  b += static_cast<long long>(batch) * t.n * t.k;
  E* const out = reinterpret_cast<E*>(c) + static_cast<long long>(batch) * t.m * t.n;
  const long long pitch_a = TRANS_A ? t.m : t.k, pitch_b = TRANS_B ? t.k : t.n;
  const auto behind = [&](int row, int align) { return static_cast<int>(reinterpret_cast<unsigned long long>(out + static_cast<long long>(row) * t.n) / sizeof(T)) & (align - 1); };
  A next;
  {
    B panel;
    panel.load(TRANS_B ? b + p0 * pitch_b : b + p0, pitch_b, t.n - p0, t.k);
    next.load(TRANS_A ? a + first : a + first * pitch_a, pitch_a, t.m - first, t.k);
    panel.store(panel_b);
  }
  for (int m0 = first; m0 < end; m0 += BM) {
    next.store(shared);
    __syncthreads();
    // The next rows are on their way while these are multiplied and stored.
    if (m0 + BM < end) next.load(TRANS_A ? a + m0 + BM : a + (m0 + BM) * pitch_a, pitch_a, t.m - m0 - BM, t.k);
    float sums[NT][4] = {};
#pragma unroll
    for (int step = 0; step < A::DEPTH / STEP; step++) {
      if (step * STEP >= t.k) break;
      uint32_t fa[4], fb[4];
      A::template fragment<true>(fa, shared, warp_m, step, lane);
#pragma unroll
      for (int j = 0; j < NT / 2; j++) {
        B::template fragment<false>(fb, panel_b, warp_n + j * 16, step, lane);
        mma(sums[j * 2], fa, fb[0], fb[1], T());
        mma(sums[j * 2 + 1], fa, fb[2], fb[3], T());
      }
    }
    // Each row as far behind 16 bytes as in memory.
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int row = (half * 8 + lane / 4) * 2 + warp % 2, at = behind(m0 + row, L);
      E* const to = staged + row * PITCH + at + warp_n + lane % 4 * 2;
      if (at % 2 == 1) {
#pragma unroll
        for (int j = 0; j < NT; j++) to[j * 8] = from_float<E>(sums[j][half * 2]), to[j * 8 + 1] = from_float<E>(sums[j][half * 2 + 1]);
      } else {
#pragma unroll
        for (int j = 0; j < NT; j++) {
          if constexpr (sizeof(T) == 2) *reinterpret_cast<uint32_t*>(to + j * 8) = pack_pair(sums[j][half * 2], sums[j][half * 2 + 1], T());
          else *reinterpret_cast<float2*>(to + j * 8) = make_float2(sums[j][half * 2], sums[j][half * 2 + 1]);
        }
      }
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < BM / WARPS; r++) {
      const int row = r * WARPS + warp;
      if (m0 + row >= t.m) break;
      const int column = c0 - behind(m0 + row, SECTOR) + lane * L;
      if (lane * L >= W || column >= t.n || column + L <= 0) continue;
      E* const to = out + static_cast<long long>(m0 + row) * t.n + column;
      const E* const from = staged + row * PITCH + column - p0 + behind(m0 + row, L);
      if (column >= 0 && column + L <= t.n) {
        store16(to, load16(from));
      } else {
#pragma unroll
        for (int j = 0; j < L; j++)
          if (column + j >= 0 && column + j < t.n) to[j] = from[j];
      }
    }
  }
}

}  // namespace

#define WIDE(T, WORDS, BLOCKS, LAYOUT, TA, TB)                                                                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(panels::THREADS, BLOCKS) matmul_wide_##T##_##WORDS##_##LAYOUT(const T* a, const T* b, T* c, const __grid_constant__ WideTask t) { product<T, WORDS, TA, TB>(a, b, c, t); }
#define WIDE_LAYOUTS(T, WORDS, BLOCKS)     \
  WIDE(T, WORDS, BLOCKS, nn, false, false) \
  WIDE(T, WORDS, BLOCKS, nt, false, true)  \
  WIDE(T, WORDS, BLOCKS, tn, true, false)  \
  WIDE(T, WORDS, BLOCKS, tt, true, true)
WIDE_LAYOUTS(f16, 16, 4)
WIDE_LAYOUTS(f16, 32, 2)
WIDE_LAYOUTS(bf16, 16, 4)
WIDE_LAYOUTS(bf16, 32, 2)
WIDE_LAYOUTS(tf32, 16, 4)
WIDE_LAYOUTS(tf32, 32, 2)
