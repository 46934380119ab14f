// Windows of kernels of up to 32 elements, or of any without padding: where each begins, a mask of the elements that are inside of the input, and where each term of the sum lies from there.
#pragma once
#include "../convolution.h"

// A term: where it lies from the window's begin, and its bit of the masks.
struct alignas(8) Place {
  int offset;
  unsigned bit;
};

// Of term `t`; one past the sum has no bit. Bits of more than 32 elements repeat.
__device__ __forceinline__ Place place_of_term(const ConvSizes& s, const ConvNarrow& c, int t) {
  const int channel = t / c.kernel, element = t - channel * c.kernel, row = element / s.width.kernel, kd = row / s.height.kernel;
  const int lines = kd * s.dilation * s.height.input + (row - kd * s.height.kernel) * s.dilation;
  return t < c.terms ? Place{channel * c.in_plane + lines * s.width.input + (element - row * s.width.kernel) * s.dilation, 1u << (element & 31)} : Place{0, 0};
}

// Places of terms `first` .. `first` + `count`, by all threads of a block.
__device__ __forceinline__ void write_places(Place* places, const ConvSizes& s, const ConvNarrow& c, int first, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) places[i] = place_of_term(s, c, first + i);
}

// Which elements of the kernel are inside of the input for the window that begins there; all of any kernel where there is no padding.
__device__ __forceinline__ unsigned mask_of(const ConvSizes& s, int d0, int h0, int w0) {
  if ((s.depth.padding | s.height.padding | s.width.padding) == 0) return ~0u;
  unsigned line = 0, mask = 0;
  for (int k = 0; k < s.width.kernel; k++)
    if (static_cast<unsigned>(w0 + k * s.dilation) < static_cast<unsigned>(s.width.input)) line |= 1u << k;
  for (int kd = 0; kd < s.depth.kernel; kd++)
    for (int kh = 0; kh < s.height.kernel; kh++)
      if (static_cast<unsigned>(d0 + kd * s.dilation) < static_cast<unsigned>(s.depth.input) && static_cast<unsigned>(h0 + kh * s.dilation) < static_cast<unsigned>(s.height.input))
        mask |= line << (kd * s.height.kernel + kh) * s.width.kernel;
  return mask;
}

struct Window {
  int offset;  // of its begin in a plane of the input
  unsigned mask;
};

// That of an output, by its place in its image's plane.
__device__ __forceinline__ Window window_at(const ConvSizes& s, const ConvNarrow& c, int place) {
  const int od = c.by_area.quotient(place), in_area = place - od * c.area, oh = c.by_width.quotient(in_area);
  const int d0 = od * s.stride - s.depth.padding, h0 = oh * s.stride - s.height.padding, w0 = (in_area - oh * s.width.output) * s.stride - s.width.padding;
  return {(d0 * s.height.input + h0) * s.width.input + w0, mask_of(s, d0, h0, w0)};
}
