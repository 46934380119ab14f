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

// What is added to PIECES times 32 columns from column y0 on, of this thread's rows x and x + step before `end`. A tile reads it before its products, so that it is there when they are.
template <class Order, LinearKind KIND, int PIECES, class T>
struct LinearAdded {
  uint4 vectors[KIND == LinearKind::residual ? PIECES : 1][2];
  __device__ __forceinline__ void load(const LinearStore& e, int x, int end, int y0, int columns, int lane) {
    if constexpr (KIND == LinearKind::residual) {
#pragma unroll
      for (int p = 0; p < PIECES; p++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
          const int row = x + half * Order::step, column = y0 + p * 32 + lane % 4 * 8;
          vectors[p][half] = row < end && column < columns ? load16(static_cast<const T*>(e.residual) + static_cast<long long>(row) * columns + column) : make_uint4(0, 0, 0, 0);
        }
    }
  }
};

// The biases of a tile's BN columns, in shared memory that a warp group has of its own: fetched before the tile's products, so that the store does not wait for memory. Two sides by turns: who
// fetches one has passed the barrier after which all have read it. `staging`: 1 KiB for each group.
template <int BN, class T>
struct LinearBias {
  uint32_t to;
  int thread;
  static constexpr int SIDE = 512;
  static_assert(BN * 2 <= SIDE);

  __device__ __forceinline__ LinearBias(uint32_t staging, int group) : to(staging + group * 2 * SIDE), thread(threadIdx.x % 128) {}
  __device__ __forceinline__ void fetch(const LinearStore& e, int y0, int columns) {
    to ^= SIDE;
    if (const int column = y0 + thread * 2; thread * 2 < BN) put_shared(to + thread * 4, column < columns ? *reinterpret_cast<const uint32_t*>(static_cast<const T*>(e.bias) + column) : 0u);
  }
  // Those of this thread's two columns from `column` of the tile on.
  __device__ __forceinline__ void get(int column, float& low, float& high) const { unpack_pair(get_shared(to + column * 2), low, high, T()); }
};

// Stores these columns of a tile, `tile_column` its first.
template <class Order, LinearKind KIND, int PIECES, int BN, class T>
__device__ __forceinline__ void linear_columns(T* c, const LinearStore& e, const float* acc, const LinearAdded<Order, KIND, PIECES, T>& added, const LinearBias<BN, T>& biases, int tile_column, int x, int end, int y0,
                                               int columns, int lane) {
  const int own = y0 + lane % 4 * 8;
  long long rows[2];
#pragma unroll
  for (int half = 0; half < 2; half++) rows[half] = linear_row<KIND>(e, x + half * Order::step, columns);
#pragma unroll
  for (int p = 0; p < PIECES; p++) {
    if (y0 + p * 32 >= columns) break;
    float bias[4][2];
#pragma unroll
    for (int j = 0; j < 4; j++) biases.get(tile_column + p * 32 + j * 8 + lane % 4 * 2, bias[j][0], bias[j][1]);
    const int column = own + p * 32;
#pragma unroll
    for (int half = 0; half < 2; half++) {
      uint32_t w[4];
      if constexpr (KIND == LinearKind::residual) {
        const uint4& v = added.vectors[p][half];
        w[0] = v.x, w[1] = v.y, w[2] = v.z, w[3] = v.w;
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

#endif
