// Results of 16-bit products by warp groups, stored with what follows them (linear.h): of rows that start on 16 bytes.
#pragma once
#include "../elementwise/functions.cuh"
#include "linear.h"
#include "wgmma_store.cuh"

#ifdef OPSCOPE_WGMMA

// Where the results of a row lie in c, or in each view.
template <LinearKind KIND>
__device__ __forceinline__ long long linear_row(const LinearStore& e, int row, int columns) {
  if constexpr (KIND != LinearKind::heads) return static_cast<long long>(row) * columns;
  const int batch = divided(row, e.by_seq), token = row - batch * e.seq;
  return (static_cast<long long>(batch) * e.heads * e.seq + token) * e.width;
}
// The result in `column` of the row that begins at `row`.
template <LinearKind KIND, class T>
__device__ __forceinline__ T* linear_place(T* c, const LinearStore& e, long long row, int column) {
  if constexpr (KIND != LinearKind::heads) return c + row + column;
  const int head = divided(column, e.by_width), view = divided(head, e.by_heads);
  void* base = view == 0 ? e.views[0] : view == 1 ? e.views[1] : e.views[2];
  return static_cast<T*>(base) + row + static_cast<long long>(head - view * e.heads) * e.seq * e.width + (column - head * e.width);
}

// PIECES times 32 columns from column y0 on, of this thread's rows x and x + step before `end`. What is read of `residual` is on its way together.
template <class Order, LinearKind KIND, int PIECES, class T>
__device__ __forceinline__ void linear_columns(T* c, const LinearStore& e, const float* acc, int x, int end, int y0, int columns, int lane) {
  const int own = y0 + lane % 4 * 8;
  uint4 added[PIECES][2];
  if constexpr (KIND == LinearKind::residual) {
#pragma unroll
    for (int p = 0; p < PIECES; p++)
#pragma unroll
      for (int half = 0; half < 2; half++) {
        const int row = x + half * Order::step, column = own + p * 32;
        added[p][half] = row < end && column < columns ? load16(static_cast<const T*>(e.residual) + static_cast<long long>(row) * columns + column) : make_uint4(0, 0, 0, 0);
      }
  }
  long long rows[2];
#pragma unroll
  for (int half = 0; half < 2; half++) rows[half] = linear_row<KIND>(e, x + half * Order::step, columns);
#pragma unroll
  for (int p = 0; p < PIECES; p++) {
    if (y0 + p * 32 >= columns) break;
    float bias[4][2];
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const int column = y0 + p * 32 + j * 8 + lane % 4 * 2;
      const uint32_t pair = column < columns ? *reinterpret_cast<const uint32_t*>(static_cast<const T*>(e.bias) + column) : 0;
      unpack_pair(pair, bias[j][0], bias[j][1], T());
    }
    const int column = own + p * 32;
#pragma unroll
    for (int half = 0; half < 2; half++) {
      uint32_t w[4];
      if constexpr (KIND == LinearKind::residual) {
        w[0] = added[p][half].x, w[1] = added[p][half].y, w[2] = added[p][half].z, w[3] = added[p][half].w;
        turn_quad(w, lane);
      }
#pragma unroll
      for (int j = 0; j < 4; j++) {
        float low = acc[p * 16 + j * 4 + half * 2] + bias[j][0], high = acc[p * 16 + j * 4 + half * 2 + 1] + bias[j][1];
        if constexpr (KIND == LinearKind::gelu) low = gelu<T>(low), high = gelu<T>(high);
        if constexpr (KIND == LinearKind::residual) {
          float more[2];
          unpack_pair(w[j], more[0], more[1], T());
          low += more[0], high += more[1];
        }
        w[j] = pack_pair(low, high, T());
      }
      turn_quad(w, lane);
      if (x + half * Order::step < end && column < columns) store16(linear_place<KIND>(c, e, rows[half], column), make_uint4(w[0], w[1], w[2], w[3]));
    }
  }
}

// A tile, as store_tile.
template <class Order, LinearKind KIND, int BN, class T>
__device__ __forceinline__ void linear_tile(T* c, const LinearStore& e, const float (&acc)[BN / 2], int x0, int end, int y0, int columns) {
  const int lane = threadIdx.x % 32, w = static_cast<int>(threadIdx.x) / 32 - 4;
  constexpr int ALL = BN / 32, PIECES = ALL % 4 == 0 ? 4 : ALL % 3 == 0 ? 3 : 2;
#pragma unroll
  for (int p = 0; p < ALL && y0 + p * 32 < columns; p += PIECES) linear_columns<Order, KIND, PIECES>(c, e, acc + p * 16, x0 + Order::row(w, lane), end, y0 + p * 32, columns, lane);
}

#endif
