// Convolutions of few filters of a group, or of few terms, with many outputs: a thread has P positions, each 256 apart, of F filters at once, so that
// neighbouring threads read neighbouring elements, and what lies around a position is computed once for all elements of a row of the kernel.
// The weights of the F filters lie in shared memory. Sums in f32, in the order of the terms.
//   convolution_window_<t>_<F>
//   convolution_window_<t>_<F>_point    kernels of one element: several channels on their way at a time
//   convolution_window_<t>_<F>_shared   long sums of fewer outputs: the warps of a block share the channels of 32 positions, and their sums are added up in order
#include "common/vec.cuh"
#include "convolution/windows_task.h"

namespace {

constexpr int THREADS = 256;

// Where an output of a filter lies: its image, its place in the plane, and its coordinates there.
struct Output {
  long long image;
  int place, d, h, w;
};

__device__ __forceinline__ Output output_at(const ConvSizes& s, const ConvWindows& c, long long column, long long plane) {
  const long long image = c.columns >> 31 ? column / plane : c.plane.quotient(static_cast<int>(column));
  const int place = static_cast<int>(column - image * plane), row = c.width.quotient(place), d = c.area.quotient(place);
  return {image, place, d, row - c.height.quotient(row) * s.height.output, place - row * s.width.output};
}

// U channels of kernels of one element, all on their way at a time. `at`: the positions in the first channel.
template <int U, int P, int F, class T>
__device__ __forceinline__ void add_channels(float (&sum)[P][F], const T* const (&at)[P], const bool (&inside)[P], const float* w, int channel, long long in_plane) {
  float v[U][P];
#pragma unroll
  for (int u = 0; u < U; u++)
#pragma unroll
    for (int p = 0; p < P; p++) v[u][p] = inside[p] ? to_float(at[p][(channel + u) * in_plane]) : 0.0f;
#pragma unroll
  for (int u = 0; u < U; u++)
#pragma unroll
    for (int f = 0; f < F; f++)
#pragma unroll
      for (int p = 0; p < P; p++) sum[p][f] = fmaf(w[u * F + f], v[u][p], sum[p][f]);
}

// grid: groups * blocks of F filters * chunks of P * THREADS of the `columns` outputs of a filter over all images. Shared memory: [terms][F].
template <int F, int P, bool POINT, class T>
__device__ __forceinline__ void window(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ out, const ConvSizes& s, const ConvWindows& c) {
  extern __shared__ float weights[];
  const int in_group = s.channels / s.groups, filters = s.filters / s.groups, kernel = s.depth.kernel * s.height.kernel * s.width.kernel, terms = in_group * kernel;
  const long long in_plane = static_cast<long long>(s.depth.input) * s.height.input * s.width.input, plane = static_cast<long long>(s.height.output) * s.width.output * s.depth.output;
  const int cell = blockIdx.x / c.chunks, group = cell / c.blocks, f0 = cell % c.blocks * F;
  // Past the last filter: that one again, whose sum is not written.
  for (int i = threadIdx.x; i < terms * F; i += THREADS)
    weights[i] = to_float(weight[(static_cast<long long>(group) * filters + min(f0 + i % F, filters - 1)) * terms + i / F]);
  const long long first = (blockIdx.x % c.chunks) * static_cast<long long>(P * THREADS) + threadIdx.x;
  const T* source[P];
  long long to[P];
  int d0[P], h0[P], w0[P];
#pragma unroll
  for (int p = 0; p < P; p++) {
    const Output output = output_at(s, c, min(first + p * THREADS, c.columns - 1), plane);
    const long long image = output.image;
    const int place = output.place;
    w0[p] = output.w * s.stride - s.width.padding;
    h0[p] = output.h * s.stride - s.height.padding;
    d0[p] = output.d * s.stride - s.depth.padding;
    source[p] = x + (image * s.channels + static_cast<long long>(group) * in_group) * in_plane;
    to[p] = (image * s.filters + static_cast<long long>(group) * filters + f0) * plane + place;
  }
  __syncthreads();
  float sum[P][F] = {};
  const float* w = weights;
  if constexpr (POINT) {
    const T* at[P];
    bool inside[P];
#pragma unroll
    for (int p = 0; p < P; p++) {
      inside[p] = static_cast<unsigned>(d0[p]) < static_cast<unsigned>(s.depth.input) && static_cast<unsigned>(h0[p]) < static_cast<unsigned>(s.height.input) && static_cast<unsigned>(w0[p]) < static_cast<unsigned>(s.width.input);
      at[p] = source[p] + (static_cast<long long>(d0[p]) * s.height.input + h0[p]) * s.width.input + w0[p];
    }
    int channel = 0;
    for (; channel + 4 <= in_group; channel += 4) add_channels<4>(sum, at, inside, w + channel * F, channel, in_plane);
    if (in_group - channel >= 2) add_channels<2>(sum, at, inside, w + channel * F, channel, in_plane), channel += 2;
    if (channel < in_group) add_channels<1>(sum, at, inside, w + channel * F, channel, in_plane);
  } else {
    for (int channel = 0; channel < in_group; channel++)
      for (int kd = 0; kd < s.depth.kernel; kd++)
        for (int kh = 0; kh < s.height.kernel; kh++) {
          const T* row[P];
          int width[P];  // 0 for a row outside of the input
#pragma unroll
          for (int p = 0; p < P; p++) {
            const int d = d0[p] + kd * s.dilation, h = h0[p] + kh * s.dilation;
            const bool inside = static_cast<unsigned>(d) < static_cast<unsigned>(s.depth.input) && static_cast<unsigned>(h) < static_cast<unsigned>(s.height.input);
            row[p] = source[p] + channel * in_plane + (static_cast<long long>(d) * s.height.input + h) * s.width.input;
            width[p] = inside ? s.width.input : 0;
          }
#pragma unroll(F == 8 ? 2 : 4)
          for (int kw = 0; kw < s.width.kernel; kw++, w += F) {
            float v[P];
#pragma unroll
            for (int p = 0; p < P; p++) {
              const int at = w0[p] + kw * s.dilation;
              v[p] = static_cast<unsigned>(at) < static_cast<unsigned>(width[p]) ? to_float(row[p][at]) : 0.0f;
            }
#pragma unroll
            for (int f = 0; f < F; f++)
#pragma unroll
              for (int p = 0; p < P; p++) sum[p][f] = fmaf(w[f], v[p], sum[p][f]);
          }
        }
  }
#pragma unroll
  for (int p = 0; p < P; p++) {
    if (first + p * THREADS >= c.columns) break;
#pragma unroll
    for (int f = 0; f < F; f++)
      if (f0 + f < filters) out[to[p] + static_cast<long long>(f) * plane] = from_float<T>(sum[p][f]);
  }
}

// grid: groups * blocks of F filters * chunks of 32 of the `columns` outputs of a filter over all images. Shared memory: [terms][F].
template <int F, class T>
__device__ __forceinline__ void window_shared(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ out, const ConvSizes& s, const ConvWindows& c) {
  extern __shared__ float weights[];
  constexpr int WARPS = THREADS / 32;
  __shared__ float parts[WARPS][F][32];
  const int in_group = s.channels / s.groups, filters = s.filters / s.groups, kernel = s.depth.kernel * s.height.kernel * s.width.kernel, terms = in_group * kernel;
  const long long in_plane = static_cast<long long>(s.depth.input) * s.height.input * s.width.input, plane = static_cast<long long>(s.height.output) * s.width.output * s.depth.output;
  const int cell = blockIdx.x / c.chunks, group = cell / c.blocks, f0 = cell % c.blocks * F, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  // Past the last filter: that one again, whose sum is not written.
  for (int i = threadIdx.x; i < terms * F; i += THREADS)
    weights[i] = to_float(weight[(static_cast<long long>(group) * filters + min(f0 + i % F, filters - 1)) * terms + i / F]);
  const long long first = (blockIdx.x % c.chunks) * 32LL + lane;
  const Output output = output_at(s, c, min(first, c.columns - 1), plane);
  const long long image = output.image;
  const int place = output.place, w0 = output.w * s.stride - s.width.padding, h0 = output.h * s.stride - s.height.padding, d0 = output.d * s.stride - s.depth.padding;
  const T* source = x + (image * s.channels + static_cast<long long>(group) * in_group) * in_plane;
  __syncthreads();
  float sum[F] = {};
  for (int channel = warp; channel < in_group; channel += WARPS) {
    const float* w = weights + channel * kernel * F;
    for (int kd = 0; kd < s.depth.kernel; kd++)
      for (int kh = 0; kh < s.height.kernel; kh++) {
        const int d = d0 + kd * s.dilation, h = h0 + kh * s.dilation;
        const bool inside = static_cast<unsigned>(d) < static_cast<unsigned>(s.depth.input) && static_cast<unsigned>(h) < static_cast<unsigned>(s.height.input);
        const T* line = source + channel * in_plane + (static_cast<long long>(d) * s.height.input + h) * s.width.input;
        const int width = inside ? s.width.input : 0;
#pragma unroll 4
        for (int kw = 0; kw < s.width.kernel; kw++, w += F) {
          const int at = w0 + kw * s.dilation;
          const float v = static_cast<unsigned>(at) < static_cast<unsigned>(width) ? to_float(line[at]) : 0.0f;
#pragma unroll
          for (int f = 0; f < F; f++) sum[f] = fmaf(w[f], v, sum[f]);
        }
      }
  }
#pragma unroll
  for (int f = 0; f < F; f++) parts[warp][f][lane] = sum[f];
  __syncthreads();
  if (warp >= F || first >= c.columns || f0 + warp >= filters) return;
  float total = 0;
#pragma unroll
  for (int k = 0; k < WARPS; k++) total += parts[k][warp][lane];
  out[(image * s.filters + static_cast<long long>(group) * filters + f0 + warp) * plane + place] = from_float<T>(total);
}

}  // namespace

#define WINDOW_SHARED(T, F)                                                                                                                                                                \
  extern "C" __global__ void __launch_bounds__(THREADS) convolution_window_##T##_##F##_shared(const T* x, const T* weight, T* out, const ConvSizes s, const ConvWindows c) { \
    window_shared<F>(x, weight, out, s, c);                                                                                                                          \
  }
#define WINDOW_AS(T, F, P, BLOCKS, POINT, NAME)                                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) convolution_window_##T##_##F##NAME(const T* x, const T* weight, T* out, const ConvSizes s, const ConvWindows c) { \
    window<F, P, POINT>(x, weight, out, s, c);                                                                                                                       \
  }
#define WINDOW(T, F, P, BLOCKS) WINDOW_AS(T, F, P, BLOCKS, false, ) WINDOW_AS(T, F, P, BLOCKS, true, _point)
#define WINDOWS(T) WINDOW(T, 1, 4, 4) WINDOW(T, 2, 2, 4) WINDOW(T, 4, 2, 4) WINDOW(T, 8, 2, 3) WINDOW_SHARED(T, 1) WINDOW_SHARED(T, 2) WINDOW_SHARED(T, 4) WINDOW_SHARED(T, 8)
WINDOWS(f32)
WINDOWS(f16)
WINDOWS(bf16)
