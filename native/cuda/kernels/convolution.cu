// Convolutions of one to three dimensions as products without the matrix: out[f, o] = sum over l of weight[f, l] * window[l, o], l over the
// channels of the group and the kernel. A block computes 64 filters x 64 outputs of a group of an image, 16 elements of l at a time, 4 x 4
// results per thread, in f32.
#include "common/vec.cuh"
#include "convolution.h"

namespace {

constexpr int TILE = 64, DEPTH = 16;

// grid: (outputs / 64, filters of a group / 64, batch * groups of this launch, from `first` on).
template <class T>
__device__ __forceinline__ void convolve(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ out, const ConvSizes& s, int first) {
  __shared__ float a[DEPTH][TILE + 4], b[DEPTH][TILE + 4];
  const int in_group = s.channels / s.groups, filters = s.filters / s.groups, volume = s.depth.kernel * s.height.kernel * s.width.kernel, terms = in_group * volume;
  const long long in_plane = static_cast<long long>(s.depth.input) * s.height.input * s.width.input, out_plane = static_cast<long long>(s.depth.output) * s.height.output * s.width.output;
  const int product = blockIdx.z + first, group = product % s.groups;
  const long long column = static_cast<long long>(blockIdx.x) * TILE;
  const int row = blockIdx.y * TILE;
  const T* source = x + static_cast<long long>(product) * in_group * in_plane;
  const T* filter = weight + static_cast<long long>(group) * filters * terms;
  // The output whose windows this thread reads.
  const int at = threadIdx.x % TILE;
  const long long o = column + at;
  const bool inside = o < out_plane;
  const int place = inside ? static_cast<int>(o) : 0, od = place / (s.height.output * s.width.output), oh = place / s.width.output % s.height.output, ow = place % s.width.output;
  const int d0 = od * s.stride - s.depth.padding, h0 = oh * s.stride - s.height.padding, w0 = ow * s.stride - s.width.padding;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float sum[4][4] = {};
  for (int base = 0; base < terms; base += DEPTH) {
    for (int i = threadIdx.x; i < TILE * DEPTH; i += 256) {
      const int l = i % DEPTH, f = i / DEPTH;
      a[l][f] = base + l < terms && row + f < filters ? to_float(filter[static_cast<long long>(row + f) * terms + base + l]) : 0.0f;
    }
    for (int l = threadIdx.x / TILE; l < DEPTH; l += 256 / TILE) {
      const int term = base + l, channel = term / volume, k = term - channel * volume;
      const int kd = k / (s.height.kernel * s.width.kernel), kh = k / s.width.kernel % s.height.kernel, kw = k % s.width.kernel;
      const int d = d0 + kd * s.dilation, h = h0 + kh * s.dilation, w = w0 + kw * s.dilation;
      const bool valid = inside && term < terms && static_cast<unsigned>(d) < static_cast<unsigned>(s.depth.input) && static_cast<unsigned>(h) < static_cast<unsigned>(s.height.input) &&
                         static_cast<unsigned>(w) < static_cast<unsigned>(s.width.input);
      b[l][at] = valid ? to_float(source[channel * in_plane + (static_cast<long long>(d) * s.height.input + h) * s.width.input + w]) : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int l = 0; l < DEPTH; l++) {
      float u[4], v[4];
#pragma unroll
      for (int i = 0; i < 4; i++) u[i] = a[l][ty + 16 * i], v[i] = b[l][tx + 16 * i];
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) sum[i][j] = fmaf(u[i], v[j], sum[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
      if (row + ty + 16 * i < filters && column + tx + 16 * j < out_plane)
        out[(static_cast<long long>(product) * filters + row + ty + 16 * i) * out_plane + column + tx + 16 * j] = from_float<T>(sum[i][j]);
}

}  // namespace

#define CONVOLUTION(T) \
  extern "C" __global__ void __launch_bounds__(256) convolution_##T(const T* x, const T* weight, T* out, const ConvSizes s, int first) { convolve(x, weight, out, s, first); }
CONVOLUTION(f32)
CONVOLUTION(f16)
CONVOLUTION(bf16)
