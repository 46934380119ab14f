// Copies what each window of a convolution meets, a row for each channel and element of the kernel, zeros where it does not meet the input (convolution/unfold.h), for the kernels that then compute one
// whose kernel has one element and no stride.
//   convolution_unfold_<bytes of an element>
#include <cstdint>

#include "convolution/unfold.h"

namespace {

using opscope::cuda::ConvUnfold;

template <class T>
__device__ __forceinline__ void unfold(const T* __restrict__ x, T* __restrict__ out, const ConvUnfold& u) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= u.elements) return;
  const int row = divided(i, u.by_width), layer = divided(row, u.by_height), term = divided(layer, u.by_depth);
  const int channel = divided(term, u.by_taps), tap = term - channel * u.taps, tap_row = divided(tap, u.by_tap_width), tap_layer = divided(tap_row, u.by_tap_height);
  const int w = (i - row * u.width.output) * u.stride - u.width.padding + (tap - tap_row * u.width.kernel) * u.dilation;
  const int h = (row - layer * u.height.output) * u.stride - u.height.padding + (tap_row - tap_layer * u.height.kernel) * u.dilation;
  const int d = (layer - term * u.depth.output) * u.stride - u.depth.padding + tap_layer * u.dilation;
  const bool met = static_cast<unsigned>(w) < static_cast<unsigned>(u.width.input) && static_cast<unsigned>(h) < static_cast<unsigned>(u.height.input) && static_cast<unsigned>(d) < static_cast<unsigned>(u.depth.input);
  out[i] = met ? x[((static_cast<long long>(channel) * u.depth.input + d) * u.height.input + h) * u.width.input + w] : T{};
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256) convolution_unfold_2(const uint16_t* x, uint16_t* out, const ConvUnfold u) { unfold(x, out, u); }
extern "C" __global__ void __launch_bounds__(256) convolution_unfold_4(const uint32_t* x, uint32_t* out, const ConvUnfold u) { unfold(x, out, u); }
