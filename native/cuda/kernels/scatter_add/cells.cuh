// What a thread of scatter_rows.cu and scatter_look.cu has of a row.
#pragma once
#include "../common/vec.cuh"

// Elements that a thread has of a row: BYTES side by side, 16 or 8; two pairs of 16 bits that lie `apart` where that is 4; four elements that lie `apart` where it is 0.
template <int BYTES, class T>
struct Cells {
  static constexpr int N = BYTES >= 8 ? BYTES / static_cast<int>(sizeof(T)) : 4;
  uint4 vector;
  T of[4];
  __device__ __forceinline__ void load(const T* row, int c, int apart, int dim) {
    if constexpr (BYTES == 16) {
      vector = load16(row + c);
    } else if constexpr (BYTES == 8) {
      const uint2 half = *reinterpret_cast<const uint2*>(row + c);
      vector.x = half.x, vector.y = half.y;
    } else if constexpr (BYTES == 4) {
      if (c < dim) vector.x = *reinterpret_cast<const uint32_t*>(row + c);
      if (c + apart * 2 < dim) vector.y = *reinterpret_cast<const uint32_t*>(row + c + apart * 2);
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
      if constexpr (BYTES == 16) {
        store16(row + c, packed);
      } else if constexpr (BYTES == 4) {
        if (c < dim) *reinterpret_cast<uint32_t*>(row + c) = packed.x;
        if (c + apart * 2 < dim) *reinterpret_cast<uint32_t*>(row + c + apart * 2) = packed.y;
      } else *reinterpret_cast<uint2*>(row + c) = make_uint2(packed.x, packed.y);
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
__device__ __forceinline__ int column_of(int lane) { return BYTES >= 8 ? lane * Cells<BYTES, T>::N : BYTES == 4 ? lane * 2 : lane; }
