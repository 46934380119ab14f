// What a thread of scatter_rows.cu and scatter_look.cu has of a row.
#pragma once
#include "../common/vec.cuh"

// Elements that a thread has of a row: BYTES side by side, 16 or 8, or where that is 0 four that lie `apart`.
template <int BYTES, class T>
struct Cells {
  static constexpr int N = BYTES > 0 ? BYTES / static_cast<int>(sizeof(T)) : 4;
  uint4 vector;
  T of[4];
  __device__ __forceinline__ void load(const T* row, int c, int apart, int dim) {
    if constexpr (BYTES == 16) {
      vector = load16(row + c);
    } else if constexpr (BYTES == 8) {
      const uint2 half = *reinterpret_cast<const uint2*>(row + c);
      vector.x = half.x, vector.y = half.y;
    } else {
#pragma unroll
      for (int j = 0; j < 4; j++)
        if (c + j * apart < dim) of[j] = row[c + j * apart];
    }
  }
  __device__ __forceinline__ void add_to(float (&sum)[N]) const {
    if constexpr (BYTES > 0) {
      float f[LANES<T>];
      unpack<T>(vector, f);
#pragma unroll
      for (int j = 0; j < N; j++) sum[j] += f[j];
    } else {
#pragma unroll
      for (int j = 0; j < 4; j++) sum[j] += to_float(of[j]);
    }
  }
  // row = these + sum
  __device__ __forceinline__ void store(T* row, int c, int apart, int dim, const float (&sum)[N]) const {
    if constexpr (BYTES > 0) {
      float f[LANES<T>] = {}, all[N] = {};
      add_to(all);
#pragma unroll
      for (int j = 0; j < N; j++) f[j] = all[j] + sum[j];
      const uint4 packed = pack<T>(f);
      if constexpr (BYTES == 16) store16(row + c, packed);
      else *reinterpret_cast<uint2*>(row + c) = make_uint2(packed.x, packed.y);
    } else {
#pragma unroll
      for (int j = 0; j < 4; j++)
        if (c + j * apart < dim) row[c + j * apart] = from_float<T>(to_float(of[j]) + sum[j]);
    }
  }
};
// Columns of `lanes` threads, and the first of thread `lane`.
template <int BYTES, class T>
__device__ __forceinline__ int columns_of(int lanes) { return lanes * Cells<BYTES, T>::N; }
template <int BYTES, class T>
__device__ __forceinline__ int column_of(int lane) { return BYTES > 0 ? lane * Cells<BYTES, T>::N : lane; }
