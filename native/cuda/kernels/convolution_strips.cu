// Convolutions of few filters of a group in f32, images and volumes with stride 1: a thread has a strip of four outputs below each other, of F filters. Neighbouring threads read neighbouring elements, and an
// element that is read serves all outputs of the strip that meet it, in registers. Weights of the F filters lie in shared memory. All loads of a channel are on their way together. Where strips are few, warps share the channels,
// and their sums are added up in order. With a dilation, outputs of a
// strip are as far apart as the elements of the kernel. convolution/strips.h says when.
//   convolution_strips_<side of the kernel>_<F>
//   convolution_strips_<side of the kernel>_<F>_shared    warps share the channels
// How to build and run: scripts/gpu/kernels.sh.
#include "convolution.h"
#include "convolution/strips_task.h"

namespace {

using opscope::cuda::ConvStrips;

constexpr int OUTPUTS = opscope::cuda::conv_strip_outputs;

// grid: groups * blocks of F filters * chunks of strips. Shared memory: [terms][F], then sums of all but the first of the warps that share channels.
template <int KERNEL, int F, bool SHARED>
__device__ __forceinline__ void strips(const float* __restrict__ x, const float* __restrict__ weight, float* __restrict__ out, const ConvSizes& s, const ConvStrips& c) {
  constexpr int ROWS = KERNEL + OUTPUTS - 1;
  extern __shared__ __align__(16) float weights[];
  const int in_group = s.channels / s.groups, layers = in_group * s.depth.kernel, terms = layers * KERNEL * KERNEL;
  const int cell = divided(static_cast<int>(blockIdx.x), c.by_chunks), group = divided(cell, c.by_blocks), f0 = (cell - group * c.blocks) * F;
  // Past the last filter: that one again, whose sum is not written.
  for (int i = threadIdx.x; i < terms * F; i += static_cast<int>(blockDim.x)) weights[i] = weight[(static_cast<long long>(group) * c.filters + min(f0 + i % F, c.filters - 1)) * terms + i / F];
  const int sharing = SHARED ? c.sharing : 1, warp = static_cast<int>(threadIdx.x) / 32, set = warp / sharing, part = warp - set * sharing, place = set * 32 + static_cast<int>(threadIdx.x) % 32, of_block = static_cast<int>(blockDim.x) / sharing;
  const int strip = (static_cast<int>(blockIdx.x) - cell * c.chunks) * of_block + place, inside = min(strip, c.strips - 1);
  const int line = divided(inside, c.by_width), w = inside - line * s.width.output, slab = divided(line, c.by_down), at = line - slab * c.down, image = divided(slab, c.by_depth), d = slab - image * s.depth.output;
  const int run = divided(at, c.by_dilation), h = run * (OUTPUTS * s.dilation) + (at - run * s.dilation);
  const int d0 = d - s.depth.padding, h0 = h - s.height.padding, w0 = w - s.width.padding;
  const long long area = static_cast<long long>(s.height.input) * s.width.input;
  unsigned rows = 0, columns = 0;  // that lie in the input
#pragma unroll
  for (int r = 0; r < ROWS; r++) rows |= static_cast<unsigned>(static_cast<unsigned>(h0 + r * s.dilation) < static_cast<unsigned>(s.height.input)) << r;
#pragma unroll
  for (int k = 0; k < KERNEL; k++) columns |= static_cast<unsigned>(static_cast<unsigned>(w0 + k * s.dilation) < static_cast<unsigned>(s.width.input)) << k;
  const float* from = x + ((static_cast<long long>(image) * s.channels + static_cast<long long>(group) * in_group) * s.depth.input + d0) * area + static_cast<long long>(h0) * s.width.input + w0;
  const int down = s.width.input * s.dilation;
  __syncthreads();
  float sum[F][OUTPUTS] = {};
  for (int layer = part; layer < layers; layer += sharing) {
    const int channel = s.depth.kernel > 1 ? layer / s.depth.kernel : layer, below = (layer - channel * s.depth.kernel) * s.dilation;
    if (static_cast<unsigned>(d0 + below) >= static_cast<unsigned>(s.depth.input)) continue;
    const float* const own = weights + layer * (KERNEL * KERNEL * F);
    const float* const first = from + (static_cast<long long>(channel) * s.depth.input + below) * area;
    float v[KERNEL][ROWS];
#pragma unroll
    for (int k = 0; k < KERNEL; k++) {
      const unsigned met = columns >> k & 1 ? rows : 0;
      const float* at_row = first + k * s.dilation;
#pragma unroll
      for (int r = 0; r < ROWS; r++, at_row += down) v[k][r] = met >> r & 1 ? __ldg(at_row) : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < KERNEL; k++)
#pragma unroll
      for (int kh = 0; kh < KERNEL; kh++) {
        float u[F];
#pragma unroll
        for (int f = 0; f < F; f++) u[f] = own[(kh * KERNEL + k) * F + f];
#pragma unroll
        for (int f = 0; f < F; f++)
#pragma unroll
          for (int i = 0; i < OUTPUTS; i++) sum[f][i] = fmaf(u[f], v[k][kh + i], sum[f][i]);
      }
  }
  if constexpr (SHARED) {
    float* const sums = weights + place;
    __syncthreads();  // no weights are read any more
#pragma unroll
    for (int i = 0; i < F * OUTPUTS; i++)
      if (part > 0) sums[((part - 1) * (F * OUTPUTS) + i) * of_block] = sum[i / OUTPUTS][i % OUTPUTS];
    __syncthreads();
    if (part > 0) return;
    for (int other = 1; other < sharing; other++)
#pragma unroll
      for (int i = 0; i < F * OUTPUTS; i++) sum[i / OUTPUTS][i % OUTPUTS] += sums[((other - 1) * (F * OUTPUTS) + i) * of_block];
  }
  if (strip >= c.strips) return;
  float* const to = out + ((static_cast<long long>(image) * s.filters + static_cast<long long>(group) * c.filters + f0) * s.depth.output + d) * s.height.output * s.width.output + w;
  const long long plane = static_cast<long long>(s.depth.output) * s.height.output * s.width.output;
#pragma unroll
  for (int f = 0; f < F; f++) {
    if (f0 + f >= c.filters) break;
#pragma unroll
    for (int i = 0; i < OUTPUTS; i++)
      if (const int y = h + i * s.dilation; y < s.height.output) to[f * plane + static_cast<long long>(y) * s.width.output] = sum[f][i];
  }
}

}  // namespace

#define STRIPS_AS(NAME, KERNEL, F, SHARED, THREADS, BLOCKS)                                                                                                                                              \
  extern "C" __global__ void __launch_bounds__(opscope::cuda::THREADS, BLOCKS) NAME(const float* x, const float* weight, float* out, const ConvSizes s, const ConvStrips c) {                             \
    strips<KERNEL, F, SHARED>(x, weight, out, s, c);                                                                                                                                                     \
  }
#define STRIPS(KERNEL, F, BLOCKS)                                                                     \
  STRIPS_AS(convolution_strips_##KERNEL##_##F, KERNEL, F, false, conv_strip_threads, BLOCKS)          \
  STRIPS_AS(convolution_strips_##KERNEL##_##F##_shared, KERNEL, F, true, conv_strip_most_threads, 1)
#define FILTERS(KERNEL, BLOCKS) STRIPS(KERNEL, 1, BLOCKS) STRIPS(KERNEL, 2, BLOCKS) STRIPS(KERNEL, 4, BLOCKS) STRIPS(KERNEL, 8, BLOCKS)
FILTERS(2, 6)
FILTERS(3, 5)
FILTERS(5, 4)
FILTERS(7, 3)
