// Convolutions of one to three dimensions as products without the matrix: out[f, o] = sum over l of weight[f, l] * window[l, o], l over the
// channels of the group and the kernel. A block computes 64 filters x 64 outputs of a group, over all images, 16 elements of l at a time, 4 x 4
// results per thread, in f32.
#include <type_traits>

#include "common/terms.cuh"
#include "common/vec.cuh"

namespace {

constexpr int TILE = 64, DEPTH = 16;

// grid: (outputs of all images / 64, filters of a group / 64, groups of this launch, from `first` on, times splits). `shares` as in convolution_mma.cu.
template <class T>
__device__ __forceinline__ void convolve(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ out, const ConvSizes& s, int first, float* __restrict__ shares, int splits) {
  __shared__ __align__(16) float a[DEPTH][TILE + 4], b[DEPTH][TILE + 4];
  const int in_group = s.channels / s.groups, filters = s.filters / s.groups, volume = s.depth.kernel * s.height.kernel * s.width.kernel, terms = in_group * volume;
  const long long in_plane = static_cast<long long>(s.depth.input) * s.height.input * s.width.input, out_plane = static_cast<long long>(s.depth.output) * s.height.output * s.width.output;
  const int group = blockIdx.z / splits + first, split = blockIdx.z % splits;
  const int all = (terms + DEPTH - 1) / DEPTH, each = (all + splits - 1) / splits, from = split * each * DEPTH, to = min(terms, from + each * DEPTH);
  const long long columns = s.batch * out_plane;
  const long long column = static_cast<long long>(blockIdx.x) * TILE;
  const int row = blockIdx.y * TILE;
  const T* filter = weight + static_cast<long long>(group) * filters * terms;
  // The output whose windows this thread reads.
  const int at = threadIdx.x % TILE;
  const bool inside = column + at < columns;
  // 64-bit division takes several times as long.
  const bool small = (columns >> 32) == 0;
  const auto image_of = [&](long long c) { return small ? static_cast<long long>(static_cast<unsigned>(c) / static_cast<unsigned>(out_plane)) : c / out_plane; };
  const long long o = inside ? column + at : 0, image = image_of(o);
  const T* source = x + (image * s.channels + group * in_group) * in_plane;
  const int place = static_cast<int>(o - image * out_plane), od = place / (s.height.output * s.width.output), oh = place / s.width.output % s.height.output, ow = place % s.width.output;
  const int d0 = od * s.stride - s.depth.padding, h0 = oh * s.stride - s.height.padding, w0 = ow * s.stride - s.width.padding;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  constexpr int EACH = DEPTH / (256 / TILE);  // terms that this thread gathers of a step
  const Term step(s, DEPTH);
  Term term[EACH];
#pragma unroll
  for (int i = 0; i < EACH; i++) term[i] = Term(s, from + threadIdx.x / TILE + i * (256 / TILE));
  float sum[4][4] = {};
  for (int base = from; base < to; base += DEPTH) {
    for (int i = threadIdx.x; i < TILE * DEPTH; i += 256) {
      const int l = i % DEPTH, f = i / DEPTH;
      a[l][f] = base + l < terms && row + f < filters ? to_float(filter[static_cast<long long>(row + f) * terms + base + l]) : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      Term& t = term[i];
      const int d = d0 + t.d * s.dilation, h = h0 + t.h * s.dilation, w = w0 + t.w * s.dilation;
      const bool valid = inside && t.index < terms && static_cast<unsigned>(d) < static_cast<unsigned>(s.depth.input) && static_cast<unsigned>(h) < static_cast<unsigned>(s.height.input) &&
                         static_cast<unsigned>(w) < static_cast<unsigned>(s.width.input);
      b[threadIdx.x / TILE + i * (256 / TILE)][at] = valid ? to_float(source[t.channel * in_plane + (static_cast<long long>(d) * s.height.input + h) * s.width.input + w]) : 0.0f;
      t.advance(s, step);
    }
    __syncthreads();
#pragma unroll
    for (int l = 0; l < DEPTH; l++) {
      float u[4], v[4];
      *reinterpret_cast<float4*>(u) = *reinterpret_cast<const float4*>(&a[l][ty * 4]);
      *reinterpret_cast<float4*>(v) = *reinterpret_cast<const float4*>(&b[l][tx * 4]);
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) sum[i][j] = fmaf(u[i], v[j], sum[i][j]);
    }
    __syncthreads();
  }
  const auto store = [&](auto* result) {
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const long long c = column + tx * 4 + j;
      if (c >= columns) continue;
      const long long of = image_of(c);
      auto* place = result + (of * s.filters + static_cast<long long>(group) * filters) * out_plane + (c - of * out_plane);
#pragma unroll
      for (int i = 0; i < 4; i++)
        if (row + ty * 4 + i < filters) place[(row + ty * 4 + i) * out_plane] = from_float<std::remove_reference_t<decltype(*result)>>(sum[i][j]);
    }
  };
  if (splits > 1) store(shares + split * s.filters * columns);
  else store(out);
}

}  // namespace

#define CONVOLUTION(T) \
  extern "C" __global__ void __launch_bounds__(256) convolution_##T(const T* x, const T* weight, T* out, const ConvSizes s, int first, float* shares, int splits) { \
    convolve(x, weight, out, s, first, shares, splits); \
  }
CONVOLUTION(f32)
CONVOLUTION(f16)
CONVOLUTION(bf16)
