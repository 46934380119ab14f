// The losses of cross_entropy over rows that start on 16 bytes and have more than `warp_vectors` vectors (rows/shape.h): cross_entropy_<t>_<V>, a block for a row,
// V vectors of a thread on their way before the first is worked on. Other rows are those of rows.cu. rows.plan.cc launches both.
#include "common/early.cuh"
#include "common/pairs.cuh"
#include "common/slots.cuh"
#include "rows/stats.cuh"

namespace {

constexpr float log2e = 1.4426950408889634f;

// A vector of -infinity.
template <class T>
__device__ __forceinline__ uint4 nothing() {
  float f[LANES<T>];
#pragma unroll
  for (int j = 0; j < LANES<T>; j++) f[j] = -INFINITY;
  return pack<T>(f);
}

// The largest element of V vectors; of 16 bits, two are compared at a time.
template <class T, int V>
__device__ __forceinline__ float largest(const uint4 (&kept)[V]) {
  if constexpr (sizeof(T) == 4) {
    float max = -INFINITY;
#pragma unroll
    for (int u = 0; u < V; u++) max = fmaxf(fmaxf(max, fmaxf(__uint_as_float(kept[u].x), __uint_as_float(kept[u].y))), fmaxf(__uint_as_float(kept[u].z), __uint_as_float(kept[u].w)));
    return max;
  } else {
    const auto larger = [](uint32_t a, uint32_t b) { return of_pairs<T>(a, b, [](auto p, auto q) { return __hmax2(p, q); }); };
    uint32_t max = kept[0].x;
#pragma unroll
    for (int u = 0; u < V; u++) max = larger(larger(max, larger(kept[u].x, kept[u].y)), larger(kept[u].z, kept[u].w));
    float low, high;
    unpack_pair(max, low, high, T());
    return fmaxf(low, high);
  }
}

// Over a block of whole warps.
__device__ __forceinline__ ByMaxSum::Stats join_block(ByMaxSum::Stats s, ByMaxSum::Stats* scratch) {
  s = ByMaxSum::join_warp(s, 32);
  const unsigned lane = threadIdx.x % 32;
  if (lane == 0) scratch[threadIdx.x / 32] = s;
  __syncthreads();
  s = lane < blockDim.x / 32 ? scratch[lane] : ByMaxSum::start();
  return ByMaxSum::join_warp(s, 32);
}

// Element k of a vector.
template <class T>
__device__ __forceinline__ float element_of(const uint4& v, int k) {
  constexpr int L = LANES<T>;
  float f[L], own = 0;
  unpack<T>(v, f);
#pragma unroll
  for (int j = 0; j < L; j++) own = j == k ? f[j] : own;
  return own;
}

// What this thread has of a row of `vectors`. The thread that has the logit of the target leaves it in `shown`: read by itself, it would come after the target. WHOLE: the row has V vectors of each thread, so that there is nothing to find
// out before they are on their way.
template <class T, int V, bool WHOLE>
__device__ __forceinline__ ByMaxSum::Stats row_part(const T* x, const int* target_at, int vectors, int cols, float* shown) {
  using Stats = ByMaxSum::Stats;
  constexpr int L = LANES<T>;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  Stats s = ByMaxSum::start();
  int target = *target_at;
  for (int first = 0; WHOLE || first < vectors; first += V * threads) {
    uint4 kept[V];
    // What is behind the row's end is not the largest.
#pragma unroll
    for (int u = 0; u < V; u++) {
      const int i = first + thread + u * threads;
      kept[u] = WHOLE || i < vectors ? load16_once(x + static_cast<long long>(i) * L) : nothing<T>();
    }
    if (first == 0 && (target < 0 || target >= cols)) target = 0;
#pragma unroll
    for (int u = 0; u < V; u++)
      if (first + thread + u * threads == static_cast<int>(static_cast<unsigned>(target) / L)) *shown = element_of<T>(kept[u], target % L);
    const float max = WHOLE ? largest<T>(kept) : fmaxf(s.max, largest<T>(kept)), shift = ByMaxSum::shift(max) * log2e;
    keep_packed(kept);
    // Two sums: half as many additions wait for each other.
    float even = WHOLE ? 0.0f : s.sum * exp2_fast(fmaf(s.max, log2e, -shift)), odd = 0;
#pragma unroll
    for (int u = 0; u < V; u++) {
      if (!WHOLE && first + thread + u * threads >= vectors) break;
      float v[L];
      unpack<T>(kept[u], v);
#pragma unroll
      for (int j = 0; j < L; j += 2) even += exp2_fast(fmaf(v[j], log2e, -shift)), odd += exp2_fast(fmaf(v[j + 1], log2e, -shift));
    }
    s = {max, even + odd};
    if constexpr (WHOLE) break;
  }
  return s;
}

// AVERAGES: where there are few rows, the block that comes last takes their mean.
template <class T, int V, bool AVERAGES>
__device__ __forceinline__ void cross_entropy(const RowArguments& a) {
  using Stats = ByMaxSum::Stats;
  __shared__ Stats scratch[32];
  const int thread = threadIdx.x, cols = static_cast<int>(a.cols), vectors = cols / LANES<T>;
  const long long row = blockIdx.x;
  const T* x = reinterpret_cast<const T*>(a.in[0]) + row * a.cols;
  const int* target = reinterpret_cast<const int*>(a.in[1]) + row;
  if (AVERAGES && a.parts_at && thread == 0) fetch_ahead(reinterpret_cast<const void*>(a.parts_at));
  next_may_start();
  __shared__ float shown;
  // Eight vectors of 16 bits are slower so (H200: bf16 4096x4096 13.9 to 14.9 us).
  constexpr bool WHOLE = V == 4 || sizeof(T) == 4;
  const Stats s = join_block(WHOLE && vectors == V * static_cast<int>(blockDim.x) ? row_part<T, V, WHOLE>(x, target, vectors, cols, &shown) : row_part<T, V, false>(x, target, vectors, cols, &shown), scratch);
  const float loss = s.max - shown + logf(s.sum);
  if (a.slots) {
    if (thread == 0) leave_value(reinterpret_cast<unsigned*>(a.slots) + row, loss);
    return;
  }
  if (thread == 0) reinterpret_cast<float*>(a.per_row)[row] = loss;
  if constexpr (AVERAGES) {
    if (a.parts_at) mean_of_rows<T>(a);
  }
}

}  // namespace

// One block on a multiprocessor is what the compiler is told, so that all eight vectors stay on their way: by 48 registers instead of 64 bf16 8192x8192 takes 37.6 us, not 36.4.
#define CROSS_ENTROPY(T)                                                                                                              \
  extern "C" __global__ void __launch_bounds__(512) cross_entropy_##T##_4(const RowArguments a) { cross_entropy<T, 4, true>(a); }            \
  extern "C" __global__ void __launch_bounds__(256, 1) cross_entropy_##T##_8(const RowArguments a) { cross_entropy<T, 8, false>(a); }
CROSS_ENTROPY(f32)
CROSS_ENTROPY(f16)
CROSS_ENTROPY(bf16)
