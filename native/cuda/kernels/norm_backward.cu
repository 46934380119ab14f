// Gradients of layer_norm and rms_norm of rows that are neither short nor longer than the registers of a block hold sums for (rows/shape.h):
// norm_backward_<layer|rms>_<t>_<V>, and .._ragged_<V> where rows do not start on 16 bytes: V of 3 and 4 of a warp for each row. A block has one or several groups of threads, each with a row of its own at a time; V vectors of a row for
// each thread, which fetches its own part of the rows to come while it works, and keeps what its columns add up to. Each tensor is read once. The groups of a
// block join their sums in shared memory, and norm_columns_join (row_sums.cu) joins those of all blocks, in a fixed order, so results repeat bit for bit.
// norm_backward_<layer|rms>_<t>_small: tensors of up to `norm_small` elements, by one block and one launch.
#include "norm_backward.h"
#include "common/early.cuh"
#include "common/fetch.cuh"
#include "common/norm_gradient.cuh"
#include "common/reduce.cuh"

namespace {

// Waits for the other threads of a group.
__device__ __forceinline__ void group_sync(int group, int threads) {
#ifdef __CUDA_ARCH__
  // A named barrier counts warps: one that stands divided would count twice.
  __syncwarp();
  asm volatile("bar.sync %0, %1;" ::"r"(1 + group), "r"(threads) : "memory");
#endif
}

// `threads` of a group. parts: [gridDim.x][2][dim], the sums of each block for weight and bias. Shared memory: 64 pairs of sums, then S rows of grad and of x for
// each group, and when these are done the sums of the groups. RAGGED: a group's rows start equally far behind a boundary of 16 bytes (gridDim.x rows of all groups are
// whole vectors); it reads the vectors that touch them, and what lies beside a row counts as 0.
template <bool CENTERED, int V, bool RAGGED, int S = norm_stages, class T>
__device__ __forceinline__ void norm_backward(const T* __restrict__ grad, const T* __restrict__ x, const T* __restrict__ weight, const float* __restrict__ mean, const float* __restrict__ rstd,
                                              T* __restrict__ out, float* __restrict__ parts, long long tokens, int dim, int threads) {
  constexpr int L = LANES<T>;
  // What is worked out of a row stays in registers until its sums are known, where these are enough.
  constexpr bool KEEPS = V * L <= (RAGGED ? 8 : 16);
  extern __shared__ uint4 shared[];
  const int group = threadIdx.x / threads, groups = blockDim.x / threads, thread = threadIdx.x - group * threads, warps = threads / 32;
  float2* scratch = reinterpret_cast<float2*>(shared) + group * warps;
  uint4 *rows_at = shared + norm_scratch_bytes / 16, *own = rows_at + group * (S * 2 * V * threads) + thread;
  const long long begin = blockIdx.x * static_cast<long long>(groups) + group, step = gridDim.x * static_cast<long long>(groups);
  const int lead = RAGGED ? static_cast<int>(begin * dim % L) : 0, vectors = RAGGED ? (lead + dim + L - 1) / L : dim / L;
  const auto ragged = [&](int i) { return RAGGED && (i == 0 || i == vectors - 1); };
  const auto inside = [&](int i, int j) { return static_cast<unsigned>(i * L + j - lead) < static_cast<unsigned>(dim); };
  // Vector u of this thread of row `stage` of grad (0) or x (1).
  const auto place = [&](int stage, int tensor, int u) { return own + ((stage * 2 + tensor) * V + u) * threads; };
  const auto fetch = [&](long long row, int stage) {
    if (row < tokens) {
#pragma unroll
      for (int u = 0; u < V; u++) {
        const int i = thread + u * threads;
        if (i >= vectors) break;
        fetch16(place(stage, 0, u), grad + row * dim - lead + i * L);
        fetch16(place(stage, 1, u), x + row * dim - lead + i * L);
      }
    }
    fetch_end();
  };
#pragma unroll
  for (int s = 0; s + 1 < S; s++) fetch(begin + s * step, s);
  float weight_sum[V][L] = {}, bias_sum[V][L] = {};
  uint4 w[V];
#pragma unroll
  for (int u = 0; u < V; u++) {
    const int i = thread + u * threads;
    if constexpr (RAGGED) {
      float f[L];
#pragma unroll
      for (int j = 0; j < L; j++) f[j] = inside(i, j) ? to_float(weight[i * L + j - lead]) : 0.0f;
      w[u] = pack<T>(f);
    } else {
      w[u] = i < vectors ? load16(weight + i * L) : uint4{0, 0, 0, 0};
    }
  }
  const float share = 1.0f / static_cast<float>(dim);
  int stage = 0, side = 0;
  const long long first = min(begin, tokens - 1);
  float next_mean = CENTERED ? mean[first] : 0.0f, next_rstd = rstd[first];
  for (long long row = begin; row < tokens; row += step) {
    const float m = next_mean, scale = next_rstd;
    const long long next = row + step < tokens ? row + step : row;
    if (CENTERED) next_mean = mean[next];
    next_rstd = rstd[next];
    fetch(row + (S - 1) * step, stage == 0 ? S - 1 : stage - 1);
    fetch_wait<S - 1>();
    float2 sums = make_float2(0.0f, 0.0f);
    [[maybe_unused]] float kept_g[V][L], kept_h[V][L];
#pragma unroll
    for (int u = 0; u < V; u++) {
      if (thread + u * threads >= vectors) break;
      float g[L], h[L], f[L];
      unpack<T>(*place(stage, 0, u), g);
      unpack<T>(*place(stage, 1, u), h);
      unpack<T>(w[u], f);
      if (ragged(thread + u * threads)) {
#pragma unroll
        for (int j = 0; j < L; j++) g[j] = inside(thread + u * threads, j) ? g[j] : 0.0f, h[j] = inside(thread + u * threads, j) ? h[j] : 0.0f;
      }
      add_norm_vector<CENTERED>(g, h, f, m, scale, weight_sum[u], bias_sum[u], sums);
      if constexpr (KEEPS) {
#pragma unroll
        for (int j = 0; j < L; j++) kept_g[u][j] = g[j], kept_h[u][j] = h[j];
      }
    }
    sums = sum_of_warp(sums);
    if (warps > 1) {
      // Two sides in turn: who writes one has passed the barrier after which all have read it.
      if (thread % 32 == 0) scratch[side * 32 + thread / 32] = sums;
      group_sync(group, threads);
      sums = sum_of_warp(thread % 32 < warps ? scratch[side * 32 + thread % 32] : make_float2(0.0f, 0.0f));
      side ^= 1;
    }
    const float of_one = -scale * sums.x * share, of_h = -scale * sums.y * share, of_x = of_h * scale;
#pragma unroll
    for (int u = 0; u < V; u++) {
      const int i = thread + u * threads;
      if (i >= vectors) break;
      float g[L];
      if constexpr (KEEPS) {
#pragma unroll
        for (int j = 0; j < L; j++) g[j] = fmaf(kept_g[u][j], scale, fmaf(kept_h[u][j], of_h, of_one));
      } else {
        norm_vector<T>(*place(stage, 0, u), *place(stage, 1, u), w[u], m, scale, of_one, of_x, g);
      }
      T* to = out + row * dim - lead + i * L;
      if (!ragged(i)) {
        store16(to, pack<T>(g));
        continue;
      }
#pragma unroll
      for (int j = 0; j < L; j++)
        if (inside(i, j)) to[j] = from_float<T>(g[j]);
    }
    if (++stage == S) stage = 0;
  }
  next_may_start();
  // Sums go through shared memory where a block has several, or where its vectors are off those of `parts`, so that these are written side by side (H200: layer_norm_backward bf16 509x3315 30.5 to 16.7 us). What four vectors
  // and three need to be so is too much for their registers (bf16 60001x523 100.6 to 105.8).
  constexpr bool SIDE_BY_SIDE = RAGGED && V <= 2;
  const int apart = SIDE_BY_SIDE ? V * L * threads : dim;  // from the sums for weights to those for biases
  float* total = parts + blockIdx.x * 2LL * dim;
  if (SIDE_BY_SIDE || groups > 1) {
    // No fetch is under way any more: the last of a group is one that it waited for, or of no row.
    __syncthreads();
    total = reinterpret_cast<float*>(rows_at) + group * 2 * apart;
  }
#pragma unroll
  for (int u = 0; u < V; u++) {
    const int i = thread + u * threads;
    if (i >= vectors) break;
    if constexpr (RAGGED && !SIDE_BY_SIDE) {
#pragma unroll
      for (int j = 0; j < L; j++) {
        if (!inside(i, j)) continue;
        total[i * L + j - lead] = weight_sum[u][j];
        if (CENTERED) total[dim + i * L + j - lead] = bias_sum[u][j];
      }
    } else {
      store_norm_sums<CENTERED>(total + i * L, apart, weight_sum[u], bias_sum[u]);
    }
  }
  if (!SIDE_BY_SIDE && groups == 1) return;
  __syncthreads();
  if constexpr (RAGGED) {
    const float* all = reinterpret_cast<const float*>(rows_at);
    // How far behind a boundary the rows of group k start.
    const auto lead_of = [&](int k) { return SIDE_BY_SIDE ? static_cast<int>((blockIdx.x * static_cast<unsigned>(groups) + static_cast<unsigned>(k)) * static_cast<unsigned>(dim) % L) : 0; };
    for (int which = 0; which < (CENTERED ? 2 : 1); which++) {
      for (int i = threadIdx.x; i < dim; i += blockDim.x) {
        float sum = all[which * apart + lead_of(0) + i];
        for (int k = 1; k < groups; k++) sum += all[(k * 2 + which) * apart + lead_of(k) + i];
        parts[(blockIdx.x * 2LL + which) * dim + i] = sum;
      }
    }
  } else {
    const float4* all = reinterpret_cast<const float4*>(rows_at);
    for (int i = threadIdx.x; i < (CENTERED ? 2 : 1) * dim / 4; i += blockDim.x) {
      float4 sum = all[i];
      for (int k = 1; k < groups; k++) {
        const float4 more = all[k * (dim / 2) + i];
        sum.x += more.x, sum.y += more.y, sum.z += more.z, sum.w += more.w;
      }
      reinterpret_cast<float4*>(parts + blockIdx.x * 2LL * dim)[i] = sum;
    }
  }
}

// Every load starts before one is waited for. Then `group` threads, a power of two up to 32, have a row at a time, and a thread or, where rows are many, a warp
// has a column.
template <bool CENTERED, class T>
__device__ __forceinline__ void norm_backward_small(const T* __restrict__ grad, const T* __restrict__ x, const T* __restrict__ weight, const float* __restrict__ mean, const float* __restrict__ rstd,
                                                    T* __restrict__ out, T* __restrict__ weight_out, T* __restrict__ bias_out, int tokens, int dim, int group) {
  constexpr int EACH = norm_small / norm_small_threads;
  __shared__ float g[norm_small], h[norm_small], w[norm_small], scale[norm_small];
  const int thread = threadIdx.x, n = tokens * dim;
  T own_g[EACH] = {}, own_x[EACH] = {}, own_w[EACH] = {};
  float own_mean[EACH] = {}, own_scale[EACH] = {};
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    const int e = thread + k * norm_small_threads, row = e / dim;
    if (e >= n) break;
    own_g[k] = grad[e], own_x[k] = x[e], own_scale[k] = rstd[row];
    if (CENTERED) own_mean[k] = mean[row];
    if (e < dim) own_w[k] = weight[e];
  }
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    const int e = thread + k * norm_small_threads;
    if (e >= n) break;
    g[e] = to_float(own_g[k]), h[e] = (to_float(own_x[k]) - own_mean[k]) * own_scale[k], scale[e / dim] = own_scale[k];
    if (e < dim) w[e] = to_float(own_w[k]);
  }
  __syncthreads();
  const float share = 1.0f / static_cast<float>(dim);
  const int lane = thread % group, together = norm_small_threads / group;
  for (int first = 0; first < tokens; first += together) {
    const int row = first + thread / group;
    float2 sums = make_float2(0.0f, 0.0f);
    if (row < tokens)
      for (int c = lane; c < dim; c += group) {
        const float own = __fmul_rn(g[row * dim + c], w[c]);
        if (CENTERED) sums.x += own;
        sums.y = fmaf(own, h[row * dim + c], sums.y);
      }
    for (int offset = group / 2; offset > 0; offset /= 2) {
      sums.x += __shfl_xor_sync(0xffffffffu, sums.x, offset);
      sums.y += __shfl_xor_sync(0xffffffffu, sums.y, offset);
    }
    if (row < tokens) {
      const float2 of = make_float2(-sums.x * share, -sums.y * share);
      for (int c = lane; c < dim; c += group) out[row * dim + c] = from_float<T>(norm_gradient(__fmul_rn(g[row * dim + c], w[c]), h[row * dim + c], of, scale[row]));
    }
  }
  const bool warps = tokens >= 32;
  for (int c = warps ? thread / 32 : thread; c < dim; c += warps ? norm_small_threads / 32 : norm_small_threads) {
    float2 sums = make_float2(0.0f, 0.0f);
    for (int row = warps ? thread % 32 : 0; row < tokens; row += warps ? 32 : 1) {
      const float own = g[row * dim + c];
      sums.x += own;
      sums.y = fmaf(own, h[row * dim + c], sums.y);
    }
    if (warps) sums = sum_of_warp(sums);
    if (warps && thread % 32 != 0) continue;
    weight_out[c] = from_float<T>(sums.y);
    if (CENTERED) bias_out[c] = from_float<T>(sums.x);
  }
}

}  // namespace

#define NORM(T, name, CENTERED, kind, RAGGED, V) NORM_BOUND(T, name, CENTERED, kind, RAGGED, V, __launch_bounds__(norm_threads))
#define NORM_BOUND(T, name, CENTERED, kind, RAGGED, V, BOUNDS)                                                                                                                                    \
  extern "C" __global__ void BOUNDS norm_backward_##name##_##T##_##kind##V(const T* grad, const T* x, const T* weight, const float* mean, const float* rstd, T* out, float* parts, \
                                                                                                    long long tokens, int dim, int threads) {                                           \
    norm_backward<CENTERED, V, RAGGED>(grad, x, weight, mean, rstd, out, parts, tokens, dim, threads);                                                                                  \
  }
#define NORM_SMALL(T, name, CENTERED)                                                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(norm_small_threads) norm_backward_##name##_##T##_small(const T* grad, const T* x, const T* weight, const float* mean, const float* rstd, T* out,             \
                                                                                                      T* weight_out, T* bias_out, int tokens, int dim, int group) {                     \
    norm_backward_small<CENTERED>(grad, x, weight, mean, rstd, out, weight_out, bias_out, tokens, dim, group);                                                                          \
  }
#define NORM_ROWS(T, name, CENTERED, kind, RAGGED) NORM(T, name, CENTERED, kind, RAGGED, 1) NORM(T, name, CENTERED, kind, RAGGED, 2)
#define NORM_OF(T, name, CENTERED, TWO_BOUNDS) NORM_SMALL(T, name, CENTERED) NORM(T, name, CENTERED, , false, 1) NORM_BOUND(T, name, CENTERED, , false, 2, TWO_BOUNDS) NORM(T, name, CENTERED, , false, 4) NORM_ROWS(T, name, CENTERED, ragged_, true) NORM(T, name, CENTERED, ragged_, true, 3) NORM(T, name, CENTERED, ragged_, true, 4)
// Two vectors of a thread without sums for a bias: by the same registers, but no number of threads, the compiler places loads otherwise (H200: rms_norm_backward bf16 8191x5000 77.5 to 70.5 us, f16 2000x6000 26.6 to 25.2, bf16 4096x4096 30.4 to 30.0).
#if __CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 4)
#define TWO_OF_RMS __maxnreg__(120)
#else
#define TWO_OF_RMS __launch_bounds__(norm_threads)
#endif
#define NORMS(T) NORM_OF(T, layer, true, __launch_bounds__(norm_threads)) NORM_OF(T, rms, false, TWO_OF_RMS)
NORMS(f32)
NORMS(f16)
NORMS(bf16)
