// Tiles of a product by wgmma (sm_90a): 64 rows of X for each warp group, by BN rows of Y. A block has one warp that keeps the copy engine filling a ring of
// stages (128 bytes of K each), and GROUPS warp groups that multiply. Blocks stay and go from tile to tile; the ring fills for the next one while they store.
// Of an operand with fewer rows than a tile copies bring no others: results of what lies behind these in shared memory are not stored.
// Where there are few tiles, blocks take shares of K: those of a tile are a cluster that adds them up through distributed shared memory, in the order of the
// shares, or store them for matmul_join (matmul_parts.cu).
#pragma once
#include "../common/early.cuh"
#include "linear.cuh"
#include "wgmma_place.cuh"
#include "wgmma_store.cuh"

struct alignas(64) TensorMap {
  char opaque[128];
};

#ifdef OPSCOPE_WGMMA

constexpr int ROW = 128;       // bytes of K in a stage
constexpr int BOX = 64 * ROW;  // 64 elements of 16 bits of X or Y by one stage of K, when K is not contiguous

// As the plan has it (matmul/shape.h).
template <int GROUPS, int BN>
constexpr int STAGES = GROUPS == 1 || BN == 64 ? 8 : BN == 256 ? 4 : BN == 192 ? 5 : 6;

// One thread of a warp, all of whose threads ask. The compiler knows that it is one, and issues what it asks of the copy engine without a loop over threads that might ask the same.
__device__ __forceinline__ bool elect_one() {
  uint32_t chosen;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.b32 %0, 1, 0, p;\n}" : "=r"(chosen));
  return chosen != 0;
}

// Fragments of X for the four products of a stage, from rows of K in shared memory: element (k, x) of a box of 32 rows of K by 32 of X, as the copy engine swizzles it.
__device__ __forceinline__ void load_fragments(uint32_t (&f)[16], uint32_t low, uint32_t high) {
#pragma unroll
  for (int i = 0; i < 4; i++) {
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(f[i * 4]), "=r"(f[i * 4 + 1]) : "r"(low + i * 8 * ROW) : "memory");
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(f[i * 4 + 2]), "=r"(f[i * 4 + 3]) : "r"(high + i * 8 * ROW) : "memory");
  }
#pragma unroll
  for (int i = 0; i < 16; i++) f[i] = round_tf32(f[i]);
}

// Rows that copies bring of `left` rows of an operand that a tile has: whole boxes of 128 bytes of rows, or as many as there are.
template <class T, bool K_IS_ROW>
__device__ __forceinline__ int rows_brought(int left) {
  constexpr int LINE = ROW / sizeof(T);
  return K_IS_ROW ? (left + LINE - 1) / LINE * LINE : left;
}
// ROWS rows of an operand from `row` on, by a stage of K: boxes of 128 bytes of its rows, or of K. Of boxes of rows, those within the first `rows`.
template <class T, int ROWS, bool K_IS_ROW>
__device__ __forceinline__ void load_operand(uint32_t to, const TensorMap& map, uint32_t barrier, int row, int k, int batch, int rows = ROWS) {
  constexpr int LINE = ROW / sizeof(T);
  if constexpr (K_IS_ROW) {
#pragma unroll
    for (int i = 0; i < ROWS; i += LINE)
      if (i < rows) bulk_load(to + i * ROW, &map, barrier, row + i, k, batch);
  } else {
    bulk_load(to, &map, barrier, k, row, batch);
  }
}

// The low word of a descriptor, to which distances in 16 bytes may be added, and the descriptor that has it: wgmma_descriptor in two steps, so that the products of a stage share the first. Addresses in a cluster have the block's rank above their
// 18 bits.
__device__ __forceinline__ uint32_t descriptor_low(uint32_t address, uint32_t leading) { return (address & 0x3ffff) >> 4 | leading >> 4 << 16; }
__device__ __forceinline__ uint64_t descriptor_of(uint32_t low, uint32_t stride) {
  uint64_t d;
  asm("mov.b64 %0, {%1, %2};" : "=l"(d) : "r"(low), "r"(stride >> 4 | 1u << 30));
  return d;
}

// The products of a stage, both operands in shared memory: 32 bytes along a row when K is contiguous, else 16 rows of 128 bytes.
template <class T, class Product, int TX, int TY, int N>
__device__ __forceinline__ void multiply_stage(float (&acc)[N], uint32_t x, uint32_t y) {
  const uint32_t low_x = descriptor_low(x, TX ? BOX : 16), low_y = descriptor_low(y, TY ? BOX : 16);
#pragma unroll
  for (int i = 0; i < 4; i++) Product::template shared<TY, TX>(acc, descriptor_of(low_x + i * (TX ? ROW : 2), 1024), descriptor_of(low_y + i * (TY ? ROW : 2), 1024), 1, T());
}

// The products of `steps` stages of a ring, in the order in which it is filled: `multiply` issues those of the stage that is there, `free` frees one of which they are done, or none where it is negative.
template <class Advance, class Multiply, class Free>
__device__ __forceinline__ void multiply_stages(int steps, uint32_t full, const int& stage, const int& phase, const Advance& advance, const Multiply& multiply, const Free& free) {
  int previous = -1;
  for (int step = 0; step < steps; step++, advance()) {
    barrier_wait(full + 8 * stage, phase);
    wgmma_fence();
    multiply();
    wgmma_commit();
    // The product before this one is done: its stage may be filled again.
    wgmma_wait<1>();
    free(previous);
    previous = stage;
  }
  wgmma_wait<0>();
  free(previous);
}

// `steps` products of fragments in registers, by multiply(its fragments, those of the product before): they are read while the product before runs. All are done after it.
template <class Multiply>
__device__ __forceinline__ void by_turns(int steps, const Multiply& multiply) {
  uint32_t even[16], odd[16];
#pragma unroll
  for (int i = 0; i < 16; i++) odd[i] = 0;
  int step = 0;
  for (; step + 1 < steps; step += 2) {
    multiply(even, odd);
    multiply(odd, even);
  }
  if (step < steps) multiply(even, odd);
  wgmma_wait<0>();
  settle(even);
  settle(odd);
}

// The start of a block: the maps of its operands are fetched, and the barriers of S stages made. One thread fills a stage, `leave` arrivals free it.
template <int S>
__device__ __forceinline__ void start_ring(const TensorMap& map_x, const TensorMap& map_y, uint32_t full, uint32_t empty, unsigned leave) {
  if (threadIdx.x == 0) {
    prefetch_map(&map_x);
    prefetch_map(&map_y);
  }
  // All warps make barriers, of which each takes about 40 clocks.
  if (threadIdx.x % 32 == 0) {
    for (int i = threadIdx.x / 32; i < S; i += blockDim.x / 32) {
      barrier_init(full + 8 * i, 1);
      barrier_init(empty + 8 * i, leave);
    }
    fence_shared_for_async();
  }
  __syncthreads();
  next_may_start();
}

#endif

// `last_x`, `last_y`: of boxes with the rows of the last tile alone, as the copy engine takes longer for rows outside of a tensor than for others.
// TX, TY: rows of X and Y are not contiguous in K. REGISTERS: tf32 whose X has TX, read by the threads; else wgmma reads both from shared memory.
// KIND: what is done with the results of one product beside storing them, as `linear` says; its tiles are whole, or joined.
template <class T, int GROUPS, int BN, int TX, int TY, bool REGISTERS = false, bool TURNED = false, LinearKind KIND = LinearKind::none>
__device__ __forceinline__ void matmul(const TensorMap& map_x, const TensorMap& map_y, const TensorMap& last_x, const TensorMap& last_y, T* c, float* shares, const WgmmaTask& s, const LinearStore& linear = {}) {
#ifdef OPSCOPE_WGMMA
  using Order = OrderOf<REGISTERS>;
  using Product = WarpGroupProduct<BN / 2>;
  constexpr int S = STAGES<GROUPS, BN>, BM = GROUPS * 64, BK = ROW / sizeof(T), X_BYTES = BM * ROW, BYTES = X_BYTES + BN * ROW;
  constexpr bool MANY_REGISTERS = GROUPS == 2 && BN >= 128;
  extern __shared__ __align__(1024) char shared[];
  const uint32_t base = shared_address(shared), staging = base + S * BYTES, full = staging + BM * wgmma_store_row(BN), empty = full + 8 * S;
  const int splits = static_cast<int>(s.splits.by), group = threadIdx.x / 128;
  start_ring<S>(map_x, map_y, full, empty, REGISTERS ? GROUPS * 4 : GROUPS);

  int stage = 0, phase = 0;
  const auto advance = [&] {
    if (++stage == S) stage = 0, phase ^= 1;
  };
  if (group == 0) {
    if constexpr (MANY_REGISTERS) give_registers<24>();
    if (threadIdx.x >= 32 || !elect_one()) return;
    int ahead = 0;  // stages that have their part of Y
    if constexpr (KIND != LinearKind::none) {
      // Y are weights, which no launch before writes.
      const Place at = place_of(s, blockIdx.x);
      const Steps steps = steps_of(s, at);
      const int left_x = min(BM, s.x - at.x * BM), left_y = min(BN, s.y - at.y * BN), rows_y = rows_brought<T, TY>(left_y);
      for (; ahead < S && steps.from + ahead < steps.to; ahead++) {
        barrier_expect(full + 8 * ahead, (rows_brought<T, TX>(left_x) + rows_y) * ROW);
        load_operand<T, BN, TY>(base + ahead * BYTES + X_BYTES, left_y < BN ? last_y : map_y, full + 8 * ahead, at.y * BN, (steps.from + ahead) * BK, 0, rows_y);
      }
    }
    wait_for_last();  // operands that were copied or turned first
    for (int t = blockIdx.x; t < s.work; t += gridDim.x) {
      const Place at = place_of(s, t);
      const Steps steps = steps_of(s, at);
      const int x0 = at.x * BM, y0 = at.y * BN, left_x = min(BM, s.x - x0), left_y = min(BN, s.y - y0), rows_x = rows_brought<T, TX>(left_x), rows_y = rows_brought<T, TY>(left_y);
      const TensorMap &this_x = left_x < BM ? last_x : map_x, &this_y = left_y < BN ? last_y : map_y;
      const int batch_x = at.batch - quotient(at.batch, s.batches_x) * static_cast<int>(s.batches_x.by), batch_y = at.batch - quotient(at.batch, s.batches_y) * static_cast<int>(s.batches_y.by);
      for (int step = steps.from; step < steps.to; step++, advance()) {
        const uint32_t bar = full + 8 * stage, x = base + stage * BYTES, y = x + X_BYTES;
        if constexpr (KIND != LinearKind::none) {
          if (ahead-- > 0) {
            load_operand<T, BM, TX>(x, this_x, bar, x0, step * BK, batch_x, rows_x);
            continue;
          }
        }
        barrier_wait(empty + 8 * stage, phase ^ 1);
        barrier_expect(bar, (rows_x + rows_y) * ROW);
        load_operand<T, BM, TX>(x, this_x, bar, x0, step * BK, batch_x, rows_x);
        load_operand<T, BN, TY>(y, this_y, bar, y0, step * BK, batch_y, rows_y);
      }
    }
    return;
  }

  if constexpr (MANY_REGISTERS) take_registers<240>();
  if constexpr (KIND != LinearKind::none) wait_for_last();  // what is read beside the operands
  const int consumer = group - 1, lane = threadIdx.x % 32, warp = static_cast<int>(threadIdx.x) / 32 - 4;
  // Of REGISTERS: where this thread's elements of X lie in a stage, for columns lane % 4 and lane % 4 + 4 of a product's K.
  const int k_row = lane % 4;
  const uint32_t own = warp / 2 * BK * ROW + (lane >> 2 & 1) * 8, own_low = own + k_row * ROW + (FromRegisters::piece(warp, lane) ^ k_row) * 16,
                 own_high = own + (k_row + 4) * ROW + (FromRegisters::piece(warp, lane) ^ (k_row + 4)) * 16;
  LinearBias<BN, T> biases(staging, consumer);
  for (int t = blockIdx.x; t < s.work; t += gridDim.x) {
    const Place at = place_of(s, t);
    const Steps share = steps_of(s, at);
    const int steps = share.to - share.from;
    float acc[BN / 2];
#pragma unroll
    for (int i = 0; i < BN / 2; i++) acc[i] = 0;
    LinearAdded<Order, KIND, BN / 32, T> added;
    if constexpr (KIND != LinearKind::none) biases.fetch(linear, at.y * BN, s.y);
    if (!s.joined) added.load(linear, at.x * BM + Order::row(warp, lane), s.x, at.y * BN, s.y, lane);
    const auto free = [&](int read) {
      if (read >= 0 && threadIdx.x % (REGISTERS ? 32 : 128) == 0) barrier_arrive(empty + 8 * read);
    };
    if constexpr (REGISTERS) {
      int previous = -1;
      const auto multiply = [&](uint32_t(&fragments)[16], uint32_t(&before)[16]) {
        const uint32_t x = base + stage * BYTES, y = x + X_BYTES;
        barrier_wait(full + 8 * stage, phase);
        load_fragments(fragments, x + own_low, x + own_high);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < 4; i++) Product::registers(acc, fragments[i * 4], fragments[i * 4 + 1], fragments[i * 4 + 2], fragments[i * 4 + 3], wgmma_descriptor(y + i * 32, 16, 1024), 1, T());
        wgmma_commit();
        wgmma_wait<1>();
        settle(before);
        free(previous);
        previous = stage;
        advance();
      };
      by_turns(steps, multiply);
      free(previous);
    } else {
      const auto multiply = [&] {
        const uint32_t x = base + stage * BYTES + consumer * 64 * ROW, y = base + stage * BYTES + X_BYTES;
        multiply_stage<T, Product, TX, TY>(acc, x, y);
      };
      multiply_stages(steps, full, stage, phase, advance, multiply, free);
    }
    settle(acc);
    if constexpr (KIND != LinearKind::none) {
      const auto store_joined = [&](const float(&total)[16], int w, int column, int lane) {
        LinearAdded<Order, KIND, 1, T> one;
        one.load(linear, at.x * BM + Order::row(w, lane), s.x, at.y * BN + column, s.y, lane);
        linear_columns<Order, KIND, 1>(c, linear, total, one, biases, column, at.x * BM + Order::row(w, lane), s.x, at.y * BN + column, s.y, lane);
      };
      turn_wait(2 + consumer, 128);  // biases
      if (s.joined) join_tile<GROUPS, BN>(base, acc, splits, store_joined);
      else linear_columns<Order, KIND, BN / 32>(c, linear, acc, added, biases, 0, at.x * BM + Order::row(warp, lane), s.x, at.y * BN, s.y, lane);
    } else {
      const long long results = static_cast<long long>(s.x) * s.y;
      if (s.joined) join_tile<GROUPS, BN>(base, acc, splits, [&](const float(&total)[16], int w, int column, int lane) { store_columns<Order, TURNED>(c + at.batch * results, total, at.x * BM + Order::row(w, lane), s.x, s.x, at.y * BN + column, s.y, lane); });
      else if (s.whole > 0 && at.part >= 0) store_tile<Order, TURNED, BN>(shares + (static_cast<long long>(at.split) * s.parts + at.part) * (BM * BN), acc, staging, 0, BM, BM, 0, BN);
      else if (splits > 1 && at.part >= 0) store_tile<Order, TURNED, BN>(shares + (static_cast<long long>(at.split) * s.batches + at.batch) * results, acc, staging, at.x * BM, s.x, s.x, at.y * BN, s.y);
      else store_tile<Order, TURNED, BN>(c + at.batch * results, acc, staging, at.x * BM, s.x, s.x, at.y * BN, s.y);
    }
  }
#endif
}
