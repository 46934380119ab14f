// Products of one long operand with a short k and up to 128 of the other side by wgmma (matmul/resident.h says when). The short operand stays in shared memory. One warp keeps the copy engine filling a ring with tiles of 64 rows
// or columns of the long one, with all of k; each warp group multiplies and stores a tile of its own, so that some store while others multiply. Rows of a long result are a run of memory, which the copy engine stores.
#pragma once
#include "resident_task.h"
#include "wgmma.cuh"

namespace resident {

using opscope::cuda::ResidentTask;
constexpr int GROUPS = opscope::cuda::resident_groups, TILE = opscope::cuda::resident_tile;

#ifdef OPSCOPE_WGMMA

template <class T>
struct BitsOf {
  using type = uint16_t;
};
template <>
struct BitsOf<tf32> {
  using type = uint32_t;
};

__device__ __forceinline__ void put_shared_16(uint32_t to, uint4 v) { asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory"); }
__device__ __forceinline__ void store_run(void* to, uint32_t from, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\ncp.async.bulk.commit_group;" ::"l"(to), "r"(from), "r"(bytes) : "memory");
}
__device__ __forceinline__ void stored_runs_are_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

// The short operand as wgmma reads it, ROWS lines of a stage of k after the other, zeros behind both.
template <class T, int ROWS>
__device__ __forceinline__ void order_few(uint32_t to, const char* raw, const ResidentTask& t) {
  using Bits = typename BitsOf<T>::type;
  constexpr int V = 16 / sizeof(T);
  const Bits* from = reinterpret_cast<const Bits*>(raw);
  // Neighbouring threads read what lies together.
  const bool k_first = t.few_k == 1;
  const int pieces = t.chunks * 8;
  for (int i = threadIdx.x; i < ROWS * pieces; i += GROUPS * 128) {
    const int line = k_first ? i / pieces : i % ROWS, piece = k_first ? i - line * pieces : i / ROWS, k = piece * V;
    Bits values[V];
#pragma unroll
    for (int j = 0; j < V; j++) values[j] = line < t.few && k + j < t.k ? from[line * t.few_line + (k + j) * t.few_k] : Bits(0);
    uint32_t w[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
      if constexpr (sizeof(T) == 4) w[j] = round_tf32(values[j]);
      else w[j] = values[j * 2] | static_cast<uint32_t>(values[j * 2 + 1]) << 16;
    }
    put_shared_16(to + piece / 8 * ROWS * ROW + line * ROW + (piece % 8 ^ line % 8) * 16, make_uint4(w[0], w[1], w[2], w[3]));
  }
}

// Results of a warp group in rows of a long result, one after the other in shared memory.
template <class T, int N>
__device__ __forceinline__ void stage_rows(uint32_t staged, const ResidentTask& t, const float (&acc)[N / 2]) {
  const int lane = threadIdx.x % 32, row = static_cast<int>(threadIdx.x) / 32 % 4 * 16 + lane / 4;
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const uint32_t to = staged + (row + half * 8) * t.few * static_cast<int>(sizeof(T));
#pragma unroll
    for (int p = 0; p < N / 32; p++) {
      if (p * 32 >= t.few) break;
      const float* f = acc + p * 16 + half * 2;
      if constexpr (sizeof(T) == 4) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
          const int column = p * 32 + i * 8 + lane % 4 * 2;
          if (t.few % 2 == 0) {
            if (column < t.few) put_shared(to + column * 4, f[i * 4], f[i * 4 + 1]);
          } else {
            if (column < t.few) put_shared(to + column * 4, __float_as_uint(f[i * 4]));
            if (column + 1 < t.few) put_shared(to + column * 4 + 4, __float_as_uint(f[i * 4 + 1]));
          }
        }
      } else {
        uint32_t w[4];
#pragma unroll
        for (int i = 0; i < 4; i++) w[i] = pack_pair(f[i * 4], f[i * 4 + 1], T());
        if (t.few % 8 == 0) {
          turn_quad(w, lane);
          const int column = p * 32 + lane % 4 * 8;
          if (column < t.few) put_shared_16(to + column * 2, make_uint4(w[0], w[1], w[2], w[3]));
        } else {
#pragma unroll
          for (int i = 0; i < 4; i++) {
            const int column = p * 32 + i * 8 + lane % 4 * 2;
            if (t.few % 2 == 0) {
              if (column < t.few) put_shared(to + column * 2, w[i]);
            } else {
              if (column < t.few) asm volatile("st.shared.u16 [%0], %1;" ::"r"(to + column * 2), "h"(static_cast<uint16_t>(w[i])) : "memory");
              if (column + 1 < t.few) asm volatile("st.shared.u16 [%0], %1;" ::"r"(to + column * 2 + 2), "h"(static_cast<uint16_t>(w[i] >> 16)) : "memory");
            }
          }
        }
      }
    }
  }
}

// Results of a warp group in 64 columns of a long result, whole vectors in each row.
template <class T>
__device__ __forceinline__ void store_long_columns(T* c, const ResidentTask& t, const float (&acc)[32], int row, int first) {
  const int lane = threadIdx.x % 32, r = row + static_cast<int>(threadIdx.x) / 32 % 4 * 16 + lane / 4;
#pragma unroll
  for (int p = 0; p < 2; p++) store_columns<FromShared, false>(c, acc + p * 16, r, t.few, t.few, first + p * 32, t.length, lane);
}

#endif

// COLUMNS: b is long, else a. K: k is contiguous in the long operand. N: lines of the short operand, 64 or 128. `map`: boxes of the long operand; `few_map`: of the short one, where the copy engine brings it.
template <class T, bool COLUMNS, bool K, int N>
__device__ __forceinline__ void product(const TensorMap& map, const TensorMap& few_map, const T* few, T* c, const ResidentTask& t) {
#ifdef OPSCOPE_WGMMA
  constexpr int LINE = ROW / sizeof(T), STEP = 32 / sizeof(T);
  extern __shared__ __align__(1024) char shared[];
  // The same in a warp, for the compiler, too.
  const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0), steps = (t.k + STEP - 1) / STEP;
  const uint32_t table = shared_address(shared), ring = table + t.chunks * N * ROW, staging = ring + t.slots * t.slot, full = staging + GROUPS * t.staged, empty = full + 8 * t.slots, ready = empty + 8 * t.slots;
  const auto load = [&](int slot, int tile) {
    const uint32_t bar = full + 8 * slot, to = ring + slot * t.slot;
    barrier_expect(bar, t.bytes);
    if constexpr (K) {
      for (int i = 0; i < t.chunks; i++) bulk_load(to + i * BOX, &map, bar, i * LINE, tile * TILE, 0);
    } else {
      bulk_load(to, &map, bar, tile * TILE, 0, 0);
    }
  };
  if (group == GROUPS) {
    int tile = blockIdx.x, slot = 0;
    if (threadIdx.x % 32 == 0) {
      prefetch_map(&map);
      for (int i = 0; i < t.slots; i++) {
        barrier_init(full + 8 * i, 1);
        barrier_init(empty + 8 * i, 1);
      }
      barrier_init(ready, 1);
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
      fence_shared_for_async();
      if (t.brought > 0) {
        barrier_expect(ready, t.brought);
        for (int i = 0; i < t.chunks; i++) bulk_load(table + i * N * ROW, &few_map, ready, i * LINE, 0, 0);
      }
      for (; slot < t.slots && tile < t.tiles; slot++, tile += gridDim.x) load(slot, tile);
    }
    __syncwarp();
    __syncthreads();
    if (threadIdx.x % 32 != 0) return;
    slot = 0;
    for (int phase = 0; tile < t.tiles; tile += gridDim.x) {
      barrier_wait(empty + 8 * slot, phase);
      load(slot, tile);
      if (++slot == t.slots) slot = 0, phase ^= 1;
    }
    return;
  }

  // Lines of k behind the long operand's, which copies do not bring.
  if constexpr (!K) {
    const int behind = (steps * STEP - t.k) * (ROW / 16);
    for (int i = threadIdx.x; i < t.slots * behind; i += GROUPS * 128) put_shared_16(ring + i / behind * t.slot + t.k * ROW + i % behind * 16, make_uint4(0, 0, 0, 0));
  }
  if (t.brought == 0) {
    // The short operand as it lies, where results are staged later.
    char* raw = shared + (staging - table);
    const int bytes = t.few * t.k * static_cast<int>(sizeof(T));
    for (int at = threadIdx.x * 16; at < bytes; at += GROUPS * 128 * 16) copy_async_16(shared_address(raw + at), reinterpret_cast<const char*>(few) + at, min(16, bytes - at));
    copy_commit();
    copy_wait<0>();
    turn_wait(1, GROUPS * 128);
    order_few<T, N>(table, raw, t);
  }
  fence_shared_for_async();
  __syncthreads();
  if (t.brought > 0) barrier_wait(ready, 0);

  const uint32_t staged = staging + group * t.staged;
  const bool first = threadIdx.x % 128 == 0;
  int slot = group, phase = 0;
  for (int tile = blockIdx.x + group * gridDim.x; tile < t.tiles; tile += GROUPS * gridDim.x) {
    const uint32_t at = ring + slot * t.slot;
    constexpr int PARTS = COLUMNS ? N / 64 : 1, WIDTH = COLUMNS ? 64 : N;
    float acc[PARTS][WIDTH / 2];
#pragma unroll
    for (int p = 0; p < PARTS; p++)
#pragma unroll
      for (int i = 0; i < WIDTH / 2; i++) acc[p][i] = 0;
    barrier_wait(full + 8 * slot, phase);
    for (int s = 0; s < steps; s++) {
      wgmma_fence();
      const uint64_t x = K ? wgmma_descriptor(at + s / 4 * BOX + s % 4 * 32, 16, 1024) : wgmma_descriptor(at + s * 16 * ROW, BOX, 1024);
#pragma unroll
      for (int p = 0; p < PARTS; p++) {
        const uint64_t y = wgmma_descriptor(table + (s / 4 * N + p * 64) * ROW + s % 4 * 32, 16, 1024);
        if constexpr (COLUMNS) WarpGroupProduct<32>::template shared<!K, 0>(acc[p], y, x, 1, T());
        else WarpGroupProduct<N / 2>::template shared<0, !K>(acc[p], x, y, 1, T());
      }
      wgmma_commit();
    }
    wgmma_wait<0>();
#pragma unroll
    for (int p = 0; p < PARTS; p++) settle(acc[p]);
    if (first) barrier_arrive(empty + 8 * slot);
    slot += GROUPS;
    if (slot >= t.slots) slot -= t.slots, phase ^= 1;
    if constexpr (COLUMNS) {
#pragma unroll
      for (int p = 0; p < PARTS; p++)
        if (p * 64 < t.few) store_long_columns(c, t, acc[p], p * 64, tile * TILE);
    } else {
      if (first) stored_runs_are_read();
      turn_wait(2 + group, 128);
      stage_rows<T, N>(staged, t, acc[0]);
      fence_shared_for_async();
      turn_wait(2 + group, 128);
      T* to = c + static_cast<long long>(tile) * TILE * t.few;
      const int rows = min(TILE, t.length - tile * TILE);
      if (rows == TILE) {
        if (first) store_run(to, staged, t.staged);
      } else {
        using Bits = typename BitsOf<T>::type;
        const Bits* from = reinterpret_cast<const Bits*>(shared + (staged - table));
        for (int i = threadIdx.x % 128; i < rows * t.few; i += 128) reinterpret_cast<Bits*>(to)[i] = from[i];
      }
    }
  }
  if constexpr (!COLUMNS)
    if (first) stored_runs_are_read();
#endif
}

}  // namespace resident

// The kernels of a type: the long side, what is contiguous in it, lines of the short operand.
#define RESIDENT_KERNEL(T, SIDE, COLUMNS, ORDER, K, N)                                                                                                                                                                                  \
  extern "C" __global__ void __launch_bounds__(opscope::cuda::resident_threads, 1) matmul_resident_##T##_##SIDE##_##ORDER##_##N(const __grid_constant__ TensorMap map, const __grid_constant__ TensorMap few_map, const T* few, T* c, const opscope::cuda::ResidentTask t) { \
    resident::product<T, COLUMNS, K, N>(map, few_map, few, c, t);                                                                                                                                                                                \
  }
#define RESIDENT_SIDES(T, ORDER, K) RESIDENT_KERNEL(T, m, false, ORDER, K, 64) RESIDENT_KERNEL(T, m, false, ORDER, K, 128) RESIDENT_KERNEL(T, n, true, ORDER, K, 64) RESIDENT_KERNEL(T, n, true, ORDER, K, 128)
