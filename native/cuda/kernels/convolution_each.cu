// Convolutions so small that a call waits for memory and for its own code more than it works (convolution/each.h says when): a group of 1 to 32 lanes for each output, each
// with a few terms of its sum, whose loads are on their way together. Numbers below 2^31 and products instead of divisions keep the code short. Sums in f32, in a
// fixed order.
//   convolution_each_<t>
// How to build and run: scripts/gpu/kernels.sh.
#include "common/vec.cuh"
#include "convolution.h"

namespace {

constexpr int U = conv_each_terms;

template <class T>
__device__ __forceinline__ void each(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ out, const ConvSizes& s, const ConvEach& e) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, group = 1 << e.group_bits, lane = thread & (group - 1), own = thread >> e.group_bits, i = min(own, e.outputs - 1);
  const int run = e.plane.quotient(i), image = e.filters.quotient(run), f = run - image * s.filters, g = e.of_group.quotient(f);
  const int place = i - run * e.out_plane, od = e.area.quotient(place), line = e.width.quotient(place), oh = line - od * s.height.output, ow = place - line * s.width.output;
  const int d0 = od * s.stride - s.depth.padding, h0 = oh * s.stride - s.height.padding, w0 = ow * s.stride - s.width.padding;
  const T* source = x + (image * s.channels + g * e.channels) * e.in_plane;
  const T* filter = weight + f * e.terms;
  float sum = 0;
  for (int first = lane; first < e.terms; first += U * group) {
    float u[U], v[U];
#pragma unroll
    for (int j = 0; j < U; j++) {
      const int t = first + j * group, channel = e.taps.quotient(t), tap = t - channel * e.kernel, row = e.kernel_width.quotient(tap), kd = e.kernel_height.quotient(row);
      const int d = d0 + kd * s.dilation, h = h0 + (row - kd * s.height.kernel) * s.dilation, w = w0 + (tap - row * s.width.kernel) * s.dilation;
      const bool valid = t < e.terms && static_cast<unsigned>(d) < static_cast<unsigned>(s.depth.input) && static_cast<unsigned>(h) < static_cast<unsigned>(s.height.input) &&
                         static_cast<unsigned>(w) < static_cast<unsigned>(s.width.input);
      u[j] = valid ? to_float(filter[t]) : 0.0f;
      v[j] = valid ? to_float(source[channel * e.in_plane + (d * s.height.input + h) * s.width.input + w]) : 0.0f;
    }
#pragma unroll
    for (int j = 0; j < U; j++) sum = fmaf(u[j], v[j], sum);
  }
  for (int offset = group / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (lane == 0 && own < e.outputs) out[i] = from_float<T>(sum);
}

}  // namespace

#define EACH(T) \
  extern "C" __global__ void __launch_bounds__(128) convolution_each_##T(const T* x, const T* weight, T* out, const ConvSizes s, const ConvEach e) { each(x, weight, out, s, e); }
EACH(f32)
EACH(f16)
EACH(bf16)
