// Tiles of a product by wgmma (sm_90a) whose operand X has rows that do not start on 16 bytes. Four warps copy the 16-byte pieces of memory that hold a stage of X
// (128 bytes of K) into a ring as they lie; the warp groups that multiply read X with its shift undone and give it to wgmma from registers. Y comes by the copy
// engine. Blocks stay and go from tile to tile; the ring fills for the next one while they store.
#pragma once
#include "shifted_task.h"
#include "wgmma.cuh"

#ifdef OPSCOPE_WGMMA

// Rows of a tile in the order of wgmma's registers: a thread has neighbours.
struct Neighbours {
  static constexpr int step = 1;
  static __device__ __forceinline__ int row(int w, int lane) { return w * 16 + lane / 4 * 2; }
  static __device__ __forceinline__ int local(int lane, int half) { return lane / 4 * 2 + half; }
  static __device__ __forceinline__ int row_of(int w, int local) { return w * 16 + local; }
  static __device__ __forceinline__ int lane_row(int local) { return local >> 1; }
};

constexpr int SHIFTED_ROWS = opscope::cuda::shifted_rows, SHIFTED_BYTES = opscope::cuda::shifted_stage;

// How a stage of X lies in shared memory: lines of memory, PITCH bytes apart. K: a line is a row of X, in the order of wgmma's registers within 16; else one of K.
template <class T, bool K>
struct ShiftedStage {
  static constexpr int LINE = ROW / sizeof(T);
  static constexpr int PIECES = K ? 9 : SHIFTED_ROWS * static_cast<int>(sizeof(T)) / 16 + (sizeof(T) == 4 ? 2 : 1), PITCH = PIECES * 16;
  static constexpr int LINES = (K ? SHIFTED_ROWS : LINE) / 4;  // of a warp that copies
  static constexpr int ALL = LINES * PIECES, EACH = (ALL + 31) / 32;
  static_assert(4 * ALL * 16 <= SHIFTED_BYTES);
  static __device__ __forceinline__ int row_of_line(int line) { return (line & ~15) | (line & 7) << 1 | (line >> 3 & 1); }
};

// The pieces that a thread copies: where they are in memory, and which of them are there.
template <class T, bool K>
struct ShiftedLoader {
  using Stage = ShiftedStage<T, K>;
  static constexpr int NONE = 1 << 24;
  const char* at[Stage::EACH];
  int bound[Stage::EACH];  // K: bytes of the stage's part of a row before the piece, negated; else the line of K; or NONE
  const char* aligned;  // what pieces that are zero have for an address
  long long advance;  // bytes from one stage to the next

  // From stage `first` of rows x0 to x0 + rows on. `pitch`: bytes of a line of memory.
  __device__ __forceinline__ ShiftedLoader(const char* from, long long pitch, int x0, int rows, int first) : aligned(from - (reinterpret_cast<unsigned long long>(from) & 15)), advance(K ? ROW : Stage::LINE * pitch) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < Stage::EACH; i++) {
      const int id = i * 32 + lane, line = id / Stage::PIECES, piece = id - line * Stage::PIECES;
      if constexpr (K) {
        const int local = Stage::row_of_line(warp * Stage::LINES + line);
        const char* start = from + (x0 + local) * pitch + static_cast<long long>(first) * ROW;
        const int shift = static_cast<int>(reinterpret_cast<unsigned long long>(start) & 15);
        at[i] = start + (piece * 16 - shift);
        bound[i] = local < rows ? shift - piece * 16 : -NONE;
      } else {
        const int k = warp * Stage::LINES + line;
        const char* start = from + (static_cast<long long>(first) * Stage::LINE + k) * pitch + static_cast<long long>(x0) * static_cast<int>(sizeof(T));
        const int shift = static_cast<int>(reinterpret_cast<unsigned long long>(start) & 15);
        at[i] = start + (piece * 16 - shift);
        bound[i] = piece * 16 < rows * static_cast<int>(sizeof(T)) + shift ? k : NONE;
      }
    }
  }

  // `left`: of K from this stage on. Where K ends within a row, what lies behind it is zero; else pieces come whole or are zero.
  __device__ __forceinline__ void load(uint32_t to, int left) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, bytes_left = min(left, 2 * ROW) * static_cast<int>(sizeof(T));
    to += (warp * Stage::ALL + lane) * 16;
    if (K && bytes_left < Stage::PITCH) {
#pragma unroll
      for (int i = 0; i < Stage::EACH; i++) {
        const int bytes = max(0, min(16, bytes_left + bound[i]));
        copy_async_16(to + i * 512, bytes > 0 ? at[i] : aligned, bytes);
      }
    } else {
#pragma unroll
      for (int i = 0; i < Stage::EACH; i++) {
        const bool inside = K ? bound[i] > -NONE : bound[i] < min(left, Stage::LINE);
        if (Stage::ALL % 32 == 0 || i * 32 + lane < Stage::ALL) copy_async_16(to + i * 512, inside ? at[i] : aligned, inside ? 16 : 0);
      }
    }
#pragma unroll
    for (int i = 0; i < Stage::EACH; i++) at[i] += advance;
  }
};

// The copies of this thread count as an arrival when they have come.
__device__ __forceinline__ void arrive_with_copies(uint32_t barrier) { asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory"); }

// Where a thread's elements of X lie in a stage, two lines of memory: in words, and how elements are taken from two of these.
template <class T, bool K>
struct ShiftedReader {
  using Stage = ShiftedStage<T, K>;
  uint32_t own[2], pick[2];
  bool straddles;  // elements lie in the middle of words

  __device__ __forceinline__ ShiftedReader(const char* matrix, long long pitch, int x0, int first, int row, int lane) {
    const int g = lane / 4, q = lane % 4;
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const char* start;
      if constexpr (K) start = matrix + (x0 + row + 2 * g + h) * pitch + static_cast<long long>(first) * ROW;
      else start = matrix + (static_cast<long long>(first) * Stage::LINE + (sizeof(T) == 2 ? 2 * q + h : q)) * pitch + static_cast<long long>(x0) * static_cast<int>(sizeof(T));
      const int shift = static_cast<int>(reinterpret_cast<unsigned long long>(start) & 15);
      pick[h] = shift & 2 ? 0x5432 : 0x3210;
      if constexpr (K) own[h] = (row + g + 8 * h) * Stage::PITCH + (shift & ~3) + q * 4;
      else if constexpr (sizeof(T) == 2) own[h] = (2 * q + h) * Stage::PITCH + (shift & ~3) + (row + 2 * g) * 2;
      else own[h] = q * Stage::PITCH + shift + (row + 2 * g + h) * 4;
    }
    straddles = sizeof(T) == 2 && ((pitch | static_cast<long long>(reinterpret_cast<unsigned long long>(matrix))) & 2);
  }

  template <bool STRADDLES>
  static __device__ __forceinline__ uint32_t word(uint32_t at, uint32_t pick) {
    const uint32_t low = get_shared(at);
    if constexpr (STRADDLES) return __byte_perm(low, get_shared(at + 4), pick);
    return low;
  }

  template <bool STRADDLES>
  __device__ __forceinline__ void read(uint32_t (&f)[16], uint32_t stage) const {
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
      for (int half = 0; half < 2; half++)  // of K
        if constexpr (K) {
#pragma unroll
          for (int h = 0; h < 2; h++) f[i * 4 + half * 2 + h] = word<STRADDLES>(stage + own[h] + i * 32 + half * 16, pick[h]);
        } else if constexpr (sizeof(T) == 2) {
          const uint32_t even = word<STRADDLES>(stage + own[0] + (i * 16 + half * 8) * Stage::PITCH, pick[0]), odd = word<STRADDLES>(stage + own[1] + (i * 16 + half * 8) * Stage::PITCH, pick[1]);
          f[i * 4 + half * 2] = __byte_perm(even, odd, 0x5410);
          f[i * 4 + half * 2 + 1] = __byte_perm(even, odd, 0x7632);
        } else {
#pragma unroll
          for (int h = 0; h < 2; h++) f[i * 4 + half * 2 + h] = get_shared(stage + own[h] + (i * 8 + half * 4) * Stage::PITCH);
        }
    if constexpr (sizeof(T) == 4) {
#pragma unroll
      for (int i = 0; i < 16; i++) f[i] = round_tf32(f[i]);
    }
  }
};

#endif

// K: X has K contiguous. TY: Y has not. TURNED: the result has Y's rows. A tile has `tile_rows` rows of X, up to 128.
template <class T, int BN, bool K, int TY, bool TURNED>
__device__ __forceinline__ void shifted(const T* x, const TensorMap& map_y, T* c, float* shares, const WgmmaTask& s, int tile_rows) {
#ifdef OPSCOPE_WGMMA
  using Product = WarpGroupProduct<BN / 2>;
  constexpr int S = opscope::cuda::shifted_stages(BN), GROUPS = 2, BK = ROW / sizeof(T), BYTES = SHIFTED_BYTES + BN * ROW;
  extern __shared__ __align__(1024) char shared[];
  const uint32_t base = (shared_address(shared) + 1023) & ~1023u;  // swizzled tiles repeat every 1024 bytes
  __shared__ __align__(8) uint64_t barriers[2 * S];
  const uint32_t full = shared_address(barriers), empty = full + 8 * S;
  const int splits = static_cast<int>(s.splits.by), group = threadIdx.x / 128;
  if (threadIdx.x == 0) prefetch_map(&map_y);
  if (threadIdx.x < S) {
    barrier_init(full + 8 * threadIdx.x, 1 + 128);
    barrier_init(empty + 8 * threadIdx.x, GROUPS * 128);
    fence_shared_for_async();
  }
  __syncthreads();
  next_may_start();

  const long long pitch = static_cast<long long>(K ? s.k : s.x) * static_cast<int>(sizeof(T)), size = static_cast<long long>(s.x) * s.k;
  const auto matrix_of = [&](int batch) { return reinterpret_cast<const char*>(x + (batch - quotient(batch, s.batches_x) * static_cast<int>(s.batches_x.by)) * size); };
  int stage = 0, phase = 0;
  const auto advance = [&] {
    if (++stage == S) stage = 0, phase ^= 1;
  };
  if (group == 0) {
    if constexpr (BN >= 128) give_registers<BN == 256 ? 72 : 104>();
    if (threadIdx.x == 0) wait_for_last();  // Y, where it was copied or turned first
    for (int t = blockIdx.x; t < s.work; t += gridDim.x) {
      const Place at = place_of(s, t);
      const int x0 = at.x * tile_rows, y0 = at.y * BN, from = at.split * s.each, to = min(from + s.each, s.steps);
      const int batch_y = at.batch - quotient(at.batch, s.batches_y) * static_cast<int>(s.batches_y.by);
      ShiftedLoader<T, K> loader(matrix_of(at.batch), pitch, x0, min(tile_rows, s.x - x0), from);
      for (int step = from; step < to; step++, advance()) {
        const uint32_t bar = full + 8 * stage, to_x = base + stage * BYTES;
        barrier_wait(empty + 8 * stage, phase ^ 1);
        if (threadIdx.x == 0) {
          barrier_expect(bar, BN * ROW);
          load_operand<T, BN, TY>(to_x + SHIFTED_BYTES, map_y, bar, y0, step * BK, batch_y);
        }
        loader.load(to_x, s.k - step * BK);
        arrive_with_copies(bar);
      }
    }
    copy_commit();
    copy_wait<0>();
    return;
  }

  if constexpr (BN >= 128) take_registers<BN == 256 ? 216 : 200>();
  const uint32_t staging = base + S * BYTES;
  const int lane = threadIdx.x % 32, warp = static_cast<int>(threadIdx.x) / 32 - 4;
  for (int t = blockIdx.x; t < s.work; t += gridDim.x) {
    const Place at = place_of(s, t);
    const int x0 = at.x * tile_rows, end = min(s.x, x0 + tile_rows), from = at.split * s.each, steps = min(s.each, s.steps - from);
    const ShiftedReader<T, K> reader(matrix_of(at.batch), pitch, x0, from, warp * 16, lane);
    float acc[BN / 2];
#pragma unroll
    for (int i = 0; i < BN / 2; i++) acc[i] = 0;
    int previous = -1;
    // Every lane arrives: each has read the stage, and racecheck follows no lane that another arrives for.
    const auto leave = [&](int used) {
      if (used >= 0) barrier_arrive(empty + 8 * used);
    };
    const auto multiply = [&](uint32_t(&f)[16], uint32_t(&before)[16]) {
      const uint32_t y = base + stage * BYTES + SHIFTED_BYTES;
      barrier_wait(full + 8 * stage, phase);
      if (reader.straddles) reader.template read<true>(f, base + stage * BYTES);
      else reader.template read<false>(f, base + stage * BYTES);
      wgmma_fence();
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const uint64_t dy = wgmma_descriptor(y + i * (TY ? 16 * ROW : 32), TY ? BOX : 16, 1024);
        if constexpr (sizeof(T) == 4) Product::registers(acc, f[i * 4], f[i * 4 + 1], f[i * 4 + 2], f[i * 4 + 3], dy, 1, T());
        else Product::template registers<TY>(acc, f[i * 4], f[i * 4 + 1], f[i * 4 + 2], f[i * 4 + 3], dy, T());
      }
      wgmma_commit();
      wgmma_wait<1>();
      settle(before);
      leave(previous);
      previous = stage;
      advance();
    };
    by_turns(steps, multiply);
    leave(previous);
    settle(acc);
    const long long results = static_cast<long long>(s.x) * s.y;
    if (splits > 1) store_tile<Neighbours, TURNED, BN>(shares + (static_cast<long long>(at.split) * s.batches + at.batch) * results, acc, staging, x0, end, s.x, at.y * BN, s.y);
    else store_tile<Neighbours, TURNED, BN>(c + at.batch * results, acc, staging, x0, end, s.x, at.y * BN, s.y);
  }
#endif
}
