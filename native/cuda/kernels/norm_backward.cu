// Gradients of layer_norm and rms_norm where rows start on 16 bytes and are neither short nor longer than the registers of a block hold sums for
// (rows/shape.h): norm_backward_<layer|rms>_<t>_<V>. A block takes every gridDim.x-th row; V vectors of a row for each thread, which fetches its own
// part of the rows to come while it works, and keeps what its columns add up to. Each tensor is read once. The sums of all blocks are joined by
// norm_columns_join (row_sums.cu), in their order, so results repeat bit for bit.
#include "norm_backward.h"
#include "common/vec.cuh"

namespace {

constexpr int S = norm_stages;

// A copy that goes on while the thread works. Nothing that touches memory moves across: what a thread has read of its part is read before the copy into it starts.
__device__ __forceinline__ void fetch16(uint4* to, const void* from) {
#ifdef __CUDA_ARCH__
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(to))), "l"(from) : "memory");
#else
  *to = load16(from);
#endif
}
__device__ __forceinline__ void fetch_end() {
#ifdef __CUDA_ARCH__
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Until all fetches of this thread but the last S - 1 have arrived.
__device__ __forceinline__ void fetch_wait() {
#ifdef __CUDA_ARCH__
  asm volatile("cp.async.wait_group %0;" ::"n"(S - 1) : "memory");
#endif
}

__device__ __forceinline__ float2 sum_of_warp(float2 v) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    v.x += __shfl_xor_sync(0xffffffffu, v.x, offset);
    v.y += __shfl_xor_sync(0xffffffffu, v.y, offset);
  }
  return v;
}

// parts: [gridDim.x][2][dim], the sums of each block for weight and bias. Shared memory: 64 pairs of sums, then S rows of grad and of x.
template <bool CENTERED, int V, class T>
__device__ __forceinline__ void norm_backward(const T* __restrict__ grad, const T* __restrict__ x, const T* __restrict__ weight, const float* __restrict__ mean, const float* __restrict__ rstd,
                                              T* __restrict__ out, float* __restrict__ parts, long long tokens, int dim) {
  constexpr int L = LANES<T>;
  extern __shared__ uint4 shared[];
  float2* scratch = reinterpret_cast<float2*>(shared);
  const int thread = threadIdx.x, threads = blockDim.x, vectors = dim / L, warps = threads / 32;
  uint4* own = shared + norm_scratch_bytes / 16 + thread;
  // Vector u of this thread of row `stage` of grad (0) or x (1).
  const auto place = [&](int stage, int tensor, int u) { return own + ((stage * 2 + tensor) * V + u) * threads; };
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
  for (int s = 0; s + 1 < S; s++) fetch(blockIdx.x + static_cast<long long>(s) * gridDim.x, s);
  float weight_sum[V][L] = {}, bias_sum[V][L] = {};
  uint4 w[V];
#pragma unroll
  for (int u = 0; u < V; u++) w[u] = thread + u * threads < vectors ? load16(weight + (thread + u * threads) * L) : uint4{0, 0, 0, 0};
  const float share = 1.0f / static_cast<float>(dim);
  int stage = 0, side = 0;
  float next_mean = CENTERED ? mean[blockIdx.x] : 0.0f, next_rstd = rstd[blockIdx.x];
  for (long long row = blockIdx.x; row < tokens; row += gridDim.x) {
    const float m = next_mean, scale = next_rstd;
    const long long next = row + gridDim.x < tokens ? row + gridDim.x : row;
    if (CENTERED) next_mean = mean[next];
    next_rstd = rstd[next];
    fetch(row + static_cast<long long>(S - 1) * gridDim.x, stage == 0 ? S - 1 : stage - 1);
    fetch_wait();
    float2 sums = make_float2(0.0f, 0.0f);
#pragma unroll
    for (int u = 0; u < V; u++) {
      if (thread + u * threads >= vectors) break;
      float g[L], h[L], f[L];
      unpack<T>(*place(stage, 0, u), g);
      unpack<T>(*place(stage, 1, u), h);
      unpack<T>(w[u], f);
#pragma unroll
      for (int j = 0; j < L; j++) {
        const float own_h = (h[j] - m) * scale, own_g = g[j] * f[j];
        weight_sum[u][j] = fmaf(g[j], own_h, weight_sum[u][j]);
        if (CENTERED) bias_sum[u][j] += g[j], sums.x += own_g;
        sums.y = fmaf(own_g, own_h, sums.y);
      }
    }
    sums = sum_of_warp(sums);
    if (warps > 1) {
      // Two sides in turn: who writes one has passed the barrier after which all have read it.
      if (thread % 32 == 0) scratch[side * 32 + thread / 32] = sums;
      __syncthreads();
      sums = sum_of_warp(thread % 32 < warps ? scratch[side * 32 + thread % 32] : make_float2(0.0f, 0.0f));
      side ^= 1;
    }
    const float of_one = -scale * sums.x * share, of_x = -scale * scale * sums.y * share;
#pragma unroll
    for (int u = 0; u < V; u++) {
      const int i = thread + u * threads;
      if (i >= vectors) break;
      float g[L], h[L], f[L];
      unpack<T>(*place(stage, 0, u), g);
      unpack<T>(*place(stage, 1, u), h);
      unpack<T>(w[u], f);
#pragma unroll
      for (int j = 0; j < L; j++) g[j] = fmaf(g[j] * f[j], scale, fmaf(h[j] - m, of_x, of_one));
      store16(out + row * dim + i * L, pack<T>(g));
    }
    if (++stage == S) stage = 0;
  }
  float* total = parts + blockIdx.x * 2LL * dim;
#pragma unroll
  for (int u = 0; u < V; u++) {
    const int i = thread + u * threads;
    if (i >= vectors) break;
#pragma unroll
    for (int j = 0; j < L; j += 4) {
      store16(total + i * L + j, pack<float>({weight_sum[u][j], weight_sum[u][j + 1], weight_sum[u][j + 2], weight_sum[u][j + 3]}));
      if (CENTERED) store16(total + dim + i * L + j, pack<float>({bias_sum[u][j], bias_sum[u][j + 1], bias_sum[u][j + 2], bias_sum[u][j + 3]}));
    }
  }
}

}  // namespace

#define NORM(T, name, CENTERED, V, BLOCKS)                                                                                                                                              \
  extern "C" __global__ void __launch_bounds__(norm_threads, BLOCKS) norm_backward_##name##_##T##_##V(const T* grad, const T* x, const T* weight, const float* mean, const float* rstd, T* out, float* parts, \
                                                                                                      long long tokens, int dim) {                                                      \
    norm_backward<CENTERED, V>(grad, x, weight, mean, rstd, out, parts, tokens, dim);                                                                                                   \
  }
#define NORMS(T) NORM(T, layer, true, 1, 2) NORM(T, layer, true, 2, 1) NORM(T, layer, true, 4, 1) NORM(T, rms, false, 1, 2) NORM(T, rms, false, 2, 1) NORM(T, rms, false, 4, 1)
NORMS(f32)
NORMS(f16)
NORMS(bf16)
