// Row operations of many long rows that a block holds in registers (rows/stay.h): rows_stay_<op>_<t>_<V>, V vectors of each thread. A block stays and takes every gridDim.x-th row. A warp has the same piece of each: it takes
// the piece from shared memory to registers and fetches that of a row to come in its place by a bulk copy, so that rows are read while others are summed and written. Any alignment: a row is covered from the boundary at or before its start.
#include "common/arithmetic.cuh"
#include "common/bulk.cuh"
#include "common/reduce.cuh"
#include "common/vec.cuh"
#include "rows/arguments.h"
#include "rows/stay_sizes.h"

namespace {

#ifdef OPSCOPE_BULK

using opscope::cuda::stay_stages;
using opscope::cuda::stay_threads;

constexpr float log2e = 1.4426950408889634f;

// What an operation makes of a row, of which the largest element and the sum of e^(x - largest) are known. `aimed`: it reads a target and a scale.
struct Softmax {
  static constexpr bool aimed = false;
  float shift, scale;
  __device__ __forceinline__ Softmax(float max, float sum, float) : shift(max * log2e), scale(1.0f / sum) {}
  static __device__ __forceinline__ float power(float x, float max) { return exp2_fast(fmaf(x, log2e, -(max * log2e))); }
  __device__ __forceinline__ float operator()(float x) const { return exp2_fast(fmaf(x, log2e, -shift)) * scale; }
};

struct LogSoftmax {
  static constexpr bool aimed = false;
  float max, log;
  __device__ __forceinline__ LogSoftmax(float largest, float sum, float) : max(largest), log(logf(sum)) {}
  static __device__ __forceinline__ float power(float x, float max) { return Softmax::power(x, max); }
  __device__ __forceinline__ float operator()(float x) const { return x - max - log; }
};

struct CrossEntropyBackward {
  static constexpr bool aimed = true;
  float max, sum, factor;
  __device__ __forceinline__ CrossEntropyBackward(float largest, float total, float scale) : max(largest), sum(total), factor(scale / total) {}
  static __device__ __forceinline__ float power(float x, float max) { return exp_fast(x - max); }
  __device__ __forceinline__ float operator()(float x) const { return exp_fast(x - max) * factor; }
  __device__ __forceinline__ float of_target(float x) const { return (exp_fast(x - max) - sum) * factor; }
};

// a: part, the vectors of a warp's piece; parts, the rows in shared memory.
template <class Op, class T, int V>
__device__ __forceinline__ void rows_stay(const RowArguments& a) {
  constexpr int L = LANES<T>, warps = stay_threads / 32;
  extern __shared__ __align__(128) uint4 ring[];
  __shared__ float2 scratch[2][warps];
  __shared__ BulkBarrier come[stay_stages][warps];
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32), piece = static_cast<int>(a.part), stages = a.parts, own = warp * piece, first = own + lane, cols = static_cast<int>(a.cols);
  const long long step = gridDim.x;
  // Where a row lies: the element with which its first vector begins, how many of that vector are of the row before, vectors up to its last, and those of them that have no elements of other rows.
  struct Span {
    long long start;
    int lead, end, whole, whole_end;
  };
  const auto span = [&](long long row) {
    const long long at = row * cols;
    const int lead = static_cast<int>(at & (L - 1)), end = (lead + cols + L - 1) / L;
    return Span{at - lead, lead, end, lead > 0 ? 1 : 0, (lead + cols) / L};
  };
  const auto fetch = [&](long long row, int stage) {
    const Span s = span(row);
    const unsigned bytes = static_cast<unsigned>(max(0, min(own + piece, s.end) - own)) * 16;
    bulk_expect(&come[stage][warp], bytes);
    if (bytes > 0) bulk_fetch(ring + stage * warps * piece + own, reinterpret_cast<const T*>(a.in[0]) + s.start + static_cast<long long>(own) * L, bytes, &come[stage][warp]);
  };
  long long row = blockIdx.x;
  if (lane == 0) {
    for (int s = 0; s < stages; s++) bulk_init(&come[s][warp]);
    bulk_ready();
    for (int s = 0; s < stages; s++)
      if (row + s * step < a.rows) fetch(row + s * step, s);
  }
  __syncwarp();
  float blank[L];
#pragma unroll
  for (int j = 0; j < L; j++) blank[j] = -INFINITY;
  const uint4 nothing = pack<T>(blank);
  int stage = 0, side = 0;
  unsigned phase = 0;
  for (; row < a.rows; row += step) {
    const Span s = span(row);
    // Vectors of the warp that are whole, and the one of either end of the row that a thread may have beside them.
    const int end = min(own + piece, s.whole_end), last = s.end - 1;
    const auto has = [&](int u) { return first + u * 32 >= s.whole && first + u * 32 < end; };
    const bool at_start = s.whole > 0 && first == 0, at_end = s.whole_end <= last && last >= own && last < own + piece && (last - own) % 32 == lane;
    const int edge_at = at_end ? last : 0;
    const auto inside = [&](int j) { return static_cast<unsigned>(edge_at * L + j - s.lead) < static_cast<unsigned>(cols); };
    int target = -1;
    float given = 0;
    if constexpr (Op::aimed) target = reinterpret_cast<const int*>(a.in[1])[row], given = *reinterpret_cast<const float*>(a.in[2]) / static_cast<float>(a.rows);
    uint4 kept[V];
    bulk_wait(&come[stage][warp], phase);
    const uint4* const here = ring + stage * warps * piece;
#pragma unroll
    for (int u = 0; u < V; u++) kept[u] = has(u) ? here[first + u * 32] : nothing;
    uint4 edge = nothing;
    if (at_start || at_end) {
      float f[L];
      unpack<T>(here[edge_at], f);
#pragma unroll
      for (int j = 0; j < L; j++) f[j] = inside(j) ? f[j] : -INFINITY;
      edge = pack<T>(f);
    }
    // The thread that writes the element of the target keeps it.
    bool aims = false;
    float aim = 0;
    if constexpr (Op::aimed) {
      const int at = s.lead + target, v = at / L;
      aims = target >= 0 && target < cols && v >= own && v < own + piece && (v - own) % 32 == lane;
      if (aims) aim = to_float(reinterpret_cast<const T*>(here)[at]);
    }
    keep_packed(kept);
    __syncwarp();
    if (lane == 0 && row + stages * step < a.rows) fetch(row + stages * step, stage);
    if (++stage == stages) stage = 0, phase ^= 1;
    float max = -INFINITY;
#pragma unroll
    for (int u = 0; u < V; u++) {
      if (u * 32 >= piece) break;
      float f[L];
      unpack<T>(kept[u], f);
#pragma unroll
      for (int j = 0; j < L; j++) max = fmaxf(max, f[j]);
    }
    if (at_start || at_end) {
      float f[L];
      unpack<T>(edge, f);
#pragma unroll
      for (int j = 0; j < L; j++) max = fmaxf(max, f[j]);
    }
    keep_packed(kept);
    max = warp_reduce(max, MaxOp());
    // Where nothing is above -infinity, the sum is of e^x, which is 0.
    const float by = max == -INFINITY ? 0.0f : max;
    float even = 0, odd = 0;
#pragma unroll
    for (int u = 0; u < V; u++) {
      if (u * 32 >= piece) break;
      float f[L];
      unpack<T>(kept[u], f);
#pragma unroll
      for (int j = 0; j < L; j += 2) even += Op::power(f[j], by), odd += Op::power(f[j + 1], by);
    }
    if (at_start || at_end) {
      float f[L];
      unpack<T>(edge, f);
#pragma unroll
      for (int j = 0; j < L; j++) even += Op::power(f[j], by);
    }
    keep_packed(kept);
    const float sum = warp_reduce(even + odd, AddOp());
    // Two sides in turn: who writes one has passed the barrier after which all have read it.
    if (lane == 0) scratch[side][warp] = make_float2(max, sum);
    __syncthreads();
    const float2 share = scratch[side][lane % warps];
    side ^= 1;
    max = warp_reduce(share.x, MaxOp());
    const float total = warp_reduce(lane >= warps ? 0.0f : share.x == -INFINITY ? share.y : share.y * exp2_fast((share.x - max) * log2e), AddOp());
    const Op op(max, total, given);
    T* const out = reinterpret_cast<T*>(a.out) + s.start;
#pragma unroll
    for (int u = 0; u < V; u++) {
      if (!has(u)) continue;
      const int i = (first + u * 32) * L;
      float f[L];
      unpack<T>(kept[u], f);
#pragma unroll
      for (int j = 0; j < L; j++) f[j] = op(f[j]);
      store16(out + i, pack<T>(f));
    }
    if (at_start || at_end) {
      float f[L];
      unpack<T>(edge, f);
#pragma unroll
      for (int j = 0; j < L; j++)
        if (inside(j)) out[edge_at * L + j] = from_float<T>(op(f[j]));
    }
    if constexpr (Op::aimed)
      if (aims) out[s.lead + target] = from_float<T>(op.of_target(aim));
  }
}

#else

struct Softmax {};
struct LogSoftmax {};
struct CrossEntropyBackward {};
template <class Op, class T, int V>
__device__ __forceinline__ void rows_stay(const RowArguments&) {}

#endif

}  // namespace

#define STAY(Op, op, T, V) \
  extern "C" __global__ void __launch_bounds__(opscope::cuda::stay_threads) rows_stay_##op##_##T##_##V(const RowArguments a) { rows_stay<Op, T, V>(a); }
#define STAYS_OF(Op, op, T) STAY(Op, op, T, 12) STAY(Op, op, T, 16)
#define STAYS(T) STAYS_OF(Softmax, softmax, T) STAYS_OF(LogSoftmax, log_softmax, T) STAYS_OF(CrossEntropyBackward, cross_entropy_backward, T)
STAYS(f32)
STAYS(f16)
STAYS(bf16)
