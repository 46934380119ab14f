// group_norm of long groups of whole vectors that a block, or a cluster of two, holds in registers (group_norm/stay.h): group_norm_stay_<t>_<V>, V vectors of each thread. Blocks stay and take every so manyth group. A warp has the same piece
// of each: it takes the piece from shared memory to registers and fetches that of a group to come in its place, so that groups are read while others are summed and written. Blocks of a cluster send each other their statistics.
#include "group_norm/blocks.cuh"
#include "group_norm/scale.cuh"

namespace {

#ifdef OPSCOPE_BULK

// a: piece, the vectors of a warp; pieces, the groups in shared memory.
static_assert(group_channels <= 2 * group_threads, "a thread has the weights of two channels at most");
template <class T, int V>
__device__ __forceinline__ void group_norm_stay(const GroupNormArguments& a) {
  constexpr int L = LANES<T>, warps = group_threads / 32;
  extern __shared__ __align__(128) uint4 ring[];
  __shared__ GroupBlocks blocks;
  __shared__ BulkBarrier come[group_stages][warps];
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32), stages = a.pieces;
  const unsigned rank = a.parts > 1 ? cluster_rank() : 0;
  // Vectors of this warp, in shared memory and in the group, and how many there are.
  const int own = warp * a.piece, first = static_cast<int>(rank) * a.part + own, count = max(0, min(min(a.piece, a.part - own), a.cols / L - first));
  float2* const weights = reinterpret_cast<float2*>(ring + stages * warps * a.piece);  // of two groups
  const long long step = gridDim.x / static_cast<unsigned>(a.parts);
  const auto fetch = [&](long long group, int stage) {
    bulk_expect(&come[stage][warp], static_cast<unsigned>(count) * 16);
    if (count > 0) bulk_fetch(ring + stage * warps * a.piece + own, reinterpret_cast<const T*>(a.x) + group * a.cols + static_cast<long long>(first) * L, static_cast<unsigned>(count) * 16, &come[stage][warp]);
  };
  long long group = blockIdx.x / static_cast<unsigned>(a.parts);
  if (lane == 0) {
    for (int s = 0; s < stages; s++) bulk_init(&come[s][warp]);
    if (warp == 0) blocks.init();
    bulk_ready();
    for (int s = 0; s < stages; s++)
      if (group + s * step < a.all) fetch(group + s * step, s);
    if (warp == 0) blocks.expect(a.parts);
  }
  if (a.parts > 1) {
    cluster_arrive();
    cluster_wait();
  }
  __syncwarp();
  int stage = 0;
  unsigned come_phase = 0;
  for (unsigned round = 0; group < a.all; group += step, round++) {
    const unsigned odd = round & 1;
    const int channel0 = static_cast<int>(group % a.groups) * a.channels;
    float2* const w = weights + odd * static_cast<unsigned>(a.channels);
    const auto weight_of = [&](int c) { return make_float2(to_float(reinterpret_cast<const T*>(a.weight)[channel0 + c]), to_float(reinterpret_cast<const T*>(a.bias)[channel0 + c])); };
    const int thread = static_cast<int>(threadIdx.x);
    float2 own_weight = {0, 0};
    if (thread < a.channels) own_weight = weight_of(thread);
    uint4 kept[V];
    bulk_wait(&come[stage][warp], come_phase);
#pragma unroll
    for (int u = 0; u < V; u++) kept[u] = lane + u * 32 < count ? ring[stage * warps * a.piece + own + lane + u * 32] : uint4{0, 0, 0, 0};
    keep_packed(kept);
    __syncwarp();
    if (lane == 0 && group + stages * step < a.all) fetch(group + stages * step, stage);
    if (++stage == stages) stage = 0, come_phase ^= 1;
    float sum = 0, squares = 0;
#pragma unroll
    for (int u = 0; u < V; u++) {
      float f[L];
      unpack<T>(kept[u], f);
#pragma unroll
      for (int j = 1; j < L; j++) f[0] += f[j];
      sum += f[0];
    }
    keep_packed(kept);
    const float elements = static_cast<float>(count * L), mean_of_warp = sum_of_lanes(sum, 32) / fmaxf(elements, 1.0f);
#pragma unroll
    for (int u = 0; u < V; u++) {
      if (lane + u * 32 >= count) break;
      float f[L];
      unpack<T>(kept[u], f);
#pragma unroll
      for (int j = 0; j < L; j++) squares = fmaf(f[j] - mean_of_warp, f[j] - mean_of_warp, squares);
    }
    keep_packed(kept);
    squares = sum_of_lanes(squares, 32);
    if (lane == 0) blocks.of_warps[odd][warp] = {elements, mean_of_warp, squares};
    if (thread < a.channels) w[thread] = own_weight;
    if (thread + group_threads < a.channels) w[thread + group_threads] = weight_of(thread + group_threads);
    __syncthreads();
    const ByMoments::Stats t = blocks.join(round, a.parts, rank);
    const float rstd = 1.0f / sqrtf(t.squares / t.count + a.eps);
    T* const out = reinterpret_cast<T*>(a.out) + group * a.cols + static_cast<long long>(first) * L;
    const GroupScale<T> scale = {a, w, t.mean, rstd};
#pragma unroll
    for (int u = 0; u < V; u++) {
      const int v = lane + u * 32, i = (first + v) * L;
      if (v >= count) break;
      float f[L];
      unpack<T>(kept[u], f);
      scale.apply(f, i);
      store16(out + static_cast<long long>(v) * L, pack<T>(f));
    }
  }
}

#else

template <class T, int V>
__device__ __forceinline__ void group_norm_stay(const GroupNormArguments&) {}

#endif

}  // namespace

#define GROUP_NORM_STAY(T, V) \
  extern "C" __global__ void __launch_bounds__(group_threads) group_norm_stay_##T##_##V(const GroupNormArguments a) { group_norm_stay<T, V>(a); }
#define GROUP_NORMS_STAY(T) GROUP_NORM_STAY(T, 10) GROUP_NORM_STAY(T, 13) GROUP_NORM_STAY(T, 16)
GROUP_NORMS_STAY(f32)
GROUP_NORMS_STAY(f16)
GROUP_NORMS_STAY(bf16)
