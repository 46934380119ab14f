// matmul of f32 with a short k (matmul/slab.h says when): operands, results and multiply-adds of a tile take about as long as each other. Shared memory holds all of k, for four blocks of
// a multiprocessor up to 64 of it, so that one loads while others multiply and store. Both operands lie there as [k][row]: rows of the tile are copied as they lie, a contiguous k is turned on its
// way through registers. A warp has 32 x 64 results, a thread 8 x 8; one without results ends early. Rows of results that do not start on 16 bytes go through shared memory, from where a sector
// of memory starts. Sums in the order of k.
//   matmul_slab_f32_<rows of a tile>_<n|t><n|t>   transposed or not, as layouts are named in matmul.plan.cc
// How to build and run: scripts/gpu/kernels.sh.
#include "common/mma.cuh"
#include "matmul/slab_task.h"

namespace {

using opscope::cuda::SlabTask;
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
  int k, rows;
  Place next;
  __device__ __forceinline__ TurnedSide(const float* x, int all_k, int rows_left) : from(x), k(all_k), rows(rows_left) {
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
      for (int j = 0; j < 4; j++) v[i][j] = p.group * 4 + j < rows ? from[(p.group * 4 + j) * k + p.k] : 0.0f;
  }
  __device__ __forceinline__ void store(const float (&v)[EACH][4], float* to, int down, int across) {
#pragma unroll
    for (int i = 0; i < EACH; i++, advance(next, down, across))
      if (next.group < ROWS / 4) *reinterpret_cast<float4*>(to + next.k * PITCH + next.group * 4) = make_float4(v[i][0], v[i][1], v[i][2], v[i][3]);
  }
};

// Both sides whose k is contiguous, 32 of k at a time.
template <int BM, int BN, bool A, bool B>
__device__ __forceinline__ void turn(const float* a, const float* b, float* to_a, float* to_b, int k, int rows, int columns) {
  const int down = THREADS / k, across = THREADS - down * k;
  TurnedSide<BM> left(a, k, rows);
  TurnedSide<BN> right(b, k, columns);
  for (int done = 0; done < k; done += 32) {
    float u[TurnedSide<BM>::EACH][4], v[TurnedSide<BN>::EACH][4];
    if (A) left.load(u, down, across);
    if (B) right.load(v, down, across);
    if (A) left.store(u, to_a, down, across);
    if (B) right.store(v, to_b, down, across);
  }
}

// A side of ROWS rows that are contiguous, WORDS of them at a time: all of k, `pitch` elements apart.
template <int ROWS, int WORDS>
__device__ __forceinline__ void copy(const float* from, float* to, int pitch, int k, int rows) {
  constexpr int ACROSS = ROWS / WORDS, DOWN = THREADS / ACROSS, PITCH = opscope::cuda::slab_pitch(ROWS);
  const int row = static_cast<int>(threadIdx.x) % ACROSS * WORDS, line = static_cast<int>(threadIdx.x) / ACROSS;
  if (row >= rows) return;
  from += static_cast<long long>(line) * pitch + row;
  uint32_t at = shared_address(to + line * PITCH + row);
#pragma unroll 4
  for (int l = line; l < k; l += DOWN, from += static_cast<long long>(DOWN) * pitch, at += DOWN * PITCH * 4) {
    if constexpr (WORDS == 4) copy_async_16(at, from, 16);
    else copy_async_4(at, from, 4);
  }
}
template <int ROWS>
__device__ __forceinline__ void copy(const float* from, float* to, int pitch, int k, int rows, bool wide) {
  if (wide) copy<ROWS, 4>(from, to, pitch, k, rows);
  else copy<ROWS, 1>(from, to, pitch, k, rows);
}

template <int BM, int BN, bool A_K, bool B_K>
__device__ __forceinline__ void product(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, const SlabTask& t) {
  constexpr int ACROSS = BN / WARP_COLUMNS, PITCH_A = opscope::cuda::slab_pitch(BM), PITCH_B = opscope::cuda::slab_pitch(BN);
  static_assert(BM / WARP_ROWS * ACROSS == WARPS);
  extern __shared__ __align__(16) float shared[];
  float *side_a = shared, *side_b = shared + t.k * PITCH_A;
  const int down = divided(static_cast<int>(blockIdx.x), t.by_tiles_n), batch = divided(down, t.by_tiles_m);
  const int r0 = (down - batch * t.tiles_m) * BM, c0 = (static_cast<int>(blockIdx.x) - down * t.tiles_n) * BN, rows = min(BM, t.m - r0), columns = min(BN, t.n - c0);
  a += static_cast<long long>(batch < t.batches_a ? batch : batch % t.batches_a) * t.m * t.k + (A_K ? static_cast<long long>(r0) * t.k : r0);
  b += static_cast<long long>(batch) * t.n * t.k + (B_K ? static_cast<long long>(c0) * t.k : c0);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row0 = warp / ACROSS * WARP_ROWS, column0 = warp % ACROSS * WARP_COLUMNS;
  // Neighbouring lanes read the same of one side, neighbours but one the same of the other: half a warp is one pass of a wide load.
  const int gx = (lane & 1) | (lane >> 2 & 1) << 1 | lane >> 4 << 2, gy = (lane >> 1 & 1) | (lane >> 3 & 1) << 1;
  const bool works = row0 < rows && column0 < columns;
  if (!A_K) copy<BM>(a, side_a, t.m, t.k, rows, t.wide_a != 0);
  if (!B_K) copy<BN>(b, side_b, t.n, t.k, columns, t.wide_b != 0);
  copy_commit();
  if (A_K || B_K) turn<BM, BN, A_K, B_K>(a, b, side_a, side_b, t.k, rows, columns);
  copy_wait<0>();
  __syncthreads();
  float sum[8][8] = {};
  if (works) {
    const float *x = side_a + row0 + gy * 4, *y = side_b + column0 + gx * 4;
#pragma unroll 4
    for (int l = 0; l < t.k; l++, x += PITCH_A, y += PITCH_B) {
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

  const auto row_of = [&](int i) { return row0 + gy * 4 + i % 4 + i / 4 * (WARP_ROWS / 2); };
  const auto column_of = [&](int j) { return column0 + gx * 4 + j * (WARP_COLUMNS / 2); };  // of a vector
  c += (static_cast<long long>(batch) * t.m + r0) * t.n + c0;
  if (t.wide_c) {
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
      for (int j = 0; j < 2; j++)
        if (row_of(i) < rows && column_of(j) < columns) *reinterpret_cast<float4*>(c + static_cast<long long>(row_of(i)) * t.n + column_of(j)) = make_float4(sum[i][j * 4], sum[i][j * 4 + 1], sum[i][j * 4 + 2], sum[i][j * 4 + 3]);
    return;
  }
  __syncthreads();
  if (works) {
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
      for (int j = 0; j < 2; j++) *reinterpret_cast<float4*>(shared + row_of(i) * PITCH_B + column_of(j)) = make_float4(sum[i][j * 4], sum[i][j * 4 + 1], sum[i][j * 4 + 2], sum[i][j * 4 + 3]);
  }
  __syncthreads();
  if (t.tiles_n == 1) {
    // The tile is one run of memory.
    const int over = THREADS / t.n, across = THREADS - over * t.n;
    int row = static_cast<int>(threadIdx.x) / t.n, column = static_cast<int>(threadIdx.x) - row * t.n;
    for (int e = threadIdx.x; e < rows * t.n; e += THREADS) {
      c[e] = shared[row * PITCH_B + column];
      row += over, column += across;
      if (column >= t.n) column -= t.n, row++;
    }
    return;
  }
  for (int row = warp; row < rows; row += WARPS) {
    float* to = c + static_cast<long long>(row) * t.n;
    const int behind = static_cast<int>(reinterpret_cast<uintptr_t>(to) >> 2 & 7);  // a sector of memory
#pragma unroll
    for (int i = 0; i <= BN / 32; i++) {
      const int column = i * 32 + lane - behind;
      if (column >= 0 && column < columns) to[column] = shared[row * PITCH_B + column];
    }
  }
}

}  // namespace

#define KERNEL(BM, BN, LAYOUT, A_K, B_K) \
  extern "C" __global__ void __launch_bounds__(THREADS, 4) matmul_slab_f32_##BM##_##LAYOUT(const float* a, const float* b, float* c, const SlabTask t) { product<BM, BN, A_K, B_K>(a, b, c, t); }
#define LAYOUTS(BM, BN) KERNEL(BM, BN, nn, true, false) KERNEL(BM, BN, nt, true, true) KERNEL(BM, BN, tn, false, false) KERNEL(BM, BN, tt, false, true)
LAYOUTS(64, 128)
LAYOUTS(128, 64)
