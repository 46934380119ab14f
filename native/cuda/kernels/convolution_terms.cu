// Few filters with few outputs, any kernel of up to 32 elements, or of any without padding (convolution/terms.h says when): a thread has the outputs of up to F filters at one position. Where terms lie is in shared memory, so that
// what a thread reads of U of them is on its way at the same time. Sums in f32, in the order of the terms.
//   convolution_terms_<t>_<F>
// How to build and run: scripts/gpu/kernels.sh.
#include "common/vec.cuh"
#include "convolution/terms_task.h"
#include "convolution/windows.cuh"

namespace {

constexpr int THREADS = opscope::cuda::conv_terms_threads, U = opscope::cuda::conv_terms_at_once;

// grid: positions, blocks of filters of all groups. Shared memory: places, then weights as [term][filter].
template <int F, class T>
__device__ __forceinline__ void convolve(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ out, const ConvSizes& s, const ConvNarrow& c, int blocks) {
  extern __shared__ __align__(16) char memory[];
  const int terms = (c.terms + U - 1) / U * U, group = static_cast<int>(blockIdx.y) / blocks, f0 = (static_cast<int>(blockIdx.y) - group * blocks) * F;
  float* const weights = reinterpret_cast<float*>(memory);
  Place* const places = reinterpret_cast<Place*>(weights + terms * F);
  write_places(places, s, c, 0, terms);
  for (int i = threadIdx.x; i < terms * F; i += THREADS) {
    const int t = i / F, f = i - t * F;
    weights[i] = t < c.terms && f0 + f < c.filters ? to_float(weight[static_cast<long long>(group * c.filters + f0 + f) * c.terms + t]) : 0.0f;
  }
  const int column = static_cast<int>(blockIdx.x) * THREADS + threadIdx.x, at = min(column, c.columns - 1), image = c.by_plane.quotient(at), place = at - image * c.plane;
  const Window window = window_at(s, c, place);
  const T* const from = x + static_cast<long long>(image * s.channels + group * c.channels) * c.in_plane + window.offset;
  __syncthreads();
  float sum[F] = {}, next[U];
  const auto load = [&](int t) {
#pragma unroll
    for (int u = 0; u < U; u++) {
      const Place p = places[t + u];
      next[u] = window.mask & p.bit ? to_float(from[p.offset]) : 0.0f;
    }
  };
  load(0);
  for (int t = 0; t < terms; t += U) {
    float now[U];
#pragma unroll
    for (int u = 0; u < U; u++) now[u] = next[u];
    if (t + U < terms) load(t + U);
#pragma unroll
    for (int u = 0; u < U; u++)
#pragma unroll
      for (int f = 0; f < F; f++) sum[f] = fmaf(now[u], weights[(t + u) * F + f], sum[f]);
  }
  if (column >= c.columns) return;
  T* const to = out + static_cast<long long>(image * s.filters + group * c.filters + f0) * c.plane + place;
#pragma unroll
  for (int f = 0; f < F; f++)
    if (f0 + f < c.filters) to[static_cast<long long>(f) * c.plane] = from_float<T>(sum[f]);
}

}  // namespace

#define TERMS(T, F) \
  extern "C" __global__ void __launch_bounds__(THREADS) convolution_terms_##T##_##F(const T* x, const T* weight, T* out, const ConvSizes s, const ConvNarrow c, int blocks) { convolve<F>(x, weight, out, s, c, blocks); }
#define ALL(T) TERMS(T, 1) TERMS(T, 2) TERMS(T, 4) TERMS(T, 8)
ALL(f32)
ALL(f16)
ALL(bf16)
