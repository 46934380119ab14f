// Convolutions whose kernel meets the whole image, so that an image has one output of each filter, with few terms (convolution/rows.h says when): what is written is nearly all that is moved. A
// thread keeps the weights of one filter and passes over images, so that neighbouring threads write neighbouring outputs. In f32.
//   convolution_rows_<t>_<N>   up to N terms
#include "common/vec.cuh"
#include "convolution.h"

namespace {

constexpr int THREADS = conv_rows_threads;

// grid: images in turns, blocks of filters of all groups. A block has `together` images of `filters` at a time.
template <int N, class T>
__device__ __forceinline__ void convolve(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ out, const ConvRows& c) {
  constexpr int U = 4;
  const int image0 = static_cast<int>(threadIdx.x) / c.filters, f = static_cast<int>(blockIdx.y) * c.filters + static_cast<int>(threadIdx.x) - image0 * c.filters;
  if (image0 >= c.together || f >= c.all) return;
  float w[N];
#pragma unroll
  for (int t = 0; t < N; t++) w[t] = t < c.terms ? to_float(weight[static_cast<long long>(f) * c.of_filter + t * c.of_term + c.first]) : 0.0f;
  const T* const source = x + f / c.of_group * c.terms;
  const int step = static_cast<int>(gridDim.x) * c.together;
  const auto write = [&](int image, const T (&v)[N]) {
    float sum = 0;
#pragma unroll
    for (int t = 0; t < N; t++)
      if (t < c.terms) sum = fmaf(w[t], to_float(v[t]), sum);
    out[static_cast<long long>(image) * c.all + f] = from_float<T>(sum);
  };
  for (int image = static_cast<int>(blockIdx.x) * c.together + image0; image < c.images; image += U * step) {
    T v[U][N];
#pragma unroll
    for (int u = 0; u < U; u++) {
      const T* const from = source + static_cast<long long>(min(image + u * step, c.images - 1)) * c.pitch;
#pragma unroll
      for (int t = 0; t < N; t++)
        if (t < c.terms) v[u][t] = from[t];
    }
#pragma unroll
    for (int u = 0; u < U; u++)
      if (image + u * step < c.images) write(image + u * step, v[u]);
  }
}

}  // namespace

#define ROWS(T, N)                                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(THREADS) convolution_rows_##T##_##N(const T* x, const T* weight, T* out, const ConvRows c) { convolve<N>(x, weight, out, c); }
#define ALL(T) ROWS(T, 1) ROWS(T, 2) ROWS(T, 4) ROWS(T, 8)
ALL(f32)
ALL(f16)
ALL(bf16)
