// matmul of f32 where m or n is at most 32, whatever the alignment of rows (matmul/stream.h says when): matmul_stream.cu in f32 arithmetic. The long matrix goes from memory to registers,
// 16 bytes at a time, eight loads of a thread on their way; the short side lies in shared memory.
//   matmul_stream_rows_f32_<S>      k is contiguous in the long matrix [length, k]: a warp has 32 rows that start equally far behind 16 bytes, its neighbours others or other parts of k
//   matmul_stream_columns_<t>_<S>   k is not, [k, length]: a warp has every eighth row of the block's share and a window of columns that starts with 16 bytes of memory; the block adds up
//                                   the windows of its warps where they overlap
// S: elements of the short side; 1: of 16 bits, too.
// How to build and run: scripts/gpu/kernels.sh.
#include "matmul/sizes.h"
#include "matmul/stream.cuh"

namespace {

constexpr int WARPS = opscope::cuda::stream_warps, THREADS = WARPS * 32, L = 4;

// Element s of the short side at k, zero outside [0, end) and behind the last s.
template <class T>
__device__ __forceinline__ float few_at(const FewRaw<T>& raw, int k, int end, int s) { return s < raw.a.few && k >= 0 && k < end ? to_float(raw.at(k, s)) : 0.0f; }

// A step is 64 bytes of k: lane (g, q) has vector q of rows g, 8 + g, 16 + g and 24 + g.
template <int S>
__device__ __forceinline__ void rows(const SkinnyArguments& a, const StreamTask& t) {
  constexpr int U = 1, R = 4, STEPS = opscope::cuda::stream_few / (S * 64);
  extern __shared__ __align__(16) char shared[];
  const float4* few = reinterpret_cast<const float4*>(shared);  // [STEPS][S][4]
  float* warp_sums = reinterpret_cast<float*>(shared + opscope::cuda::stream_few);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, q = lane % 4, batch = static_cast<int>(blockIdx.x / t.blocks), k = static_cast<int>(a.k);
  const int across = 32 * t.warp_rows, ways = WARPS / t.warp_rows, warp_row = warp % t.warp_rows, way = warp / t.warp_rows;
  const unsigned long long matrix = a.matrix + batch * a.matrix_batch * sizeof(float);
  FewRaw<f32> raw(a, batch, shared + opscope::cuda::stream_few, STEPS * 64 + 64);
  bool kept = false;
  for (long long cell = blockIdx.x - batch * t.blocks; cell < a.tiles; cell += t.blocks) {
    const int residue = static_cast<int>(cell % t.period);
    const long long first = cell / t.period * across, rows_alike = (a.length - residue + t.period - 1) / t.period;
    const auto row_at = [&](int i) { return matrix + (residue + t.period * min(first + warp_row * 32 + i, rows_alike - 1)) * k * sizeof(float); };
    const int shift = static_cast<int>(row_at(g) & 15) / 4, in_row = (shift + k + L - 1) / L, last_end = shift + k - (in_row - 1) * L;
    const char* row[R];
#pragma unroll
    for (int r = 0; r < R; r++) row[r] = reinterpret_cast<const char*>(row_at(g + 8 * r) & ~15ull);
    const int steps = (in_row + 3) / 4, share = static_cast<int>(a.share), from = min(steps, static_cast<int>(blockIdx.y) * share), to = min(steps, from + share);
    const auto load_few = [&](int base) {
      if (base < to) raw.load(base * 4 * L - shift, min(base + STEPS, to) * 4 * L - shift);
    };
    if (!kept) load_few(from);
    float sums[R][S] = {};
    for (int base = from; base < to; base += STEPS) {
      const int count = min(STEPS, to - base);
      uint4 x[U][R];
      const auto load = [&](int step0) {
#pragma unroll
        for (int u = 0; u < U; u++) {
          const int vector = (base + step0 + u) * 4 + q;
          const bool there = step0 + u < count && vector < in_row;
#pragma unroll
          for (int r = 0; r < R; r++) x[u][r] = there ? load16(row[r] + vector * 16ll) : make_uint4(0, 0, 0, 0);
        }
      };
      load(way * U);
      if (!kept) {
        copy_wait<0>();
        __syncthreads();
        float* elements = reinterpret_cast<float*>(shared);
#pragma unroll 4
        for (int i = threadIdx.x; i < count * S * 16; i += THREADS) elements[i] = few_at(raw, (base + i / (S * 16)) * 4 * L + i % 16 - shift, k, i / 16 % S);
        __syncthreads();
        load_few(base + STEPS);
      }
      for (int step0 = way * U; step0 < count; step0 += ways * U) {
        if (step0 != way * U) load(step0);
#pragma unroll
        for (int u = 0; u < U; u++) {
          const int step = base + step0 + u;
          if (step >= to) break;
          float m[R][L];
#pragma unroll
          for (int r = 0; r < R; r++) unpack<f32>(x[u][r], m[r]);
          if (step == 0 || step == steps - 1) {
            // Neighbouring rows in the first and the last vector.
            const int vector = step * 4 + q, begin = vector == 0 ? shift : 0, end = vector == in_row - 1 ? last_end : L;
#pragma unroll
            for (int r = 0; r < R; r++)
#pragma unroll
              for (int e = 0; e < L; e++)
                if (e < begin || e >= end) m[r][e] = 0;
          }
#pragma unroll
          for (int s = 0; s < S; s++) {
            const float4 y = few[((step0 + u) * S + s) * 4 + q];
#pragma unroll
            for (int r = 0; r < R; r++) sums[r][s] = fmaf(m[r][3], y.w, fmaf(m[r][2], y.z, fmaf(m[r][1], y.y, fmaf(m[r][0], y.x, sums[r][s]))));
          }
        }
      }
    }
    kept = to - from <= STEPS;
    __syncthreads();
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
      for (int s = 0; s < S; s++) {
        float total = sums[r][s];
        total += __shfl_xor_sync(0xffffffffu, total, 1);
        total += __shfl_xor_sync(0xffffffffu, total, 2);
        if (s % 4 == q) warp_sums[(warp * 32 + r * 8 + g) * (S + 1) + s] = total;
      }
    __syncthreads();
    give_rows<S, f32>(a, t, warp_sums, batch, across, ways, first, rows_alike, residue);
  }
}

// A lane has W vectors of columns.
template <class T, int S, int W>
__device__ __forceinline__ void columns(const SkinnyArguments& a, const StreamTask& t) {
  constexpr int L = LANES<T>, U = (S == 16 ? 4 : 8) / W, WINDOW = 32 * L * W, PITCH = WINDOW + L, ROWS = opscope::cuda::stream_few / (S * 4), GROUP = S < 8 ? S : 8;
  extern __shared__ __align__(16) char shared[];
  float* few = reinterpret_cast<float*>(shared);  // [ROWS][S]
  float* warp_sums = reinterpret_cast<float*>(shared + opscope::cuda::stream_few);
  __shared__ int shifts[WARPS];  // elements of a warp's window before the block's first column
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, batch = static_cast<int>(blockIdx.x / t.blocks);
  const int share = static_cast<int>(a.share), from = static_cast<int>(blockIdx.y) * share, to = min(static_cast<int>(a.k), from + share);
  // Rows of this warp, eight apart.
  const int mine = (to - from - warp + WARPS - 1) / WARPS, most = (to - from + WARPS - 1) / WARPS;
  const long long row_bytes = WARPS * a.length * sizeof(T);
  const unsigned long long matrix = a.matrix + batch * a.matrix_batch * sizeof(T);
  FewRaw<T> raw(a, batch, shared + opscope::cuda::stream_few, ROWS * 4 + 64);
  const auto load_few = [&](int base) {
    if (base < most) raw.load(from + base * WARPS, min(to, from + base * WARPS + ROWS));
  };
  bool kept = false;
  for (long long cell = blockIdx.x - batch * t.blocks; cell < a.tiles; cell += t.blocks) {
    const long long first = cell * t.window;
    const auto start_of = [&](int w) { return matrix + ((from + w) * a.length + first) * sizeof(T); };
    const char* start = reinterpret_cast<const char*>(start_of(warp) & ~15ull) + lane * 16;
    const long long left = a.length - first + static_cast<int>(start_of(warp) & 15) / static_cast<int>(sizeof(T)) - lane * L;  // columns from this lane's first one on
    if (!kept) load_few(0);
    float sums[S][W][L] = {};
    for (int base = 0; base < most; base += ROWS / WARPS) {
      const int count = min(ROWS / WARPS, mine - base), chunk = min(ROWS, to - from - base * WARPS);
      uint4 x[U][W];
      const auto load = [&](int i0) {
#pragma unroll
        for (int u = 0; u < U; u++)
#pragma unroll
          for (int w = 0; w < W; w++) x[u][w] = i0 + u < count && left > w * 32 * L ? load16(start + (base + i0 + u) * row_bytes + w * 512) : make_uint4(0, 0, 0, 0);
      };
      load(0);
      if (!kept) {
        copy_wait<0>();
        __syncthreads();
#pragma unroll 4
        for (int i = threadIdx.x; i < chunk * S; i += THREADS) few[i] = few_at(raw, from + base * WARPS + i / S, to, i % S);
        __syncthreads();
        load_few(base + ROWS / WARPS);
      }
      for (int i0 = 0; i0 < count; i0 += U) {
        if (i0 > 0) load(i0);
#pragma unroll
        for (int u = 0; u < U; u++) {
          if (i0 + u >= count) break;
          const float* y = few + ((i0 + u) * WARPS + warp) * S;
#pragma unroll
          for (int w = 0; w < W; w++) {
            float m[L];
            unpack<T>(x[u][w], m);
            if constexpr (S == 1) {
#pragma unroll
              for (int j = 0; j < L; j++) sums[0][w][j] = fmaf(m[j], *y, sums[0][w][j]);
            } else {
#pragma unroll
              for (int s = 0; s < S; s += 4) {
                const float4 f = reinterpret_cast<const float4*>(y)[s / 4];
#pragma unroll
                for (int j = 0; j < L; j++) {
                  sums[s][w][j] = fmaf(m[j], f.x, sums[s][w][j]);
                  sums[s + 1][w][j] = fmaf(m[j], f.y, sums[s + 1][w][j]);
                  sums[s + 2][w][j] = fmaf(m[j], f.z, sums[s + 2][w][j]);
                  sums[s + 3][w][j] = fmaf(m[j], f.w, sums[s + 3][w][j]);
                }
              }
            }
          }
        }
      }
    }
    kept = most <= ROWS / WARPS;
    // Neighbouring threads have what lies together in the output.
    const bool columns_first = a.out_few != 1;
    const auto column_of = [&](int e) { return columns_first ? e % WINDOW : e % (GROUP * WINDOW) / GROUP; };
    const auto few_of = [&](int e) { return columns_first ? e / WINDOW : e / (GROUP * WINDOW) * GROUP + e % GROUP; };
    const auto place = [&](int e) {
      const int column = column_of(e), s = few_of(e);
      return column < t.window && first + column < a.length && s < a.few ? (first + column) * a.out_length + static_cast<long long>(s) * a.out_few : -1ll;
    };
    const Results<T, decltype(place)> results = {a, batch, static_cast<int>(gridDim.x / t.blocks), WINDOW * S, place};
#pragma unroll
    for (int group = 0; group < S; group += GROUP) {
      __syncthreads();
      if (group == 0 && threadIdx.x < WARPS) shifts[threadIdx.x] = static_cast<int>(start_of(threadIdx.x) & 15) / static_cast<int>(sizeof(T));
#pragma unroll
      for (int s = 0; s < GROUP; s++)
#pragma unroll
        for (int w = 0; w < W; w++)
#pragma unroll
          for (int j = 0; j < L; j += 4)
            *reinterpret_cast<float4*>(warp_sums + (warp * GROUP + s) * PITCH + (w * 32 + lane) * L + j) = make_float4(sums[group + s][w][j], sums[group + s][w][j + 1], sums[group + s][w][j + 2], sums[group + s][w][j + 3]);
      __syncthreads();
      for (int e = group * WINDOW + threadIdx.x; e < (group + GROUP) * WINDOW; e += THREADS) {
        const int column = column_of(e), s = few_of(e) % GROUP;
        float total = 0;
        if (column < t.window) {
#pragma unroll
          for (int w = 0; w < WARPS; w++) total += warp_sums[(w * GROUP + s) * PITCH + column + shifts[w]];
        }
        results.give(e, total);
      }
    }
    __syncthreads();
    results.add_up(reinterpret_cast<float4*>(warp_sums));
  }
}

}  // namespace

#define COLUMNS(T, S, W) \
  extern "C" __global__ void __launch_bounds__(THREADS, 2) matmul_stream_columns_##T##_##S(const SkinnyArguments a, const StreamTask t) { columns<T, S, W>(a, t); }
COLUMNS(f32, 1, 4)
COLUMNS(f32, 4, 1)
COLUMNS(f32, 8, 1)
COLUMNS(f32, 16, 1)
COLUMNS(f16, 1, 4)
COLUMNS(bf16, 1, 4)
extern "C" __global__ void __launch_bounds__(THREADS, 2) matmul_stream_rows_f32_16(const SkinnyArguments a, const StreamTask t) { rows<16>(a, t); }
