// A row of few elements in the registers of lanes of a warp, or of a block (rows/few.h).
#pragma once
#include "../common/reduce.cuh"
#include "../common/vec.cuh"
#include "few.h"

using opscope::cuda::few_each;
using opscope::cuda::FewRows;

// Lanes of a row, as LOG2: 1 << LOG2 of a warp; or those of the block; or as many of a warp as an argument says, which takes more instructions.
constexpr int block_has_row = -1, lanes_by_argument = -2;

// A row, `few_each` elements of it for each of the threads that share it.
template <int LOG2>
struct Part {
  static constexpr int E = few_each;
  static constexpr bool BLOCK = LOG2 == block_has_row;
  int row, first, step, cols, log2;
  bool there;

  __device__ __forceinline__ explicit Part(const FewRows& a) : cols(a.cols), log2(LOG2 >= 0 ? LOG2 : a.log2) {
    if (BLOCK) {
      row = static_cast<int>(blockIdx.x), first = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x), there = true;
    } else {
      const int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
      first = thread & ((1 << log2) - 1), step = 1 << log2, row = thread >> log2, there = row < a.rows;
      row = min(row, a.rows - 1);  // for what lanes of a warp exchange
    }
  }
  __device__ __forceinline__ int column(int e) const { return first + e * step; }
  __device__ __forceinline__ bool inside(int e) const { return column(e) < cols; }
  template <class T>
  __device__ __forceinline__ void read(unsigned long long from, int at, T (&v)[E]) const {
    const T* x = reinterpret_cast<const T*>(from) + at;
#pragma unroll
    for (int e = 0; e < E; e++) v[e] = inside(e) ? x[column(e)] : T(0.0f);
  }
  template <class T>
  __device__ __forceinline__ void write(unsigned long long to, const float (&v)[E]) const {
    T* out = reinterpret_cast<T*>(to) + row * cols;
    if (!there) return;
#pragma unroll
    for (int e = 0; e < E; e++)
      if (inside(e)) out[column(e)] = from_float<T>(v[e]);
  }
  // Over the threads of the row. A block that joins twice has scratch of its own for each.
  template <class Op>
  __device__ __forceinline__ float join(float v, float identity, float* scratch, Op op) const {
    if constexpr (BLOCK) {
      return block_reduce(v, identity, scratch, op);
    } else {
#pragma unroll
      for (int k = 4; k >= 0; k--)
        if (k < log2) v = op(v, __shfl_xor_sync(0xffffffffu, v, 1 << k));
      return v;
    }
  }
};

template <class T, int E>
__device__ __forceinline__ void widened(const T (&from)[E], float (&to)[E]) {
#pragma unroll
  for (int e = 0; e < E; e++) to[e] = to_float(from[e]);
}

struct Normal {
  float mean, rstd;
};

// x to (x - mean) * rstd over the row, `over` being 1 / cols; elements outside it are not looked at.
template <int LOG2, int E>
__device__ __forceinline__ Normal normalise(const Part<LOG2>& p, float (&v)[E], float over, float eps) {
  __shared__ float scratch[64];
  float sum = 0, squares = 0;
#pragma unroll
  for (int e = 0; e < E; e++) sum += v[e];
  const float mean = p.join(sum, 0.0f, scratch, AddOp()) * over;
#pragma unroll
  for (int e = 0; e < E; e++) {
    v[e] -= mean;
    if (p.inside(e)) squares = fmaf(v[e], v[e], squares);
  }
  const float scale = rsqrtf(fmaf(p.join(squares, 0.0f, scratch + 32, AddOp()), over, eps));
#pragma unroll
  for (int e = 0; e < E; e++) v[e] *= scale;
  return {mean, scale};
}
