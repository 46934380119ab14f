// Kernels of one element with one channel of a group (convolution/scale.h says when): each output is an element of the input times a weight. A thread has 16 bytes of outputs, whatever image and filter they belong to.
//   convolution_scale_<t>
// How to build and run: scripts/gpu/kernels.sh.
#include "common/vec.cuh"
#include "convolution/scale_task.h"

using opscope::cuda::ConvScale;

namespace {

constexpr int THREADS = opscope::cuda::conv_scale_threads;

template <class T>
__device__ __forceinline__ void scale(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ out, const ConvScale& c) {
  constexpr int V = 16 / sizeof(T);
  const int first = (static_cast<int>(blockIdx.x) * THREADS + threadIdx.x) * V;
  if (first >= c.outputs) return;
  // A row is a filter of an image: those of a group follow each other, so that a quotient is an image's channel.
  int row = divided(first, c.by_plane), place = first - row * c.plane, channel = divided(row, c.by_group), in_group = row - channel * c.of_group, filter = row - divided(row, c.by_filters) * c.filters;
  int h = divided(place, c.by_width), w = place - h * c.width;
  const int d = divided(h, c.by_height);
  h -= d * c.height;
  int from = d * c.slab + h * c.row + w * c.along;
  float held = to_float(weight[filter]);
  const T* source = x + static_cast<long long>(channel) * c.in_plane;
  float v[V];
  if (w + V <= c.width && first + V <= c.outputs) {  // of one row
#pragma unroll
    for (int i = 0; i < V; i++) v[i] = to_float(source[from + i * c.along]) * held;
    *reinterpret_cast<uint4*>(out + first) = pack<T>(v);
    return;
  }
#pragma unroll
  for (int i = 0; i < V; i++) {
    v[i] = first + i < c.outputs ? to_float(source[from]) * held : 0.0f;
    from += c.along;
    if (++w == c.width) {
      w = 0, from += c.row - c.width * c.along;
      if (++h == c.height) h = 0, from += c.slab - c.height * c.row;
    }
    if (++place == c.plane && first + i + 1 < c.outputs) {
      place = 0, from = 0, w = 0, h = 0;
      if (++filter == c.filters) filter = 0;
      if (++in_group == c.of_group) in_group = 0, source += c.in_plane;
      held = to_float(weight[filter]);
    }
  }
  if (first + V <= c.outputs) {
    *reinterpret_cast<uint4*>(out + first) = pack<T>(v);
  } else {
#pragma unroll
    for (int i = 0; i < V; i++)
      if (first + i < c.outputs) out[first + i] = from_float<T>(v[i]);
  }
}

}  // namespace

#define SCALE(T) \
  extern "C" __global__ void __launch_bounds__(THREADS) convolution_scale_##T(const T* x, const T* weight, T* out, const ConvScale c) { scale<T>(x, weight, out, c); }
SCALE(f32)
SCALE(f16)
SCALE(bf16)
