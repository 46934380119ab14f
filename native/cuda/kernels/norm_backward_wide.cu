// Gradients of layer_norm and rms_norm of rows that are longer than a block has registers for the sums of: norm_backward_wide_<layer|rms>_<t>. A cluster of blocks has a row at a time, each block a slice of its columns, which it fetches for the rows to
// come while it works and keeps sums of. The sums of a row go from each warp to every block of the cluster. norm_columns_join (row_sums.cu) joins the sums of columns of all clusters, in a fixed order, so results repeat bit for bit.
#include "norm_backward_wide.h"
#include "common/cluster.cuh"
#include "common/early.cuh"
#include "common/fetch.cuh"
#include "common/norm_gradient.cuh"
#include "common/reduce.cuh"

namespace {

// Writes `v` where block `rank` of the cluster has `slot`, a variable in shared memory.
__device__ __forceinline__ void write_to_block(float2 v, float2* slot, unsigned rank) {
#if __CUDA_ARCH__ >= 900
  unsigned remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(static_cast<unsigned>(__cvta_generic_to_shared(slot))), "r"(rank));
  asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(remote), "f"(v.x), "f"(v.y) : "memory");
#endif
}

// grid: clusters of `slices` blocks. parts: [clusters][2][dim], the sums of each cluster for weight and bias. Shared memory: S rows of grad and of x, of the columns of a block.
template <bool CENTERED, class T>
__device__ __forceinline__ void norm_backward_wide(const T* __restrict__ grad, const T* __restrict__ x, const T* __restrict__ weight, const float* __restrict__ mean, const float* __restrict__ rstd, T* __restrict__ out,
                                                   float* __restrict__ parts, long long tokens, int dim, int slices) {
  constexpr int L = LANES<T>, V = norm_wide_vectors, S = norm_wide_stages, most_warps = norm_wide_threads / 32;
  extern __shared__ uint4 shared[];
  __shared__ float2 of_warps[2][norm_wide_blocks * most_warps];
  const int thread = threadIdx.x, threads = blockDim.x, warps = threads / 32, lane = thread % 32;
  const int slice = static_cast<int>(cluster_rank()), each = (dim / L + slices - 1) / slices, vectors = min(each, dim / L - slice * each), column = slice * each * L;
  const long long cluster = blockIdx.x / slices, step = gridDim.x / slices;
  grad += column, x += column, out += column;
  const auto place = [&](int stage, int tensor, int u) { return shared + ((stage * 2 + tensor) * V + u) * threads + thread; };
  const auto fetch = [&](long long row, int stage) {
    if (row < tokens) {
#pragma unroll
      for (int u = 0; u < V; u++) {
        const int i = thread + u * threads;
        if (i >= vectors) break;
        fetch16(place(stage, 0, u), grad + row * dim + i * L);
        fetch16(place(stage, 1, u), x + row * dim + i * L);
      }
    }
    fetch_end();
  };
#pragma unroll
  for (int s = 0; s + 1 < S; s++) fetch(cluster + s * step, s);
  float weight_sum[V][L] = {}, bias_sum[V][L] = {};
  uint4 w[V];
#pragma unroll
  for (int u = 0; u < V; u++) w[u] = thread + u * threads < vectors ? load16(weight + column + (thread + u * threads) * L) : uint4{0, 0, 0, 0};
  const float share = 1.0f / static_cast<float>(dim);
  // Every block of the cluster is there before one writes to it.
  cluster_arrive();
  cluster_wait();
  int stage = 0, side = 0;
  const long long first = min(cluster, tokens - 1);
  float next_mean = CENTERED ? mean[first] : 0.0f, next_rstd = rstd[first];
  for (long long row = cluster; row < tokens; row += step) {
    const float m = next_mean, scale = next_rstd;
    const long long next = row + step < tokens ? row + step : row;
    if (CENTERED) next_mean = mean[next];
    next_rstd = rstd[next];
    fetch(row + (S - 1) * step, stage == 0 ? S - 1 : stage - 1);
    fetch_wait<S - 1>();
    float2 sums = make_float2(0.0f, 0.0f);
#pragma unroll
    for (int u = 0; u < V; u++) {
      if (thread + u * threads >= vectors) break;
      float g[L], h[L], f[L];
      unpack<T>(*place(stage, 0, u), g);
      unpack<T>(*place(stage, 1, u), h);
      unpack<T>(w[u], f);
      add_norm_vector<CENTERED>(g, h, f, m, scale, weight_sum[u], bias_sum[u], sums);
    }
    sums = sum_of_warp(sums);
    // Two sides in turn: who writes one has passed the barrier after which all have read it.
    if (lane < slices) write_to_block(sums, &of_warps[side][slice * warps + thread / 32], static_cast<unsigned>(lane));
    cluster_arrive();
    cluster_wait();
    sums = make_float2(0.0f, 0.0f);
    for (int k = lane; k < slices * warps; k += 32) sums.x += of_warps[side][k].x, sums.y += of_warps[side][k].y;
    sums = sum_of_warp(sums);
    side ^= 1;
    const float of_one = -scale * sums.x * share, of_x = -scale * sums.y * share * scale;
#pragma unroll
    for (int u = 0; u < V; u++) {
      const int i = thread + u * threads;
      if (i >= vectors) break;
      float g[L];
      norm_vector<T>(*place(stage, 0, u), *place(stage, 1, u), w[u], m, scale, of_one, of_x, g);
      store16(out + row * dim + i * L, pack<T>(g));
    }
    if (++stage == S) stage = 0;
  }
  next_may_start();
  float* const total = parts + cluster * 2 * dim + column;
#pragma unroll
  for (int u = 0; u < V; u++) {
    const int i = thread + u * threads;
    if (i >= vectors) break;
    store_norm_sums<CENTERED>(total + i * L, dim, weight_sum[u], bias_sum[u]);
  }
}

}  // namespace

#define NORM(T, name, CENTERED)                                                                                                                                                                             \
  extern "C" __global__ void __launch_bounds__(norm_wide_threads) norm_backward_wide_##name##_##T(const T* grad, const T* x, const T* weight, const float* mean, const float* rstd, T* out, float* parts, long long tokens, \
                                                                                                  int dim, int slices) {                                                                                     \
    norm_backward_wide<CENTERED>(grad, x, weight, mean, rstd, out, parts, tokens, dim, slices);                                                                                                              \
  }
#define NORMS(T) NORM(T, layer, true) NORM(T, rms, false)
NORMS(f32)
NORMS(f16)
NORMS(bf16)
