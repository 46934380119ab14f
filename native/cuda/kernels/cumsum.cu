// Sums of the elements up to each one along rows. cumsum_<t>: a group of threads per row, a warp or the block.
// cumsum_<t>_tile: many short rows, some of them a block, by way of shared memory.
// Rows that more blocks share: cumsum_<t>_part adds up each part, then the same kernel starts from what lies in front of it.
#include "cumsum/lanes.cuh"
#include "rows/stats.cuh"

namespace {

constexpr int EACH = 4;  // neighbouring elements of a thread at a time

// The sum of `value` over the threads of the group in front of this one; `total`: of all. `scratch`: one float per warp.
__device__ __forceinline__ float in_front(float value, int group, float* scratch, float& total) {
  const int lane = threadIdx.x % 32;
  const LaneSums sums = lane_sums(value, lane);
  total = __shfl_sync(0xffffffffu, sums.upto, 31);
  if (group == 32) return sums.before;
  const int warps = group / 32, warp = threadIdx.x / 32;
  __syncthreads();
  if (lane == 31) scratch[warp] = sums.upto;
  __syncthreads();
  float of_warps = 0;
  total = 0;
  for (int w = 0; w < warps; w++) {
    const float s = scratch[w];
    if (w < warp) of_warps += s;
    total += s;
  }
  return of_warps + sums.before;
}

// The sum over the block of the n elements of x from `start` on.
template <class T>
__device__ __forceinline__ float block_sum(const T* x, long long start, long long n) {
  __shared__ BySum::Stats scratch[32];
  BySum::Stats s = BySum::start();
  each_lanes<T>(start, n, threadIdx.x, blockDim.x, [&](long long i, auto lanes) {
    float f[decltype(lanes)::count];
    take(x + start + i, f);
    for (const float value : f) s.sum += value;
  });
  return join_group<BySum>(s, blockDim.x, scratch).sum;
}

// group: 32, or the block. parts: blocks of a row, with the sums of parts in `sums`.
template <class T>
__device__ __forceinline__ void scan(const T* x, T* out, long long rows, long long cols, int group, int parts, long long part, const float* sums) {
  __shared__ float scratch[32];
  const int thread = threadIdx.x % group;
  const long long index = static_cast<long long>(blockIdx.x) * (blockDim.x / group) + threadIdx.x / group, row = index / parts, from = index % parts * part;
  const long long n = row < rows ? min(part, cols - from) : 0;
  const T* own = x + row * cols + from;
  T* to = out + row * cols + from;
  float carry = 0;
  if (parts > 1) {
    for (long long i = row * parts; i < index; i++) carry += sums[i];
  }
  const long long step = static_cast<long long>(group) * EACH;
  // Rows of one launch have the same length, and threads without a row go along.
  for (long long base = 0; base < part && base < cols; base += step) {
    const long long i = base + thread * EACH;
    if (i + step < n) fetch_ahead(own + i + step);
    float f[EACH], sum = 0;
#pragma unroll
    for (int j = 0; j < EACH; j++) f[j] = sum += i + j < n ? to_float(own[i + j]) : 0.0f;
    float total;
    const float before = carry + in_front(sum, group, scratch, total);
#pragma unroll
    for (int j = 0; j < EACH; j++)
      if (i + j < n) to[i + j] = from_float<T>(before + f[j]);
    carry += total;
  }
}

template <class T>
__device__ __forceinline__ void part_sum(const T* x, float* sums, long long cols, int parts, long long part) {
  const long long row = blockIdx.x / parts, from = blockIdx.x % parts * part;
  const float sum = block_sum(x, row * cols + from, min(part, cols - from));
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// grid: tiles of tile_rows rows, which start on 16 bytes. A group of lanes for each row, each of `every` neighbouring elements.
template <class T>
__device__ __forceinline__ void tile(const T* x, T* out, long long rows, int cols, int tile_rows, int group, int every) {
  extern __shared__ float values[];
  constexpr int L = LANES<T>;
  const long long first = static_cast<long long>(blockIdx.x) * tile_rows;
  const int height = static_cast<int>(min(static_cast<long long>(tile_rows), rows - first)), n = height * cols;
  const T* const from = x + first * cols;
  T* const to = out + first * cols;
#pragma unroll 4
  for (int v = threadIdx.x; v * L < n; v += blockDim.x) {
    float f[L];
    unpack<T>(load16(from + v * L), f);
#pragma unroll
    for (int e = 0; e < L; e += 4) *reinterpret_cast<float4*>(&values[v * L + e]) = make_float4(f[e], f[e + 1], f[e + 2], f[e + 3]);
  }
  __syncthreads();
  const int lane = threadIdx.x % group, step = blockDim.x / group, start = lane * every, count = max(0, min(every, cols - start));
  // Whole warps go round: threads without a row go along.
  for (int base = 0; base < height; base += step) {
    const int row = base + threadIdx.x / group;
    float* const own = values + row * cols + start;
    const int here = row < height ? count : 0;
    float sum = 0;
    for (int i = 0; i < here; i++) sum += own[i];
    float before = lane_sums(sum, lane, group).before;
    for (int i = 0; i < here; i++) own[i] = before += own[i];
  }
  __syncthreads();
#pragma unroll 4
  for (int v = threadIdx.x; v * L < n; v += blockDim.x) {
    float f[L];
#pragma unroll
    for (int e = 0; e < L; e += 4) {
      const float4 some = *reinterpret_cast<const float4*>(&values[v * L + e]);
      f[e] = some.x, f[e + 1] = some.y, f[e + 2] = some.z, f[e + 3] = some.w;
    }
    if ((v + 1) * L <= n) {
      store16(to + v * L, pack<T>(f));
      continue;
    }
#pragma unroll
    for (int e = 0; e < L; e++)
      if (v * L + e < n) to[v * L + e] = from_float<T>(f[e]);
  }
}

}  // namespace

#define CUMSUM(T)                                                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(1024) cumsum_##T(const T* x, T* out, long long rows, long long cols, int group, int parts, long long part, const float* sums) { \
    scan(x, out, rows, cols, group, parts, part, sums);                                                                                                        \
  }                                                                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(256) cumsum_##T##_tile(const T* x, T* out, long long rows, int cols, int tile_rows, int group, int every) {                     \
    tile(x, out, rows, cols, tile_rows, group, every);                                                                                                                       \
  }                                                                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(256) cumsum_##T##_part(const T* x, float* sums, long long cols, int parts, long long part) { part_sum(x, sums, cols, parts, part); }
CUMSUM(f32)
CUMSUM(f16)
CUMSUM(bf16)
