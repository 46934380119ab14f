// batch_norm of few elements (rows/few.h), where a call takes as long as it waits for memory and for its own instructions. Training: batch_norm_few_<t>_lanes and _block, where
// lanes of a warp or a block have a channel; inference: _each, where a thread has an element.
#include "rows/few.cuh"

namespace {

// in: x, weight, bias; more: mean, rstd. A row is a channel, `by_plane` the elements of an image in it, `groups` those of all channels but one.
template <bool BLOCK, class T>
__device__ __forceinline__ void train(const FewRows& a) {
  const Part<BLOCK ? block_has_row : lanes_by_argument> p(a);
  const T* in = reinterpret_cast<const T*>(a.in[0]) + p.row * a.channels;
  T x[few_each];
  int at[few_each];
#pragma unroll
  for (int e = 0; e < few_each; e++) {
    at[e] = p.column(e) + divided(p.column(e), a.by_plane) * a.groups;
    x[e] = p.inside(e) ? in[at[e]] : T(0.0f);
  }
  const float weight = reinterpret_cast<const float*>(a.in[1])[p.row], bias = reinterpret_cast<const float*>(a.in[2])[p.row];
  float v[few_each];
  widened(x, v);
  const Normal normal = normalise(p, v, a.over, a.number);
  if (!p.there) return;
  T* out = reinterpret_cast<T*>(a.out) + p.row * a.channels;
#pragma unroll
  for (int e = 0; e < few_each; e++)
    if (p.inside(e)) out[at[e]] = from_float<T>(fmaf(v[e], weight, bias));
  if (p.first == 0) reinterpret_cast<float*>(a.more[0])[p.row] = normal.mean, reinterpret_cast<float*>(a.more[1])[p.row] = normal.rstd;
}

// in: x, weight, bias; more: mean, variance. `rows` elements; `groups` channels.
template <class T>
__device__ __forceinline__ void infer(const FewRows& a) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= a.rows) return;
  const float x = to_float(reinterpret_cast<const T*>(a.in[0])[i]);
  const int run = divided(i, a.by_plane), channel = run - divided(run, a.by_groups) * a.groups;
  const auto of = [&](unsigned long long from) { return reinterpret_cast<const float*>(from)[channel]; };
  const float weight = of(a.in[1]), bias = of(a.in[2]), mean = of(a.more[0]), variance = of(a.more[1]);
  reinterpret_cast<T*>(a.out)[i] = from_float<T>(fmaf(x - mean, rsqrtf(variance + a.number) * weight, bias));
}

}  // namespace

#define FEW(T)                                                                                                                               \
  extern "C" __global__ void __launch_bounds__(128) batch_norm_few_##T##_lanes(const __grid_constant__ FewRows a) { train<false, T>(a); }     \
  extern "C" __global__ void __launch_bounds__(1024) batch_norm_few_##T##_block(const __grid_constant__ FewRows a) { train<true, T>(a); }     \
  extern "C" __global__ void __launch_bounds__(256) batch_norm_few_##T##_each(const __grid_constant__ FewRows a) { infer<T>(a); }
FEW(f32)
FEW(f16)
FEW(bf16)
