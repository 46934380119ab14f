// Convolutions of few multiplications (convolution/few.h), where a call takes as long as it waits for memory and for its own instructions. convolution_few_<t>_<axes>:
// 1 << log2 lanes of a warp have an output, and read all of its terms at once, or a few times as many. Sums in f32, in a fixed order.
#include "common/vec.cuh"
#include "convolution/few.h"

namespace {

using opscope::cuda::few_conv_terms;
using opscope::cuda::FewConvolution;
using opscope::cuda::FewConvolutionDivides;

// AXES of depth, height and width, counted from the last.
template <int AXES, class T>
__device__ __forceinline__ void convolve(const FewConvolution& c, const FewConvolutionDivides& by) {
  const int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), own = thread >> c.log2, lane = thread & ((1 << c.log2) - 1), step = 1 << c.log2;
  // Threads beyond the outputs stay for the others of their warp.
  const int output = min(own, c.outputs - 1), run = divided(output, by.plane), image = divided(run, by.filters), filter = run - image * c.filters, place = output - run * c.plane;
  const int depth = AXES > 2 ? divided(place, by.area) : 0, line = AXES > 1 ? divided(place, by.width) : 0;
  const int top = (line - depth * c.output[1]) * c.stride - c.padding[1], left = (AXES > 1 ? place - line * c.output[2] : place) * c.stride - c.padding[2], front = depth * c.stride - c.padding[0];
  const T* weight = reinterpret_cast<const T*>(c.weight) + filter * c.terms;
  const int first = image * c.channels + divided(filter, by.group_filters) * c.in_group;  // channel
  float sum = 0;
#pragma unroll 1
  for (int from = lane; from < c.terms; from += few_conv_terms * step) {
    T u[few_conv_terms], v[few_conv_terms];
#pragma unroll
    for (int e = 0; e < few_conv_terms; e++) {
      const int k = from + e * step, channel = divided(k, by.volume);
      int at = k - channel * c.volume, row = first + channel;
      bool inside = k < c.terms;
      if (AXES > 2) {
        const int d = divided(at, by.face), z = front + d * c.dilation;
        at -= d * c.face, inside = inside && static_cast<unsigned>(z) < static_cast<unsigned>(c.input[0]), row = row * c.input[0] + z;
      }
      if (AXES > 1) {
        const int h = divided(at, by.kernel), y = top + h * c.dilation;
        at -= h * c.kernel[2], inside = inside && static_cast<unsigned>(y) < static_cast<unsigned>(c.input[1]), row = row * c.input[1] + y;
      }
      const int x = left + at * c.dilation;
      inside = inside && static_cast<unsigned>(x) < static_cast<unsigned>(c.input[2]);
      u[e] = inside ? weight[k] : T(0.0f);
      v[e] = inside ? reinterpret_cast<const T*>(c.x)[row * c.input[2] + x] : T(0.0f);
    }
#pragma unroll
    for (int e = 0; e < few_conv_terms; e++) sum = fmaf(to_float(u[e]), to_float(v[e]), sum);
  }
#pragma unroll
  for (int k = 4; k >= 0; k--)
    if (k < c.log2) sum += __shfl_xor_sync(0xffffffffu, sum, 1 << k);
  if (lane == 0 && own < c.outputs) reinterpret_cast<T*>(c.out)[own] = from_float<T>(sum);
}

}  // namespace

#define FEW(T, AXES) \
  extern "C" __global__ void __launch_bounds__(128) convolution_few_##T##_##AXES(const __grid_constant__ FewConvolution c, const __grid_constant__ FewConvolutionDivides by) { \
    convolve<AXES, T>(c, by); \
  }
#define EACH(T) FEW(T, 1) FEW(T, 2) FEW(T, 3)
EACH(f32)
EACH(f16)
EACH(bf16)
