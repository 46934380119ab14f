// group_norm of long groups: a block, or a cluster of two, reads its group once into shared memory by bulk copies, joins its statistics, and writes the group from there. Blocks that stay take every
// so manyth group: a warp has the same pieces of each, and fetches one of the next group as soon as it has read its own, so that reads go on while results are written (group_norm/shape.h).
// Groups of whole vectors that registers hold are those of group_norm_stay.cu. group_norm_long_<t>; _ragged: of groups that do not start on 16 bytes. Statistics are joined in a fixed order.
#include "group_norm/blocks.cuh"
#include "group_norm/scale.cuh"

namespace {

#ifdef OPSCOPE_BULK

// Where a group lies among vectors that are counted from the 128-byte line on which it starts.
template <class T>
struct LineSpan {
  static constexpr int L = LANES<T>, line = 128 / sizeof(T);
  long long start;  // element of the tensor with which vector 0 begins
  int before, end;  // elements from there to the group, and vectors up to its last
  __device__ LineSpan(long long group, int cols) {
    const long long at = group * cols;
    before = static_cast<int>(at & (line - 1));
    start = at - before;
    end = (before + cols + L - 1) / L;
  }
};

template <class T, bool RAGGED>
__device__ __forceinline__ void group_norm_long(const GroupNormArguments& a) {
  using Span = LineSpan<T>;
  constexpr int L = LANES<T>, V = group_piece / 32;
  extern __shared__ __align__(128) uint4 kept[];
  __shared__ GroupBlocks blocks;
  __shared__ BulkBarrier pieces_come[group_pieces];
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const unsigned rank = a.parts > 1 ? cluster_rank() : 0;
  float2* const weights = reinterpret_cast<float2*>(kept + a.part);  // of two groups
  const int pieces = a.pieces, piece = a.piece;
  // Vectors of this warp, in the group and in shared memory.
  const int own = warp * pieces * piece, first = static_cast<int>(rank) * a.part + own, own_end = min(own + pieces * piece, a.part) - own;
  uint4* const held = kept + own;
  BulkBarrier* const come = pieces_come + warp * pieces;
  const long long step = gridDim.x / static_cast<unsigned>(a.parts);

  const auto fetch = [&](const Span& s, int p) {
    const int vectors = max(0, min(min((p + 1) * piece, own_end), s.end - first) - p * piece);
    bulk_expect(come + p, static_cast<unsigned>(vectors) * 16);
    if (vectors > 0) bulk_fetch(held + p * piece, reinterpret_cast<const T*>(a.x) + s.start + static_cast<long long>(first + p * piece) * L, static_cast<unsigned>(vectors) * 16, come + p);
  };
  long long group = blockIdx.x / static_cast<unsigned>(a.parts);
  if (lane == 0) {
    for (int p = 0; p < pieces; p++) bulk_init(come + p);
    if (warp == 0) blocks.init();
    bulk_ready();
    const Span s(group, a.cols);
    for (int p = 0; p < pieces; p++) fetch(s, p);
    if (warp == 0) blocks.expect(a.parts);
  }
  if (a.parts > 1) {
    cluster_arrive();
    cluster_wait();
  } else {
    __syncthreads();
  }

  for (unsigned round = 0; group < a.all; group += step, round++) {
    const Span s(group, a.cols);
    const unsigned odd = round & 1;
    const int channel0 = static_cast<int>(group % a.groups) * a.channels;
    float2* const w = weights + odd * static_cast<unsigned>(a.channels);
    float2 own_weight = {0, 0};
    const auto weight_of = [&](int c) { return make_float2(to_float(reinterpret_cast<const T*>(a.weight)[channel0 + c]), to_float(reinterpret_cast<const T*>(a.bias)[channel0 + c])); };
    if (static_cast<int>(threadIdx.x) < a.channels) own_weight = weight_of(static_cast<int>(threadIdx.x));

    // Sums of x - shift and of its square, where shift is the mean of the warp's first piece: where that is far from the mean of all pieces the variance is as large, so that little cancels.
    const int left = min(own_end, s.end - first);  // vectors of this warp in this group
    const auto of_group = [&](int i) { return i >= 0 && i < a.cols; };
    // f: the elements of vector v of this warp, `instead` where they are of other groups. Returns how many are not.
    const auto masked = [&](int v, float(&f)[L], float instead) {
      const int i = (first + v) * L - s.before;
      if (i >= 0 && i + L <= a.cols) return L;
      int count = 0;
#pragma unroll
      for (int j = 0; j < L; j++) {
        const bool inside = of_group(i + j);
        f[j] = inside ? f[j] : instead;
        count += inside;
      }
      return count;
    };
    float shift = 0, sum = 0, squares = 0;
    for (int p = 0; p < pieces; p++) {
      bulk_wait(come + p, odd);
      const int end = min((p + 1) * piece, left);
      if (p == 0) {
        int count = 0;
#pragma unroll
        for (int u = 0; u < V; u++) {
          const int v = lane + u * 32;
          if (v >= end) break;
          float f[L];
          unpack<T>(held[v], f);
          count += masked(v, f, 0.0f);
#pragma unroll
          for (int j = 0; j < L; j++) shift += f[j];
        }
        const float total = sum_of_lanes(static_cast<float>(count), 32);
        shift = sum_of_lanes(shift, 32) / fmaxf(total, 1.0f);
      }
#pragma unroll
      for (int u = 0; u < V; u++) {
        const int v = p * piece + lane + u * 32;
        if (v >= end) break;
        float f[L];
        unpack<T>(held[v], f);
        masked(v, f, shift);
#pragma unroll
        for (int j = 0; j < L; j++) {
          f[j] -= shift;
          squares = fmaf(f[j], f[j], squares);
        }
#pragma unroll
        for (int j = 1; j < L; j++) f[0] += f[j];
        sum += f[0];
      }
    }
    const float count = static_cast<float>(max(0, min((first + left) * L - s.before, a.cols) - max(first * L - s.before, 0)));
    sum = sum_of_lanes(sum, 32), squares = sum_of_lanes(squares, 32);
    if (lane == 0) {
      const float away = sum / fmaxf(count, 1.0f);
      blocks.of_warps[odd][warp] = {count, shift + away, fmaxf(fmaf(-sum, away, squares), 0.0f)};
    }
    if (static_cast<int>(threadIdx.x) < a.channels) w[threadIdx.x] = own_weight;
    for (int c = static_cast<int>(threadIdx.x + blockDim.x); c < a.channels; c += static_cast<int>(blockDim.x)) w[c] = weight_of(c);
    __syncthreads();
    const ByMoments::Stats t = blocks.join(round, a.parts, rank);
    const float rstd = 1.0f / sqrtf(t.squares / t.count + a.eps);
    T* const out = reinterpret_cast<T*>(a.out) + s.start + static_cast<long long>(first) * L;
    const GroupScale<T> scale = {a, w, t.mean, rstd};
    const bool more = group + step < a.all;
    const Span next(group + step, a.cols);
    for (int p = 0; p < pieces; p++) {
      const int end = min((p + 1) * piece, left);
      uint4 x[V];
#pragma unroll
      for (int u = 0; u < V; u++) {
        const int v = p * piece + lane + u * 32;
        x[u] = v < end ? held[v] : uint4{0, 0, 0, 0};
      }
      if (more) {
        keep_packed(x);
        __syncwarp();
        if (lane == 0) fetch(next, p);
      }
#pragma unroll
      for (int u = 0; u < V; u++) {
        const int v = p * piece + lane + u * 32, i = (first + v) * L - s.before;
        if (v >= end) break;
        if (!RAGGED && i < 0) continue;
        float f[L];
        unpack<T>(x[u], f);
        scale.apply(f, i);
        if (RAGGED && (i < 0 || i + L > a.cols)) {
#pragma unroll
          for (int j = 0; j < L; j++)
            if (of_group(i + j)) out[static_cast<long long>(v) * L + j] = from_float<T>(f[j]);
          continue;
        }
        store16(out + static_cast<long long>(v) * L, pack<T>(f));
      }
    }
  }
}

#else

template <class T, bool RAGGED>
__device__ __forceinline__ void group_norm_long(const GroupNormArguments&) {}

#endif

}  // namespace

#define GROUP_NORM_LONG(T, RAGGED, name) \
  extern "C" __global__ void __launch_bounds__(group_threads, 2) group_norm_long_##T##name(const GroupNormArguments a) { group_norm_long<T, RAGGED>(a); }
#define GROUP_NORMS_LONG(T) GROUP_NORM_LONG(T, false, ) GROUP_NORM_LONG(T, true, _ragged)
GROUP_NORMS_LONG(f32)
GROUP_NORMS_LONG(f16)
GROUP_NORMS_LONG(bf16)
