// Products on tensor cores of few tiles and a long k, with an operand whose rows do not start on 16 bytes (unaligned.h says when): a block copies the 16-byte pieces of memory that hold a stage
// of either operand as they lie, and reads its words with the shift of their line undone. Blocks share k by turns of a stage, so that those that run at the same time read lines of memory that
// lie together; warps of a block share what a stage has of it.
#pragma once
#include "../common/mma.cuh"
#include "unaligned_task.h"

namespace {

using namespace opscope::cuda;

template <bool V>
struct Flag {
  static constexpr bool value = V;
};

// One operand of a block. K: k is contiguous, and a line of shared memory is a row or column of results; else it is one of k.
template <class T, int TILE, int THREADS, bool K, int STAGE>
struct Side {
  static constexpr int SIZE = sizeof(T), BYTES = STAGE, STEP = STAGE / SIZE, LINE = unaligned_line(TILE, SIZE, K, STAGE);
  static constexpr bool k_contiguous = K;
  // Of 16 bits whose k is not contiguous, a thread has neighbours: a word of a line holds an element of both.
  static constexpr bool PAIRS = SIZE == 2 && !K;
  // Bytes from a result to the one eight behind it (with PAIRS, in the order of a thread's), and from what a thread has of k to what it has 16 bytes of k on.
  static constexpr int EIGHT = K ? 8 * LINE : 8 * SIZE, NEXT = K ? 16 : 16 / SIZE * LINE;
  static constexpr int LINES = K ? TILE : STEP;
  // Pieces of a line but for one; lines of all threads at once, which start equally far behind 16 bytes; those of a thread.
  static constexpr int ACROSS = (K ? STAGE : TILE * SIZE) / 16, DOWN = THREADS / ACROSS / 8 * 8, EACH = (LINES + DOWN - 1) / DOWN;
  static_assert(DOWN % 8 == 0 && DOWN > 0 && ACROSS * DOWN <= THREADS && LINES <= THREADS);
  unsigned long long first, end;  // addresses of the tile's first element, and of what is behind the operand
  long long pitch;                // bytes between lines of memory
  int lines;                      // of results that are there
  int k;

  // `count`: rows or columns of the product.
  __device__ __forceinline__ Side(const T* from, long long size, int tile, int count, int all_k)
      : end(reinterpret_cast<unsigned long long>(from + size)), pitch((K ? all_k : count) * static_cast<long long>(SIZE)), lines(min(TILE, count - tile)), k(all_k) {
    first = reinterpret_cast<unsigned long long>(from) + tile * (K ? pitch : static_cast<long long>(SIZE));
  }

  // Piece `number` of a line of the stage whose k begins at k0: zeros behind the last of k, and nothing that no result needs.
  __device__ __forceinline__ void piece(uint32_t to, int line, int number, int k0) const {
    const unsigned long long start = first + (K ? line * pitch + static_cast<long long>(k0) * SIZE : (k0 + line) * pitch), at = (start & ~15ull) + number * 16;
    const int behind = static_cast<int>(start & 15) - number * 16;  // bytes from this piece's start to that of the line
    if (K ? line >= lines : behind + lines * SIZE <= 0) return;
    const int bytes = K ? max(0, min(16, behind + min(STEP, k - k0) * SIZE)) : k0 + line < k ? static_cast<int>(min(16ull, end - at)) : 0;
    copy_async_16(to + line * LINE + number * 16, reinterpret_cast<const void*>(bytes > 0 ? at : first & ~15ull), bytes);
  }
  __device__ __forceinline__ void load(uint32_t to, int k0) const {
    const int line = static_cast<int>(threadIdx.x) / ACROSS;
#pragma unroll
    for (int i = 0; i < EACH; i++)
      if (line < DOWN && line + i * DOWN < LINES) piece(to, line + i * DOWN, threadIdx.x % ACROSS, k0);
    if (threadIdx.x < LINES) piece(to, threadIdx.x, ACROSS, k0);
  }
};

// The pieces of a thread in stages before the last, from one to the next of this block.
template <class S>
struct Pieces {
  static constexpr bool K = S::k_contiguous;
  unsigned long long at, last_at;  // addresses of the first one, and of the last one of a line
  long long down, stage;           // bytes from one line of this thread to the next, and from a stage to the next
  uint32_t to, last_to;            // bytes of a stage before them
  int count, last_bytes;           // lines; bytes of the last one, none where the thread has none

  __device__ __forceinline__ Pieces(const S& s, int k0, int stages) : down(S::DOWN * s.pitch), stage(stages * (K ? static_cast<long long>(S::BYTES) : S::STEP * s.pitch)), count(0), last_bytes(0) {
    const auto start = [&](int line) { return s.first + (K ? line * s.pitch + static_cast<long long>(k0) * S::SIZE : (k0 + line) * s.pitch); };
    const int line = static_cast<int>(threadIdx.x) / S::ACROSS, number = threadIdx.x % S::ACROSS;
    const int lines = K ? s.lines : S::STEP, wanted = (K ? S::STEP : s.lines) * S::SIZE;  // of shared memory; bytes of a line
    at = (start(line) & ~15ull) + number * 16, to = line * S::LINE + number * 16;
    if (line < S::DOWN && number * 16 < static_cast<int>(start(line) & 15) + wanted) count = min(S::EACH, max(0, (lines - line + S::DOWN - 1) / S::DOWN));
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

// What a thread reads of a stage: of one operand, words of results `row` (a multiple of eight) + lane / 4 and those eight behind, 16 bytes of k at a time, with lane % 4 of its words.
template <class S>
struct Reader {
  static constexpr bool K = S::k_contiguous;
  uint32_t own[2], pick[2];  // with PAIRS of the even and of the odd line, else only the first
  __device__ __forceinline__ Reader(const S& s, int row, int lane) {
    const int quad = lane >> 2, mine = lane & 3;
#pragma unroll
    for (int h = 0; h < (S::PAIRS ? 2 : 1); h++) {
      const int line = K ? row + quad : S::PAIRS ? mine * 2 + h : mine, shift = static_cast<int>((s.first + line * s.pitch) & 15);
      own[h] = line * S::LINE + (shift & ~3) + (K ? mine * 4 : S::PAIRS ? (row + quad * 2) * 2 : (row + quad) * 4);
      pick[h] = shift & 2 ? 0x5432 : 0x3210;
    }
  }
  template <bool STRADDLES>
  static __device__ __forceinline__ uint32_t word(uint32_t at, uint32_t pick) {
    const auto load = [](uint32_t from) {
      uint32_t v;
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(from));
      return v;
    };
    if constexpr (S::SIZE == 4) return round_tf32(load(at));
    else if constexpr (STRADDLES) return __byte_perm(load(at), load(at + 4), pick);
    else return load(at);
  }
  // f[h]: of results 16 * i and, h odd, those eight behind; h / 2: of 16 bytes of k `step` * 2 + h / 2.
  template <bool STRADDLES>
  __device__ __forceinline__ void read(uint32_t (&f)[4], uint32_t stage, int i, int step) const {
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const uint32_t at = stage + (step * 2 + half) * S::NEXT + i * 2 * S::EIGHT;
      if constexpr (S::PAIRS) {
        const uint32_t even = word<STRADDLES>(at + own[0], pick[0]), odd = word<STRADDLES>(at + own[1], pick[1]);
        f[half * 2] = __byte_perm(even, odd, 0x5410), f[half * 2 + 1] = __byte_perm(even, odd, 0x7632);
      } else {
        f[half * 2] = word<STRADDLES>(at + own[0], pick[0]), f[half * 2 + 1] = word<STRADDLES>(at + own[0] + S::EIGHT, pick[0]);
      }
    }
  }
  // Which of 16 results is number `of_eight` of the first or of the second eight.
  static __device__ __forceinline__ int place(int of_eight, int second) { return S::PAIRS ? of_eight * 2 + second : second * 8 + of_eight; }
};

template <class T, int TILE, bool TRANS_A, bool TRANS_B>
__device__ __forceinline__ void product(const T* a, const T* b, T* c, float* shares, const UnalignedTask& t) {
  constexpr UnalignedTile W = unaligned_tiles[TILE];
  using A = Side<T, W.rows, W.threads(), !TRANS_A, W.step>;
  using B = Side<T, W.columns, W.threads(), TRANS_B, W.step>;
  constexpr int STAGES = W.stages, STEP = A::STEP, BYTES_A = unaligned_bytes(W.rows, sizeof(T), !TRANS_A, W.step), BYTES = BYTES_A + unaligned_bytes(W.columns, sizeof(T), TRANS_B, W.step);
  constexpr int SIDE_M = W.rows / W.warps_m, SIDE_N = W.columns / W.warps_n, ROWS = SIDE_M / 16, COLUMNS = SIDE_N / 16, SUMS = ROWS * COLUMNS * 8;  // of a warp; tiles of 16 of it; sums of a thread
  constexpr int TURNS = W.step / 32 / W.parts;  // of 32 bytes of k of a stage
  constexpr int APART = W.warps_m * W.warps_n * 32;  // threads of a part
  static_assert((W.parts - 1) * APART * SUMS * 4 <= STAGES * BYTES);
  extern __shared__ __align__(16) char shared[];
  const uint32_t base = shared_address(shared);
  const int lane = threadIdx.x % 32, warp = threadIdx.x % APART / 32, part = threadIdx.x / APART;
  const int warp_m = warp % W.warps_m * SIDE_M, warp_n = warp / W.warps_m * SIDE_N;
  const int tiles = t.tiles_m * t.tiles_n, split = blockIdx.x % t.splits, tile = blockIdx.x / t.splits, batch = tile / tiles, batches = gridDim.x / t.splits / tiles, at = tile - batch * tiles;
  const int m0 = at % t.tiles_m * W.rows, n0 = at / t.tiles_m * W.columns;
  const long long size_a = static_cast<long long>(t.m) * t.k, size_b = static_cast<long long>(t.n) * t.k, results = static_cast<long long>(t.m) * t.n;
  const A left(a + batch % t.batches_a * size_a, size_a, m0, t.m, t.k);
  const B right(b + batch % t.batches_b * size_b, size_b, n0, t.n, t.k);
  const int steps = ((t.k + STEP - 1) / STEP - split + t.splits - 1) / t.splits;
  Pieces<A> pieces_a(left, split * STEP, t.splits);
  Pieces<B> pieces_b(right, split * STEP, t.splits);
  const auto load = [&](int step) {
    if (step < steps) {
      const uint32_t to = base + step % STAGES * BYTES;
      const int k0 = (split + step * t.splits) * STEP;
      // The last of k may end within a piece.
      if (k0 + STEP < t.k) pieces_a.load(to), pieces_b.load(to + BYTES_A);
      else left.load(to, k0), right.load(to + BYTES_A, k0);
    }
    copy_commit();
  };
  for (int step = 0; step < STAGES - 1; step++) load(step);
  const Reader<A> reader_a(left, warp_m, lane);
  const Reader<B> reader_b(right, warp_n, lane);
  float sums[ROWS][COLUMNS][2][4] = {};
  const auto multiply = [&](auto straddles, uint32_t stage) {
    constexpr bool STRADDLES = decltype(straddles)::value;
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
      const int s = part * TURNS + turn;
      uint32_t fa[ROWS][4], fb[COLUMNS][4];
#pragma unroll
      for (int i = 0; i < ROWS; i++) reader_a.template read<STRADDLES>(fa[i], stage, i, s);
#pragma unroll
      for (int j = 0; j < COLUMNS; j++) reader_b.template read<STRADDLES>(fb[j], stage + BYTES_A, j, s);
#pragma unroll
      for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < COLUMNS; j++)
#pragma unroll
          for (int h = 0; h < 2; h++) mma(sums[i][j][h], fa[i], fb[j][h], fb[j][2 + h], T());
    }
  };
  // Elements lie in the middle of words.
  const bool straddles = sizeof(T) == 2 && ((left.first | right.first | left.pitch | right.pitch) & 2);
  for (int step = 0; step < steps; step++) {
    copy_wait<STAGES - 2>();
    __syncthreads();
    load(step + STAGES - 1);
    const uint32_t stage = base + step % STAGES * BYTES;
    if (straddles) multiply(Flag<sizeof(T) == 2>(), stage);
    else multiply(Flag<false>(), stage);
  }
  copy_wait<0>();
  // Parts of a stage add up in the place of the ring.
  float* const staged = reinterpret_cast<float*>(shared) + threadIdx.x % APART;
  const auto sum = [&](int e) -> float& { return sums[e / 8 / COLUMNS][e / 8 % COLUMNS][e / 4 % 2][e % 4]; };
  __syncthreads();
  if (part > 0) {
#pragma unroll
    for (int e = 0; e < SUMS; e++) staged[((part - 1) * SUMS + e) * APART] = sum(e);
  }
  __syncthreads();
  if (part > 0) return;
#pragma unroll
  for (int p = 0; p < W.parts - 1; p++)
#pragma unroll
    for (int e = 0; e < SUMS; e++) sum(e) += staged[(p * SUMS + e) * APART];
#pragma unroll
  for (int e = 0; e < SUMS; e++) {
    const int i = e / 8 / COLUMNS, j = e / 8 % COLUMNS, row = m0 + warp_m + i * 16 + Reader<A>::place(lane >> 2, e / 2 % 2), column = n0 + warp_n + j * 16 + Reader<B>::place((lane & 3) * 2 + e % 2, e / 4 % 2);
    if (row >= t.m || column >= t.n) continue;
    const long long to = batch * results + static_cast<long long>(row) * t.row + static_cast<long long>(column) * t.column;
    if (t.splits > 1) shares[split * batches * results + to] = sum(e);
    else c[to] = from_float<T>(sum(e));
  }
}

}  // namespace

// The kernels of a type, by tile and layout.
#define UNALIGNED(T, TILE, NAME, LAYOUT, TA, TB)                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(opscope::cuda::unaligned_tiles[TILE].threads(), opscope::cuda::unaligned_tiles[TILE].blocks)                                 \
      matmul_unaligned_##T##_##NAME##_##LAYOUT(const T* a, const T* b, T* c, float* shares, const __grid_constant__ UnalignedTask t) {                                      \
    product<T, TILE, TA, TB>(a, b, c, shares, t);                                                                                                                           \
  }
#define UNALIGNED_LAYOUTS(T, TILE, NAME) UNALIGNED(T, TILE, NAME, nn, false, false) UNALIGNED(T, TILE, NAME, nt, false, true) UNALIGNED(T, TILE, NAME, tn, true, false) UNALIGNED(T, TILE, NAME, tt, true, true)
