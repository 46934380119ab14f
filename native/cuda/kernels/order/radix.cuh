// Radix sort of long rows, eight bits of the order at a time, from the lowest; each pass keeps what has the same digit in its order
// (Satish, Harris & Garland 2009). A pass is two launches over tiles of a row: digits are counted, and the last tile of a row turns counts into
// places; then each tile moves its keys there, by way of shared memory, so that keys of a digit are written side by side.
#pragma once
#include "../common/reduce.cuh"
#include "digit.cuh"
#include "keys.cuh"

namespace radix {

constexpr int THREADS = 256, WARPS = THREADS / 32, OWN = 16, TILE = THREADS * OWN, DIGITS = 256;
static_assert(THREADS == DIGITS, "a thread for each digit");

// Where places come from: counts [rows, tiles, DIGITS], of a tile and, once a row is complete, of the tiles before it; starts [rows, DIGITS];
// tiles of a row that have been counted.
struct Places {
  unsigned *counts, *starts, *arrived;
};

__device__ __forceinline__ unsigned digit_of(Key key, int shift) { return static_cast<unsigned>(key >> shift) & (DIGITS - 1); }

// The sum of `value` over the threads before this one. `scratch` holds WARPS values.
__device__ __forceinline__ unsigned sum_before(unsigned value, unsigned* scratch) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned sum = value;
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) {
    const unsigned below = __shfl_up_sync(0xffffffffu, sum, offset);
    if (lane >= offset) sum += below;
  }
  if (lane == 31) scratch[warp] = sum;
  __syncthreads();
  unsigned before = sum - value;
  for (int w = 0; w < warp; w++) before += scratch[w];
  return before;
}

// grid: rows * tiles. at(row, i): the key of an element.
template <class At>
__device__ __forceinline__ void count(const Places& places, long long cols, int tiles, int shift, At at) {
  __shared__ unsigned bins[DIGITS], scratch[WARPS];
  const long long row = blockIdx.x / tiles, tile = blockIdx.x % tiles, first = tile * TILE;
  const int n = static_cast<int>(min(static_cast<long long>(TILE), cols - first));
  bins[threadIdx.x] = 0;
  __syncthreads();
  if (n == TILE) {
#pragma unroll
    for (int j = 0; j < OWN; j++) atomicAdd(&bins[digit_of(at(row, first + j * THREADS + threadIdx.x), shift)], 1u);
  } else {
    for (int i = threadIdx.x; i < n; i += THREADS) atomicAdd(&bins[digit_of(at(row, first + i), shift)], 1u);
  }
  __syncthreads();
  unsigned* const of_row = places.counts + row * tiles * DIGITS + threadIdx.x;
  of_row[tile * DIGITS] = bins[threadIdx.x];
  if (!last_to_arrive(&places.arrived[row], tiles)) return;
  unsigned total = 0;
  int t = 0;
  constexpr int U = 16;
  for (; t + U <= tiles; t += U) {
    unsigned own[U];
#pragma unroll
    for (int u = 0; u < U; u++) own[u] = of_row[static_cast<long long>(t + u) * DIGITS];
#pragma unroll
    for (int u = 0; u < U; u++) {
      of_row[static_cast<long long>(t + u) * DIGITS] = total;
      total += own[u];
    }
  }
  for (; t < tiles; t++) {
    const unsigned own = of_row[static_cast<long long>(t) * DIGITS];
    of_row[static_cast<long long>(t) * DIGITS] = total;
    total += own;
  }
  places.starts[row * DIGITS + threadIdx.x] = sum_before(total, scratch);
}

// grid: rows * tiles. put(row, place, key) for every key of the row.
template <class At, class Put>
__device__ __forceinline__ void scatter(const Places& places, long long cols, int tiles, int shift, At at, Put put) {
  __shared__ Key sorted[TILE];
  __shared__ unsigned ranks[WARPS][DIGITS], starts[DIGITS], scratch[WARPS];
  const long long row = blockIdx.x / tiles, tile = blockIdx.x % tiles, first = tile * TILE;
  const int n = static_cast<int>(min(static_cast<long long>(TILE), cols - first)), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned start = places.starts[row * DIGITS + threadIdx.x] + places.counts[(row * tiles + tile) * DIGITS + threadIdx.x];
  Key key[OWN];
  unsigned rank[OWN / 2] = {};  // two of 16 bits each
#pragma unroll
  for (int j = 0; j < OWN; j++) {
    const int i = (warp * OWN + j) * 32 + lane;
    key[j] = i < n ? at(row, first + i) : LAST;
  }
#pragma unroll
  for (int w = 0; w < WARPS; w++) ranks[w][threadIdx.x] = 0;
  __syncthreads();
  // Keys of the same digit before this one in the warp's keys. What lies after the end of the row comes after all others of its digit.
#pragma unroll
  for (int j = 0; j < OWN; j++) {
    const unsigned digit = digit_of(key[j], shift), same = same_digit(digit), before = ranks[warp][digit], below = same & ((1u << lane) - 1);
    rank[j / 2] |= (before + __popc(below)) << j % 2 * 16;
    __syncwarp();
    if (below == 0) ranks[warp][digit] = before + __popc(same);
    __syncwarp();
  }
  __syncthreads();
  unsigned total = 0;
#pragma unroll
  for (int w = 0; w < WARPS; w++) {
    const unsigned own = ranks[w][threadIdx.x];
    ranks[w][threadIdx.x] = total;
    total += own;
  }
  const unsigned local = sum_before(total, scratch);
#pragma unroll
  for (int w = 0; w < WARPS; w++) ranks[w][threadIdx.x] += local;
  starts[threadIdx.x] = start - local;
  __syncthreads();
#pragma unroll
  for (int j = 0; j < OWN; j++) sorted[ranks[warp][digit_of(key[j], shift)] + (rank[j / 2] >> j % 2 * 16 & 0xffffu)] = key[j];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += THREADS) {
    const Key own = sorted[i];
    put(row, static_cast<long long>(starts[digit_of(own, shift)] + i), own);
  }
}

}  // namespace radix
