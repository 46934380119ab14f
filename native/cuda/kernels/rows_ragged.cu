// Row operations of many rows of some hundred elements that do not start on 16 bytes (rows/ragged.h): rows_ragged_<op>_<t>_<V>_<LOG2>. 1 << LOG2 lanes of a warp have a row, V vectors of each, from the boundary at or
// before its start. A block takes rows that lie together, and again so many from gridDim.x times as many on: all rows of a lane start equally far off a boundary, so that it keeps its columns, and their weights.
// The next row is on its way while one is worked on.
#include "common/arithmetic.cuh"
#include "common/loose.cuh"
#include "common/vec.cuh"
#include "rows/arguments.h"
#include "rows/ragged.h"

namespace {

using opscope::cuda::ragged_blocks;
using opscope::cuda::ragged_threads;

constexpr float log2e = 1.4426950408889634f;

// A lane's part of a row of K inputs with W weights. A row has more than V - 1 vectors of each lane, or one fewer where it starts nearer to a boundary.
template <class T, int V, int LOG2, int K, int W>
struct Row {
  using Type = T;
  static constexpr int L = LANES<T>, lanes = 1 << LOG2;
  static constexpr unsigned whole = (1u << L) - 1;
  float v[K][V][L];
  uint4 weights[W > 0 ? W : 1][V];
  unsigned edges[3];  // of the first vector and the last two, a bit for each element of the row: all others are whole
  int first;          // column of the first element
  bool live;          // whether there is such a row
  T* out;             // where the first element goes

  static __device__ __forceinline__ constexpr int edge(int u) { return u == 0 ? 0 : u == V - 1 ? 1 : u == V - 2 ? 2 : -1; }
  __device__ __forceinline__ unsigned inside(int u) const { return edge(u) < 0 ? whole : edges[edge(u)]; }
  __device__ __forceinline__ int column(int u) const { return first + u * lanes * L; }

  // f(u, j) for every element, those beside the row too.
  template <class F>
  __device__ __forceinline__ void each(F f) const {
#pragma unroll
    for (int u = 0; u < V; u++)
#pragma unroll
      for (int j = 0; j < L; j++) f(u, j);
  }
  // f(u, w) for every vector, w[W][L] being its weights.
  template <class F>
  __device__ __forceinline__ void weigh(F f) const {
#pragma unroll
    for (int u = 0; u < V; u++) {
      float w[W][L];
#pragma unroll
      for (int k = 0; k < W; k++) unpack<T>(weights[k][u], w[k]);
      f(u, w);
    }
  }
  // What lies beside the row becomes `neutral`.
  __device__ __forceinline__ void only_inside(int k, float neutral) {
#pragma unroll
    for (int u = 0; u < V; u++) {
      if (inside(u) == whole) continue;
#pragma unroll
      for (int j = 0; j < L; j++) v[k][u][j] = inside(u) >> j & 1 ? v[k][u][j] : neutral;
    }
  }
  template <class Op>
  __device__ __forceinline__ float join(float x, Op op) const {
#pragma unroll
    for (int k = LOG2 - 1; k >= 0; k--) x = op(x, __shfl_xor_sync(0xffffffffu, x, 1 << k));
    return x;
  }
  __device__ __forceinline__ float sum_of(float x) const {
    return join(x, [](float a, float b) { return a + b; });
  }

  // Writes input 0 as it is now.
  __device__ __forceinline__ void put() const {
#pragma unroll
    for (int u = 0; u < V; u++)
      if (live && inside(u) != 0) put(u, pack<T>(v[0][u]));
  }
  __device__ __forceinline__ void put(int u, const uint4& words) const {
    T* p = out + u * lanes * L;
    if (inside(u) == whole) return store16(p, words);
    const uint32_t w[4] = {words.x, words.y, words.z, words.w};
    if constexpr (sizeof(T) == 4) {
#pragma unroll
      for (int k = 0; k < 4; k++)
        if (inside(u) >> k & 1) reinterpret_cast<uint32_t*>(p)[k] = w[k];
    } else {
      // Pairs, and at most one element beside them.
      const unsigned both = inside(u) & inside(u) >> 1 & 0x55, lone = inside(u) & ~(both * 3);
#pragma unroll
      for (int k = 0; k < 4; k++)
        if (both >> 2 * k & 1) reinterpret_cast<uint32_t*>(p)[k] = w[k];
      if (lone) {
        const uint32_t word = lone & 0xf ? (lone & 3 ? w[0] : w[1]) : lone & 0x30 ? w[2] : w[3];
        reinterpret_cast<uint16_t*>(p)[__ffs(lone) - 1] = static_cast<uint16_t>(lone & 0xaa ? word >> 16 : word);
      }
    }
  }
};

// What each operation makes of a row; beside it counts `neutral`. Where it is `aimed`: target, a column or none, and the logit there.
struct LayerNorm {
  static constexpr int inputs = 1, weights = 2;
  static constexpr bool aimed = false;
  static constexpr float neutral = 0.0f;
  template <class R>
  static __device__ __forceinline__ void work(R& r, const RowArguments& a, long long, int, float) {
    float sum = 0, squares = 0;
    r.each([&](int u, int j) { sum += r.v[0][u][j]; });
    const float cols = static_cast<float>(a.cols), mean = r.sum_of(sum) / cols;
    r.each([&](int u, int j) { r.v[0][u][j] -= mean; });
    r.only_inside(0, 0.0f);
    r.each([&](int u, int j) { squares = fmaf(r.v[0][u][j], r.v[0][u][j], squares); });
    const float scale = rsqrtf(r.sum_of(squares) / cols + a.number);
    r.weigh([&](int u, auto& w) {
#pragma unroll
      for (int j = 0; j < R::L; j++) r.v[0][u][j] = fmaf(r.v[0][u][j] * scale, w[0][j], w[1][j]);
    });
    r.put();
  }
};

struct RmsNorm {
  static constexpr int inputs = 1, weights = 1;
  static constexpr bool aimed = false;
  static constexpr float neutral = 0.0f;
  template <class R>
  static __device__ __forceinline__ void work(R& r, const RowArguments& a, long long, int, float) {
    float squares = 0;
    r.each([&](int u, int j) { squares = fmaf(r.v[0][u][j], r.v[0][u][j], squares); });
    const float scale = rsqrtf(r.sum_of(squares) / static_cast<float>(a.cols) + a.number);
    r.weigh([&](int u, auto& w) {
#pragma unroll
      for (int j = 0; j < R::L; j++) r.v[0][u][j] = r.v[0][u][j] * scale * w[0][j];
    });
    r.put();
  }
};

template <class R>
__device__ __forceinline__ float largest(const R& r) {
  float max = -INFINITY;
  r.each([&](int u, int j) { max = fmaxf(max, r.v[0][u][j]); });
  return r.join(max, [](float a, float b) { return fmaxf(a, b); });
}
// Elements become e^(x - max); their sum.
template <class R>
__device__ __forceinline__ float exponentials(R& r, float max) {
  const float shift = max * log2e;
  float sum = 0;
  r.each([&](int u, int j) {
    r.v[0][u][j] = exp2_fast(fmaf(r.v[0][u][j], log2e, -shift));
    sum += r.v[0][u][j];
  });
  return r.sum_of(sum);
}

struct Softmax {
  static constexpr int inputs = 1, weights = 0;
  static constexpr bool aimed = false;
  static constexpr float neutral = -INFINITY;
  template <class R>
  static __device__ __forceinline__ void work(R& r, const RowArguments&, long long, int, float) {
    const float scale = 1.0f / exponentials(r, largest(r));
    r.each([&](int u, int j) { r.v[0][u][j] *= scale; });
    r.put();
  }
};

struct LogSoftmax {
  static constexpr int inputs = 1, weights = 0;
  static constexpr bool aimed = false;
  static constexpr float neutral = -INFINITY;
  template <class R>
  static __device__ __forceinline__ void work(R& r, const RowArguments&, long long, int, float) {
    const float max = largest(r), shift = max * log2e;
    float sum = 0;
    r.each([&](int u, int j) { sum += exp2_fast(fmaf(r.v[0][u][j], log2e, -shift)); });
    const float log = logf(r.sum_of(sum));
    r.each([&](int u, int j) { r.v[0][u][j] = r.v[0][u][j] - max - log; });
    r.put();
  }
};

struct SoftmaxBackward {
  static constexpr int inputs = 2, weights = 0;
  static constexpr bool aimed = false;
  static constexpr float neutral = 0.0f;
  template <class R>
  static __device__ __forceinline__ void work(R& r, const RowArguments&, long long, int, float) {
    float sum = 0;
    r.each([&](int u, int j) { sum = fmaf(r.v[0][u][j], r.v[1][u][j], sum); });
    sum = r.sum_of(sum);
    r.each([&](int u, int j) { r.v[0][u][j] = r.v[1][u][j] * (r.v[0][u][j] - sum); });
    r.put();
  }
};

// The loss of each row goes to per_row.
struct CrossEntropy {
  static constexpr int inputs = 1, weights = 0;
  static constexpr bool aimed = true;
  static constexpr float neutral = -INFINITY;
  template <class R>
  static __device__ __forceinline__ void work(R& r, const RowArguments& a, long long row, int, float logit) {
    const float max = largest(r), sum = exponentials(r, max);
    if (r.live && (threadIdx.x & (R::lanes - 1)) == 0) reinterpret_cast<float*>(a.per_row)[row] = max - logit + logf(sum);
  }
};

struct CrossEntropyBackward {
  static constexpr int inputs = 1, weights = 0;
  static constexpr bool aimed = true;
  static constexpr float neutral = -INFINITY;
  template <class R>
  static __device__ __forceinline__ void work(R& r, const RowArguments& a, long long, int target, float logit) {
    const float max = largest(r), sum = exponentials(r, max);
    const float factor = *reinterpret_cast<const float*>(a.in[2]) / static_cast<float>(a.rows) / sum;
    r.each([&](int u, int j) { r.v[0][u][j] *= factor; });
    r.put();
    // The element of the target again, by the lane that wrote it.
    const int place = target - r.first;
    if (r.live && target < a.cols && target >= 0 && place >= 0 && place / R::L % R::lanes == 0) r.out[place] = from_float<typename R::Type>((exp2_fast((logit - max) * log2e) - sum) * factor);
  }
};

template <class Op, class T, int V, int LOG2>
__device__ __forceinline__ void rows_ragged(const RowArguments& a) {
  constexpr int L = LANES<T>, K = Op::inputs, W = Op::weights;
  using R = Row<T, V, LOG2, K, W>;
  const int cols = static_cast<int>(a.cols);
  constexpr int rows = ragged_threads >> LOG2;
  const long long step = static_cast<long long>(gridDim.x) * rows;
  long long row = static_cast<long long>(blockIdx.x) * rows + (threadIdx.x >> LOG2);
  R r;
  r.first = static_cast<int>(threadIdx.x & (R::lanes - 1)) * L - static_cast<int>(static_cast<unsigned>(row) * static_cast<unsigned>(cols) % L);
#pragma unroll
  for (int u = 0; u < V; u++)
    if (R::edge(u) >= 0) {
      const int from = r.column(u), behind = from + L - cols;
      r.edges[R::edge(u)] = behind >= L ? 0 : (from < 0 ? R::whole << -from & R::whole : R::whole) & (behind > 0 ? R::whole >> behind : R::whole);
    }
  uint4 kept[K][V] = {};
  const auto fetch = [&](long long at) {
    if (at >= a.rows) return;
#pragma unroll
    for (int k = 0; k < K; k++) {
      const T* p = reinterpret_cast<const T*>(a.in[k]) + (at * cols + r.first);
#pragma unroll
      for (int u = 0; u < V; u++)
        if (r.inside(u)) kept[k][u] = load16(p + u * R::lanes * L);
    }
  };
  const auto target_of = [&](long long at) { return Op::aimed && at < a.rows ? reinterpret_cast<const int*>(a.in[1])[at] : 0; };
  // Of a target that is no column, that of the first.
  const auto logit_of = [&](long long at, int target) {
    return Op::aimed && at < a.rows ? to_float(reinterpret_cast<const T*>(a.in[0])[at * cols + (static_cast<unsigned>(target) < static_cast<unsigned>(cols) ? target : 0)]) : 0.0f;
  };
  int target = target_of(row), next_target = target_of(row + step);
  fetch(row);
#pragma unroll
  for (int w = 0; w < W; w++)
#pragma unroll
    for (int u = 0; u < V; u++) {
      const auto* weight = reinterpret_cast<const T*>(a.in[K + w]);
      r.weights[w][u] = r.inside(u) ? loose_vector(reinterpret_cast<const char*>(weight + r.column(u)), reinterpret_cast<const char*>(weight), reinterpret_cast<const char*>(weight + cols)) : uint4{0, 0, 0, 0};
    }
  float logit = logit_of(row, target);
  // Lanes without a row stay for the others of their warp.
  for (long long first = row - (threadIdx.x % 32 >> LOG2); first < a.rows; first += step, row += step) {
#pragma unroll
    for (int k = 0; k < K; k++) {
#pragma unroll
      for (int u = 0; u < V; u++) unpack<T>(kept[k][u], r.v[k][u]);
      r.only_inside(k, Op::neutral);
    }
    // Unpacked, they would take twice the registers in every round.
#pragma unroll
    for (int w = 0; w < W; w++) keep_packed(r.weights[w]);
    fetch(row + step);
    const float next_logit = logit_of(row + step, next_target);
    const int after = target_of(row + 2 * step);
    r.live = row < a.rows;
    r.out = reinterpret_cast<T*>(a.out) + (row * cols + r.first);
    Op::work(r, a, row, target, logit);
    target = next_target, next_target = after, logit = next_logit;
  }
}

}  // namespace

#define RAGGED(T, op, Op, V, LOG2)                                                                                                                                                               \
  extern "C" __global__ void __launch_bounds__(ragged_threads, ragged_blocks(LANES<T>, V, Op::inputs, Op::weights)) rows_ragged_##op##_##T##_##V##_##LOG2(const __grid_constant__ RowArguments a) { \
    rows_ragged<Op, T, V, LOG2>(a);                                                                                                                                                              \
  }
// Every pair of what a lane has and how many lanes, as ragged_shape gives them.
#define OF_8(T, op, Op) RAGGED(T, op, Op, 2, 3) RAGGED(T, op, Op, 3, 3) RAGGED(T, op, Op, 4, 3) RAGGED(T, op, Op, 5, 3)
#define OF_16(T, op, Op) RAGGED(T, op, Op, 3, 4) RAGGED(T, op, Op, 4, 4) RAGGED(T, op, Op, 5, 4)
#define OF_32(T, op, Op) RAGGED(T, op, Op, 3, 5) RAGGED(T, op, Op, 4, 5) RAGGED(T, op, Op, 5, 5) RAGGED(T, op, Op, 6, 5) RAGGED(T, op, Op, 7, 5) RAGGED(T, op, Op, 8, 5)
#define ANY_OF(T, op, Op) OF_8(T, op, Op) OF_16(T, op, Op) OF_32(T, op, Op)
#define ANY(op, Op) ANY_OF(f32, op, Op) ANY_OF(f16, op, Op) ANY_OF(bf16, op, Op)
#define SOFTMAX_OF(T, op, Op) RAGGED(T, op, Op, 5, 3) OF_16(T, op, Op) OF_32(T, op, Op)
#define SOFTMAX(op, Op) SOFTMAX_OF(f16, op, Op) SOFTMAX_OF(bf16, op, Op)
#define TWO(T, op, Op) OF_16(T, op, Op) RAGGED(T, op, Op, 2, 5) OF_32(T, op, Op)
ANY(layer_norm, LayerNorm)
ANY(rms_norm, RmsNorm)
ANY(cross_entropy, CrossEntropy)
ANY(cross_entropy_backward, CrossEntropyBackward)
SOFTMAX(softmax, Softmax)
SOFTMAX(log_softmax, LogSoftmax)
TWO(f32, softmax_backward, SoftmaxBackward)
TWO(f16, softmax_backward, SoftmaxBackward)
TWO(bf16, softmax_backward, SoftmaxBackward)
