// Convolutions of f16 and bf16 with few channels and filters of a group (convolution/group.h says when): a block has a group, and takes tiles of positions in turns.
// What a tile's windows meet lies in shared memory as pairs of channels, padding among it, so that lanes read operands of the tensor cores as words; the weights lie there as second operands.
//   convolution_group_<t>_<E>    up to 8 * E filters
//   convolution_layers_<t>_<E>   volumes: every layer of the input with every layer of each filter, 8 * E of them, as sums in f32
//   convolution_layers_sum_<t>   the outputs: what the layers of a filter give for the layers of the input that they meet
#include "common/early.cuh"
#include "common/mma.cuh"
#include "convolution.h"

namespace {

constexpr int THREADS = conv_group_threads, WARPS = THREADS / 32, ABSENT = -1, LAYER_THREADS = conv_layers_threads, LAYER_PLACES = conv_layers_places;

// Stages whole rows of the input, a vector of V elements of both channels of a pair at a time, and zeros beside them.
template <class Vector>
__device__ __forceinline__ void stage_rows(uint32_t* words, const uint16_t* source, const ConvSizes& s, const ConvGroup& c, int h0, int in_plane) {
  constexpr int V = sizeof(Vector) / 2;
  const int padding = s.width.padding, runs = c.pairs * c.lines, vectors = s.width.input / V, all = runs * vectors;
#pragma unroll 4
  for (int i = threadIdx.x; i < all; i += THREADS) {
    const int run = c.by_vectors.quotient(i), pair = c.by_lines.quotient(run), line = run - pair * c.lines, h = h0 + line, w = (i - run * vectors) * V;
    const bool inside = static_cast<unsigned>(h) < static_cast<unsigned>(s.height.input);
    const uint16_t* const from = source + (pair * 2 * in_plane + h * s.width.input + w);
    Vector low = {}, high = {};
    if (inside) low = *reinterpret_cast<const Vector*>(from);
    if (inside && pair * 2 + 1 < c.channels) high = *reinterpret_cast<const Vector*>(from + in_plane);
    uint32_t* const to = words + (pair * c.pitch + line * c.line + padding + w);
#pragma unroll
    for (int j = 0; j < V; j++) {
      uint32_t a, b;
      if constexpr (V == 4) a = j < 2 ? low.x : low.y, b = j < 2 ? high.x : high.y;
      else a = low, b = high;
      if (padding + w + j < c.line) to[j] = __byte_perm(a, b, j % 2 ? 0x7632 : 0x5410);
    }
  }
  const int left = min(padding, c.line), beside = left + max(0, c.line - padding - s.width.input);
  for (int i = threadIdx.x; i < runs * beside; i += THREADS) {
    const int run = i / beside, at = i - run * beside, pair = c.by_lines.quotient(run);
    words[pair * c.pitch + (run - pair * c.lines) * c.line + (at < left ? at : at - left + padding + s.width.input)] = 0;
  }
}

// grid: blocks of tiles, groups. Shared memory: operands [eights][steps][lane], where the pairs of a step lie, pairs of channels.
template <class T, class Out, int EIGHTS>
__device__ __forceinline__ void convolve(const T* __restrict__ x, const T* __restrict__ weight, Out* __restrict__ out, const ConvSizes& s, const ConvGroup& c) {
  constexpr bool volume = sizeof(Out) > sizeof(T);
  extern __shared__ uint2 operands[];
  int* const offsets = reinterpret_cast<int*>(operands + EIGHTS * c.steps * 32);
  uint32_t* const words = reinterpret_cast<uint32_t*>(offsets + c.steps * 8);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, of_four = lane % 4, of_eight = lane / 4, group = blockIdx.y, taps = s.height.kernel * s.width.kernel,
            layers = volume ? s.depth.kernel : 1, depth = volume ? s.depth.input : 1;
  const uint16_t* const filters = reinterpret_cast<const uint16_t*>(weight) + static_cast<long long>(group) * c.filters * c.channels * taps;
  // Pairs of channels of the first element of the kernel, then of the next one.
  for (int i = threadIdx.x; i < EIGHTS * c.steps * 32; i += THREADS) {
    const int f = i / (c.steps * 32) * 8 + i % 32 / 4, k = i / 32 % c.steps * 8 + i % 4;
    const auto pair = [&](int k) {
      const int tap = c.by_pairs.quotient(k), channel = (k - tap * c.pairs) * 2;
      const uint16_t* const at = filters + ((f / layers * c.channels + channel) * layers + f % layers) * taps + tap;
      const uint32_t low = f < c.filters && tap < taps ? at[0] : 0, high = f < c.filters && tap < taps && channel + 1 < c.channels ? at[layers * taps] : 0;
      return low | high << 16;
    };
    operands[i] = make_uint2(pair(k), pair(k + 4));
  }
  for (int k = threadIdx.x; k < c.steps * 8; k += THREADS) {
    const int tap = c.by_pairs.quotient(k), row = tap / s.width.kernel;
    offsets[k] = tap < taps ? (k - tap * c.pairs) * c.pitch + (row * c.line + tap - row * s.width.kernel) * s.dilation : ABSENT;
  }
  next_may_start();
  const int in_layer = s.height.input * s.width.input, in_plane = depth * in_layer, out_plane = s.height.output * s.width.output, lines = c.pairs * c.lines, all = lines * c.line;
  for (int tile = blockIdx.x; tile < c.tiles; tile += gridDim.x) {
    const int band = c.by_across.quotient(tile), across = tile - band * c.tiles_across, image = c.by_down.quotient(band), down = band - image * c.tiles_down;
    const int oh0 = down * c.rows, ow0 = across * c.cols, rows = min(c.rows, s.height.output - oh0), cols = min(c.cols, s.width.output - ow0);
    const int h0 = oh0 * s.stride - s.height.padding, w0 = ow0 * s.stride - s.width.padding;
    const uint16_t* const source = reinterpret_cast<const uint16_t*>(x) + static_cast<long long>(image / depth * s.channels + group * c.channels) * in_plane + image % depth * in_layer;
    __syncthreads();
    if (c.vector == 4) {
      stage_rows<uint2>(words, source, s, c, h0, in_plane);
    } else if (c.vector == 2) {
      stage_rows<uint32_t>(words, source, s, c, h0, in_plane);
    } else {
#pragma unroll 8
      for (int i = threadIdx.x; i < all; i += THREADS) {
        const int run = c.by_line.quotient(i), pair = c.by_lines.quotient(run), line = run - pair * c.lines, at = i - run * c.line, h = h0 + line, w = w0 + at;
        const bool inside = static_cast<unsigned>(h) < static_cast<unsigned>(s.height.input) && static_cast<unsigned>(w) < static_cast<unsigned>(s.width.input);
        const uint16_t* const from = source + (pair * 2 * in_plane + h * s.width.input + w);
        const uint32_t low = inside ? from[0] : 0, high = inside && pair * 2 + 1 < c.channels ? from[in_plane] : 0;
        words[pair * c.pitch + line * c.line + at] = low | high << 16;
      }
    }
    __syncthreads();
    const int count = rows * cols;
    for (int first = warp * 32; first < count; first += WARPS * 32) {
      // Past the end: the last position again, which is not written.
      int base[4], to[4];
#pragma unroll
      for (int p = 0; p < 4; p++) {
        const int position = min(first + p * 8 + of_eight, count - 1), row = cols == c.cols ? c.by_cols.quotient(position) : position / cols, col = position - row * cols;
        base[p] = (row * c.line + col) * s.stride;
        to[p] = (oh0 + row) * s.width.output + ow0 + col;
      }
      float sum[2][EIGHTS][4] = {};
      for (int k = 0; k < c.steps; k++) {
        const int near = offsets[k * 8 + of_four], far = offsets[k * 8 + 4 + of_four];
        uint32_t a[2][4];
#pragma unroll
        for (int m = 0; m < 2; m++)
#pragma unroll
          for (int half = 0; half < 2; half++) {
            a[m][half] = near >= 0 ? words[base[m * 2 + half] + near] : 0;
            a[m][half + 2] = far >= 0 ? words[base[m * 2 + half] + far] : 0;
          }
#pragma unroll
        for (int e = 0; e < EIGHTS; e++) {
          const uint2 b = operands[(e * c.steps + k) * 32 + lane];
          mma(sum[0][e], a[0], b.x, b.y, T());
          mma(sum[1][e], a[1], b.x, b.y, T());
        }
      }
      Out* const target = out + static_cast<long long>(image * (s.filters * layers) + group * c.filters) * out_plane;
#pragma unroll
      for (int e = 0; e < EIGHTS; e++)
#pragma unroll
        for (int n = 0; n < 2; n++) {
          const int f = e * 8 + of_four * 2 + n;
          if (f >= c.filters) continue;
#pragma unroll
          for (int p = 0; p < 4; p++)
            if (first + p * 8 + of_eight < count) target[f * out_plane + to[p]] = from_float<Out>(sum[p / 2][e][p % 2 * 2 + n]);
        }
    }
  }
}

// A block has some places of an output's layer.
template <class T>
__device__ __forceinline__ void add_layers(const float* __restrict__ sums, T* __restrict__ out, const ConvSizes& s, int parts) {
  wait_for_last();
  const int plane = s.height.output * s.width.output, layer = static_cast<int>(blockIdx.x) / parts, place0 = (static_cast<int>(blockIdx.x) - layer * parts) * (LAYER_PLACES * LAYER_THREADS) + threadIdx.x;
  const int of_filter = layer / s.depth.output, image = of_filter / s.filters, filter = of_filter - image * s.filters, d0 = (layer - of_filter * s.depth.output) * s.stride - s.depth.padding, rows = s.filters * s.depth.kernel;
  float total[LAYER_PLACES] = {};
  for (int k = 0; k < s.depth.kernel; k++) {
    const int d = d0 + k * s.dilation;
    if (static_cast<unsigned>(d) >= static_cast<unsigned>(s.depth.input)) continue;
    const float* const from = sums + (static_cast<long long>(image * s.depth.input + d) * rows + filter * s.depth.kernel + k) * plane;
#pragma unroll
    for (int p = 0; p < LAYER_PLACES; p++)
      if (place0 + p * LAYER_THREADS < plane) total[p] += from[place0 + p * LAYER_THREADS];
  }
#pragma unroll
  for (int p = 0; p < LAYER_PLACES; p++)
    if (place0 + p * LAYER_THREADS < plane) out[static_cast<long long>(layer) * plane + place0 + p * LAYER_THREADS] = from_float<T>(total[p]);
}

}  // namespace

#define GROUP(T, E)                                                                                                                                                                             \
  extern "C" __global__ void __launch_bounds__(THREADS, 5) convolution_group_##T##_##E(const T* x, const T* weight, T* out, const ConvSizes s, const ConvGroup c) { \
    convolve<T, T, E>(x, weight, out, s, c);                                                                                                                                                       \
  }
#define LAYERS(T, E)                                                                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(THREADS, 4) convolution_layers_##T##_##E(const T* x, const T* weight, float* sums, const ConvSizes s, const ConvGroup c) { \
    convolve<T, float, E>(x, weight, sums, s, c);                                                                                                                                               \
  }
#define GROUPS(T)                                                                                                                                                              \
  GROUP(T, 1) GROUP(T, 2) LAYERS(T, 1) LAYERS(T, 2) LAYERS(T, 3) LAYERS(T, 4)                                                                                                  \
  extern "C" __global__ void __launch_bounds__(LAYER_THREADS) convolution_layers_sum_##T(const float* sums, T* out, const ConvSizes s, int parts) { add_layers<T>(sums, out, s, parts); }
GROUPS(f16)
GROUPS(bf16)
