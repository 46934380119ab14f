// Copies the elements of the input that kernels of one element with a stride meet (convolution/sample.h), for the kernels that then compute a convolution without one.
//   convolution_sample_<bytes of an element>
#include <cstdint>

#include "convolution/sample.h"

namespace {

using opscope::cuda::ConvSample;

template <class T>
__device__ __forceinline__ void sample(const T* __restrict__ x, T* __restrict__ out, const ConvSample& s) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= s.elements) return;
  const int row = divided(i, s.by_width), layer = divided(row, s.by_height), plane = divided(layer, s.by_depth);
  const int w = i - row * s.out_width, h = row - layer * s.out_height, d = layer - plane * s.out_depth;
  out[i] = x[((static_cast<long long>(plane) * s.depth + d * s.stride) * s.height + h * s.stride) * s.width + w * s.stride];
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256) convolution_sample_2(const uint16_t* x, uint16_t* out, const ConvSample s) { sample(x, out, s); }
extern "C" __global__ void __launch_bounds__(256) convolution_sample_4(const uint32_t* x, uint32_t* out, const ConvSample s) { sample(x, out, s); }
