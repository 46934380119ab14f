// matmul in tf32 of few tiles and a long k, with an operand whose rows do not start on 16 bytes (matmul/unaligned.h says when): a block copies the 16-byte pieces of memory that hold a stage
// of either operand as they lie, and reads its words with the shift of their line undone. Tensor cores by mma.sync; blocks share k.
//   matmul_unaligned_tf32_<layout>   layout as in matmul_mma.cu
// How to build and run: scripts/gpu/kernels.sh.
#include "common/mma.cuh"
#include "matmul/unaligned_task.h"

namespace {

using namespace opscope::cuda;
constexpr int TILE = unaligned_tile, STEP = unaligned_step, STAGES = unaligned_stages, THREADS = unaligned_threads;

// One operand of a block. K: k is contiguous, and a line of shared memory is a row or column of results; else it is one of k.
template <bool K>
struct Side {
  static constexpr int LINE = K ? unaligned_line_k : unaligned_line_l, EACH = 4;
  // Words from a result to the one eight behind it, and from one of k to the one four behind it.
  static constexpr int EIGHT = K ? 8 * LINE : 32, FOUR = K ? 16 : 4 * LINE;
  unsigned long long first, end;  // addresses of the tile's first element, and of what is behind the operand
  long long pitch;                // bytes between lines of memory
  int lines;                      // of results that are there
  int k;

  // `count`: rows or columns of the product.
  __device__ __forceinline__ Side(const float* from, long long size, int tile, int count, int all_k)
      : end(reinterpret_cast<unsigned long long>(from + size)), pitch((K ? all_k : count) * 4ll), lines(min(TILE, count - tile)), k(all_k) {
    first = reinterpret_cast<unsigned long long>(from) + tile * (K ? pitch : 4ll);
  }

  // Piece `number` of a line of the stage whose k begins at k0: zeros behind the last of k, and nothing that no result needs.
  __device__ __forceinline__ void piece(uint32_t to, int line, int number, int k0) const {
    const unsigned long long start = first + (K ? line * pitch + k0 * 4ll : (k0 + line) * pitch), at = (start & ~15ull) + number * 16;
    const int behind = static_cast<int>(start & 15) - number * 16;  // bytes from this piece's start to that of the line
    if (K ? line >= lines : behind + lines * 4 <= 0) return;
    const int bytes = K ? max(0, min(16, behind + min(STEP, k - k0) * 4)) : k0 + line < k ? static_cast<int>(min(16ull, end - at)) : 0;
    copy_async_16(to + line * LINE + number * 16, reinterpret_cast<const void*>(bytes > 0 ? at : first & ~15ull), bytes);
  }
  static constexpr int ACROSS = K ? 8 : 32, DOWN = THREADS / ACROSS;  // pieces of a line but for one; lines of all threads
  __device__ __forceinline__ void load(uint32_t to, int k0) const {
#pragma unroll
    for (int i = 0; i < EACH; i++) piece(to, static_cast<int>(threadIdx.x) / ACROSS + i * DOWN, threadIdx.x % ACROSS, k0);
    if (threadIdx.x < (K ? TILE : STEP)) piece(to, threadIdx.x, ACROSS, k0);
  }
  // Bytes of a stage before what a thread reads first: result `row` (a multiple of eight and lane / 4), k lane % 4.
  __device__ __forceinline__ uint32_t own(int row, int mine) const {
    const int line = K ? row : mine;
    return line * LINE + static_cast<int>((first + line * pitch) & 15) + (K ? mine : row) * 4;
  }
};

// The pieces of a thread in stages before the last, from one to the next. Lines of a thread start equally far behind 16 bytes.
template <bool K>
struct Pieces {
  using S = Side<K>;
  unsigned long long at, last_at;  // addresses of the first one, and of the last one of a line
  long long down, stage;           // bytes from one line of this thread to the next, and from a stage to the next
  uint32_t to, last_to;            // bytes of a stage before them
  int count, last_bytes;           // lines; bytes of the last one, none where the thread has none

  __device__ __forceinline__ Pieces(const S& s, int k0) : down(S::DOWN * s.pitch), stage(K ? STEP * 4ll : STEP * s.pitch), count(0), last_bytes(0) {
    const auto start = [&](int line) { return s.first + (K ? line * s.pitch + k0 * 4ll : (k0 + line) * s.pitch); };
    const int line = static_cast<int>(threadIdx.x) / S::ACROSS, number = threadIdx.x % S::ACROSS;
    const int lines = K ? s.lines : STEP, wanted = (K ? STEP : s.lines) * 4;  // of shared memory; bytes of a line
    at = (start(line) & ~15ull) + number * 16, to = line * S::LINE + number * 16;
    if (number * 16 < static_cast<int>(start(line) & 15) + wanted) count = min(S::EACH, max(0, (lines - line + S::DOWN - 1) / S::DOWN));
    last_at = 0, last_to = 0;
    if (static_cast<int>(threadIdx.x) < lines) {
      last_at = (start(threadIdx.x) & ~15ull) + S::ACROSS * 16, last_to = threadIdx.x * S::LINE + S::ACROSS * 16;
      last_bytes = min(16, max(0, static_cast<int>(start(threadIdx.x) & 15) + wanted - S::ACROSS * 16));
    }
  }
  __device__ __forceinline__ void load(uint32_t ring) {
#pragma unroll
    for (int i = 0; i < S::EACH; i++)
      if (i < count) copy_async_16(ring + to + i * S::DOWN * S::LINE, reinterpret_cast<const void*>(at + i * down), 16);
    if (last_bytes > 0) copy_async_16(ring + last_to, reinterpret_cast<const void*>(last_at), last_bytes);
    at += stage, last_at += stage;
  }
};

template <bool TRANS_A, bool TRANS_B>
__device__ __forceinline__ void product(const float* a, const float* b, float* c, float* shares, const UnalignedTask& t) {
  using A = Side<!TRANS_A>;
  using B = Side<TRANS_B>;
  constexpr int BYTES_A = unaligned_bytes(!TRANS_A), BYTES = BYTES_A + unaligned_bytes(TRANS_B), ROWS = 4, COLUMNS = 4;  // tiles of 16 rows and of 8 columns of a warp
  extern __shared__ __align__(16) char shared[];
  const uint32_t base = shared_address(shared);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, quad = lane >> 2, mine = lane & 3, warp_m = warp % 2 * 64, warp_n = warp / 2 * 32;
  const int tiles = t.tiles_m * t.tiles_n, split = blockIdx.x % t.splits, tile = blockIdx.x / t.splits, batch = tile / tiles, batches = gridDim.x / t.splits / tiles, at = tile - batch * tiles;
  const int m0 = at % t.tiles_m * TILE, n0 = at / t.tiles_m * TILE;
  const long long size_a = static_cast<long long>(t.m) * t.k, size_b = static_cast<long long>(t.n) * t.k, results = static_cast<long long>(t.m) * t.n;
  const A left(a + batch % t.batches_a * size_a, size_a, m0, t.m, t.k);
  const B right(b + batch * size_b, size_b, n0, t.n, t.k);
  const int from = split * t.each, steps = min(t.each, (t.k + STEP - 1) / STEP - from);
  Pieces<!TRANS_A> pieces_a(left, from * STEP);
  Pieces<TRANS_B> pieces_b(right, from * STEP);
  const auto load = [&](int step) {
    if (step < steps) {
      const uint32_t to = base + step % STAGES * BYTES;
      const int k0 = (from + step) * STEP;
      // The last of k may end within a piece.
      if (k0 + STEP < t.k) pieces_a.load(to), pieces_b.load(to + BYTES_A);
      else left.load(to, k0), right.load(to + BYTES_A, k0);
    }
    copy_commit();
  };
  for (int step = 0; step < STAGES - 1; step++) load(step);
  const uint32_t own_a = left.own(warp_m + quad, mine), own_b = BYTES_A + right.own(warp_n + quad, mine);
  float sums[ROWS][COLUMNS][4] = {};
  for (int step = 0; step < steps; step++) {
    copy_wait<STAGES - 2>();
    __syncthreads();
    load(step + STAGES - 1);
    const uint32_t stage = base + step % STAGES * BYTES;
    const auto word = [&](uint32_t address) {
      uint32_t v;
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(address));
      return round_tf32(v);
    };
#pragma unroll
    for (int s = 0; s < STEP / 8; s++) {
      uint32_t fa[ROWS][4], fb[COLUMNS][2];
#pragma unroll
      for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int h = 0; h < 4; h++) fa[i][h] = word(stage + own_a + (i * 2 + h % 2) * A::EIGHT + (s * 2 + h / 2) * A::FOUR);
#pragma unroll
      for (int j = 0; j < COLUMNS; j++)
#pragma unroll
        for (int h = 0; h < 2; h++) fb[j][h] = word(stage + own_b + j * B::EIGHT + (s * 2 + h) * B::FOUR);
#pragma unroll
      for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) mma(sums[i][j], fa[i], fb[j][0], fb[j][1], tf32());
    }
  }
  copy_wait<0>();
  float* const out = (t.splits > 1 ? shares + split * batches * results : c) + batch * results;
#pragma unroll
  for (int i = 0; i < ROWS; i++)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int row = m0 + warp_m + i * 16 + half * 8 + quad;
      if (row >= t.m) continue;
#pragma unroll
      for (int j = 0; j < COLUMNS; j++)
#pragma unroll
        for (int e = 0; e < 2; e++) {
          const int column = n0 + warp_n + j * 8 + mine * 2 + e;
          if (column < t.n) out[static_cast<long long>(row) * t.n + column] = sums[i][j][half * 2 + e];
        }
    }
}

}  // namespace

#define PRODUCT(LAYOUT, TA, TB)                                                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(THREADS, 1) matmul_unaligned_tf32_##LAYOUT(const float* a, const float* b, float* c, float* shares, const __grid_constant__ UnalignedTask t) { \
    product<TA, TB>(a, b, c, shares, t);                                                                                                                                         \
  }
PRODUCT(nn, false, false)
PRODUCT(nt, false, true)
PRODUCT(tn, true, false)
PRODUCT(tt, true, true)
