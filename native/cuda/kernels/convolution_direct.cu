// Convolutions that tiles would leave mostly empty: few operations, few filters or channels of a group.
//   convolution_direct_<t>            a thread, or a warp where sums are long, for each output
//   convolution_direct_<t>_<F>        the same for the outputs of F filters at one position: what is read of the input serves all of them
//   convolution_point_<t>_<wide|four|one>  kernels of one element: a thread has four filters of 16 bytes of positions, or of four single ones or one
// Sums in f32, in a fixed order.
#include "common/arithmetic.cuh"
#include "common/reduce.cuh"
#include "common/terms.cuh"
#include "common/vec.cuh"

namespace {

// U terms on their way at a time.
template <int U, class T>
__device__ __forceinline__ float sum_of(const T* source, const T* filter, const ConvSizes& s, int terms, long long in_plane, int d0, int h0, int w0, int lane, int group) {
  const Term step(s, group);
  Term t(s, lane);
  float sum = 0;
  for (int base = lane; base < terms; base += U * group) {
    float u[U], v[U];
#pragma unroll
    for (int j = 0; j < U; j++) {
      const int d = d0 + t.d * s.dilation, h = h0 + t.h * s.dilation, w = w0 + t.w * s.dilation;
      const bool valid = t.index < terms && static_cast<unsigned>(d) < static_cast<unsigned>(s.depth.input) && static_cast<unsigned>(h) < static_cast<unsigned>(s.height.input) &&
                         static_cast<unsigned>(w) < static_cast<unsigned>(s.width.input);
      u[j] = valid ? to_float(filter[t.index]) : 0.0f;
      v[j] = valid ? to_float(source[t.channel * in_plane + (static_cast<long long>(d) * s.height.input + h) * s.width.input + w]) : 0.0f;
      t.advance(s, step);
    }
#pragma unroll
    for (int j = 0; j < U; j++) sum = fmaf(u[j], v[j], sum);
  }
  return sum;
}

// `group` threads, 1 or 32, for each of `outputs`.
template <class T>
__device__ __forceinline__ void direct(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ out, const ConvSizes& s, long long outputs, int group) {
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x, i = group == 1 ? thread : thread / 32;
  if (i >= outputs) return;
  const int lane = group == 1 ? 0 : threadIdx.x % 32;
  const int in_group = s.channels / s.groups, terms = in_group * s.depth.kernel * s.height.kernel * s.width.kernel, area = s.height.output * s.width.output;
  const long long in_plane = static_cast<long long>(s.depth.input) * s.height.input * s.width.input, out_plane = static_cast<long long>(s.depth.output) * area;
  const long long run = quotient(i, out_plane), image = quotient(run, s.filters);
  const int f = static_cast<int>(run - image * s.filters), of_group = f / (s.filters / s.groups);
  const int place = static_cast<int>(i - run * out_plane), od = place / area, oh = place / s.width.output % s.height.output, ow = place % s.width.output;
  const T* source = x + (image * s.channels + of_group * in_group) * in_plane;
  const T* filter = weight + static_cast<long long>(f) * terms;
  const int d0 = od * s.stride - s.depth.padding, h0 = oh * s.stride - s.height.padding, w0 = ow * s.stride - s.width.padding;
  float sum = terms <= 2 * group ? sum_of<1>(source, filter, s, terms, in_plane, d0, h0, w0, lane, group) : sum_of<8>(source, filter, s, terms, in_plane, d0, h0, w0, lane, group);
  if (group == 32) sum = warp_reduce(sum, AddOp());
  if (lane == 0) out[i] = from_float<T>(sum);
}

// As `direct`, with F filters of a group at one position. i counts positions within blocks of F filters, of which a group has `blocks`.
template <int F, class T>
__device__ __forceinline__ void direct_filters(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ out, const ConvSizes& s, long long positions, int group, int blocks) {
  constexpr int U = 16 / F;
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x, i = group == 1 ? thread : thread / 32;
  if (i >= positions) return;
  const int lane = group == 1 ? 0 : threadIdx.x % 32;
  const int in_group = s.channels / s.groups, filters = s.filters / s.groups, terms = in_group * s.depth.kernel * s.height.kernel * s.width.kernel, area = s.height.output * s.width.output;
  const long long in_plane = static_cast<long long>(s.depth.input) * s.height.input * s.width.input, out_plane = static_cast<long long>(s.depth.output) * area;
  const long long run = quotient(i, out_plane), part = quotient(run, blocks), image = quotient(part, s.groups);
  const int of_group = static_cast<int>(part - image * s.groups), f0 = static_cast<int>(run - part * blocks) * F;
  const int place = static_cast<int>(i - run * out_plane), od = place / area, oh = place / s.width.output % s.height.output, ow = place % s.width.output;
  const T* source = x + (image * s.channels + static_cast<long long>(of_group) * in_group) * in_plane;
  // Past the last filter: that one again, whose sum is not written.
  const T* filter[F];
#pragma unroll
  for (int f = 0; f < F; f++) filter[f] = weight + (static_cast<long long>(of_group) * filters + min(f0 + f, filters - 1)) * terms;
  const int d0 = od * s.stride - s.depth.padding, h0 = oh * s.stride - s.height.padding, w0 = ow * s.stride - s.width.padding;
  const Term step(s, group);
  Term t(s, lane);
  float sum[F] = {};
  for (int base = lane; base < terms; base += U * group) {
    float u[U][F], v[U];
#pragma unroll
    for (int j = 0; j < U; j++) {
      const int d = d0 + t.d * s.dilation, h = h0 + t.h * s.dilation, w = w0 + t.w * s.dilation;
      const bool valid = t.index < terms && static_cast<unsigned>(d) < static_cast<unsigned>(s.depth.input) && static_cast<unsigned>(h) < static_cast<unsigned>(s.height.input) &&
                         static_cast<unsigned>(w) < static_cast<unsigned>(s.width.input);
      v[j] = valid ? to_float(source[t.channel * in_plane + (static_cast<long long>(d) * s.height.input + h) * s.width.input + w]) : 0.0f;
#pragma unroll
      for (int f = 0; f < F; f++) u[j][f] = valid ? to_float(filter[f][t.index]) : 0.0f;
      t.advance(s, step);
    }
#pragma unroll
    for (int j = 0; j < U; j++)
#pragma unroll
      for (int f = 0; f < F; f++) sum[f] = fmaf(u[j][f], v[j], sum[f]);
  }
  T* to = out + (image * s.filters + static_cast<long long>(of_group) * filters + f0) * out_plane + place;
#pragma unroll
  for (int f = 0; f < F; f++) {
    const float all = group == 32 ? warp_reduce(sum[f], AddOp()) : sum[f];
    if (lane == 0 && f0 + f < filters) to[f * out_plane] = from_float<T>(all);
  }
}

// out[p, f, o] = sum over c of weight[p % groups, f, c] * x[p, c, o], for p over images and groups. A thread has W accesses of V positions, `across` of them apart, which
// is how many threads a plane has; `blocks`: of four filters.
template <class T, int V, int W>
__device__ __forceinline__ void point(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ out, int groups, int filters, int channels, long long plane, long long across,
                                      int blocks, long long threads) {
  constexpr int F = 4, U = 4;
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (thread >= threads) return;
  const long long run = quotient(thread, across), p = quotient(run, blocks), o = (thread - run * across) * V;
  const int f0 = static_cast<int>(run - p * blocks) * F, g = static_cast<int>(p - quotient(p, groups) * groups);
  const T* source = x + p * channels * plane;
  const T* filter[F];
#pragma unroll
  for (int f = 0; f < F; f++) filter[f] = weight + (static_cast<long long>(g) * filters + min(f0 + f, filters - 1)) * channels;
  // Past the end: the last position again, which is not written.
  long long at[W];
#pragma unroll
  for (int k = 0; k < W; k++) at[k] = min(o + k * across * V, plane - V);
  float sum[F][W][V] = {};
  for (int c0 = 0; c0 < channels; c0 += U) {
    float v[U][W][V], w[U][F];
#pragma unroll
    for (int u = 0; u < U; u++) {
      const int c = min(c0 + u, channels - 1);  // past the end: a channel that meets a zero
#pragma unroll
      for (int k = 0; k < W; k++) {
        if constexpr (V > 1) unpack<T>(load16(source + c * plane + at[k]), v[u][k]);
        else v[u][k][0] = to_float(source[c * plane + at[k]]);
      }
#pragma unroll
      for (int f = 0; f < F; f++) w[u][f] = c0 + u < channels ? to_float(filter[f][c]) : 0.0f;
    }
#pragma unroll
    for (int u = 0; u < U; u++)
#pragma unroll
      for (int f = 0; f < F; f++)
#pragma unroll
        for (int k = 0; k < W; k++)
#pragma unroll
          for (int j = 0; j < V; j++)
            if (c0 + u < channels) sum[f][k][j] = fmaf(v[u][k][j], w[u][f], sum[f][k][j]);
  }
#pragma unroll
  for (int f = 0; f < F; f++) {
    if (f0 + f >= filters) break;
    T* to = out + (p * filters + f0 + f) * plane;
#pragma unroll
    for (int k = 0; k < W; k++) {
      if (o + k * across * V >= plane) break;
      if constexpr (V > 1) store16(to + at[k], pack<T>(sum[f][k]));
      else to[at[k]] = from_float<T>(sum[f][k][0]);
    }
  }
}

}  // namespace

#define POINT(T, name, V, W)                                                                                                                                                              \
  extern "C" __global__ void __launch_bounds__(256) convolution_point_##T##_##name(const T* x, const T* weight, T* out, int groups, int filters, int channels, long long plane, long long across, \
                                                                                   int blocks, long long threads) {                                                                        \
    point<T, V, W>(x, weight, out, groups, filters, channels, plane, across, blocks, threads);                                                                                                \
  }
#define DIRECT_FILTERS(T, F)                                                                                                                                                              \
  extern "C" __global__ void __launch_bounds__(256) convolution_direct_##T##_##F(const T* x, const T* weight, T* out, const ConvSizes s, long long positions, int group, int blocks) {      \
    direct_filters<F>(x, weight, out, s, positions, group, blocks);                                                                                                                       \
  }
#define CONVOLUTION(T)                                                                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) convolution_direct_##T(const T* x, const T* weight, T* out, const ConvSizes s, long long outputs, int group) {                          \
    direct(x, weight, out, s, outputs, group);                                                                                                                                            \
  }                                                                                                                                                                                       \
  DIRECT_FILTERS(T, 2) DIRECT_FILTERS(T, 4) DIRECT_FILTERS(T, 8)                                                                                                                            \
  POINT(T, wide, LANES<T>, 1) POINT(T, one, 1, 1) POINT(T, four, 1, conv_point_accesses)
CONVOLUTION(f32)
CONVOLUTION(f16)
CONVOLUTION(bf16)
