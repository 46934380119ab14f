// Row operations on few elements (rows/few.h), where a call takes as long as it waits for memory and for its own instructions: everything is read at once, weights beside the
// row, places are 32-bit, and the code is short. <op>_few_<t>_lanes_<log2>: so many lanes of a warp, which the kernel knows, have a row; _block: a block has one.
#include "common/arithmetic.cuh"
#include "common/start_early.cuh"
#include "rows/few.cuh"

namespace {

// Normalises a row, and writes it with a weight and a bias for each element.
template <int LOG2, class T>
__device__ __forceinline__ void write_normalised(const FewRows& a, const Part<LOG2>& p, const T (&x)[few_each], const T (&w)[few_each], const T (&b)[few_each]) {
  float v[few_each];
  widened(x, v);
  normalise(p, v, a.over, a.number);
#pragma unroll
  for (int e = 0; e < few_each; e++) v[e] = fmaf(v[e], to_float(w[e]), to_float(b[e]));
  p.template write<T>(a.out, v);
}

// in: x, weight, bias.
template <int LOG2, class T>
__device__ __forceinline__ void layer_norm(const FewRows& a) {
  const Part<LOG2> p(a);
  T x[few_each], w[few_each], b[few_each];
  p.read(a.in[1], 0, w);
  p.read(a.in[2], 0, b);
  start_early();
  p.read(a.in[0], p.row * p.cols, x);
  write_normalised(a, p, x, w, b);
}

// in: x, weight.
template <int LOG2, class T>
__device__ __forceinline__ void rms_norm(const FewRows& a) {
  __shared__ float scratch[32];
  const Part<LOG2> p(a);
  T x[few_each], w[few_each];
  p.read(a.in[0], p.row * p.cols, x);
  p.read(a.in[1], 0, w);
  float v[few_each], squares = 0;
  widened(x, v);
#pragma unroll
  for (int e = 0; e < few_each; e++) squares = fmaf(v[e], v[e], squares);
  const float scale = rsqrtf(fmaf(p.join(squares, 0.0f, scratch, AddOp()), a.over, a.number));
#pragma unroll
  for (int e = 0; e < few_each; e++) v[e] *= scale * to_float(w[e]);
  p.template write<T>(a.out, v);
}

// A row is a group of channels of an image. in: x, weight, bias.
template <int LOG2, class T>
__device__ __forceinline__ void group_norm(const FewRows& a) {
  const Part<LOG2> p(a);
  T x[few_each], w[few_each], b[few_each];
  p.read(a.in[0], p.row * p.cols, x);
  const int channel = (p.row - divided(p.row, a.by_groups) * a.groups) * a.channels;
#pragma unroll
  for (int e = 0; e < few_each; e++) {
    const int own = channel + divided(p.column(e), a.by_plane);
    w[e] = p.inside(e) ? reinterpret_cast<const T*>(a.in[1])[own] : T(0.0f);
    b[e] = p.inside(e) ? reinterpret_cast<const T*>(a.in[2])[own] : T(0.0f);
  }
  write_normalised(a, p, x, w, b);
}

// in: grad, the output of softmax.
template <int LOG2, class T>
__device__ __forceinline__ void softmax_backward(const FewRows& a) {
  __shared__ float scratch[32];
  const Part<LOG2> p(a);
  T grad[few_each], y[few_each];
  p.read(a.in[0], p.row * p.cols, grad);
  p.read(a.in[1], p.row * p.cols, y);
  float v[few_each], sum = 0;
  widened(grad, v);
#pragma unroll
  for (int e = 0; e < few_each; e++) sum = fmaf(v[e], to_float(y[e]), sum);
  sum = p.join(sum, 0.0f, scratch, AddOp());
#pragma unroll
  for (int e = 0; e < few_each; e++) v[e] = to_float(y[e]) * (v[e] - sum);
  p.template write<T>(a.out, v);
}

// e^(x - the largest of the row), 0 outside it; the sum of them.
template <int LOG2, int E>
__device__ __forceinline__ float exponentials(const Part<LOG2>& p, float (&v)[E], float& max) {
  __shared__ float scratch[64];
  max = -INFINITY;
#pragma unroll
  for (int e = 0; e < E; e++)
    if (p.inside(e)) max = fmaxf(max, v[e]);
  max = p.join(max, -INFINITY, scratch, MaxOp());
  float sum = 0;
#pragma unroll
  for (int e = 0; e < E; e++) {
    v[e] = p.inside(e) ? exp_fast(v[e] - max) : 0.0f;
    sum += v[e];
  }
  return p.join(sum, 0.0f, scratch + 32, AddOp());
}

// in: logits, target, grad.
template <int LOG2, class T>
__device__ __forceinline__ void cross_entropy_backward(const FewRows& a) {
  const Part<LOG2> p(a);
  T x[few_each];
  p.read(a.in[0], p.row * p.cols, x);
  const int target = reinterpret_cast<const int*>(a.in[1])[p.row];
  const float grad = *reinterpret_cast<const float*>(a.in[2]);
  float v[few_each], max;
  widened(x, v);
  const float sum = exponentials(p, v, max), factor = __fdividef(grad * a.over, sum);
#pragma unroll
  for (int e = 0; e < few_each; e++) v[e] = (p.column(e) == target ? v[e] - sum : v[e]) * factor;
  p.template write<T>(a.out, v);
}

// in: logits, target; more: a share of the mean for each block, and a counter. The block that comes last adds up the shares.
template <int LOG2, class T>
__device__ __forceinline__ void cross_entropy(const FewRows& a) {
  __shared__ float scratch[64];
  const Part<LOG2> p(a);
  T x[few_each];
  p.read(a.in[0], p.row * p.cols, x);
  int target = reinterpret_cast<const int*>(a.in[1])[p.row];
  if (static_cast<unsigned>(target) >= static_cast<unsigned>(p.cols)) target = 0;
  float v[few_each], max, chosen = 0;
  widened(x, v);
#pragma unroll
  for (int e = 0; e < few_each; e++)
    if (p.column(e) == target) chosen = v[e];
  const float sum = exponentials(p, v, max);
  // Of each row, one thread has what all share, and one has the target.
  float loss = p.there ? (p.first == 0 ? max + logf(sum) : 0.0f) - chosen : 0.0f;
  loss = block_reduce(loss, 0.0f, scratch, AddOp());
  if (gridDim.x > 1) {
    float* shares = reinterpret_cast<float*>(a.more[0]);
    if (threadIdx.x == 0) shares[blockIdx.x] = loss;
    if (!last_to_arrive(reinterpret_cast<unsigned*>(a.more[1]), gridDim.x)) return;
    loss = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) loss += __ldcg(shares + i);
    loss = block_reduce(loss, 0.0f, scratch + 32, AddOp());
  }
  if (threadIdx.x == 0) *reinterpret_cast<T*>(a.out) = from_float<T>(loss * a.over);
}

}  // namespace

#define LANES_OF(op, T, threads, log2) \
  extern "C" __global__ void __launch_bounds__(threads) op##_few_##T##_lanes_##log2(const __grid_constant__ FewRows a) { op<log2, T>(a); }
#define FEW(op, T, threads)                                                                                                                     \
  LANES_OF(op, T, threads, 0) LANES_OF(op, T, threads, 1) LANES_OF(op, T, threads, 2) LANES_OF(op, T, threads, 3) LANES_OF(op, T, threads, 4) LANES_OF(op, T, threads, 5) \
  extern "C" __global__ void __launch_bounds__(1024) op##_few_##T##_block(const __grid_constant__ FewRows a) { op<block_has_row, T>(a); }
#define EACH(T) FEW(layer_norm, T, 128) FEW(rms_norm, T, 128) FEW(group_norm, T, 128) FEW(softmax_backward, T, 128) FEW(cross_entropy_backward, T, 128) FEW(cross_entropy, T, 1024)
EACH(f32)
EACH(f16)
EACH(bf16)
