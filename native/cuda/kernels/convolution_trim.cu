// Copies the elements of each filter that meet the input (convolution/trim.h), for the kernels that then compute a smaller convolution.
//   convolution_trim_<bytes of an element>
// How to build and run: scripts/gpu/kernels.sh.
#include <cstdint>

#include "convolution.h"

namespace {

template <class T>
__device__ __forceinline__ void trim(const T* __restrict__ weight, T* __restrict__ out, const ConvKernelPart& p) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= p.elements) return;
  const int part = p.depth * p.height * p.width, taps = p.of_height * p.of_width;
  const long long plane = i / part;
  const int at = static_cast<int>(i - plane * part), row = at / p.width, w = at - row * p.width, d = row / p.height, h = row - d * p.height;
  out[i] = weight[plane * p.of_depth * taps + static_cast<long long>(p.first_depth + d) * taps + (p.first_height + h) * p.of_width + p.first_width + w];
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256) convolution_trim_2(const uint16_t* weight, uint16_t* out, const ConvKernelPart p) { trim(weight, out, p); }
extern "C" __global__ void __launch_bounds__(256) convolution_trim_4(const uint32_t* weight, uint32_t* out, const ConvKernelPart p) { trim(weight, out, p); }
