// Writes the filters of a convolution of small images as the matrix that a whole image is multiplied by (convolution/image.h): a row for each output of an image, an element for each of its inputs, zero
// where the window of that output does not reach it.
//   convolution_image_<bytes of an element>
// How to build and run: scripts/gpu/kernels.sh.
#include <cstdint>

#include "convolution.h"

namespace {

// The element of the kernel along an axis that takes input `in` to output `out`; negative where there is none.
__device__ __forceinline__ int tap_of(const ConvAxis& a, int in, int out, int stride, int dilation) {
  const int from = in + a.padding - out * stride, tap = from / dilation;
  return from >= 0 && tap < a.kernel && tap * dilation == from ? tap : -1;
}

template <class T>
__device__ __forceinline__ void spread(const T* __restrict__ weight, T* __restrict__ out, const ConvSizes& s, int terms, int elements) {
  const int e = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (e >= elements) return;
  const int row = e / terms, from = e - row * terms;
  const int line_out = row / s.width.output, w_out = row - line_out * s.width.output, slab_out = line_out / s.height.output, h_out = line_out - slab_out * s.height.output, filter = slab_out / s.depth.output,
            d_out = slab_out - filter * s.depth.output;
  const int line_in = from / s.width.input, w_in = from - line_in * s.width.input, slab_in = line_in / s.height.input, h_in = line_in - slab_in * s.height.input, channel = slab_in / s.depth.input,
            d_in = slab_in - channel * s.depth.input;
  const int d = tap_of(s.depth, d_in, d_out, s.stride, s.dilation), h = tap_of(s.height, h_in, h_out, s.stride, s.dilation), w = tap_of(s.width, w_in, w_out, s.stride, s.dilation);
  const bool met = d >= 0 && h >= 0 && w >= 0;
  out[e] = met ? weight[((static_cast<long long>(filter) * s.channels + channel) * s.depth.kernel + d) * s.height.kernel * s.width.kernel + h * s.width.kernel + w] : T(0);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(128) convolution_image_2(const uint16_t* weight, uint16_t* out, const ConvSizes s, int terms, int elements) { spread(weight, out, s, terms, elements); }
extern "C" __global__ void __launch_bounds__(128) convolution_image_4(const uint32_t* weight, uint32_t* out, const ConvSizes s, int terms, int elements) { spread(weight, out, s, terms, elements); }
