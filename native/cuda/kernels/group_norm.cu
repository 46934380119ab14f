// group_norm of groups that a block, or a cluster of blocks, keeps in registers, so that x is read once (group_norm/shape.h): group_norm_<t>_<V>, V vectors of
// each thread; _ragged: of groups that do not start on 16 bytes; _cluster; _three: three blocks of a multiprocessor. Many shorter groups are those of group_norm_short.cu, others row operations (rows.cu). Statistics are joined in a fixed order.
#include "group_norm/scale.cuh"
#include "rows/stats.cuh"

namespace {

// Of the block's threads, in every thread.
__device__ __forceinline__ float total_of_block(float v, float* scratch) { return block_reduce(v, 0.0f, scratch, AddOp()); }

template <class T, int V, bool RAGGED, bool CLUSTER>
__device__ __forceinline__ void group_norm(const GroupNormArguments& a) {
  constexpr int L = LANES<T>;
  __shared__ float sums[32], square_sums[32];
  __shared__ ByMoments::Stats slot;
  extern __shared__ float2 weights[];  // weight and bias of each channel
  const int threads = static_cast<int>(blockDim.x);
  const unsigned group = CLUSTER ? blockIdx.x / static_cast<unsigned>(a.parts) : blockIdx.x;
  const int first = CLUSTER ? static_cast<int>(blockIdx.x - group * static_cast<unsigned>(a.parts)) * a.part : 0;
  const long long at = static_cast<long long>(group) * a.cols;
  // Vector v of a group has its elements v * L - before ..
  const int before = RAGGED ? static_cast<int>(at & (L - 1)) : 0, end = min(first + a.part, (before + a.cols + L - 1) / L), own = first + static_cast<int>(threadIdx.x);
  const T* x = reinterpret_cast<const T*>(a.x) + (at - before) + static_cast<long long>(own) * L;
  uint4 kept[V];
#pragma unroll
  for (int u = 0; u < V; u++) kept[u] = own + u * threads < end ? load16(x + u * threads * L) : uint4{0, 0, 0, 0};
  const int channel0 = static_cast<int>(group % static_cast<unsigned>(a.groups)) * a.channels;
  for (int c = threadIdx.x; c < a.channels; c += threads)
    weights[c] = make_float2(to_float(reinterpret_cast<const T*>(a.weight)[channel0 + c]), to_float(reinterpret_cast<const T*>(a.bias)[channel0 + c]));

  // Whether the vector whose elements begin at `i` has elements of other groups too, and whether element `i` is of this one.
  const auto shared_with_others = [&](int i) { return RAGGED && (i < 0 || i + L > a.cols); };
  const auto of_group = [&](int i) { return i >= 0 && i < a.cols; };
  float sum = 0;
#pragma unroll
  for (int u = 0; u < V; u++) {
    float f[L];
    unpack<T>(kept[u], f);
    const int i = (own + u * threads) * L - before;
    if (shared_with_others(i)) {
#pragma unroll
      for (int j = 0; j < L; j++) f[j] = of_group(i + j) ? f[j] : 0.0f;
    }
#pragma unroll
    for (int j = 1; j < L; j++) f[0] += f[j];
    sum += f[0];
  }
  keep_packed(kept);
  const float count = static_cast<float>(min(end * L - before, a.cols) - max(first * L - before, 0));
  float mean = total_of_block(sum, sums) / count, squares = 0;
#pragma unroll
  for (int u = 0; u < V; u++) {
    const int v = own + u * threads, i = v * L - before;
    if (v >= end) break;
    float f[L];
    unpack<T>(kept[u], f);
#pragma unroll
    for (int j = 0; j < L; j++) f[j] -= mean;
    if (shared_with_others(i)) {
#pragma unroll
      for (int j = 0; j < L; j++) f[j] = of_group(i + j) ? f[j] : 0.0f;
    }
#pragma unroll
    for (int j = 0; j < L; j++) squares = fmaf(f[j], f[j], squares);
  }
  keep_packed(kept);
  squares = total_of_block(squares, square_sums);
  float variance = squares / count;
  if constexpr (CLUSTER) {
    if (threadIdx.x == 0) slot = {count, mean, squares};
    cluster_arrive();
    cluster_wait();
    // A lane for each block of the cluster.
    const ByMoments::Stats s = ByMoments::join_warp(of_block(slot, threadIdx.x & static_cast<unsigned>(a.parts - 1)), a.parts);
    cluster_arrive();
    mean = s.mean, variance = s.squares / s.count;
  }
  const float rstd = 1.0f / sqrtf(variance + a.eps);
  T* out = reinterpret_cast<T*>(a.out) + (at - before);
  const GroupScale<T> scale = {a, weights, mean, rstd};
#pragma unroll
  for (int u = 0; u < V; u++) {
    const int v = own + u * threads, i = v * L - before;
    if (v >= end) break;
    float f[L];
    unpack<T>(kept[u], f);
    scale.apply(f, i);
    if (shared_with_others(i)) {
#pragma unroll
      for (int j = 0; j < L; j++)
        if (of_group(i + j)) out[v * L + j] = from_float<T>(f[j]);
      continue;
    }
    store16(out + v * L, pack<T>(f));
  }
  if (CLUSTER) cluster_wait();
}

}  // namespace

#define GROUP_NORM(T, V, RAGGED, CLUSTER, BLOCKS, name) \
  extern "C" __global__ void __launch_bounds__(512, BLOCKS) group_norm_##T##_##V##name(const GroupNormArguments a) { group_norm<T, V, RAGGED, CLUSTER>(a); }
// Registers for three blocks of up to group_three_threads threads (group_norm/shape.h) on a multiprocessor, which bounds of launches would round to fewer.
#ifdef __maxnreg__
#define GROUP_REGISTERS __maxnreg__(48)
#else
#define GROUP_REGISTERS __launch_bounds__(512, 2)
#endif
#define GROUP_NORM_THREE(T) extern "C" __global__ void GROUP_REGISTERS group_norm_##T##_8_three(const GroupNormArguments a) { group_norm<T, 8, false, false>(a); }
GROUP_NORM_THREE(f32)
GROUP_NORM_THREE(f16)
GROUP_NORM_THREE(bf16)
#define GROUP_NORMS(T)                                                                                                      \
  GROUP_NORM(T, 4, false, false, 3, ) GROUP_NORM(T, 4, true, false, 3, _ragged) GROUP_NORM(T, 8, false, false, 2, ) GROUP_NORM(T, 8, true, false, 2, _ragged) \
  GROUP_NORM(T, 4, false, true, 2, _cluster) GROUP_NORM(T, 4, true, true, 2, _ragged_cluster) GROUP_NORM(T, 8, false, true, 2, _cluster) GROUP_NORM(T, 8, true, true, 1, _ragged_cluster)
GROUP_NORMS(f32)
GROUP_NORMS(f16)
GROUP_NORMS(bf16)
