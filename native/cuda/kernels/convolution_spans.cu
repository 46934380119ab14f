// Convolutions with a kernel of one element and few channels on planes that are no whole vectors (convolution/spans.h says when): a block has a tile of positions of an image, all channels of which lie
// in shared memory, and all filters of a group. A result is written in vectors of 16 bytes from where they begin in its plane, whatever lies there of the input: filters that are as many apart as a
// vector has elements begin alike, so that a thread has several of them. Sums in the order of the channels.
//   convolution_spans_<t>
#include "common/loose.cuh"
#include "common/vec.cuh"
#include "convolution/spans_task.h"

namespace {

using opscope::cuda::ConvSpans;
constexpr int FILTERS = opscope::cuda::conv_spans_filters;

// grid: images by tiles of positions, groups. Shared memory: channels of a tile, a vector before and one behind each; weights.
template <class T>
__device__ __forceinline__ void convolve(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ out, const ConvSpans& a) {
  constexpr int L = LANES<T>;
  extern __shared__ uint4 tile[];
  const int row = a.vectors + 2;
  float* const weights = reinterpret_cast<float*>(tile + a.channels * row);
  const int image = divided(static_cast<int>(blockIdx.x), a.by_tiles), first = (static_cast<int>(blockIdx.x) - image * a.tiles) * a.tile, count = min(a.tile, a.plane - first), group = blockIdx.y;
  const long long of_group = static_cast<long long>(image) * gridDim.y + group, in = of_group * a.channels * a.plane + first, to = of_group * a.filters * a.plane + first;
  const auto before = [](long long at) { return static_cast<int>(at & (L - 1)); };
  for (int i = threadIdx.x; i < a.channels * a.vectors; i += blockDim.x) {
    const int c = divided(i, a.by_vectors), v = i - c * a.vectors;
    const long long at = in + static_cast<long long>(c) * a.plane;
    if (v * L - before(at) < count) tile[c * row + 1 + v] = load16(x + (at - before(at) + v * L));
  }
  for (int i = threadIdx.x; i < a.filters * a.channels; i += blockDim.x) weights[i] = to_float(weight[static_cast<long long>(group) * a.filters * a.channels + i]);
  __syncthreads();
  const int classes = min(L, a.filters);
  for (int i = threadIdx.x; i < classes * a.vectors; i += blockDim.x) {
    // Filters own, own + L, .. and elements p .. of the tile.
    const int own = divided(i, a.by_vectors), p = (i - own * a.vectors) * L - before(to + static_cast<long long>(own) * a.plane);
    if (p >= count) continue;
    for (int f0 = own; f0 < a.filters; f0 += FILTERS * L) {
      float sum[FILTERS][L] = {};
      for (int c = 0; c < a.channels; c++) {
        const int place = before(in + static_cast<long long>(c) * a.plane) + p + L;
        const uint4* const from = tile + c * row + place / L;
        float f[L];
        unpack<T>(shifted(from[0], from[1], place % L * static_cast<int>(sizeof(T))), f);
#pragma unroll
        for (int k = 0; k < FILTERS; k++) {
          if (f0 + k * L >= a.filters) break;
          const float w = weights[(f0 + k * L) * a.channels + c];
#pragma unroll
          for (int j = 0; j < L; j++) sum[k][j] = fmaf(w, f[j], sum[k][j]);
        }
      }
#pragma unroll
      for (int k = 0; k < FILTERS; k++) {
        if (f0 + k * L >= a.filters) break;
        T* const at = out + (to + static_cast<long long>(f0 + k * L) * a.plane + p);
        if (p >= 0 && p + L <= count) {
          store16(at, pack<T>(sum[k]));
          continue;
        }
#pragma unroll
        for (int j = 0; j < L; j++)
          if (static_cast<unsigned>(p + j) < static_cast<unsigned>(count)) at[j] = from_float<T>(sum[k][j]);
      }
    }
  }
}

}  // namespace

#define SPANS(T) \
  extern "C" __global__ void __launch_bounds__(opscope::cuda::conv_spans_threads, 6) convolution_spans_##T(const T* x, const T* weight, T* out, const ConvSpans a) { convolve(x, weight, out, a); }
SPANS(f16)
SPANS(bf16)
