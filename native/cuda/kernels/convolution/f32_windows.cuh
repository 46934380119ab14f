// Windows as the right operand of f32 tiles (matmul/f32.cuh), gathered by threads: neighbours of a warp copy the same term of neighbouring outputs. What of a term all outputs share is
// computed once, for a stage at a time, by one warp.
#pragma once
#include "../matmul/f32_copies.cuh"
#include "windows.cuh"

#ifdef OPSCOPE_WGMMA

// Bytes from a window's begin, and the bit of the masks.
struct alignas(8) ByteOffset {
  unsigned bytes, bit;
};

// A thread has one output of the tile, and every LINES-th term of its window. Where the terms of the next stages lie is computed for one term by each thread, all at the same time.
template <int TILE, int THREADS, int PARTS, int STAGES, int STEP>
struct WindowCopies {
  static constexpr int LINES = THREADS / TILE, EACH = STEP / LINES, PITCH = TILE + COPIES_GAP, AHEAD = THREADS / STEP;  // AHEAD: stages of a round of terms
  static constexpr int HELD = EACH / PARTS;
  static_assert(AHEAD >= STAGES && HELD * PARTS == EACH);
  const ConvSizes& s;
  const ConvNarrow& c;
  ByteOffset* places;  // of two rounds
  const char* from;
  unsigned mask;  // of elements of the kernel that are inside of the input
  uint32_t to;
  int at, first, end;  // the stage that is filled; the first term of the share, and the one after its last
  ByteOffset held[HELD];  // of the part that is copied next: loads of shared memory between copies would wait for each other
  // `x`: the channels of the group in the first image.
  __device__ __forceinline__ WindowCopies(const float* x, const ConvSizes& sizes, const ConvNarrow& conv, ByteOffset* table, int column0, int k0, int end_k)
      : s(sizes), c(conv), places(table), at(0), first(k0), end(end_k) {
    const int thread = static_cast<int>(threadIdx.x), column = thread % TILE, output = min(column0 + column, c.columns - 1), image = c.by_plane.quotient(output);
    const Window window = window_at(s, c, output - image * c.plane);
    from = reinterpret_cast<const char*>(x + image * s.channels * c.in_plane + window.offset);
    mask = column0 + column < c.columns ? window.mask : 0;
    to = (thread / TILE * PITCH + column) * 4;
    write(0);
    __syncthreads();
    hold(0, 0);
  }
  __device__ __forceinline__ void hold(int stage, int part) {
    const ByteOffset* const of = places + stage % (2 * AHEAD) * STEP + threadIdx.x / TILE + part * (HELD * LINES);
#pragma unroll
    for (int e = 0; e < HELD; e++) held[e] = of[e * LINES];
  }
  __device__ __forceinline__ void write(int stage) {
    const int i = stage * STEP + static_cast<int>(threadIdx.x);
    const Place p = first + i < end ? place_of_term(s, c, first + i) : Place{0, 0};
    places[i % (2 * THREADS)] = {static_cast<unsigned>(p.offset) * 4, p.bit};
  }
  __device__ __forceinline__ void copy(uint32_t stage, int part) {
#pragma unroll
    for (int e = 0; e < HELD; e++) copy_async_4(stage + to + (part * HELD + e) * (LINES * PITCH * 4), from + held[e].bytes, mask & held[e].bit ? 4 : 0);
    hold(part < PARTS - 1 ? at : at + 1, part < PARTS - 1 ? part + 1 : 0);
  }
  // Before the first stage of a round is filled, all threads pass a barrier.
  __device__ __forceinline__ void next() {
    at++;
    if (at % AHEAD == AHEAD - 1) write(at + 1);
  }
};

// Where outputs lie: those of an image and filter follow each other.
struct OutputsOfImages {
  const ConvSizes& s;
  const ConvNarrow& c;
  int group;
  __device__ __forceinline__ bool wide() const { return c.plane % 4 == 0; }
  __device__ __forceinline__ long long row(int filter) const { return static_cast<long long>(filter) * c.plane; }
  __device__ __forceinline__ long long column(int output) const {
    const int image = c.by_plane.quotient(output);
    return (static_cast<long long>(image) * s.filters + static_cast<long long>(group) * c.filters) * c.plane + (output - image * c.plane);
  }
};

#endif

// Filters, and windows of the input.
struct WindowOperands {
  const float *x, *weight;
  const ConvSizes& s;
  const ConvNarrow& c;
#ifdef OPSCOPE_WGMMA
  static constexpr int GAP = COPIES_GAP;
  static constexpr bool WINDOWS = true;
  template <int BM, int BN, int STAGES, int THREADS, int PARTS, bool A_ROWS, bool B_ROWS, int STEP = BK>
  __device__ __forceinline__ auto ring(float* shared, const F32Product& p, int m0, int n0, int k0, int steps, int, int group) const {
    using Filters = TurnedCopies<BM, THREADS, PARTS, STEP>;
    using Windows = WindowCopies<BN, THREADS, PARTS, STAGES, STEP>;
    static_assert(!A_ROWS && !B_ROWS);
    __shared__ ByteOffset places[2 * THREADS];
    const int end_k = min(p.k, k0 + steps * STEP);
    return CopyRing<STAGES, (BM + BN + 2 * GAP) * STEP, (BM + GAP) * STEP, PARTS, Filters, Windows>(Filters(weight + static_cast<long long>(group) * p.m * p.k, p.m, p.k, m0, k0, end_k, false),
                                                                                           Windows(x + group * c.channels * c.in_plane, s, c, places, n0, k0, end_k), shared_address(shared));
  }
  __device__ __forceinline__ OutputsOfImages results(const F32Product&, int group) const { return {s, c, group}; }
#endif
};
