// Row operations: rows/kernel.cuh has the kernels, this file what each operation makes of a row. rows.plan.cc says where which runs.
// Kernels: rows_<op>_<dtype>, .._held_<V>, .._held_ragged_<V>, .._tile, .._cluster, .._part and .._join, each with RowArguments. softmax, log_softmax and layer_norm are here for
// the rows that softmax.cu and layer_norm.cu do not take (common/row.h).
#include "common/arithmetic.cuh"
#include "common/early.cuh"
#include "rows/held.cuh"
#include "rows/stats.cuh"

namespace {

// Input `i` and the output of a row.
template <class T>
__device__ __forceinline__ const T* input(const RowArguments& a, int i, long long at = 0) { return reinterpret_cast<const T*>(a.in[i]) + at; }
template <class T>
__device__ __forceinline__ T* output(const RowArguments& a, long long at = 0) { return reinterpret_cast<T*>(a.out) + at; }

// Operations that keep S of the elements of x alone.
template <class T, class S>
struct OfX : S {
  static constexpr int inputs = 1;
  const T* x;
  __device__ OfX(const RowArguments& a, long long row) : x(input<T>(a, 0, row * a.cols)) {}
  __device__ const T* from(int) const { return x; }
  template <int N>
  __device__ void add(typename S::Stats& s, long long, const float (&v)[1][N]) const {
    S::take_in(s, v[0]);
  }
};

template <class T>
struct LogSoftmax : OfX<T, ByMaxSum> {
  using typename ByMaxSum::Stats;
  using OfX<T, ByMaxSum>::x;
  T* out;
  __device__ LogSoftmax(const RowArguments& a, long long row) : OfX<T, ByMaxSum>(a, row), out(output<T>(a, row * a.cols)) {}
  template <int N>
  __device__ void write(const Stats& s, long long i, float (&v)[1][N]) const {
    const float log = logf(s.sum);
    float(&f)[N] = v[0];
#pragma unroll
    for (int j = 0; j < N; j++) f[j] = f[j] - s.max - log;
    give(out + i, f);
  }
  __device__ void finish(const Stats&) const {}
};

template <class T>
struct Softmax : OfX<T, ByMaxSum> {
  using typename ByMaxSum::Stats;
  using OfX<T, ByMaxSum>::x;
  T* out;
  __device__ Softmax(const RowArguments& a, long long row) : OfX<T, ByMaxSum>(a, row), out(output<T>(a, row * a.cols)) {}
  template <int N>
  __device__ void write(const Stats& s, long long i, float (&v)[1][N]) const {
    const float scale = 1.0f / s.sum;
    float(&f)[N] = v[0];
#pragma unroll
    for (int j = 0; j < N; j++) f[j] = exp_fast(f[j] - s.max) * scale;
    give(out + i, f);
  }
  __device__ void finish(const Stats&) const {}
};

// in: logits, target. The loss of each row goes to per_row.
template <class T>
struct CrossEntropy : OfX<T, ByMaxSum> {
  static constexpr bool averaged = true;
  using typename ByMaxSum::Stats;
  using OfX<T, ByMaxSum>::x;
  float* loss;
  long long target;
  __device__ CrossEntropy(const RowArguments& a, long long row) : OfX<T, ByMaxSum>(a, row), loss(reinterpret_cast<float*>(a.per_row) + row), target(input<int>(a, 1)[row]) {
    if (target < 0 || target >= a.cols) target = 0;
  }
  template <int N>
  __device__ void write(const Stats&, long long, float (&)[1][N]) const {}
  __device__ void finish(const Stats& s) const { *loss = s.max - to_float(x[target]) + logf(s.sum); }
};

// in: logits, target, grad.
template <class T>
struct CrossEntropyBackward : OfX<T, ByMaxSum> {
  using typename ByMaxSum::Stats;
  using OfX<T, ByMaxSum>::x;
  T* out;
  long long target;
  float scale;
  __device__ CrossEntropyBackward(const RowArguments& a, long long row)
      : OfX<T, ByMaxSum>(a, row), out(output<T>(a, row * a.cols)), target(input<int>(a, 1)[row]), scale(*input<float>(a, 2) / static_cast<float>(a.rows)) {}
  template <int N>
  __device__ void write(const Stats& s, long long i, float (&v)[1][N]) const {
    const float factor = scale / s.sum;
    float(&f)[N] = v[0];
#pragma unroll
    for (int j = 0; j < N; j++) {
      const float e = exp_fast(f[j] - s.max);
      f[j] = (i + j == target ? e - s.sum : e) * factor;
    }
    give(out + i, f);
  }
  __device__ void finish(const Stats&) const {}
};

// in: grad, the output of softmax.
template <class T>
struct SoftmaxBackward : BySum {
  static constexpr int inputs = 2;
  const T *grad, *y;
  T* out;
  __device__ SoftmaxBackward(const RowArguments& a, long long row) : grad(input<T>(a, 0, row * a.cols)), y(input<T>(a, 1, row * a.cols)), out(output<T>(a, row * a.cols)) {}
  __device__ const T* from(int k) const { return k == 0 ? grad : y; }
  template <int N>
  __device__ void add(Stats& s, long long, const float (&v)[2][N]) const {
#pragma unroll
    for (int j = 0; j < N; j++) s.sum = fmaf(v[0][j], v[1][j], s.sum);
  }
  template <int N>
  __device__ void write(const Stats& s, long long i, float (&v)[2][N]) const {
#pragma unroll
    for (int j = 0; j < N; j++) v[0][j] = v[1][j] * (v[0][j] - s.sum);
    give(out + i, v[0]);
  }
  __device__ void finish(const Stats&) const {}
};

// in: x, weight; number: eps.
template <class T>
struct RmsNorm : BySum {
  static constexpr int inputs = 1;
  static constexpr bool weighted = true;
  const T *x, *weight;
  T* out;
  float cols, eps;
  __device__ const T* from(int) const { return x; }
  __device__ RmsNorm(const RowArguments& a, long long row) : x(input<T>(a, 0, row * a.cols)), weight(input<T>(a, 1)), out(output<T>(a, row * a.cols)), cols(static_cast<float>(a.cols)), eps(a.number) {}
  static __device__ void ahead(const RowArguments& a, long long) { fetch_own(a, input<T>(a, 1), a.cols); }
  template <int N>
  __device__ void add(Stats& s, long long, const float (&v)[1][N]) const {
#pragma unroll
    for (int j = 0; j < N; j++) s.sum = fmaf(v[0][j], v[0][j], s.sum);
  }
  template <int N>
  __device__ void write(const Stats& s, long long i, float (&v)[1][N]) const {
    float w[N];
    take_loose(weight + i, w);
    write_weighted(s, i, v, w);
  }
  template <int N>
  __device__ void write_weighted(const Stats& s, long long i, float (&v)[1][N], const float (&w)[N]) const {
    const float scale = 1.0f / sqrtf(s.sum / cols + eps);
    float(&f)[N] = v[0];
#pragma unroll
    for (int j = 0; j < N; j++) f[j] = f[j] * scale * w[j];
    give(out + i, f);
  }
  __device__ void finish(const Stats&) const {}
};

// in: x, weight, bias; number: eps.
template <class T>
struct LayerNorm : OfX<T, ByMoments> {
  using typename ByMoments::Stats;
  using OfX<T, ByMoments>::x;
  const T *weight, *bias;
  T* out;
  float eps;
  __device__ LayerNorm(const RowArguments& a, long long row) : OfX<T, ByMoments>(a, row), weight(input<T>(a, 1)), bias(input<T>(a, 2)), out(output<T>(a, row * a.cols)), eps(a.number) {}
  static __device__ void ahead(const RowArguments& a, long long) {
    fetch_own(a, input<T>(a, 1), a.cols);
    fetch_own(a, input<T>(a, 2), a.cols);
  }
  template <int N>
  __device__ void write(const Stats& s, long long i, float (&v)[1][N]) const {
    const float scale = ByMoments::rstd(s, eps);
    float(&f)[N] = v[0];
    float w[N], b[N];
    take_loose(weight + i, w);
    take_loose(bias + i, b);
#pragma unroll
    for (int j = 0; j < N; j++) f[j] = fmaf((f[j] - s.mean) * scale, w[j], b[j]);
    give(out + i, f);
  }
  __device__ void finish(const Stats&) const {}
};

// A row is a group of channels of an image. in: x, weight, bias; number: eps.
template <class T>
struct GroupNorm : OfX<T, ByMoments> {
  using typename ByMoments::Stats;
  using OfX<T, ByMoments>::x;
  const T *weight, *bias;
  T* out;
  long long plane;
  float eps;
  __device__ GroupNorm(const RowArguments& a, long long row) : OfX<T, ByMoments>(a, row), out(output<T>(a, row * a.cols)), plane(a.plane), eps(a.number) {
    const long long first = remainder_of(row, a.groups) * quotient(a.cols, a.plane);
    weight = input<T>(a, 1, first);
    bias = input<T>(a, 2, first);
  }
  static __device__ void ahead(const RowArguments& a, long long row) {
    const long long channels = quotient(a.cols, a.plane), first = remainder_of(row, a.groups) * channels;
    fetch_own(a, input<T>(a, 1, first), channels);
    fetch_own(a, input<T>(a, 2, first), channels);
  }
  template <int N>
  __device__ void write(const Stats& s, long long i, float (&v)[1][N]) const {
    const float scale = ByMoments::rstd(s, eps);
    float(&f)[N] = v[0];
    long long channel = quotient(i, plane), place = i - channel * plane;
    if (place + N <= plane) {
      const float w = to_float(weight[channel]), b = to_float(bias[channel]);
#pragma unroll
      for (int j = 0; j < N; j++) f[j] = fmaf((f[j] - s.mean) * scale, w, b);
      give(out + i, f);
      return;
    }
#pragma unroll
    for (int j = 0; j < N; j++) {
      f[j] = fmaf((f[j] - s.mean) * scale, to_float(weight[channel]), to_float(bias[channel]));
      if (++place == plane && j + 1 < N) place = 0, channel++;
    }
    give(out + i, f);
  }
  __device__ void finish(const Stats&) const {}
};

// dx of layer_norm (CENTERED) and rms_norm. in: grad, x, weight, then mean, rstd or rstd alone.
template <class T, bool CENTERED>
struct NormBackward : ByTwoSums {
  static constexpr int inputs = 2;
  const T *grad, *x, *weight;
  T* out;
  float mean, rstd, cols;
  __device__ NormBackward(const RowArguments& a, long long row)
      : grad(input<T>(a, 0, row * a.cols)), x(input<T>(a, 1, row * a.cols)), weight(input<T>(a, 2)), out(output<T>(a, row * a.cols)), mean(CENTERED ? input<float>(a, 3)[row] : 0.0f),
        rstd(input<float>(a, CENTERED ? 4 : 3)[row]), cols(static_cast<float>(a.cols)) {}
  __device__ const T* from(int k) const { return k == 0 ? grad : x; }
  // grad * weight and (x - mean) * rstd.
  template <int N>
  __device__ void terms(long long i, const float (&v)[2][N], float (&g)[N], float (&h)[N]) const {
    float w[N];
    take_loose(weight + i, w);
#pragma unroll
    for (int j = 0; j < N; j++) {
      g[j] = v[0][j] * w[j];
      h[j] = (v[1][j] - mean) * rstd;
    }
  }
  template <int N>
  __device__ void add(Stats& s, long long i, const float (&v)[2][N]) const {
    float g[N], h[N];
    terms(i, v, g, h);
#pragma unroll
    for (int j = 0; j < N; j++) {
      if (CENTERED) s.sum += g[j];
      s.dot = fmaf(g[j], h[j], s.dot);
    }
  }
  template <int N>
  __device__ void write(const Stats& s, long long i, float (&v)[2][N]) const {
    const float sum = s.sum / cols, dot = s.dot / cols;
    float g[N], h[N];
    terms(i, v, g, h);
#pragma unroll
    for (int j = 0; j < N; j++) g[j] = rstd * (g[j] - sum - h[j] * dot);
    give(out + i, g);
  }
  __device__ void finish(const Stats&) const {}
};
template <class T>
using LayerNormBackward = NormBackward<T, true>;
template <class T>
using RmsNormBackward = NormBackward<T, false>;

}  // namespace

// INPUTS: those with rows; WRITES: whether the output has rows.
#define WHOLE_ROWS_OF(T, op, Policy) \
  extern "C" __global__ void __launch_bounds__(1024) rows_##op##_##T(const RowArguments a) { rows_whole<Policy<T>, T>(a); }
#define SHORT_ROWS_OF(T, op, Policy, INPUTS, WRITES)                                                                                               \
  WHOLE_ROWS_OF(T, op, Policy)                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(256) rows_##op##_##T##_tile(const RowArguments a) { rows_tile<Policy<T>, T, INPUTS, WRITES>(a); }
#define LONG_ROWS_OF(T, op, Policy)                                                                                                                \
  extern "C" __global__ void __launch_bounds__(256) rows_##op##_##T##_cluster(const RowArguments a) { rows_cluster<Policy<T>, T>(a); }              \
  extern "C" __global__ void __launch_bounds__(256) rows_##op##_##T##_part(const RowArguments a) {                                                  \
    next_may_start();                                                                                                                              \
    rows_part<Policy<T>, T>(a);                                                                                                                    \
  }                                                                                                                                                \
  extern "C" __global__ void __launch_bounds__(256) rows_##op##_##T##_join(const RowArguments a) {                                                  \
    wait_for_last();                                                                                                                               \
    rows_join<Policy<T>, T>(a);                                                                                                                    \
  }
#define HELD_ROWS_OF(T, op, Policy)                                                                                                                  \
  extern "C" __global__ void __launch_bounds__(512) rows_##op##_##T##_held_1(const RowArguments a) { rows_held<Policy<T>, T, 1>(a); }               \
  extern "C" __global__ void __launch_bounds__(512) rows_##op##_##T##_held_2(const RowArguments a) { rows_held<Policy<T>, T, 2>(a); }               \
  extern "C" __global__ void __launch_bounds__(512, 2) rows_##op##_##T##_held_4(const RowArguments a) { rows_held<Policy<T>, T, 4>(a); }
#define HELD_LONG_ROWS_OF(T, op, Policy) \
  extern "C" __global__ void __launch_bounds__(512) rows_##op##_##T##_held_8(const RowArguments a) { rows_held<Policy<T>, T, 8>(a); }
#define HELD_RAGGED_ROWS_OF(T, op, Policy)                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(512) rows_##op##_##T##_held_ragged_2(const RowArguments a) { rows_held_ragged<Policy<T>, T, 2>(a); }           \
  extern "C" __global__ void __launch_bounds__(512, 2) rows_##op##_##T##_held_ragged_4(const RowArguments a) { rows_held_ragged<Policy<T>, T, 4>(a); }
#define HELD_RAGGED_LONG_ROWS_OF(T, op, Policy) \
  extern "C" __global__ void __launch_bounds__(512) rows_##op##_##T##_held_ragged_8(const RowArguments a) { rows_held_ragged<Policy<T>, T, 8>(a); }
#define EACH_DTYPE(KERNELS, ...) KERNELS(f32, __VA_ARGS__) KERNELS(f16, __VA_ARGS__) KERNELS(bf16, __VA_ARGS__)
#define WHOLE_ROWS(...) EACH_DTYPE(WHOLE_ROWS_OF, __VA_ARGS__)
#define HELD(...) EACH_DTYPE(HELD_ROWS_OF, __VA_ARGS__)
#define HELD_LONG(...) HELD(__VA_ARGS__) EACH_DTYPE(HELD_LONG_ROWS_OF, __VA_ARGS__)
#define HELD_RAGGED(...) EACH_DTYPE(HELD_RAGGED_ROWS_OF, __VA_ARGS__)
#define HELD_RAGGED_LONG(...) HELD_RAGGED(__VA_ARGS__) EACH_DTYPE(HELD_RAGGED_LONG_ROWS_OF, __VA_ARGS__)
#define ROWS(op, Policy, INPUTS, WRITES) EACH_DTYPE(SHORT_ROWS_OF, op, Policy, INPUTS, WRITES) EACH_DTYPE(LONG_ROWS_OF, op, Policy)

WHOLE_ROWS(softmax, Softmax)
WHOLE_ROWS(log_softmax, LogSoftmax)
WHOLE_ROWS(layer_norm, LayerNorm)
ROWS(cross_entropy, CrossEntropy, 1, false)
ROWS(cross_entropy_backward, CrossEntropyBackward, 1, true)
WHOLE_ROWS(softmax_backward, SoftmaxBackward)
EACH_DTYPE(LONG_ROWS_OF, softmax_backward, SoftmaxBackward)
ROWS(rms_norm, RmsNorm, 1, true)
ROWS(group_norm, GroupNorm, 1, true)
ROWS(layer_norm_backward, LayerNormBackward, 2, true)
ROWS(rms_norm_backward, RmsNormBackward, 2, true)

HELD(cross_entropy, CrossEntropy)
HELD_LONG(cross_entropy_backward, CrossEntropyBackward)
HELD(softmax_backward, SoftmaxBackward)
HELD_LONG(rms_norm, RmsNorm)
HELD_LONG(group_norm, GroupNorm)
HELD_RAGGED_LONG(cross_entropy, CrossEntropy)
HELD_RAGGED_LONG(cross_entropy_backward, CrossEntropyBackward)
HELD_RAGGED(softmax_backward, SoftmaxBackward)
HELD_RAGGED_LONG(rms_norm, RmsNorm)
