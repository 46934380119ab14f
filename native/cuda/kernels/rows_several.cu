// Row operations of many short rows that start on 16 bytes (rows/several.h): rows_several_<op>_<t>_<V>_<U>_<LOG2>. 1 << LOG2 lanes of a warp have V vectors each of U rows, all on their way together, and weights beside them.
#include "common/arithmetic.cuh"
#include "common/start_early.cuh"
#include "common/vec.cuh"
#include "rows/arguments.h"
#include "rows/several_sizes.h"

#include <type_traits>

namespace {

constexpr float log2e = 1.4426950408889634f;

// A lane's part of U rows.
template <class T, int V, int U, int LOG2>
struct Rows {
  static constexpr int L = LANES<T>, rows = U;
  float x[U][V][L];
  bool last;  // whether the lane's last vector is one of the row

  __device__ __forceinline__ bool inside(int v) const { return v < V - 1 || last; }
  // Of the first element of vector v.
  static __device__ __forceinline__ int column(int lane, int v) { return (lane + (v << LOG2)) * L; }
  // f(u, v, j) for every element, those beside the rows too.
  template <class F>
  __device__ __forceinline__ void each(F f) const {
#pragma unroll
    for (int u = 0; u < U; u++)
#pragma unroll
      for (int v = 0; v < V; v++)
#pragma unroll
        for (int j = 0; j < L; j++) f(u, v, j);
  }
  // Over the lanes of each row; every one of them gets the result.
  template <class Op>
  static __device__ __forceinline__ void join(float (&x)[U], Op op) {
#pragma unroll
    for (int k = LOG2 - 1; k >= 0; k--)
#pragma unroll
      for (int u = 0; u < U; u++) x[u] = op(x[u], __shfl_xor_sync(0xffffffffu, x[u], 1 << k));
  }
  static __device__ __forceinline__ void sum(float (&x)[U]) {
    join(x, [](float a, float b) { return a + b; });
  }
  // 1 over the root of the mean square of each row and eps; share: 1 over its elements.
  __device__ __forceinline__ void root_scales(float (&scale)[U], float share, float eps) {
#pragma unroll
    for (int u = 0; u < U; u++) scale[u] = 0;
    each([&](int u, int v, int j) { scale[u] = fmaf(x[u][v][j], x[u][v][j], scale[u]); });
    sum(scale);
#pragma unroll
    for (int u = 0; u < U; u++) scale[u] = rsqrtf(fmaf(scale[u], share, eps));
  }
};

// What each operation makes of its rows; the result takes their place. w: W weights of the lane's columns, v: vectors of a lane.
struct LayerNorm {
  static constexpr int weights = 2;
  template <class R, class Weigh>
  static __device__ __forceinline__ void work(R& r, float share, float eps, Weigh weigh) {
    float mean[R::rows] = {}, scale[R::rows];
    r.each([&](int u, int v, int j) { mean[u] += r.x[u][v][j]; });
    R::sum(mean);
    r.each([&](int u, int v, int j) { r.x[u][v][j] = r.inside(v) ? fmaf(-share, mean[u], r.x[u][v][j]) : 0.0f; });
    r.root_scales(scale, share, eps);
    weigh([&](int v, auto& w) {
#pragma unroll
      for (int u = 0; u < R::rows; u++)
#pragma unroll
        for (int j = 0; j < R::L; j++) r.x[u][v][j] = fmaf(r.x[u][v][j] * scale[u], w[0][j], w[1][j]);
    });
  }
};

struct RmsNorm {
  static constexpr int weights = 1;
  template <class R, class Weigh>
  static __device__ __forceinline__ void work(R& r, float share, float eps, Weigh weigh) {
    float scale[R::rows];
    r.root_scales(scale, share, eps);
    weigh([&](int v, auto& w) {
#pragma unroll
      for (int u = 0; u < R::rows; u++)
#pragma unroll
        for (int j = 0; j < R::L; j++) r.x[u][v][j] = r.x[u][v][j] * scale[u] * w[0][j];
    });
  }
};

// LOG: the logarithm of the softmax.
template <bool LOG>
struct Softmax {
  static constexpr int weights = 0;
  template <class R, class Weigh>
  static __device__ __forceinline__ void work(R& r, float, float, Weigh) {
    float max[R::rows], sum[R::rows] = {};
#pragma unroll
    for (int u = 0; u < R::rows; u++) max[u] = -INFINITY;
    r.each([&](int u, int v, int j) {
      r.x[u][v][j] = r.inside(v) ? r.x[u][v][j] : -INFINITY;
      max[u] = fmaxf(max[u], r.x[u][v][j]);
    });
    R::join(max, [](float a, float b) { return fmaxf(a, b); });
    r.each([&](int u, int v, int j) {
      const float e = exp2_fast(fmaf(r.x[u][v][j], log2e, -(max[u] * log2e)));
      sum[u] += e;
      if (!LOG) r.x[u][v][j] = e;
    });
    R::sum(sum);
#pragma unroll
    for (int u = 0; u < R::rows; u++) sum[u] = LOG ? logf(sum[u]) : 1.0f / sum[u];
    r.each([&](int u, int v, int j) { r.x[u][v][j] = LOG ? r.x[u][v][j] - max[u] - sum[u] : r.x[u][v][j] * sum[u]; });
  }
};

// Elements become e^(x - largest), but for KEEPS; largest and the sum of these.
template <bool KEEPS, class R>
__device__ __forceinline__ void exponentials(R& r, float (&max)[R::rows], float (&sum)[R::rows]) {
#pragma unroll
  for (int u = 0; u < R::rows; u++) max[u] = -INFINITY, sum[u] = 0;
  r.each([&](int u, int v, int j) {
    r.x[u][v][j] = r.inside(v) ? r.x[u][v][j] : -INFINITY;
    max[u] = fmaxf(max[u], r.x[u][v][j]);
  });
  R::join(max, [](float a, float b) { return fmaxf(a, b); });
  r.each([&](int u, int v, int j) {
    const float e = exp_fast(r.x[u][v][j] - max[u]);
    sum[u] += e;
    if (!KEEPS) r.x[u][v][j] = e;
  });
  R::sum(sum);
}

// The loss of each row goes to per_row: the lane that has the target writes it.
struct CrossEntropy {
  static constexpr int weights = 0;
  template <class R>
  static __device__ __forceinline__ void work(R& r, const RowArguments& a, const int (&target)[R::rows], long long row, int apart, int lane) {
    float max[R::rows], sum[R::rows];
    exponentials<true>(r, max, sum);
#pragma unroll
    for (int u = 0; u < R::rows; u++) sum[u] = max[u] + logf(sum[u]);
    r.each([&](int u, int v, int j) {
      if (r.column(lane, v) + j == target[u] && row + u * apart < a.rows) reinterpret_cast<float*>(a.per_row)[row + u * apart] = sum[u] - r.x[u][v][j];
    });
  }
};

// in: logits, target, grad.
struct CrossEntropyBackward {
  static constexpr int weights = 0;
  template <class R>
  static __device__ __forceinline__ void work(R& r, const RowArguments& a, const int (&target)[R::rows], long long, int, int lane) {
    float max[R::rows], sum[R::rows], factor[R::rows];
    exponentials<false>(r, max, sum);
    const float scale = *reinterpret_cast<const float*>(a.in[2]) / static_cast<float>(a.rows);
#pragma unroll
    for (int u = 0; u < R::rows; u++) factor[u] = scale / sum[u];
    r.each([&](int u, int v, int j) { r.x[u][v][j] = (r.column(lane, v) + j == target[u] ? r.x[u][v][j] - sum[u] : r.x[u][v][j]) * factor[u]; });
  }
};

// `aimed`: a target for each row; `writes`: whether rows are written.
template <class Op>
constexpr bool aimed = std::is_same_v<Op, CrossEntropy> || std::is_same_v<Op, CrossEntropyBackward>;
template <class Op>
constexpr bool writes = !std::is_same_v<Op, CrossEntropy>;

template <class Op, class T, int V, int U, int LOG2>
__device__ __forceinline__ void rows_several(const RowArguments& a) {
  constexpr int L = LANES<T>, W = Op::weights;
  using R = Rows<T, V, U, LOG2>;
  const int lane = static_cast<int>(threadIdx.x) & ((1 << LOG2) - 1), cols = static_cast<int>(a.cols), apart = static_cast<int>(blockDim.x) >> LOG2;
  // A few blocks may start behind the launch before; of many, each would take half a microsecond to find that it has ended.
  if (a.group) start_early();
  R r;
  r.last = R::column(lane, V - 1) < cols;
  // The first of this lane's rows, which are `apart`.
  const long long row = static_cast<long long>(blockIdx.x) * (apart * U) + (threadIdx.x >> LOG2);
  const auto has = [&](int u, int v) { return row + u * apart < a.rows && r.inside(v); };
  const auto place = [&](int u, int v) { return (row + u * apart) * cols + R::column(lane, v); };
  uint4 kept[U][V], weights[W > 0 ? W : 1][V] = {};
#pragma unroll
  for (int u = 0; u < U; u++)
#pragma unroll
    for (int v = 0; v < V; v++) kept[u][v] = has(u, v) ? load16(reinterpret_cast<const T*>(a.in[0]) + place(u, v)) : uint4{0, 0, 0, 0};
#pragma unroll
  for (int k = 0; k < W; k++)
#pragma unroll
    for (int v = 0; v < V; v++)
      if (r.inside(v)) weights[k][v] = load16(reinterpret_cast<const T*>(a.in[1 + k]) + R::column(lane, v));
  [[maybe_unused]] int target[U];
  if constexpr (aimed<Op>) {
#pragma unroll
    for (int u = 0; u < U; u++) {
      target[u] = reinterpret_cast<const int*>(a.in[1])[min(row + u * apart, a.rows - 1)];
      if (!writes<Op> && (target[u] < 0 || target[u] >= cols)) target[u] = 0;
    }
  }
#pragma unroll
  for (int u = 0; u < U; u++)
#pragma unroll
    for (int v = 0; v < V; v++) unpack<T>(kept[u][v], r.x[u][v]);
  if constexpr (aimed<Op>) {
    Op::work(r, a, target, row, apart, lane);
  } else {
    Op::work(r, 1.0f / static_cast<float>(cols), a.number, [&](auto f) {
#pragma unroll
      for (int v = 0; v < V; v++) {
        float w[W > 0 ? W : 1][L];
#pragma unroll
        for (int k = 0; k < W; k++) unpack<T>(weights[k][v], w[k]);
        f(v, w);
      }
    });
  }
  if constexpr (writes<Op>) {
#pragma unroll
    for (int u = 0; u < U; u++)
#pragma unroll
      for (int v = 0; v < V; v++)
        if (has(u, v)) store16(reinterpret_cast<T*>(a.out) + place(u, v), pack<T>(r.x[u][v]));
  }
}

}  // namespace

#define SEVERAL(Op, op, T, V, U, LOG2) \
  extern "C" __global__ void __launch_bounds__(opscope::cuda::several_threads) rows_several_##op##_##T##_##V##_##U##_##LOG2(const RowArguments a) { rows_several<Op, T, V, U, LOG2>(a); }
// Two rows of whole numbers of lanes, and one of three vectors of a lane, as several_shape gives them.
#define TWO_ROWS(Op, op, T) SEVERAL(Op, op, T, 1, 2, 3) SEVERAL(Op, op, T, 1, 2, 4) SEVERAL(Op, op, T, 1, 2, 5)
#define THREE_VECTORS(Op, op, T) SEVERAL(Op, op, T, 3, 1, 1) SEVERAL(Op, op, T, 3, 1, 2) SEVERAL(Op, op, T, 3, 1, 3)
#define MORE_VECTORS(Op, op, T) SEVERAL(Op, op, T, 3, 1, 4) SEVERAL(Op, op, T, 3, 1, 5) SEVERAL(Op, op, T, 2, 1, 5) SEVERAL(Op, op, T, 4, 1, 5)
#define OF_ANY(T) TWO_ROWS(LayerNorm, layer_norm, T) TWO_ROWS(RmsNorm, rms_norm, T) TWO_ROWS(CrossEntropy, cross_entropy, T) TWO_ROWS(CrossEntropyBackward, cross_entropy_backward, T) MORE_VECTORS(LayerNorm, layer_norm, T) MORE_VECTORS(RmsNorm, rms_norm, T)
#define OF_HALF(T)                                                                                                                                                                  \
  THREE_VECTORS(LayerNorm, layer_norm, T) THREE_VECTORS(RmsNorm, rms_norm, T) THREE_VECTORS(CrossEntropy, cross_entropy, T) THREE_VECTORS(CrossEntropyBackward, cross_entropy_backward, T) \
  THREE_VECTORS(Softmax<false>, softmax, T) THREE_VECTORS(Softmax<true>, log_softmax, T)
OF_ANY(f32)
OF_ANY(f16)
OF_ANY(bf16)
OF_HALF(f16)
OF_HALF(bf16)
