// What row operations need beside their rows: the mean of one float per row, and sums over rows.
#include "common/early.cuh"
#include "common/slots.cuh"
#include "rows/stats.cuh"

// ---- the mean of one float per row ----

struct Adding {
  static constexpr bool at_once = false;
  static __device__ __forceinline__ BySum::Stats start() { return BySum::start(); }
  static __device__ __forceinline__ BySum::Stats join(BySum::Stats p, BySum::Stats q) { return BySum::join(p, q); }
};

// The mean of n floats: parts[block] = sum of its share, which the block that comes last adds up. `counter` is zero.
template <class T>
__device__ __forceinline__ void rows_mean(const float* __restrict__ x, float* parts, unsigned* counter, long long n, T* out) {
  __shared__ BySum::Stats scratch[2][32];
  BySum::Stats s{0.0f};
#pragma unroll 8
  for (long long i = blockIdx.x * 256LL + threadIdx.x; i < n; i += gridDim.x * 256LL) s.sum += x[i];
  s = join_group<Adding>(s, 256, scratch[0]);
  if (gridDim.x > 1) {
    if (threadIdx.x == 0) parts[blockIdx.x] = s.sum;
    if (!last_to_arrive(counter, gridDim.x)) return;
    s.sum = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += 256) s.sum += __ldcg(parts + i);
    s = join_group<Adding>(s, 256, scratch[1]);
  }
  if (threadIdx.x == 0) *out = from_float<T>(s.sum / static_cast<float>(n));
}

// The same by one block.
template <class T>
__device__ __forceinline__ void rows_mean_once(const float* __restrict__ x, long long n, T* out) {
  __shared__ float scratch[32];
  float sum = 0;
  wait_for_last();
#pragma unroll 4
  for (long long i = threadIdx.x; i < n; i += 1024) sum += __ldcg(x + i);
  sum = block_reduce(sum, 0.0f, scratch, AddOp());
  if (threadIdx.x == 0) *out = from_float<T>(sum / static_cast<float>(n));
}

// The same of floats that blocks of the launch before leave in slots, which are zero before and after, by fours: it starts while these run. By one block.
template <class T, int THREADS>
__device__ __forceinline__ void rows_mean_slots(unsigned* slots, int n, T* out) {
  __shared__ float scratch[32];
  float sum = 0;
  // Once past no slots, so that the instructions of the end are there when the last value is.
#pragma unroll 1
  for (int end = 0;; end = n) {
#pragma unroll 1
    for (int first = threadIdx.x * 4; first < end; first += 4 * THREADS) {
      const float4 v = await_values(slots + first, end - first);
      sum += (v.x + v.y) + (v.z + v.w);
      store16(slots + first, make_uint4(0, 0, 0, 0));
    }
    sum = block_reduce(sum, 0.0f, scratch, AddOp());
    if (end == n) break;
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = from_float<T>(sum / static_cast<float>(n));
  wait_for_last();
}

// ---- sums over tokens of grad * (x - mean) * rstd and of grad ----

// grid: (tiles of 32 columns, splits); 256 threads = 32 columns x 8 rows. parts: [splits][2][dim], for norm_columns_join; one split writes
// the results itself.
template <class T>
__device__ __forceinline__ void norm_columns(const T* grad, const T* x, const float* mean, const float* rstd, float* parts, long long tokens, long long dim, long long per_split, T* dweight, T* dbias) {
  __shared__ float own[2][8][32];
  const int lane = threadIdx.x % 32, group = threadIdx.x / 32;
  const long long column = blockIdx.x * 32LL + lane, from = blockIdx.y * per_split, to = min(tokens, from + per_split);
  float weight_sum = 0, bias_sum = 0;
  if (column < dim) {
#pragma unroll 4
    for (long long t = from + group; t < to; t += 8) {
      const float g = to_float(grad[t * dim + column]);
      weight_sum = fmaf(g, (to_float(x[t * dim + column]) - (mean ? mean[t] : 0.0f)) * rstd[t], weight_sum);
      bias_sum += g;
    }
  }
  own[0][group][lane] = weight_sum;
  own[1][group][lane] = bias_sum;
  __syncthreads();
  if (group > 1 || column >= dim) return;
  float total = 0;
#pragma unroll
  for (int k = 0; k < 8; k++) total += own[group][k][lane];
  if (gridDim.y > 1) parts[(blockIdx.y * 2LL + group) * dim + column] = total;
  else if (group == 0) dweight[column] = from_float<T>(total);
  else if (dbias) dbias[column] = from_float<T>(total);
}

// parts: [splits][2][dim]. grid: (tiles of 32 columns, 2 for weight and bias); 512 threads = 32 columns x 16 shares of the splits.
template <class T>
__device__ __forceinline__ void norm_columns_join(const float* __restrict__ parts, int splits, long long dim, T* dweight, T* dbias) {
  __shared__ float own[16][32];
  const int lane = threadIdx.x % 32, group = threadIdx.x / 32;
  const long long column = blockIdx.x * 32LL + lane;
  float sum = 0;
  wait_for_last();
  if (column < dim) {
#pragma unroll 8
    for (int s = group; s < splits; s += 16) sum += __ldcg(parts + (s * 2LL + blockIdx.y) * dim + column);
  }
  own[group][lane] = sum;
  __syncthreads();
  if (group > 0 || column >= dim) return;
#pragma unroll
  for (int k = 1; k < 16; k++) sum += own[k][lane];
  (blockIdx.y == 0 ? dweight : dbias)[column] = from_float<T>(sum);
}

// The same of dims that are whole numbers of fours: four columns of a thread, five shares of its on their way. 256 threads = 8 fours of columns x 32 shares.
template <class T>
__device__ __forceinline__ void norm_columns_join_fours(const float* __restrict__ parts, int splits, int dim, T* dweight, T* dbias) {
  constexpr int SHARES = 32, EACH = 5;
  __shared__ float4 own[8][8];
  const int lane = threadIdx.x % 8, column = blockIdx.x * 32 + lane * 4;
  const float* from = parts + static_cast<long long>(blockIdx.y) * dim + column;
  float4 sum = make_float4(0, 0, 0, 0);
  wait_for_last();
  if (column < dim) {
    for (int first = threadIdx.x / 8; first < splits; first += EACH * SHARES) {
      float4 v[EACH];
#pragma unroll
      for (int k = 0; k < EACH; k++) v[k] = first + k * SHARES < splits ? __ldcg(reinterpret_cast<const float4*>(from + (first + k * SHARES) * 2LL * dim)) : make_float4(0, 0, 0, 0);
#pragma unroll
      for (int k = 0; k < EACH; k++) sum.x += v[k].x, sum.y += v[k].y, sum.z += v[k].z, sum.w += v[k].w;
    }
  }
#pragma unroll
  for (int offset = 8; offset < 32; offset *= 2) {
    sum.x += __shfl_xor_sync(0xffffffffu, sum.x, offset), sum.y += __shfl_xor_sync(0xffffffffu, sum.y, offset);
    sum.z += __shfl_xor_sync(0xffffffffu, sum.z, offset), sum.w += __shfl_xor_sync(0xffffffffu, sum.w, offset);
  }
  if (threadIdx.x % 32 < 8) own[threadIdx.x / 32][lane] = sum;
  __syncthreads();
  const int last = blockIdx.x * 32 + threadIdx.x;
  if (threadIdx.x >= 32 || last >= dim) return;
  const float* all = reinterpret_cast<const float*>(own);
  float total = 0;
#pragma unroll
  for (int k = 0; k < 8; k++) total += all[k * 32 + threadIdx.x];
  (blockIdx.y == 0 ? dweight : dbias)[last] = from_float<T>(total);
}

#define PLAIN(T)                                                                                                                                                              \
  extern "C" __global__ void __launch_bounds__(256) rows_mean_##T(const float* x, float* parts, unsigned* counter, long long n, T* out) { rows_mean(x, parts, counter, n, out); } \
  extern "C" __global__ void __launch_bounds__(1024) rows_mean_once_##T(const float* x, long long n, T* out) { rows_mean_once(x, n, out); }                                     \
  extern "C" __global__ void __launch_bounds__(512) rows_mean_slots_##T(unsigned* slots, int n, T* out) { rows_mean_slots<T, 512>(slots, n, out); }                                             \
  extern "C" __global__ void __launch_bounds__(1024) rows_mean_slots_##T##_many(unsigned* slots, int n, T* out) { rows_mean_slots<T, 1024>(slots, n, out); }                                    \
  extern "C" __global__ void __launch_bounds__(256) norm_columns_##T(const T* grad, const T* x, const float* mean, const float* rstd, float* parts, long long tokens,         \
                                                                     long long dim, long long per_split, T* dweight, T* dbias) {                                                              \
    norm_columns(grad, x, mean, rstd, parts, tokens, dim, per_split, dweight, dbias);                                                                                         \
  }                                                                                                                                                                           \
  extern "C" __global__ void __launch_bounds__(512) norm_columns_join_##T(const float* parts, int splits, long long dim, T* dweight, T* dbias) {                              \
    norm_columns_join(parts, splits, dim, dweight, dbias);                                                                                                                    \
  } \
  extern "C" __global__ void __launch_bounds__(256) norm_columns_join_fours_##T(const float* parts, int splits, long long dim, T* dweight, T* dbias) { \
    norm_columns_join_fours(parts, splits, static_cast<int>(dim), dweight, dbias); \
  }
PLAIN(f32)
PLAIN(f16)
PLAIN(bf16)
