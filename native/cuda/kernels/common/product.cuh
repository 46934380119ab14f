// Products of tiles on tensor cores by mma.sync: operands in shared memory, filled stages ahead, and what a warp makes of them.
#pragma once
#include "mma.cuh"

constexpr int ROW_BYTES = 64;  // of K in one stage

// One operand's tile in shared memory: MN rows (or columns) by 64 bytes of K. KMAJOR: K is contiguous in memory.
template <class T, int MN, bool KMAJOR>
struct Operand {
  static constexpr int BK = ROW_BYTES / sizeof(T);
  static constexpr int L = 16 / sizeof(T);
  static constexpr int BYTES = MN * ROW_BYTES;
  static constexpr int CHUNKS_PER_ROW = KMAJOR ? 4 : MN / L;

  // Byte offset of a 16-byte chunk; the exclusive or spreads the rows that one access touches over all banks.
  static __device__ __forceinline__ int offset(int row, int chunk) {
    int flip;
    if constexpr (KMAJOR)
      flip = (row >> 1) & 3;
    else if constexpr (sizeof(T) == 2)
      flip = row & 7;
    else
      flip = (row & 3) << 1;
    return row * (CHUNKS_PER_ROW * 16) + (chunk ^ flip) * 16;
  }

  // Fills the tile a stage of K at a time, with THREADS threads: asynchronously where rows start on 16 or on 4 bytes, else through registers, from
  // `begin` to `finish`, so that a product runs while the loads are on their way.
  template <int THREADS>
  struct Loader {
    static constexpr int EACH = BYTES / 16 / THREADS;
    // A chunk as it was read: for 16 bits the words it lies in, which are shifted only when it is stored, so that nothing waits for them before.
    struct Chunk {
      uint32_t words[sizeof(T) == 2 ? 5 : 4];
      int valid;  // elements
      bool odd;   // starts in the middle of a word
    };
    struct Held {
      Chunk part[sizeof(T) == 4 ? 1 : EACH];
    };
    const T* base;
    long long ld;  // elements from one row to the next
    int mn0, mn, first, k;  // the tile's first row of `mn`; the first stage, and the end of K
    int grain;  // bytes on which every row starts: 16, 4 or fewer

    __device__ __forceinline__ Loader(const T* from, long long pitch, int tile, int rows, int stage, int end) : base(from), ld(pitch), mn0(tile), mn(rows), first(stage), k(end) {
      const long long bytes = pitch * static_cast<long long>(sizeof(T));
      grain = bytes % 16 == 0 ? 16 : bytes % 4 == 0 ? 4 : 1;
    }

    __device__ __forceinline__ void begin(char* shared, int step, Held& held) const {
      const int k0 = (first + step) * BK;
#pragma unroll
      for (int c = 0; c < EACH; c++) {
        const int id = c * THREADS + threadIdx.x;
        const int row = id / CHUNKS_PER_ROW, chunk = id % CHUNKS_PER_ROW;
        const int outer = (KMAJOR ? mn0 : k0) + row, inner = (KMAJOR ? k0 : mn0) + chunk * L;
        const int outer_end = KMAJOR ? mn : k, inner_end = KMAJOR ? k : mn;
        const int valid = outer < outer_end ? min(L, max(0, inner_end - inner)) : 0;
        const T* from = valid > 0 ? base + outer * ld + inner : base;
        if (grain == 16) {
          copy_async_16(shared_address(shared + offset(row, chunk)), from, valid * static_cast<int>(sizeof(T)));
        } else if (sizeof(T) == 4 || grain == 4) {
#pragma unroll
          for (int w = 0; w < 4; w++) {
            const int bytes = min(4, max(0, valid * static_cast<int>(sizeof(T)) - 4 * w));
            copy_async_4(shared_address(shared + offset(row, chunk) + 4 * w), bytes > 0 ? reinterpret_cast<const char*>(from) + 4 * w : reinterpret_cast<const char*>(base), bytes);
          }
        } else if constexpr (sizeof(T) == 2) {
          Chunk& part = held.part[c];
          part.valid = valid;
          part.odd = reinterpret_cast<unsigned long long>(from) & 2;
          const uint32_t* words = reinterpret_cast<const uint32_t*>(reinterpret_cast<const char*>(from) - (part.odd ? 2 : 0));
          const int count = valid > 0 ? (valid + part.odd + 1) / 2 : 0;
#pragma unroll
          for (int j = 0; j < 5; j++) part.words[j] = j < count ? words[j] : 0;
        } else if constexpr (sizeof(T) == 1) {
          T part[L];
#pragma unroll
          for (int j = 0; j < L; j++) part[j] = j < valid ? from[j] : T{};
          memcpy(held.part[c].words, part, 16);
        }
      }
    }

    __device__ __forceinline__ void finish(char* shared, const Held& held) const {
      if constexpr (sizeof(T) < 4) {
        if (grain >= 4) return;
#pragma unroll
        for (int c = 0; c < EACH; c++) {
          const int id = c * THREADS + threadIdx.x;
          const Chunk& part = held.part[c];
          uint32_t out[4];
#pragma unroll
          for (int j = 0; j < 4; j++) {
            out[j] = part.words[j];
            if constexpr (sizeof(T) == 2) {
              if (part.odd) out[j] = __funnelshift_r(part.words[j], part.words[j + 1], 16);
              if (2 * j + 1 >= part.valid) out[j] = 2 * j < part.valid ? out[j] & 0xffff : 0;
            }
          }
          *reinterpret_cast<uint4*>(shared + offset(id / CHUNKS_PER_ROW, id % CHUNKS_PER_ROW)) = make_uint4(out[0], out[1], out[2], out[3]);
        }
      }
    }
  };

  // Fragments of 16 rows by 32 bytes of K at (mn, byte offset 32 * step of K). Order of the four 8 x 16-byte parts:
  // A: (low mn, low k), (high mn, low k), (low, high), (high, high); B: mn and k swapped.
  template <bool IS_A>
  static __device__ __forceinline__ void fragment(uint32_t (&r)[4], const char* shared, int mn, int step, int lane) {
    const int part = lane >> 3, high_mn = IS_A ? part & 1 : part >> 1, high_k = IS_A ? part >> 1 : part & 1;
    if constexpr (KMAJOR) {
      ldmatrix(r, shared_address(shared + offset(mn + high_mn * 8 + (lane & 7), step * 2 + high_k)));
    } else if constexpr (sizeof(T) == 2) {
      ldmatrix_trans(r, shared_address(shared + offset(step * 16 + high_k * 8 + (lane & 7), mn / 8 + high_mn)));
    } else {
      static_assert(sizeof(T) == 4);
      // ldmatrix cannot transpose 32-bit elements.
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int row = step * 8 + (lane & 3) + (IS_A ? i >> 1 : i & 1) * 4, column = mn + (lane >> 2) + (IS_A ? i & 1 : i >> 1) * 8;
        r[i] = *reinterpret_cast<const uint32_t*>(shared + offset(row, column / 4) + column % 4 * 4);
      }
    }
    if constexpr (sizeof(T) == 4) {
#pragma unroll
      for (int i = 0; i < 4; i++) r[i] = round_tf32(r[i]);
    }
  }
};

template <class T>
__device__ __forceinline__ void store_pair(T* c, float x, float y, bool pair, bool both) {
  if (pair && both) {
    if constexpr (sizeof(T) == 4)
      *reinterpret_cast<float2*>(c) = make_float2(x, y);
    else
      *reinterpret_cast<uint32_t*>(c) = pack_pair(x, y, T());
  } else {
    c[0] = from_float<T>(x);
    if (both) c[1] = from_float<T>(y);
  }
}

// What WM x WN warps sum of a tile BM x BN, each (BM / WM) x (BN / WN).
template <class T, int BM, int BN, int WM, int WN>
struct WarpTile {
  using Sum = ProductSum<T>;
  static constexpr int MT = BM / WM / 16, NT = BN / WN / 8;
  // Small tiles do little per step, so more steps must be on their way to hide the latency of memory.
  static constexpr int STAGES = BM == 64 ? 8 : 4;
  Sum sums[MT][NT][4] = {};

  static __device__ __forceinline__ int row0() { return static_cast<int>(threadIdx.x) / 32 % WM * (BM / WM); }
  static __device__ __forceinline__ int column0() { return static_cast<int>(threadIdx.x) / 32 / WM * (BN / WN); }

  // `load_a`, `load_b`: loaders of the operands (Operand::Loader): begin(shared memory, step, held), finish(shared memory, held). Of the first
  // stages, FIRST are on their way through registers at a time.
  template <class A, class B, int FIRST = 1, class LoadA, class LoadB>
  __device__ __forceinline__ void multiply(int steps, LoadA& load_a, LoadB& load_b) {
    extern __shared__ __align__(128) char shared[];
    char* shared_a = shared;
    char* shared_b = shared + STAGES * A::BYTES;
    const int lane = threadIdx.x % 32, wm = row0(), wn = column0();
    // Large tiles have no registers to hold what is loaded during a product.
    constexpr bool HOLDS = BM == 64;
    typename LoadA::Held held_a;
    typename LoadB::Held held_b;
    const auto finish = [&](int step) {
      if (step >= steps) return;
      load_a.finish(shared_a + step % STAGES * A::BYTES, held_a);
      load_b.finish(shared_b + step % STAGES * B::BYTES, held_b);
    };
    const auto begin = [&](int step) {
      if (step < steps) {
        load_a.begin(shared_a + step % STAGES * A::BYTES, step, held_a);
        load_b.begin(shared_b + step % STAGES * B::BYTES, step, held_b);
      }
      copy_commit();
    };
#pragma unroll
    for (int s = 0; s < STAGES - 1; s += FIRST) {
      typename LoadA::Held part_a[FIRST];
      typename LoadB::Held part_b[FIRST];
#pragma unroll
      for (int i = 0; i < FIRST && s + i < STAGES - 1; i++) {
        if (s + i < steps) {
          load_a.begin(shared_a + (s + i) * A::BYTES, s + i, part_a[i]);
          load_b.begin(shared_b + (s + i) * B::BYTES, s + i, part_b[i]);
        }
        copy_commit();
      }
#pragma unroll
      for (int i = 0; i < FIRST && s + i < STAGES - 1; i++)
        if (s + i < steps) {
          load_a.finish(shared_a + (s + i) * A::BYTES, part_a[i]);
          load_b.finish(shared_b + (s + i) * B::BYTES, part_b[i]);
        }
    }
    for (int step = 0; step < steps; step++) {
      copy_wait<STAGES - 2>();
      __syncthreads();
      begin(step + STAGES - 1);
      if (!HOLDS) finish(step + STAGES - 1);
      const char* pa = shared_a + step % STAGES * A::BYTES;
      const char* pb = shared_b + step % STAGES * B::BYTES;
#pragma unroll
      for (int s = 0; s < 2; s++) {
        uint32_t fa[MT][4], fb[NT / 2][4];
#pragma unroll
        for (int i = 0; i < MT; i++) A::template fragment<true>(fa[i], pa, wm + i * 16, s, lane);
#pragma unroll
        for (int j = 0; j < NT / 2; j++) B::template fragment<false>(fb[j], pb, wn + j * 16, s, lane);
#pragma unroll
        for (int i = 0; i < MT; i++)
#pragma unroll
          for (int j = 0; j < NT; j++) mma(sums[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1], T());
      }
      if (HOLDS) finish(step + STAGES - 1);
    }
  }

  // f(row, column, x, y) of the tile for neighbouring results of this thread: x at (row, column), y at (row, column + 1).
  template <class F>
  __device__ __forceinline__ void each_pair(F f) const {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < MT; i++)
#pragma unroll
      for (int j = 0; j < NT; j++)
#pragma unroll
        for (int half = 0; half < 2; half++) f(row0() + i * 16 + half * 8 + lane / 4, column0() + j * 8 + lane % 4 * 2, sums[i][j][half * 2], sums[i][j][half * 2 + 1]);
  }
};
