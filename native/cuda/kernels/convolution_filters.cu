// Convolutions in f32 with few terms of a sum and up to 64 filters of a group (convolution/filters.h says when): a block has 256 positions of all images and all filters of a group, its warps
// eight filters each, so that what is read of the input comes from memory once. A thread has eight positions of eight filters. Sums in the order of the terms.
//   convolution_filters_wide     kernels of one element, planes of whole vectors: four neighbouring positions at a time
//   convolution_filters_point    kernels of one element
//   convolution_filters_window   any kernel of up to 31 elements
#include "common/vec.cuh"
#include "convolution/windows.cuh"

namespace {

constexpr int P = 8, F = conv_filters_of_warp, POSITIONS = conv_filters_positions;

enum Kind { WIDE, POINT, WINDOW };

// grid: tiles of positions, groups. Shared memory: weights [terms][filters of the block], places of the terms where windows are read.
template <Kind KIND>
__device__ __forceinline__ void convolve(const float* __restrict__ x, const float* __restrict__ weight, float* __restrict__ out, const ConvSizes& s, const ConvNarrow& c) {
  constexpr int V = KIND == WIDE ? 4 : 1, CHUNKS = P / V, U = 4;
  extern __shared__ __align__(16) float weights[];
  const int lane = threadIdx.x % 32, f0 = threadIdx.x / 32 * F, group = blockIdx.y, width = blockDim.x / 32 * F, terms = (c.terms + U - 1) / U * U;
  Place* const places = reinterpret_cast<Place*>(weights + terms * width);
  const float* const filter = weight + static_cast<long long>(group) * c.filters * c.terms;
  for (int i = threadIdx.x; i < terms * width; i += blockDim.x) {
    const int t = i / width, f = i - t * width;
    weights[i] = t < c.terms && f < c.filters ? filter[f * c.terms + t] : 0.0f;
  }
  if (KIND == WINDOW) write_places(places, s, c, 0, terms);
  int from[CHUNKS];
  unsigned mask[KIND == WINDOW ? P : 1];
  const int column0 = static_cast<int>(blockIdx.x) * POSITIONS;
#pragma unroll
  for (int t = 0; t < CHUNKS; t++) {
    // Past the end: the last position again, which is not written.
    const int at = min(column0 + (t * 32 + lane) * V, c.columns - V), image = c.by_plane.quotient(at), place = at - image * c.plane, plane = (image * s.channels + group * c.channels) * c.in_plane;
    if constexpr (KIND == WINDOW) {
      const Window window = window_at(s, c, place);
      mask[t] = window.mask;
      from[t] = plane + window.offset;
    } else {
      from[t] = plane + place;
    }
  }
  float next[U][P];
  const auto load = [&](int u, int t) {
    if constexpr (KIND == WINDOW) {
      const Place place = places[t];
#pragma unroll
      for (int p = 0; p < P; p++) next[u][p] = mask[p] & place.bit ? x[from[p] + place.offset] : 0.0f;
    } else {
      const float* const channel = x + static_cast<long long>(t) * c.in_plane;
      const bool there = t < c.terms;
#pragma unroll
      for (int p = 0; p < CHUNKS; p++) {
        if constexpr (V == 4) {
          const float4 some = there ? *reinterpret_cast<const float4*>(channel + from[p]) : make_float4(0, 0, 0, 0);
          next[u][p * 4] = some.x, next[u][p * 4 + 1] = some.y, next[u][p * 4 + 2] = some.z, next[u][p * 4 + 3] = some.w;
        } else {
          next[u][p] = there ? channel[from[p]] : 0.0f;
        }
      }
    }
  };
  __syncthreads();
  float sum[F][P] = {};
#pragma unroll
  for (int u = 0; u < U; u++) load(u, u);
  for (int first = 0; first < terms; first += U) {
#pragma unroll
    for (int u = 0; u < U; u++) {
      const float4 low = *reinterpret_cast<const float4*>(&weights[(first + u) * width + f0]), high = *reinterpret_cast<const float4*>(&weights[(first + u) * width + f0 + 4]);
      const float w[F] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
      for (int f = 0; f < F; f++)
#pragma unroll
        for (int p = 0; p < P; p++) sum[f][p] = fmaf(w[f], next[u][p], sum[f][p]);
      // In place of what has been added.
      if (first + U < terms) load(u, first + U + u);
    }
  }
#pragma unroll
  for (int t = 0; t < CHUNKS; t++) {
    const int column = column0 + (t * 32 + lane) * V, image = c.by_plane.quotient(column), to = (image * s.filters + group * c.filters + f0 - image) * c.plane + column;
    if (column >= c.columns) break;
#pragma unroll
    for (int f = 0; f < F; f++) {
      if (f0 + f >= c.filters) break;
      float* const at = out + (to + f * c.plane);
      if constexpr (V == 4) *reinterpret_cast<float4*>(at) = make_float4(sum[f][t * 4], sum[f][t * 4 + 1], sum[f][t * 4 + 2], sum[f][t * 4 + 3]);
      else *at = sum[f][t];
    }
  }
}

}  // namespace

#define FILTERS(NAME, KIND)                                                                                                                                                                 \
  extern "C" __global__ void __launch_bounds__(256, 2) convolution_filters_##NAME(const float* x, const float* weight, float* out, const ConvSizes s, const ConvNarrow c) { \
    convolve<KIND>(x, weight, out, s, c);                                                                                                                                                   \
  }
FILTERS(wide, WIDE)
FILTERS(point, POINT)
FILTERS(window, WINDOW)
