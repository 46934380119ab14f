// Kernels of one element with few filters of many channels (convolution/thin.h says when), where the input is nearly all that is moved: a block has 64 positions of all images and all
// filters of a group, its warps share the channels, eight at a time of which are on their way, and their sums are added up in order; blocks of a cluster share them further. In f32.
//   convolution_thin_<t>_<F>   up to F filters
#include "common/cluster.cuh"
#include "common/vec.cuh"
#include "convolution/thin_sizes.h"

namespace {

constexpr int WARPS = conv_thin_warps, CHANNELS = conv_thin_channels, COLUMNS = conv_thin_columns, P = COLUMNS / 32;

// grid: blocks of positions * shares, groups. A cluster: the shares of a block of positions.
template <int F, class T>
__device__ __forceinline__ void thin(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ out, int columns, int plane, int channels, int filters, int shares) {
  constexpr int PADDED = (F + 3) / 4 * 4, LOADS = (CHANNELS * F + 31) / 32, TOGETHER = F < 8 ? F : 8;
  __shared__ __align__(16) float weights[WARPS][CHANNELS][PADDED];
  __shared__ float sums[WARPS][TOGETHER * COLUMNS], total[F * COLUMNS];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, rank = static_cast<int>(blockIdx.x) % shares, group = blockIdx.y;
  const int column0 = static_cast<int>(blockIdx.x) / shares * COLUMNS;
  // The image of a position, and the position in it.
  const auto image_of = [&](int column) { return static_cast<int>(static_cast<unsigned>(column) / static_cast<unsigned>(plane)); };
  const T* source[P];
#pragma unroll
  for (int p = 0; p < P; p++) {
    // Past the end: the last position again, which is not written.
    const int column = min(column0 + p * 32 + lane, columns - 1), image = image_of(column);
    source[p] = x + (static_cast<long long>(image) * gridDim.y + group) * channels * plane + (column - image * plane);
  }
  const T* const filter = weight + static_cast<long long>(group) * filters * channels;
  T next[CHANNELS][P], next_weight[LOADS];
  const auto load = [&](int first) {
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
#pragma unroll
      for (int p = 0; p < P; p++) next[c][p] = first + c < channels ? source[p][static_cast<long long>(first + c) * plane] : from_float<T>(0.0f);
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
      const int i = j * 32 + lane, f = i / CHANNELS, c = first + i % CHANNELS;
      next_weight[j] = f < filters && c < channels ? filter[static_cast<long long>(f) * channels + c] : from_float<T>(0.0f);
    }
  };
  float sum[F][P] = {};
  const int step = shares * WARPS * CHANNELS;
  int first = (rank * WARPS + warp) * CHANNELS;
  if (first < channels) load(first);
  for (; first < channels; first += step) {
    float v[CHANNELS][P];
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
#pragma unroll
      for (int p = 0; p < P; p++) v[c][p] = to_float(next[c][p]);
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
      const int i = j * 32 + lane;
      if (CHANNELS * F % 32 == 0 || i < CHANNELS * F) weights[warp][i % CHANNELS][i / CHANNELS] = to_float(next_weight[j]);
    }
    __syncwarp();
    if (first + step < channels) load(first + step);
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
#pragma unroll
      for (int f = 0; f < F; f += 4) {
        const float4 some = *reinterpret_cast<const float4*>(&weights[warp][c][f]);
        const float w[4] = {some.x, some.y, some.z, some.w};
#pragma unroll
        for (int k = 0; k < 4 && f + k < F; k++)
#pragma unroll
          for (int p = 0; p < P; p++) sum[f + k][p] = fmaf(v[c][p], w[k], sum[f + k][p]);
      }
    __syncwarp();
  }
  // The warps' sums, some filters at a time.
#pragma unroll
  for (int f0 = 0; f0 < F; f0 += TOGETHER) {
    if (f0 > 0) __syncthreads();
#pragma unroll
    for (int f = 0; f < TOGETHER; f++)
#pragma unroll
      for (int p = 0; p < P; p++) sums[warp][f * COLUMNS + p * 32 + lane] = sum[f0 + f][p];
    __syncthreads();
    for (int i = threadIdx.x; i < TOGETHER * COLUMNS; i += WARPS * 32) {
      float s = 0;
#pragma unroll
      for (int w = 0; w < WARPS; w++) s += sums[w][i];
      total[f0 * COLUMNS + i] = s;
    }
  }
  if (shares > 1) {
    cluster_arrive();
    cluster_wait();
  } else {
    __syncthreads();
  }
  // Of the outputs, those of this share.
  for (int i = rank * WARPS * 32 + static_cast<int>(threadIdx.x); i < filters * COLUMNS; i += shares * WARPS * 32) {
    float s = shares > 1 ? 0.0f : total[i];
    for (int q = 0; shares > 1 && q < shares; q++) s += of_block(total[i], q);
    const int f = i / COLUMNS, column = column0 + i % COLUMNS, image = image_of(column);
    if (column < columns) out[((static_cast<long long>(image) * gridDim.y + group) * filters + f) * plane + (column - image * plane)] = from_float<T>(s);
  }
  if (shares > 1) {
    cluster_arrive();
    cluster_wait();
  }
}

}  // namespace

#define THIN(T, F, BLOCKS)                                                                                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(WARPS * 32, BLOCKS) convolution_thin_##T##_##F(const T* x, const T* weight, T* out, int columns, int plane, int channels, int filters, int shares) { \
    thin<F>(x, weight, out, columns, plane, channels, filters, shares);                                                                                                                                        \
  }
#define ALL(T) THIN(T, 2, 4) THIN(T, 4, 4) THIN(T, 8, 3) THIN(T, 16, 2) THIN(T, 24, 2)
ALL(f32)
ALL(f16)
ALL(bf16)
