// Convolutions in f32 by Winograd's minimal filtering (Lavin & Gray, "Fast algorithms for convolutional neural networks", 2016): tiles of the input and filters are transformed to 6 points along
// each axis, [point][terms][tiles] and [point][terms][filters] are multiplied point by point (matmul.plan.cc), and the sums of a tile are transformed to its outputs. The points are 0, 1, -1, 1/2, -2 and
// infinity, which round less than 0, 1, -1, 2, -2 (Barabasz et al., "Error analysis and improving the accuracy of Winograd convolution", 2020). Kernels of more than four elements along an axis, and those
// with a stride, are sums of such convolutions (first_of_part). convolution/winograd.h says when.
//   convolution_winograd_input_<axes>_<kernel>    axes that are transformed: width, or height and width. The first blocks transform filters, the others tiles
//   convolution_winograd_output_<axes>_<kernel>   <kernel>: elements of a part of the kernel along an axis
// How to build and run: scripts/gpu/kernels.sh.
#include <cstdint>

#include "common/early.cuh"
#include "convolution.h"
#include "convolution/winograd_task.h"

namespace {

using opscope::cuda::ConvWinograd;

constexpr int POINTS = opscope::cuda::winograd_points;

__device__ __forceinline__ void transform_input(const float (&d)[POINTS], float (&v)[POINTS]) {
  v[0] = fmaf(1.5f, d[3] - d[1], fmaf(-2.0f, d[2], d[0] + d[4]));
  v[1] = fmaf(2.5f, d[3], fmaf(0.5f, d[2], d[4] - d[1]));
  v[2] = fmaf(0.5f, d[3], fmaf(-2.5f, d[2], d[1] + d[4]));
  v[3] = fmaf(2.0f, d[3] - d[1], d[4] - d[2]);
  v[4] = fmaf(0.5f, d[1] - d[3], d[4] - d[2]);
  v[5] = fmaf(1.5f, d[4] - d[2], fmaf(-2.0f, d[3], d[1] + d[5]));
}

template <int KERNEL>
__device__ __forceinline__ void transform_filter(const float (&g)[KERNEL], float (&u)[POINTS]) {
  float even = 0, odd = 0, half = 0, two = 0, power = 1;
#pragma unroll
  for (int i = 0; i < KERNEL; i++, power *= -2.0f) {
    (i % 2 ? odd : even) += g[i];
    half = fmaf(1.0f / static_cast<float>(1 << i), g[i], half), two = fmaf(power, g[i], two);
  }
  u[0] = g[0], u[1] = (even + odd) * (1.0f / 3), u[2] = (odd - even) * (1.0f / 3), u[3] = half * (-16.0f / 15), u[4] = two * (1.0f / 15), u[5] = g[KERNEL - 1];
}

template <int OUTPUTS>
__device__ __forceinline__ void transform_output(const float (&m)[POINTS], float (&y)[OUTPUTS]) {
  const float sum = m[1] + m[2], difference = m[1] - m[2];
  float power = 1;
#pragma unroll
  for (int i = 0; i < OUTPUTS; i++, power *= -2.0f) {
    float of = i % 2 ? difference : sum;
    if (i == 0) of += m[0];
    if (i == OUTPUTS - 1) of += m[5];
    y[i] = fmaf(power, m[4], fmaf(1.0f / static_cast<float>(1 << i), m[3], of));
  }
}

// Where a tile begins. With a dilation, tiles of one phase after the other's: neighbours of a tile are as far apart as the elements of the kernel.
struct Tile {
  int image, depth, height, width;
};

template <int AXES>
__device__ __forceinline__ Tile tile_at(const ConvWinograd& c, const ConvSizes& s, int tile, int across, int down) {
  const int row = divided(tile, c.by_across), slab = divided(row, c.by_down), image = divided(slab, c.by_depth);
  const auto begin = [&](int at) {
    const int run = divided(at, c.by_dilation);
    return run * c.step * s.dilation + (at - run * s.dilation);
  };
  return {image, slab - image * s.depth.output, AXES == 2 ? begin(row - slab * down) : row - slab * down, begin(tile - row * across)};
}

// The first element of the kernel of a part along an axis: runs of KERNEL elements of each phase of the stride.
template <int KERNEL>
__device__ __forceinline__ int first_of_part(int part, int stride) {
  const int run = part / stride;
  return run * (KERNEL * stride) + part - run * stride;
}

template <int AXES, int KERNEL>
__device__ __forceinline__ void transform_tiles(const float* __restrict__ x, float* __restrict__ out, const ConvSizes& s, const ConvWinograd& c, int across, int down, int block) {
  const int i = block * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x);
  if (i >= c.inputs) return;
  const int row = divided(i, c.by_pitch), column = i - row * c.pitch;
  if (column >= c.tiles) return;
  const int layer = divided(row, c.by_parts), part = row - layer * c.parts, channel = divided(layer, c.by_taps), tap = layer - channel * s.depth.kernel;  // of all groups
  const int part_h = AXES == 2 ? part / c.parts_across : 0, part_w = part - part_h * c.parts_across, step = s.stride * s.dilation;
  const Tile tile = tile_at<AXES>(c, s, c.first + column, across, down);
  const int d = tile.depth * s.stride + tap * s.dilation - s.depth.padding, h = tile.height * s.stride + first_of_part<KERNEL>(part_h, s.stride) * s.dilation - s.height.padding,
            w = tile.width * s.stride + first_of_part<KERNEL>(part_w, s.stride) * s.dilation - s.width.padding;
  const bool inside = static_cast<unsigned>(d) < static_cast<unsigned>(s.depth.input);
  const float* const from = x + ((static_cast<long long>(tile.image) * s.channels + channel) * s.depth.input + d) * s.height.input * s.width.input;
  constexpr int ROWS = AXES == 2 ? POINTS : 1;
  float rows[ROWS][POINTS];
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    const int y = h + r * step;
    const bool met = inside && static_cast<unsigned>(y) < static_cast<unsigned>(s.height.input);
    float values[POINTS];
#pragma unroll
    for (int e = 0; e < POINTS; e++) {
      const int at = w + e * step;
      values[e] = met && static_cast<unsigned>(at) < static_cast<unsigned>(s.width.input) ? __ldg(from + y * s.width.input + at) : 0.0f;
    }
    transform_input(values, rows[r]);
  }
  float* const to = out + i;
  if constexpr (AXES == 1) {
#pragma unroll
    for (int e = 0; e < POINTS; e++) to[static_cast<long long>(e) * c.inputs] = rows[0][e];
  } else {
#pragma unroll
    for (int e = 0; e < POINTS; e++) {
      float values[POINTS], points[POINTS];
#pragma unroll
      for (int r = 0; r < POINTS; r++) values[r] = rows[r][e];
      transform_input(values, points);
#pragma unroll
      for (int r = 0; r < POINTS; r++) to[static_cast<long long>(r * POINTS + e) * c.inputs] = points[r];
    }
  }
}

// A warp has eight filters of four terms, so that it reads and writes runs of memory.
template <int AXES, int KERNEL>
__device__ __forceinline__ void transform_filters(const float* __restrict__ weight, float* __restrict__ out, const ConvSizes& s, const ConvWinograd& c, int rows) {
  const int lane = threadIdx.x % 32, group = static_cast<int>(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32), across = (c.filters + 7) / 8;
  const int filter = group % across * 8 + lane % 8, row = group / across * 4 + lane / 8;
  if (filter >= c.filters || row >= rows) return;
  const int of = divided(row, c.by_terms);  // group of the convolution
  constexpr int ROWS = AXES == 2 ? KERNEL : 1;
  const int term = row - of * c.terms, layer = divided(term, c.by_parts), part = term - layer * c.parts, part_h = AXES == 2 ? part / c.parts_across : 0, part_w = part - part_h * c.parts_across;
  const int first_h = first_of_part<KERNEL>(part_h, s.stride), first_w = first_of_part<KERNEL>(part_w, s.stride);
  const float* const from = weight + ((static_cast<long long>(of) * c.filters + filter) * divided(c.terms, c.by_parts) + layer) * (s.height.kernel * s.width.kernel);
  float across_points[ROWS][POINTS];
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    float values[KERNEL];
#pragma unroll
    for (int e = 0; e < KERNEL; e++) {
      const int y = r * s.stride + first_h, x = e * s.stride + first_w;
      values[e] = y < s.height.kernel && x < s.width.kernel ? from[y * s.width.kernel + x] : 0.0f;
    }
    transform_filter<KERNEL>(values, across_points[r]);
  }
  const long long point = static_cast<long long>(rows) * c.filters_pitch;
  float* const to = out + static_cast<long long>(row) * c.filters_pitch + filter;
  if constexpr (AXES == 1) {
#pragma unroll
    for (int e = 0; e < POINTS; e++) to[e * point] = across_points[0][e];
  } else {
#pragma unroll
    for (int e = 0; e < POINTS; e++) {
      float values[KERNEL], points[POINTS];
#pragma unroll
      for (int r = 0; r < KERNEL; r++) values[r] = across_points[r][e];
      transform_filter<KERNEL>(values, points);
#pragma unroll
      for (int r = 0; r < POINTS; r++) to[(r * POINTS + e) * point] = points[r];
    }
  }
}

// The outputs of a warp's tiles, a row of each at a time, so that neighbouring lanes store neighbours. `to`, `down` and `across`: where the tile of a lane begins, and the outputs from there to the last.
template <int ROWS, int OUTPUTS>
__device__ __forceinline__ void store_lines(float* to, const float (&y)[ROWS][OUTPUTS], int down, int across, int width) {
  constexpr int PITCH = OUTPUTS | 1, WARPS = opscope::cuda::winograd_threads / 32;
  __shared__ float lines[WARPS][32 * PITCH];
  const int lane = threadIdx.x % 32;
  float* const own = lines[threadIdx.x / 32];
  float* begin[OUTPUTS];
  int rows[OUTPUTS];  // of the tile that has the element, 0 where it has none there
#pragma unroll
  for (int e = 0; e < OUTPUTS; e++) {
    const int tile = (e * 32 + lane) / OUTPUTS, column = (e * 32 + lane) % OUTPUTS;
    begin[e] = reinterpret_cast<float*>(__shfl_sync(0xffffffffu, reinterpret_cast<unsigned long long>(to), tile)) + column;
    const int below = __shfl_sync(0xffffffffu, down, tile), beside = __shfl_sync(0xffffffffu, across, tile);
    rows[e] = column < beside ? below : 0;
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
#pragma unroll
    for (int e = 0; e < OUTPUTS; e++) own[lane * PITCH + e] = y[r][e];
    __syncwarp();
#pragma unroll
    for (int e = 0; e < OUTPUTS; e++)
      if (r < rows[e]) begin[e][static_cast<long long>(r) * width] = own[(e * 32 + lane) / OUTPUTS * PITCH + (e * 32 + lane) % OUTPUTS];
    __syncwarp();
  }
}

template <int AXES, int KERNEL>
__device__ __forceinline__ void transform_sums(const float* __restrict__ sums, float* __restrict__ out, const ConvSizes& s, const ConvWinograd& c, int across, int down) {
  constexpr int OUTPUTS = POINTS - KERNEL + 1, ROWS = AXES == 2 ? OUTPUTS : 1;
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), at_row = divided(i, c.by_pitch), at_column = i - at_row * c.pitch;
  const bool exists = at_row < s.filters && at_column < c.tiles;
  const int row = exists ? at_row : 0, column = exists ? at_column : 0, group = divided(row, c.by_filters);  // filter of all groups
  const Tile tile = tile_at<AXES>(c, s, c.first + column, across, down);
  const float* const from = sums + (static_cast<long long>(row) + static_cast<long long>(group) * (c.filters_pitch - c.filters)) * c.pitch + column;
  wait_for_last();
  float y[ROWS][OUTPUTS];
  if constexpr (AXES == 1) {
    float values[POINTS];
#pragma unroll
    for (int e = 0; e < POINTS; e++) values[e] = from[static_cast<long long>(e) * c.outputs];
    transform_output<OUTPUTS>(values, y[0]);
  } else {
    float columns[POINTS][OUTPUTS];
#pragma unroll
    for (int e = 0; e < POINTS; e++) {
      float values[POINTS];
#pragma unroll
      for (int r = 0; r < POINTS; r++) values[r] = from[static_cast<long long>(r * POINTS + e) * c.outputs];
      transform_output<OUTPUTS>(values, columns[e]);
    }
#pragma unroll
    for (int r = 0; r < OUTPUTS; r++) {
      float values[POINTS];
#pragma unroll
      for (int e = 0; e < POINTS; e++) values[e] = columns[e][r];
      transform_output<OUTPUTS>(values, y[r]);
    }
  }
  float* const to = out + ((static_cast<long long>(tile.image) * s.filters + row) * s.depth.output + tile.depth) * s.height.output * s.width.output;
  const bool wide = OUTPUTS == 4 && s.width.output % 4 == 0 && reinterpret_cast<uintptr_t>(out) % 16 == 0;
  if (s.dilation == 1 && !wide) return store_lines<ROWS, OUTPUTS>(to + static_cast<long long>(tile.height) * s.width.output + tile.width, y, exists ? s.height.output - tile.height : 0, s.width.output - tile.width, s.width.output);
  if (!exists) return;
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    const int h = tile.height + r * s.dilation;
    if (h >= s.height.output) break;
    float* const line = to + static_cast<long long>(h) * s.width.output;
    if (OUTPUTS == 4 && s.dilation == 1) {
      *reinterpret_cast<float4*>(line + tile.width) = make_float4(y[r][0], y[r][1], y[r][2 % OUTPUTS], y[r][3 % OUTPUTS]);
      continue;
    }
#pragma unroll
    for (int e = 0; e < OUTPUTS; e++)
      if (const int w = tile.width + e * s.dilation; w < s.width.output) line[w] = y[r][e];
  }
}

}  // namespace

#define KERNELS(AXES, KERNEL)                                                                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(256)                                                                                                                                                      \
      convolution_winograd_input_##AXES##_##KERNEL(const float* x, const float* weight, float* tiles, float* filters, const ConvSizes s, const ConvWinograd c, int across, int down, int rows, int filter_blocks) { \
    const int block = static_cast<int>(blockIdx.x) - filter_blocks;                                                                                                                                      \
    if (block < 0) transform_filters<AXES, KERNEL>(weight, filters, s, c, rows);                                                                                                                            \
    else transform_tiles<AXES, KERNEL>(x, tiles, s, c, across, down, block);                                                                                                                                     \
  }                                                                                                                                                                                                      \
  extern "C" __global__ void __launch_bounds__(256) convolution_winograd_output_##AXES##_##KERNEL(const float* sums, float* out, const ConvSizes s, const ConvWinograd c, int across, int down) {         \
    transform_sums<AXES, KERNEL>(sums, out, s, c, across, down);                                                                                                                                         \
  }
KERNELS(1, 2)
KERNELS(1, 3)
KERNELS(1, 4)
KERNELS(2, 2)
KERNELS(2, 3)
KERNELS(2, 4)
