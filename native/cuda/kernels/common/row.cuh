// A row of a [rows, cols] tensor held in the registers of a block or a warp, 16 bytes at a time, whatever its alignment:
// the vectors cover the row from the 16-byte boundary at or before its start; elements of neighbouring rows in the first
// and last vector are replaced by a neutral value on loading and skipped on storing.
#pragma once
#include "reduce.cuh"
#include "vec.cuh"

template <class T>
struct RowSpan {
  static constexpr int L = LANES<T>;
  long long base;  // element index of the first vector
  int lead;        // elements of the first vector that belong to the row before
  int vectors;     // vectors that touch the row
  int cols;

  __device__ __forceinline__ RowSpan(long long row, int columns) : cols(columns) {
    const long long start = row * columns;
    lead = static_cast<int>(start % L);
    base = start - lead;
    vectors = (lead + columns + L - 1) / L;
  }
  // Column of lane j of vector i; outside [0, cols) in the ragged ends.
  __device__ __forceinline__ int column(int i, int j) const { return i * L + j - lead; }
  __device__ __forceinline__ bool inside(int i, int j) const { return static_cast<unsigned>(column(i, j)) < static_cast<unsigned>(cols); }
  __device__ __forceinline__ bool ragged(int i) const { return (i == 0 && lead != 0) || (i == vectors - 1 && (lead + cols) % L != 0); }
};

// V vectors per thread: vector u of thread t is number first + t + u * threads.
template <class T, int V>
struct RowPart {
  static constexpr int L = LANES<T>;
  uint4 v[V];

  __device__ __forceinline__ void load(const T* x, const RowSpan<T>& row, int first, int threads, float neutral) {
    float fill[L];
#pragma unroll
    for (int j = 0; j < L; j++) fill[j] = neutral;
    const uint4 blank = pack<T>(fill);
#pragma unroll
    for (int u = 0; u < V; u++) {
      const int i = first + u * threads;
      v[u] = i < row.vectors ? load16(x + row.base + static_cast<long long>(i) * L) : blank;
    }
#pragma unroll
    for (int u = 0; u < V; u++) {
      const int i = first + u * threads;
      if (row.ragged(i)) {
        float f[L];
        unpack<T>(v[u], f);
#pragma unroll
        for (int j = 0; j < L; j++)
          if (!row.inside(i, j)) f[j] = neutral;
        v[u] = pack<T>(f);
      }
    }
  }

  // Forgets what was derived from the vectors. Without it the compiler keeps the unpacked f32 values of one pass for the
  // next, which takes twice the registers of the row itself.
  __device__ __forceinline__ void stay_packed() {
    keep_packed(v);
  }

  // f(value, vector index, lane) for every element, those outside the row included.
  template <class F>
  __device__ __forceinline__ void each(int first, int threads, F f) const {
#pragma unroll
    for (int u = 0; u < V; u++) {
      float x[L];
      unpack<T>(v[u], x);
#pragma unroll
      for (int j = 0; j < L; j++) f(x[j], first + u * threads, j);
    }
  }
};

template <class T>
__device__ __forceinline__ void store_row(T* out, const RowSpan<T>& row, int i, const float (&f)[LANES<T>]) {
  T* p = out + row.base + static_cast<long long>(i) * LANES<T>;
  if (!row.ragged(i)) {
    store16(p, pack<T>(f));
  } else {
#pragma unroll
    for (int j = 0; j < LANES<T>; j++)
      if (row.inside(i, j)) p[j] = from_float<T>(f[j]);
  }
}

// Reduction over the threads that share a row: a warp, or the block. `scratch` as in block_reduce.
template <bool WARP, class Op>
__device__ __forceinline__ float row_reduce(float v, float identity, float* scratch, Op op) {
  if constexpr (WARP)
    return warp_reduce(v, op);
  else
    return block_reduce(v, identity, scratch, op);
}
