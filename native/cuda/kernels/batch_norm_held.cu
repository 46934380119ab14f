// batch_norm in training of channels that a block, or a cluster of blocks, keeps in registers, so that x is read once (batch_norm/held.h): batch_norm_held_<t>_<V>, V vectors of each thread;
// _ragged: images that do not start on 16 bytes; _cluster. Statistics are joined in a fixed order.
#include "batch_norm/vectors.cuh"
#include "rows/stats.cuh"

namespace {

// Of the block's threads, in every thread.
__device__ __forceinline__ float total_of_block(float v, float* scratch) { return block_reduce(v, 0.0f, scratch, AddOp()); }

// Makes the compiler work out anew what follows from `own`: kept, where vectors lie takes more registers than what they hold.
template <int V>
__device__ __forceinline__ void keep_alone(uint4 (&kept)[V], int& own) {
  keep_packed(kept);
#ifdef __CUDA_ARCH__
  asm volatile("" : "+r"(own));
#endif
}

// grid: channels by blocks of each.
template <class T, int V, bool RAGGED, bool CLUSTER>
__device__ __forceinline__ void train(const T* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias, T* __restrict__ out, float* __restrict__ mean, float* __restrict__ rstd, const BatchNormVectors& a,
                                      float count, float eps) {
  constexpr int L = LANES<T>;
  __shared__ float sums[32], square_sums[32], counts[32];
  __shared__ ByMoments::Stats slot;
  const int threads = static_cast<int>(blockDim.x), channel = CLUSTER ? static_cast<int>(blockIdx.x) / a.parts : static_cast<int>(blockIdx.x);
  const int from = CLUSTER ? (static_cast<int>(blockIdx.x) - channel * a.parts) * a.part : 0, end = min(from + a.part, a.vectors);
  int own = from + static_cast<int>(threadIdx.x);
  const ChannelVectors<T, RAGGED> vectors = {a, channel};
  uint4 kept[V];
#pragma unroll
  for (int u = 0; u < V; u++) {
    const auto vector = vectors[own + u * threads];
    kept[u] = own + u * threads < end && vector.some() ? load16(x + vector.at) : uint4{0, 0, 0, 0};
  }
  keep_alone(kept, own);
  const float scale = weight[channel], shift = bias[channel];
  float sum = 0, elements = 0;
#pragma unroll
  for (int u = 0; u < V; u++) {
    float f[L];
    unpack<T>(kept[u], f);
    if (RAGGED && own + u * threads < end) {
      const auto vector = vectors[own + u * threads];
      vector.clear_others(f);
      if (CLUSTER) {
#pragma unroll
        for (int j = 0; j < L; j++) elements += vector.has(j) ? 1.0f : 0.0f;
      }
    }
#pragma unroll
    for (int j = 1; j < L; j++) f[0] += f[j];
    sum += f[0];
  }
  keep_alone(kept, own);
  // Of this block.
  if (CLUSTER) count = RAGGED ? total_of_block(elements, counts) : static_cast<float>((end - from) * L);
  ByMoments::Stats s = {count, total_of_block(sum, sums) / count, 0.0f};
#pragma unroll
  for (int u = 0; u < V; u++) {
    if (own + u * threads >= end) break;
    const auto vector = vectors[own + u * threads];
    float f[L];
    unpack<T>(kept[u], f);
#pragma unroll
    for (int j = 0; j < L; j++) f[j] -= s.mean;
    vector.clear_others(f);
#pragma unroll
    for (int j = 0; j < L; j++) s.squares = fmaf(f[j], f[j], s.squares);
  }
  keep_alone(kept, own);
  s.squares = total_of_block(s.squares, square_sums);
  if constexpr (CLUSTER) {
    if (threadIdx.x == 0) slot = s;
    cluster_arrive();
    cluster_wait();
    // A lane for each block of the cluster.
    s = ByMoments::join_warp(of_block(slot, threadIdx.x & static_cast<unsigned>(a.parts - 1)), a.parts);
    cluster_arrive();
  }
  const float spread = ByMoments::rstd(s, eps), by = spread * scale;
  if (from == 0 && threadIdx.x == 0) mean[channel] = s.mean, rstd[channel] = spread;
#pragma unroll
  for (int u = 0; u < V; u++) {
    if (own + u * threads >= end) break;
    const auto vector = vectors[own + u * threads];
    float f[L];
    unpack<T>(kept[u], f);
#pragma unroll
    for (int j = 0; j < L; j++) f[j] = fmaf(f[j] - s.mean, by, shift);
    if (vector.whole()) {
      store16(out + vector.at, pack<T>(f));
      continue;
    }
#pragma unroll
    for (int j = 0; j < L; j++)
      if (vector.has(j)) out[vector.at + j] = from_float<T>(f[j]);
  }
  if (CLUSTER) cluster_wait();
}

}  // namespace

#define HELD(T, V, RAGGED, CLUSTER, BLOCKS, name)                                                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(512, BLOCKS) batch_norm_held_##T##_##V##name(const T* x, const float* weight, const float* bias, T* out, float* mean, float* rstd, const BatchNormVectors a, \
                                                                                            float count, float eps) {                                                                                    \
    train<T, V, RAGGED, CLUSTER>(x, weight, bias, out, mean, rstd, a, count, eps);                                                                                                                       \
  }
#define KERNELS(T)                                                                                                      \
  HELD(T, 4, false, false, 3, ) HELD(T, 4, true, false, 2, _ragged) HELD(T, 8, false, false, 2, ) HELD(T, 8, true, false, 2, _ragged) \
  HELD(T, 4, false, true, 2, _cluster) HELD(T, 4, true, true, 2, _ragged_cluster) HELD(T, 8, false, true, 2, _cluster) HELD(T, 8, true, true, 2, _ragged_cluster)
KERNELS(f32)
KERNELS(f16)
KERNELS(bf16)
