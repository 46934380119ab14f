// matmul of f32 with a short k, bound by the bytes of the result (matmul/short.h says when it is used). A thread keeps a 16-byte piece of the columns of b in registers and goes down the rows of
// a, which lie in shared memory; a row costs it a few wide loads, its multiply-adds and one store. A warp has every eighth row (or rows of a part of its lanes each), so that its rows lie equally far behind
// a sector of memory, and starts its columns that much sooner: what it stores are whole pieces. Sums in the order of k.
//   matmul_short_f32_<K>   k of up to K
// How to build and run: scripts/gpu/kernels.sh.
#include "common/vec.cuh"
#include "matmul/short_task.h"

namespace {

using opscope::cuda::ShortTaskF32;
constexpr int THREADS = opscope::cuda::short_f32_threads, WARPS = THREADS / 32, COLUMNS = opscope::cuda::short_f32_columns, V = LANES<f32>;
// Elements of a sector of memory. Columns in shared memory, as many in front for rows that start behind one; a word after each 32, so that pieces of lanes meet all banks.
constexpr int SECTOR = 8, HELD = COLUMNS + SECTOR, PITCH_B = HELD + HELD / 32 + 1;

template <int K>
__device__ __forceinline__ void product(const f32* __restrict__ a, const f32* __restrict__ b, f32* __restrict__ c, const ShortTaskF32& t) {
  constexpr int PITCH_A = K < V ? K : K + V, AHEAD = K < 16 ? 4 : 8;  // elements of an operand that a thread has on their way
  extern __shared__ __align__(16) float shared[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int down = divided(blockIdx.x, t.by_tiles_n), batch = divided(down, t.by_tiles_m), r0 = (down - batch * t.tiles_m) * t.rows, c0 = (blockIdx.x - down * t.tiles_n) * t.columns;
  const int rows = min(t.rows, t.m - r0), columns = min(t.columns, t.n - c0) + SECTOR;
  const long long row_of_all = static_cast<long long>(batch) * t.m + r0;
  float* held = shared + t.b_at / 4;
  {
    const f32* left = a + static_cast<long long>(batch) * t.m * t.k + r0 * t.a_row;
    const f32* right = b + static_cast<long long>(batch) * t.n * t.k + (c0 - SECTOR) * t.b_column;
    const int size_a = t.rows * K, most = max(size_a, HELD * K), shift_rows = __ffs(t.rows) - 1;
    for (int from = threadIdx.x; from < most; from += THREADS * AHEAD) {
      float u[AHEAD], v[AHEAD];
      // Neighbouring threads read neighbours.
      const auto row_of = [&](int e) { return t.a_k == 1 ? e / K : e & (t.rows - 1); };
      const auto k_of = [&](int e) { return t.a_k == 1 ? e % K : e >> shift_rows; };
      const auto column_of = [&](int e) { return t.b_k == 1 ? e / K : e % HELD; };
      const auto k_of_b = [&](int e) { return t.b_k == 1 ? e % K : e / HELD; };
#pragma unroll
      for (int i = 0; i < AHEAD; i++) {
        const int e = from + i * THREADS, row = row_of(e), l = k_of(e);
        u[i] = e < size_a && row < rows && l < t.k ? left[row * t.a_row + l * t.a_k] : 0.0f;
      }
#pragma unroll
      for (int i = 0; i < AHEAD; i++) {
        const int e = from + i * THREADS, column = column_of(e), l = k_of_b(e);
        v[i] = e < HELD * K && column < columns && c0 + column >= SECTOR && l < t.k ? right[column * t.b_column + l * t.b_k] : 0.0f;
      }
#pragma unroll
      for (int i = 0; i < AHEAD; i++) {
        const int e = from + i * THREADS;
        if (e < size_a) shared[row_of(e) * PITCH_A + k_of(e)] = u[i];
        if (e < HELD * K) held[k_of_b(e) * PITCH_B + column_of(e) + column_of(e) / 32] = v[i];
      }
    }
  }
  __syncthreads();
  const int pieces = t.pieces, shift = static_cast<int>((static_cast<unsigned>(row_of_all) + warp) * static_cast<unsigned>(t.n) & (SECTOR - 1)), piece = lane & (pieces - 1);
  const int column = c0 + piece * V - shift;
  float v[K][V];
#pragma unroll
  for (int l = 0; l < K; l++)
#pragma unroll
    for (int j = 0; j < V; j++) {
      const int at = SECTOR + piece * V - shift + j;
      v[l][j] = held[l * PITCH_B + at + at / 32];
    }
  const bool whole = column >= 0 && column + V <= t.n;
#pragma unroll(K > 8 ? 1 : 2)
  for (int row = warp + lane / pieces * WARPS; row < rows; row += 32 / pieces * WARPS) {
    float sum[V] = {};
    float u[K];
    if constexpr (K < V) {
#pragma unroll
      for (int l = 0; l < K; l++) u[l] = shared[row * PITCH_A + l];
    } else {
#pragma unroll
      for (int l = 0; l < K; l += V) *reinterpret_cast<float4*>(u + l) = *reinterpret_cast<const float4*>(shared + row * PITCH_A + l);
    }
#pragma unroll
    for (int l = 0; l < K; l++)
#pragma unroll
      for (int j = 0; j < V; j++) sum[j] = fmaf(u[l], v[l][j], sum[j]);
    f32* to = c + (row_of_all + row) * t.n + column;
    if (whole) {
      store16(to, pack<f32>(sum));
    } else {
#pragma unroll
      for (int j = 0; j < V; j++)
        if (column + j >= 0 && column + j < t.n) to[j] = sum[j];
    }
  }
}

}  // namespace

#define KERNEL(K, BLOCKS) \
  extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) matmul_short_f32_##K(const f32* a, const f32* b, f32* c, const ShortTaskF32 t) { product<K>(a, b, c, t); }
KERNEL(1, 6) KERNEL(2, 6) KERNEL(4, 4) KERNEL(8, 4) KERNEL(16, 2)
