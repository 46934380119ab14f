// Of the kernels in f32 whose blocks hold all of a short sum in shared memory (matmul_slab_f32.cu, convolution_slab.cu): a side turned on its way there, and the results of a thread.
#pragma once
#include "../common/mma.cuh"
#include "slab_task.h"

namespace slab {

constexpr int THREADS = opscope::cuda::slab_threads, WARPS = THREADS / 32, WARP_ROWS = opscope::cuda::slab_warp_rows, WARP_COLUMNS = opscope::cuda::slab_warp_columns;

// A side of ROWS rows whose k is contiguous: a thread has four rows at one of k at a time, neighbouring threads neighbours along k.
template <int ROWS>
struct TurnedSide {
  // Places of a round; 32 of k take one round.
  static constexpr int EACH = ROWS / 4 * 32 / THREADS, PITCH = opscope::cuda::slab_pitch(ROWS);
  struct Place {
    int group, k;
  };
  const float* from;
  int k, pitch, rows;
  Place next;
  __device__ __forceinline__ TurnedSide(const float* x, int all_k, int row, int rows_left) : from(x), k(all_k), pitch(row), rows(rows_left) {
    next.group = static_cast<int>(threadIdx.x) / k, next.k = static_cast<int>(threadIdx.x) - next.group * k;
  }
  __device__ __forceinline__ void advance(Place& p, int down, int across) const {
    p.group += down, p.k += across;
    if (p.k >= k) p.k -= k, p.group++;
  }
  __device__ __forceinline__ void load(float (&v)[EACH][4], int down, int across) const {
    Place p = next;
#pragma unroll
    for (int i = 0; i < EACH; i++, advance(p, down, across))
#pragma unroll
      for (int j = 0; j < 4; j++) v[i][j] = p.group * 4 + j < rows ? from[(p.group * 4 + j) * pitch + p.k] : 0.0f;
  }
  __device__ __forceinline__ void store(const float (&v)[EACH][4], float* to, int down, int across) {
#pragma unroll
    for (int i = 0; i < EACH; i++, advance(next, down, across))
      if (next.group < ROWS / 4) *reinterpret_cast<float4*>(to + next.k * PITCH + next.group * 4) = make_float4(v[i][0], v[i][1], v[i][2], v[i][3]);
  }
};

// Both sides whose k is contiguous, 32 of k at a time; `pitch`: elements from a row to the next.
template <int BM, int BN, bool A, bool B>
__device__ __forceinline__ void turn(const float* a, const float* b, float* to_a, float* to_b, int k, int pitch, int rows, int columns) {
  const int down = THREADS / k, across = THREADS - down * k;
  TurnedSide<BM> left(a, k, pitch, rows);
  TurnedSide<BN> right(b, k, pitch, columns);
  for (int done = 0; done < k; done += 32) {
    float u[TurnedSide<BM>::EACH][4], v[TurnedSide<BN>::EACH][4];
    if (A) left.load(u, down, across);
    if (B) right.load(v, down, across);
    if (A) left.store(u, to_a, down, across);
    if (B) right.store(v, to_b, down, across);
  }
}

// The results of a thread in a tile of BM x BN: 8 x 8 of the 32 x 64 of its warp, in four parts.
template <int BM, int BN>
struct Results {
  static constexpr int ACROSS = BN / WARP_COLUMNS, PITCH_A = opscope::cuda::slab_pitch(BM), PITCH_B = opscope::cuda::slab_pitch(BN);
  static_assert(BM / WARP_ROWS * ACROSS == WARPS);
  // Neighbouring lanes read the same of one side, neighbours but one the same of the other: half a warp is one pass of a wide load.
  int row0, column0, gx, gy;
  float sum[8][8];
  __device__ __forceinline__ Results() : sum{} {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    row0 = warp / ACROSS * WARP_ROWS, column0 = warp % ACROSS * WARP_COLUMNS;
    gx = (lane & 1) | (lane >> 2 & 1) << 1 | lane >> 4 << 2, gy = (lane >> 1 & 1) | (lane >> 3 & 1) << 1;
  }
  __device__ __forceinline__ bool works(int rows, int columns) const { return row0 < rows && column0 < columns; }
  __device__ __forceinline__ int row_of(int i) const { return row0 + gy * 4 + i % 4 + i / 4 * (WARP_ROWS / 2); }
  __device__ __forceinline__ int column_of(int j) const { return column0 + gx * 4 + j * (WARP_COLUMNS / 2); }  // of a vector
  __device__ __forceinline__ float4 vector(int i, int j) const { return make_float4(sum[i][j * 4], sum[i][j * 4 + 1], sum[i][j * 4 + 2], sum[i][j * 4 + 3]); }

  // Sides as [k][row].
  __device__ __forceinline__ void add(const float* side_a, const float* side_b, int k) {
    const float *x = side_a + row0 + gy * 4, *y = side_b + column0 + gx * 4;
#pragma unroll 4
    for (int l = 0; l < k; l++, x += PITCH_A, y += PITCH_B) {
      const float4 a0 = *reinterpret_cast<const float4*>(x), a1 = *reinterpret_cast<const float4*>(x + WARP_ROWS / 2);
      const float4 b0 = *reinterpret_cast<const float4*>(y), b1 = *reinterpret_cast<const float4*>(y + WARP_COLUMNS / 2);
      const float u[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w}, v[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) {
          const int column = i % 2 ? 7 - j : j;  // there and back: the element at the turn is at hand
          sum[i][column] = fmaf(u[i], v[column], sum[i][column]);
        }
    }
  }

  // To shared memory, as rows of PITCH_B elements.
  __device__ __forceinline__ void put(float* to) const {
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
      for (int j = 0; j < 2; j++) *reinterpret_cast<float4*>(to + row_of(i) * PITCH_B + column_of(j)) = vector(i, j);
  }
};

}  // namespace slab
