// Convolutions of f16 and bf16 on tensor cores, as products without the matrix: out[f, c] = sum over l of weight[f, l] * window[l, c], l
// over the channels of the group and the kernel, columns c over the outputs of all images. Windows are gathered on their way to shared
// memory, and the sum may be split over blocks. convolution_mma_<t>_<TILE>_<axes>: TILE filters by TILE outputs of a block.
#include <type_traits>

#include "common/product.cuh"
#include "common/terms.cuh"

namespace {

// Where the window of an output begins: element of its image's group, and its coordinates with the padding, packed (convolution.plan.cc
// refuses what does not fit).
struct Window {
  int origin;
  unsigned at;
};

template <int AXES>
__device__ __forceinline__ unsigned packed(int d, int h, int w) {
  if constexpr (AXES == 1) return w;
  else if constexpr (AXES == 2) return static_cast<unsigned>(h) << 16 | w;
  else return static_cast<unsigned>(d) << 22 | static_cast<unsigned>(h) << 11 | w;
}
template <int AXES>
__device__ __forceinline__ void unpacked(unsigned at, int& d, int& h, int& w) {
  d = AXES == 3 ? at >> 22 : 0;
  h = AXES == 1 ? 0 : AXES == 2 ? at >> 16 : at >> 11 & 0x7ff;
  w = AXES == 1 ? at : AXES == 2 ? at & 0xffff : at & 0x7ff;
}

// Gathers windows on their way to shared memory, from `begin` to `finish` as Operand::Loader does: eight neighbouring outputs of ROWS terms per thread.
template <class T, class B, int AXES, int CHUNKS, int ROWS>
struct Gather {
  struct Held {
    T part[ROWS][8];
  };
  const T* x;
  const ConvSizes& s;
  int terms, in_plane;
  Window window[8];
  Term stage, term[ROWS];

  __device__ __forceinline__ Gather(const T* from, const ConvSizes& sizes, int all_terms, int plane, int group, int column0, int columns, int first)
      : x(from), s(sizes), terms(all_terms), in_plane(plane), stage(sizes, B::BK) {
    const int in_group = s.channels / s.groups, out_plane = s.depth.output * s.height.output * s.width.output;
#pragma unroll
    for (int j = 0; j < 8; j++) {
      const int c = min(column0 + static_cast<int>(threadIdx.x) % CHUNKS * 8 + j, columns - 1), image = c / out_plane, o = c - image * out_plane;
      const int od = AXES == 3 ? o / (s.height.output * s.width.output) : 0, oh = AXES == 1 ? 0 : o / s.width.output % s.height.output, ow = o % s.width.output;
      const int d = od * s.stride, h = oh * s.stride, w = ow * s.stride;
      window[j] = {(image * s.channels + group * in_group) * in_plane + ((d - s.depth.padding) * s.height.input + h - s.height.padding) * s.width.input + w - s.width.padding, packed<AXES>(d, h, w)};
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) term[r] = Term(s, first * B::BK + row(r));
  }
  // blockDim.x is CHUNKS times the terms of a round.
  static __device__ __forceinline__ int row(int r) { return threadIdx.x / CHUNKS + r * (B::BK / ROWS); }

  __device__ __forceinline__ void begin(char*, int, Held& held) {
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      Term& m = term[r];
      const int d0 = m.d * s.dilation, h0 = m.h * s.dilation, w0 = m.w * s.dilation, offset = m.channel * in_plane + (d0 * s.height.input + h0) * s.width.input + w0;
#pragma unroll
      for (int j = 0; j < 8; j++) {
        int d, h, w;
        unpacked<AXES>(window[j].at, d, h, w);
        bool valid = m.index < terms && static_cast<unsigned>(w + w0 - s.width.padding) < static_cast<unsigned>(s.width.input);
        if (AXES >= 2) valid = valid && static_cast<unsigned>(h + h0 - s.height.padding) < static_cast<unsigned>(s.height.input);
        if (AXES == 3) valid = valid && static_cast<unsigned>(d + d0 - s.depth.padding) < static_cast<unsigned>(s.depth.input);
        held.part[r][j] = valid ? x[window[j].origin + offset] : T(0.0f);
      }
      m.advance(s, stage);
    }
  }
  __device__ __forceinline__ void finish(char* to, const Held& held) const {
#pragma unroll
    for (int r = 0; r < ROWS; r++) *reinterpret_cast<uint4*>(to + B::offset(row(r), threadIdx.x % CHUNKS)) = *reinterpret_cast<const uint4*>(held.part[r]);
  }
};

// grid: (outputs / TILE, filters of a group / TILE, groups * splits). `shares`: sums of each share of the terms, [splits] outputs, where there are several.
template <class T, int TILE, int WM, int WN, int AXES>
__device__ __forceinline__ void convolve(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ out, const ConvSizes& s, float* __restrict__ shares, int splits) {
  using A = Operand<T, TILE, true>;
  using B = Operand<T, TILE, false>;
  constexpr int THREADS = WM * WN * 32, BK = A::BK, CHUNKS = TILE / 8, ROWS = BK / (THREADS / CHUNKS);
  static_assert(THREADS % CHUNKS == 0 && ROWS * THREADS / CHUNKS == BK);
  const int in_group = s.channels / s.groups, filters = s.filters / s.groups, volume = s.depth.kernel * s.height.kernel * s.width.kernel, terms = in_group * volume;
  const int in_plane = s.depth.input * s.height.input * s.width.input, out_plane = s.depth.output * s.height.output * s.width.output, columns = s.batch * out_plane;
  const int column0 = static_cast<int>(blockIdx.x) * TILE, filter0 = blockIdx.y * TILE, group = blockIdx.z / splits, split = blockIdx.z % splits;
  // This block's share of the terms, in steps.
  const int all = (terms + BK - 1) / BK, each = (all + splits - 1) / splits, first = split * each;
  typename A::template Loader<THREADS> load(weight + static_cast<long long>(group) * filters * terms, terms, filter0, filters, first, terms);
  Gather<T, B, AXES, CHUNKS, ROWS> gather(x, s, terms, in_plane, group, column0, columns, first);
  WarpTile<T, TILE, TILE, WM, WN> tile;
  tile.template multiply<A, B>(min(each, all - first), load, gather);
  const auto store = [&](auto* to) {
    tile.each_pair([&](int i, int j, float x, float y) {
      const int f = filter0 + i;
      if (f >= filters) return;
#pragma unroll
      for (int k = 0; k < 2; k++) {
        const int c = column0 + j + k;
        if (c >= columns) continue;
        const int image = c / out_plane, o = c - image * out_plane;
        to[(static_cast<long long>(image) * s.filters + group * filters + f) * out_plane + o] = from_float<std::remove_reference_t<decltype(*to)>>(k == 0 ? x : y);
      }
    });
  };
  if (splits > 1) store(shares + static_cast<long long>(split) * s.filters * columns);
  else store(out);
}

}  // namespace

#define CONVOLUTION(T, TILE, WM, WN, AXES)                                                                                                              \
  extern "C" __global__ void __launch_bounds__(WM * WN * 32, TILE == 64 ? 4 : 2) convolution_mma_##T##_##TILE##_##AXES(const T* x, const T* weight, T* out, const ConvSizes s, float* shares, int splits) { \
    convolve<T, TILE, WM, WN, AXES>(x, weight, out, s, shares, splits);                                                                                                 \
  }
#define CONVOLUTIONS(T) \
  CONVOLUTION(T, 64, 2, 2, 1) CONVOLUTION(T, 64, 2, 2, 2) CONVOLUTION(T, 64, 2, 2, 3) CONVOLUTION(T, 128, 2, 4, 1) CONVOLUTION(T, 128, 2, 4, 2) CONVOLUTION(T, 128, 2, 4, 3)
CONVOLUTIONS(f16)
CONVOLUTIONS(bf16)
