// Convolutions of some thousands to millions of products, too many for a few lanes each and too few for tiles with a pipeline (convolution/gather.h says when): a block
// gathers what its positions meet of the sum, and the weights of its filters, into shared memory, GATHER_TERMS terms at a time, all loads on their way together.
// A lane has P positions of eight filters. `across` warps have filters of their own, the others share the terms; their sums are added up in order. In f32.
//   convolution_gather_<t>_<P>
// How to build and run: scripts/gpu/kernels.sh.
#include "common/vec.cuh"
#include "convolution.h"

namespace {

constexpr int TERMS = conv_gather_terms, WARPS = conv_gather_warps, F = conv_gather_filters, THREADS = WARPS * 32, PITCH = WARPS * F + 4;

// Where an element of the sum lies from the first of its window, and by how many steps of each axis.
struct Offset {
  int at, d, h, w;
};

__device__ __forceinline__ Offset offset_of(const ConvSizes& s, const ConvEach& e, int t) {
  if (t >= e.terms) return {0, -(1 << 30), 0, 0};  // outside of every input
  const int channel = e.taps.quotient(t), tap = t - channel * e.kernel, row = e.kernel_width.quotient(tap), kd = e.kernel_height.quotient(row);
  const int d = kd * s.dilation, h = (row - kd * s.height.kernel) * s.dilation, w = (tap - row * s.width.kernel) * s.dilation;
  return {channel * e.in_plane + (d * s.height.input + h) * s.width.input + w, d, h, w};
}

// grid: groups * blocks of filters * blocks of positions, those of filters first.
template <int P, class T>
__device__ __forceinline__ void gather(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ out, const ConvSizes& s, const ConvEach& e, int columns, int across, int filter_blocks, int column_blocks) {
  constexpr int LOADS = TERMS / WARPS, COLUMNS = 32 * P;
  __shared__ __align__(16) float values[TERMS][COLUMNS], weights[TERMS][PITCH];
  __shared__ Offset offsets[TERMS];
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, filters = s.filters / s.groups, together = across * F;
  const int cell = blockIdx.x / filter_blocks, f0 = (blockIdx.x - cell * filter_blocks) * together, group = cell / column_blocks, column0 = (cell - group * column_blocks) * COLUMNS;
  const T* source[P];
  int d0[P], h0[P], w0[P], to[P];
#pragma unroll
  for (int p = 0; p < P; p++) {
    // Past the end: the last position again, which is not written.
    const int column = min(column0 + p * 32 + lane, columns - 1), image = e.plane.quotient(column), place = column - image * e.out_plane;
    const int od = e.area.quotient(place), line = e.width.quotient(place), oh = line - od * s.height.output, ow = place - line * s.width.output;
    d0[p] = od * s.stride - s.depth.padding, h0[p] = oh * s.stride - s.height.padding, w0[p] = ow * s.stride - s.width.padding;
    source[p] = x + (image * s.channels + group * e.channels) * e.in_plane + (d0[p] * s.height.input + h0[p]) * s.width.input + w0[p];
    to[p] = (image * s.filters + group * filters + f0) * e.out_plane + place;
  }
  // Of what a warp loads at a time: whole sectors are read, and different banks written.
  const int of_four = lane % 4, of_eight = lane / 4;
  const T* const filter = weight + static_cast<long long>(group * filters + f0) * e.terms;
  T next_values[LOADS][P], next_weights[LOADS];
  // Rounds of both that are needed, the same for all lanes of a warp.
  const int fours = min(2 * across, (filters - f0 + 3) / 4);
  const auto needed = [&](int left, int j) { return warp + j * WARPS < left; };
  const auto needed_weights = [&](int left, int j) { return j % (2 * WARPS) < fours && (warp + j / (2 * WARPS) * WARPS) * 8 < left; };
  const auto load = [&](int first) {
    const int left = e.terms - first;
    const auto load_value = [&](int j) {
      const Offset o = offsets[warp + j * WARPS];
#pragma unroll
      for (int p = 0; p < P; p++) {
        const bool inside = static_cast<unsigned>(d0[p] + o.d) < static_cast<unsigned>(s.depth.input) && static_cast<unsigned>(h0[p] + o.h) < static_cast<unsigned>(s.height.input) &&
                            static_cast<unsigned>(w0[p] + o.w) < static_cast<unsigned>(s.width.input);
        next_values[j][p] = inside ? source[p][o.at] : from_float<T>(0.0f);
      }
    };
    if (left >= TERMS) {  // without branches between the loads
#pragma unroll
      for (int j = 0; j < LOADS; j++) load_value(j);
    } else {
#pragma unroll
      for (int j = 0; j < LOADS; j++) {
        if (!needed(left, j)) break;
        load_value(j);
      }
    }
    // Eight terms of four filters at a time: of the warp are some eights of terms, with all fours of filters.
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
      if (!needed_weights(left, j)) continue;
      const int f = j % (2 * WARPS) * 4 + of_four, t = first + (warp + j / (2 * WARPS) * WARPS) * 8 + of_eight;
      next_weights[j] = f < together && f0 + f < filters && t < e.terms ? filter[f * e.terms + t] : from_float<T>(0.0f);
    }
  };
  if (thread < TERMS) offsets[thread] = offset_of(s, e, thread);
  __syncthreads();
  load(0);
  float sum[F][P] = {};
  const int f_of_warp = warp % across * F, parts = WARPS / across, part = warp / across;
  for (int first = 0; first < e.terms; first += TERMS) {
    __syncthreads();
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
      if (needed(e.terms - first, j)) {
#pragma unroll
        for (int p = 0; p < P; p++) values[warp + j * WARPS][p * 32 + lane] = to_float(next_values[j][p]);
      }
      if (needed_weights(e.terms - first, j)) weights[(warp + j / (2 * WARPS) * WARPS) * 8 + of_eight][j % (2 * WARPS) * 4 + of_four] = to_float(next_weights[j]);
    }
    if (thread < TERMS) offsets[thread] = offset_of(s, e, first + TERMS + thread);
    __syncthreads();
    if (first + TERMS < e.terms) load(first + TERMS);
    const int end = min(TERMS, e.terms - first);
#pragma unroll 4
    for (int t = part; t < end; t += parts) {
      const float4 low = *reinterpret_cast<const float4*>(&weights[t][f_of_warp]), high = *reinterpret_cast<const float4*>(&weights[t][f_of_warp + 4]);
      const float w[F] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
      for (int p = 0; p < P; p++) {
        const float v = values[t][p * 32 + lane];
#pragma unroll
        for (int f = 0; f < F; f++) sum[f][p] = fmaf(w[f], v, sum[f][p]);
      }
    }
  }
  // Where warps share the terms: added up in order, by the first of them.
  if (parts > 1) {
    float* const sums = &values[0][0];  // [warps][F][P][32]
    static_assert(WARPS * F <= TERMS);
    __syncthreads();
#pragma unroll
    for (int f = 0; f < F; f++)
#pragma unroll
      for (int p = 0; p < P; p++) sums[((warp * F + f) * P + p) * 32 + lane] = sum[f][p];
    __syncthreads();
    if (part > 0) return;
    for (int k = 1; k < parts; k++)
#pragma unroll
      for (int f = 0; f < F; f++)
#pragma unroll
        for (int p = 0; p < P; p++) sum[f][p] += sums[(((warp + k * across) * F + f) * P + p) * 32 + lane];
  }
#pragma unroll
  for (int p = 0; p < P; p++) {
    if (column0 + p * 32 + lane >= columns) break;
#pragma unroll
    for (int f = 0; f < F; f++)
      if (f0 + f_of_warp + f < filters) out[to[p] + (f_of_warp + f) * e.out_plane] = from_float<T>(sum[f][p]);
  }
}

}  // namespace

#define GATHER(T, P)                                                                                                                                                       \
  extern "C" __global__ void __launch_bounds__(THREADS) convolution_gather_##T##_##P(const T* x, const T* weight, T* out, const ConvSizes s, const ConvEach e, int columns, \
                                                                                     int across, int filter_blocks, int column_blocks) {                                  \
    gather<P>(x, weight, out, s, e, columns, across, filter_blocks, column_blocks);                                                                                        \
  }
#define GATHERS(T) GATHER(T, 1) GATHER(T, 2)
GATHERS(f32)
GATHERS(f16)
GATHERS(bf16)
