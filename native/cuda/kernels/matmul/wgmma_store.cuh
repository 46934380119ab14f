// Where the results of a product by warp groups go (matmul/wgmma.cuh): straight from registers where rows start on 16 bytes, through shared memory in whole rows
// where they do not, or to the block of a cluster that adds up shares of K.
#pragma once
#include "../common/cluster.cuh"
#include "../common/pieces.cuh"
#include "../common/turn.cuh"
#include "../common/wgmma_pair.cuh"
#include "wgmma.h"

#ifdef OPSCOPE_WGMMA

// Results of a thread: rows row(w, lane) and that + step of the tile, columns lane % 4 * 2 and the next of every 8; w: its warp among all that multiply. A warp's
// 16 rows have numbers: `local` of this thread's, `row_of` back.
struct FromShared {  // wgmma's own order
  static constexpr int step = 8;
  static __device__ __forceinline__ int row(int w, int lane) { return w * 16 + lane / 4; }
  static __device__ __forceinline__ int local(int lane, int half) { return lane / 4 + half * 8; }
  static __device__ __forceinline__ int row_of(int w, int local) { return w * 16 + local; }
  static __device__ __forceinline__ int lane_row(int local) { return local & 7; }
};
struct FromRegisters {  // neighbours in pairs; the 16-byte pieces of 128 bytes so that half a warp reads four rows of K from different banks
  static constexpr int step = 1;
  static __device__ __forceinline__ int piece(int w, int lane) { return w % 2 * 2 + (lane >> 4) + (lane >> 3 & 1) * 4; }
  static __device__ __forceinline__ int row(int w, int lane) { return w / 2 * 32 + piece(w, lane) * 4 + (lane >> 2 & 1) * 2; }
  static __device__ __forceinline__ int local(int lane, int half) { return lane / 4 * 2 + half; }
  static __device__ __forceinline__ int row_of(int w, int local) { return row(w, local / 2 * 4) + local % 2; }
  static __device__ __forceinline__ int lane_row(int local) { return local >> 1; }
};
template <bool REGISTERS>
struct OrderOf : FromShared {};
template <>
struct OrderOf<true> : FromRegisters {};

// 32 columns of a tile from column y0 on, of rows before `end`. TURNED: the result has Y's rows, else X's.
template <class Order, bool TURNED, class T>
__device__ __forceinline__ void store_columns(T* c, const float* acc, int x, int end, int rows, int y0, int columns, int lane) {
  const int pitch = TURNED ? rows : columns;
  const bool wide = pitch % (16 / sizeof(T)) == 0;
  if constexpr (TURNED) {
    static_assert(Order::step == 1 && sizeof(T) == 4);
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int i = 0; i < 2; i++) {
        const int y = y0 + j * 8 + lane % 4 * 2 + i;
        T* out = c + static_cast<long long>(y) * pitch + x;
        const float low = acc[j * 4 + i], high = acc[j * 4 + 2 + i];
        if (y >= columns || x >= end) continue;
        if (wide) {
          *reinterpret_cast<float2*>(out) = make_float2(low, high);
        } else {
          out[0] = from_float<T>(low);
          if (x + 1 < end) out[1] = from_float<T>(high);
        }
      }
  } else {
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int r = x + half * Order::step;
      T* out = c + static_cast<long long>(r) * pitch;
      if (!wide) {
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
          for (int i = 0; i < 2; i++) {
            const int column = y0 + j * 8 + lane % 4 * 2 + i;
            if (r < end && column < columns) out[column] = from_float<T>(acc[j * 4 + half * 2 + i]);
          }
      } else if constexpr (sizeof(T) == 4) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
          const int column = y0 + j * 8 + lane % 4 * 2;
          if (r < end && column < columns) *reinterpret_cast<float2*>(out + column) = make_float2(acc[j * 4 + half * 2], acc[j * 4 + half * 2 + 1]);
        }
      } else {
        uint32_t w[4];
#pragma unroll
        for (int i = 0; i < 4; i++) w[i] = pack_pair(acc[i * 4 + half * 2], acc[i * 4 + half * 2 + 1], T());
        turn_quad(w, lane);
        const int column = y0 + lane % 4 * 8;
        if (r < end && column < columns) *reinterpret_cast<uint4*>(out + column) = make_uint4(w[0], w[1], w[2], w[3]);
      }
    }
  }
}

__device__ __forceinline__ void put_shared(uint32_t to, float x, float y) { asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(x), "f"(y) : "memory"); }
__device__ __forceinline__ void put_shared(uint32_t to, uint32_t x) { asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(x) : "memory"); }

// Rows that do not start on 16 bytes, in 16 bits: 64 columns of a warp's 16 rows at a time in shared memory of its own, then in pieces that start on 16 bytes. A row keeps the last eight columns
// for the piece that the next ones complete.
template <class Order, int BN, class T>
__device__ __forceinline__ void store_rows_16(T* c, const float (&acc)[BN / 2], uint32_t own, int x0, int end, int y0, int columns, int w, int lane) {
  // An odd number of words between rows, so that pieces of neighbouring rows meet different banks.
  constexpr int PASSES = BN / 64, KEPT = PASSES > 1 ? 8 : 0, PITCH = wgmma_store_row(BN);
  const uint32_t first_word = own + KEPT * 2, kept = own + lane / 2 * PITCH + lane % 2 * 8;
  const int count = min(columns - y0, BN);
  // Of a row `local`, the piece that holds element `at` of the staged ones from `column` on.
  const auto store = [&](int local, int column, int at) {
    const int r = x0 + Order::row_of(w, local);
    T* row = c + static_cast<long long>(r) * columns + y0;
    const int behind = elements_behind(row), first = column + at - behind;
    if (r < end && first < count) store_piece(row, first, count, first_word + local * PITCH + (at - behind) * 2);
  };
#pragma unroll
  for (int p = 0; p < PASSES; p++) {
    __syncwarp();
    if (p > 0) {
      const uint32_t low = get_shared(kept + 128), high = get_shared(kept + 132);
      __syncwarp();
      put_shared(kept, low);
      put_shared(kept + 4, high);
    }
#pragma unroll
    for (int j = 0; j < 8; j++)
#pragma unroll
      for (int half = 0; half < 2; half++) {
        const float* f = acc + p * 32 + j * 4 + half * 2;
        put_shared(first_word + Order::local(lane, half) * PITCH + (j * 4 + lane % 4) * 4, pack_pair(f[0], f[1], T()));
      }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 4; i++) store(i * 4 + lane / 8, p * 64, lane % 8 * 8);
    if (p == PASSES - 1 || (p + 1) * 64 >= count) {
      // What is left of each row.
      if (lane < 16) store(lane, p * 64, 64);
      break;
    }
  }
}

// The same in 32 bits: 32 columns at a time.
template <class Order, int BN, class T>
__device__ __forceinline__ void store_rows_32(T* c, const float (&acc)[BN / 2], uint32_t own, int x0, int end, int y0, int columns, int w, int lane) {
  const auto place = [&](int local, int pair) { return own + local * 128 + (pair ^ (Order::lane_row(local) & 3) * 4) * 8; };
#pragma unroll
  for (int p = 0; p < BN / 32; p++) {
    if (y0 + p * 32 >= columns) break;
    __syncwarp();
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int half = 0; half < 2; half++) {
        const float* f = acc + p * 16 + j * 4 + half * 2;
        put_shared(place(Order::local(lane, half), j * 4 + lane % 4), f[0], f[1]);
      }
    __syncwarp();
    const int column = y0 + p * 32 + lane;
    uint32_t words[16];
#pragma unroll
    for (int l = 0; l < 16; l++) words[l] = get_shared(place(l, lane / 2) + lane % 2 * 4);
#pragma unroll
    for (int l = 0; l < 16; l++) {
      const int r = x0 + Order::row_of(w, l);
      if (r < end && column < columns) *reinterpret_cast<uint32_t*>(c + static_cast<long long>(r) * columns + column) = words[l];
    }
  }
}

// Turned, in 32 bits: 32 columns of the 64 rows of a warp group at a time in 8 KiB of its own.
template <class Order, int BN, class T>
__device__ __forceinline__ void store_turned_32(T* c, const float (&acc)[BN / 2], uint32_t own, int x0, int end, int rows, int y0, int columns, int w, int lane) {
  const auto place = [&](int y, int pair) { return own + y * 256 + (pair ^ (y >> 1 & 3) * 2) * 8; };
  const int group = w / 4, pair = (Order::row(w, lane) - group * 64) / 2, x = x0 + group * 64 + lane;
#pragma unroll
  for (int p = 0; p < BN / 32; p++) {
    if (y0 + p * 32 >= columns) break;
    turn_wait(2 + group, 128);
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int i = 0; i < 2; i++) put_shared(place(j * 8 + lane % 4 * 2 + i, pair), acc[p * 16 + j * 4 + i], acc[p * 16 + j * 4 + 2 + i]);
    turn_wait(2 + group, 128);
    uint32_t words[8][2];
#pragma unroll
    for (int l = 0; l < 8; l++)
#pragma unroll
      for (int half = 0; half < 2; half++) words[l][half] = get_shared(place(w % 4 * 8 + l, lane / 2 + half * 16) + lane % 2 * 4);
#pragma unroll
    for (int l = 0; l < 8; l++) {
      const int y = y0 + p * 32 + w % 4 * 8 + l;
      uint32_t* out = reinterpret_cast<uint32_t*>(c + static_cast<long long>(y) * rows + x);
      if (y >= columns) continue;
      if (x < end) out[0] = words[l][0];
      if (x + 32 < end) out[32] = words[l][1];
    }
  }
}

// Turned, in 16 bits: 32 columns of the 128 rows of both warp groups at a time, in pieces that start on 16 bytes.
template <class Order, int BN, class T>
__device__ __forceinline__ void store_turned_16(T* c, const float (&acc)[BN / 2], uint32_t staging, int x0, int end, int rows, int y0, int columns, int w, int lane) {
  // An odd number of words between columns, so that pieces of neighbours meet different banks.
  constexpr int PITCH = 69 * 4, SIDE = 128;
  const int count = min(end - x0, SIDE), pair = Order::row(w, lane) / 2;
#pragma unroll
  for (int p = 0; p < BN / 32; p++) {
    if (y0 + p * 32 >= columns) break;
    turn_wait(2, 256);
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int i = 0; i < 2; i++) put_shared(staging + (j * 8 + lane % 4 * 2 + i) * PITCH + pair * 4, pack_pair(acc[p * 16 + j * 4 + i], acc[p * 16 + j * 4 + 2 + i], T()));
    turn_wait(2, 256);
    // A warp stores four columns.
    const int local = w * 4 + lane / 8, y = y0 + p * 32 + local;
    if (y >= columns) continue;
    T* row = c + static_cast<long long>(y) * rows + x0;
    const int behind = elements_behind(row);
    const auto store = [&](int at) {
      if (at - behind < count) store_piece(row, at - behind, count, staging + local * PITCH + (at - behind) * 2);
    };
#pragma unroll
    for (int i = 0; i < 2; i++) store((i * 8 + lane % 8) * 8);
    if (lane % 8 == 0 && behind > 0) store(SIDE);
  }
}

// Rows of the tile before `end`. `staging`: of shared memory, wgmma_store_row(BN) bytes for each row.
template <class Order, bool TURNED, int BN, class T>
__device__ __forceinline__ void store_tile(T* c, const float (&acc)[BN / 2], uint32_t staging, int x0, int end, int rows, int y0, int columns) {
  const int lane = threadIdx.x % 32, w = static_cast<int>(threadIdx.x) / 32 - 4;
  if constexpr (TURNED && sizeof(T) == 2) {
    store_turned_16<Order, BN>(c, acc, staging, x0, end, rows, y0, columns, w, lane);
  } else {
    if ((TURNED ? rows : columns) % (16 / static_cast<int>(sizeof(T))) != 0) {
      if constexpr (TURNED) store_turned_32<Order, BN>(c, acc, staging + w / 4 * 8192, x0, end, rows, y0, columns, w, lane);
      else if constexpr (sizeof(T) == 4) store_rows_32<Order, BN>(c, acc, staging + w * 2048, x0, end, y0, columns, w, lane);
      else store_rows_16<Order, BN>(c, acc, staging + w * 16 * wgmma_store_row(BN), x0, end, y0, columns, w, lane);
      return;
    }
#pragma unroll
    for (int p = 0; p < BN / 32 && y0 + p * 32 < columns; p++) store_columns<Order, TURNED>(c, acc + p * 16, x0 + Order::row(w, lane), end, rows, y0 + p * 32, columns, lane);
  }
}

// Adds up the shares that the blocks of a cluster have of one tile, each block a part of it, in the order of the shares. `sums`: the ring's shared memory.
// `store`(16 results, warp, first column, lane): 32 columns of the rows of a warp.
template <int GROUPS, int BN, class Store>
__device__ __forceinline__ void join_tile(uint32_t sums, const float (&acc)[BN / 2], int splits, const Store& store) {
  constexpr int PIECES = BN / 32, WARPS = GROUPS * 4;
  const int lane = threadIdx.x % 32, w = static_cast<int>(threadIdx.x) / 32 - 4;
  // Of 32 columns of a warp's rows: four vectors of each lane.
  const auto place = [&](int piece, int warp) { return sums + static_cast<uint32_t>(((piece * WARPS + warp) * 4 * 32 + lane) * 16); };
  turn_wait(1, GROUPS * 128);  // the other groups read the ring no more
#pragma unroll
  for (int p = 0; p < PIECES; p++)
#pragma unroll
    for (int v = 0; v < 4; v++) {
      const float* f = acc + p * 16 + v * 4;
      asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(place(p, w) + v * 512), "f"(f[0]), "f"(f[1]), "f"(f[2]), "f"(f[3]) : "memory");
    }
  cluster_arrive();
  cluster_wait();
  for (int item = static_cast<int>(cluster_rank()) + splits * w; item < PIECES * WARPS; item += splits * WARPS) {
    const int piece = item % PIECES, warp = item / PIECES;
    float total[16] = {};
#pragma unroll 2
    for (int rank = 0; rank < splits; rank++) {
      uint32_t from;
      asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(from) : "r"(place(piece, warp)), "r"(rank));
      float f[16];
#pragma unroll
      for (int v = 0; v < 4; v++)
        asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(f[v * 4]), "=f"(f[v * 4 + 1]), "=f"(f[v * 4 + 2]), "=f"(f[v * 4 + 3]) : "r"(from + v * 512) : "memory");
#pragma unroll
      for (int i = 0; i < 16; i++) total[i] += f[i];
    }
    store(total, warp, piece * 32, lane);
  }
  // No block ends before the others have read what it has.
  cluster_arrive();
  cluster_wait();
}

#endif
