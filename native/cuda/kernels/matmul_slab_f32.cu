// matmul of f32 with a short k (matmul/slab.h says when): operands, results and multiply-adds of a tile take about as long as each other. Shared memory holds all of k, for four blocks of
// a multiprocessor up to 64 of it, so that one loads while others multiply and store. Both operands lie there as [k][row]: rows of the tile are copied as they lie, a contiguous k is turned on its
// way through registers. A warp has 32 x 64 results, a thread 8 x 8; one without results ends early. Rows of results that do not start on 16 bytes go through shared memory, from where a sector
// of memory starts. Sums in the order of k.
//   matmul_slab_f32_<rows of a tile>_<n|t><n|t>   transposed or not, as layouts are named in matmul.plan.cc
// How to build and run: scripts/gpu/kernels.sh.
#include "common/stored.cuh"
#include "matmul/slab.cuh"

namespace {

using opscope::cuda::SlabTask;
using slab::THREADS, slab::WARPS;

// A side of ROWS rows that are contiguous, WORDS of them at a time: `k` lines of them, `pitch` elements apart.
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
  constexpr int PITCH_A = opscope::cuda::slab_pitch(BM), PITCH_B = opscope::cuda::slab_pitch(BN);
  extern __shared__ __align__(16) float shared[];
  float *side_a = shared, *side_b = shared + t.k * PITCH_A;
  const int down = divided(static_cast<int>(blockIdx.x), t.by_tiles_n), batch = divided(down, t.by_tiles_m);
  const int r0 = (down - batch * t.tiles_m) * BM, c0 = (static_cast<int>(blockIdx.x) - down * t.tiles_n) * BN, rows = min(BM, t.m - r0), columns = min(BN, t.n - c0);
  a += static_cast<long long>(batch < t.batches_a ? batch : batch % t.batches_a) * t.m * t.k + (A_K ? static_cast<long long>(r0) * t.k : r0);
  b += static_cast<long long>(batch) * t.n * t.k + (B_K ? static_cast<long long>(c0) * t.k : c0);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  slab::Results<BM, BN> tile;
  const bool works = tile.works(rows, columns);
  if (!A_K) copy<BM>(a, side_a, t.m, t.k, rows, t.wide_a != 0);
  if (!B_K) copy<BN>(b, side_b, t.n, t.k, columns, t.wide_b != 0);
  copy_commit();
  if (A_K || B_K) slab::turn<BM, BN, A_K, B_K>(a, b, side_a, side_b, t.k, t.k, rows, columns);
  copy_wait<0>();
  __syncthreads();
  if (works) tile.add(side_a, side_b, t.k);

  to_be_stored(tile.sum, t.m);
  c += (static_cast<long long>(batch) * t.m + r0) * t.n + c0;
  if (t.wide_c) {
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
      for (int j = 0; j < 2; j++)
        if (tile.row_of(i) < rows && tile.column_of(j) < columns) *reinterpret_cast<float4*>(c + static_cast<long long>(tile.row_of(i)) * t.n + tile.column_of(j)) = tile.vector(i, j);
    return;
  }
  __syncthreads();
  if (works) tile.put(shared);
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

#define KERNEL(BM, BN, NAME, A_K, B_K) \
  extern "C" __global__ void __launch_bounds__(THREADS, 4) matmul_slab_f32_##BM##_##NAME(const float* a, const float* b, float* c, const SlabTask t) { product<BM, BN, A_K, B_K>(a, b, c, t); }
#define LAYOUTS(BM, BN) KERNEL(BM, BN, nn, true, false) KERNEL(BM, BN, nt, true, true) KERNEL(BM, BN, tn, false, false) KERNEL(BM, BN, tt, false, true)
LAYOUTS(64, 128)
LAYOUTS(128, 64)
