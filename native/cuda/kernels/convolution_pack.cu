// What the kernels of convolution_wgmma.cu read: positions with their channels side by side instead of one plane after another, and filters in the order of their sums.
// convolution_pack_<channels of a piece>, for f16 and bf16: padding and missing channels become zeros.
#include "common/early.cuh"
#include "common/vec.cuh"
#include "convolution/packing.h"

namespace {

constexpr int THREADS = 256;

template <int GRAIN>
__device__ __forceinline__ void store_piece(uint16_t* to, const uint16_t (&v)[GRAIN]) {
  uint32_t w[GRAIN / 2];
#pragma unroll
  for (int j = 0; j < GRAIN / 2; j++) w[j] = v[2 * j] | static_cast<uint32_t>(v[2 * j + 1]) << 16;
  if constexpr (GRAIN == 8) *reinterpret_cast<uint4*>(to) = make_uint4(w[0], w[1], w[2], w[3]);
  else *reinterpret_cast<uint2*>(to) = make_uint2(w[0], w[1]);
}

// Where a packed position lies in a plane of the input, -1 for padding.
__device__ __forceinline__ long long place_of(const ConvSizes& s, const ConvPacking& p, const ConvPackDivisors& by, int position) {
  const int row = by.width.quotient(position), layer = by.height.quotient(row);
  const int w = (position - row * p.padded_width) * p.step_width - s.width.padding, h = (row - layer * p.padded_height) * p.step_height - s.height.padding, d = layer * p.step_depth - s.depth.padding;
  const bool inside = static_cast<unsigned>(w) < static_cast<unsigned>(s.width.input) && static_cast<unsigned>(h) < static_cast<unsigned>(s.height.input) && static_cast<unsigned>(d) < static_cast<unsigned>(s.depth.input);
  return inside ? (static_cast<long long>(d) * s.height.input + h) * s.width.input + w : -1;
}

// Where it lies from the channels of the first image on. Positions of `images` follow each other.
__device__ __forceinline__ long long place_in_images(const ConvSizes& s, const ConvPacking& p, const ConvPackDivisors& by, unsigned position, unsigned padded, unsigned all, long long in_plane) {
  if (position >= all) return -1;
  const unsigned image = by.image.quotient(static_cast<int>(position));
  const long long place = place_of(s, p, by, static_cast<int>(position - image * padded));
  return place < 0 ? -1 : static_cast<long long>(image) * s.channels * in_plane + place;
}

// Up to four channels: several positions of a thread, a block apart.
__device__ __forceinline__ void pack_few(const uint16_t* __restrict__ source, uint16_t* __restrict__ to, const ConvSizes& s, const ConvPacking& p, const ConvPackDivisors& by, unsigned first, unsigned padded, unsigned all, long long in_plane) {
  constexpr int U = 4;
  uint16_t v[U][4];
#pragma unroll
  for (int u = 0; u < U; u++) {
    const long long place = place_in_images(s, p, by, first + u * THREADS + threadIdx.x, padded, all, in_plane);
#pragma unroll
    for (int c = 0; c < 4; c++) v[u][c] = place >= 0 && c < p.channels ? source[c * in_plane + place] : uint16_t{0};
  }
#pragma unroll
  for (int u = 0; u < U; u++)
    if (const unsigned position = first + u * THREADS + threadIdx.x; position < all) store_piece<4>(to + static_cast<long long>(position) * 4, v[u]);
}

// A tile of channels and positions: a thread has pieces of a position, which go through shared memory, so that neighbouring lanes write neighbouring pieces.
template <int GRAIN>
__device__ __forceinline__ void pack_input(const uint16_t* __restrict__ x, uint16_t* __restrict__ to, const ConvSizes& s, const ConvPacking& p, const ConvPackDivisors& by, int pieces, uint4* tile) {
  const int t = threadIdx.x, block = static_cast<int>(blockIdx.x), run = by.tiles_positions.quotient(block), part = by.tiles_channels.quotient(run);
  const unsigned first = static_cast<unsigned>(block - run * static_cast<int>(p.tiles_positions)) << p.position_bits, padded = static_cast<unsigned>(p.padded_depth) * p.padded_height * p.padded_width, all = padded * p.images;
  const int channel0 = (run - part * p.tiles_channels) * p.tile_channels;
  const long long in_plane = static_cast<long long>(s.depth.input) * s.height.input * s.width.input;
  // Images of a group after one another, those of a group of the input beside each other.
  const int group = by.parts.quotient(part), image = part - group * (s.batch / p.images);
  const uint16_t* source = x + ((static_cast<long long>(image) * s.groups + group) * p.channels + channel0) * in_plane;
  to += static_cast<long long>(part) * all * pieces * GRAIN;
  if constexpr (GRAIN == 4) {
    pack_few(source, to, s, p, by, first, padded, all, in_plane);
  } else {
    const int positions = 1 << p.position_bits, own = t & (positions - 1), across = p.tile_channels / GRAIN, pitch = conv_pack_pitch(across), piece0 = channel0 / GRAIN;
    const long long place = place_in_images(s, p, by, first + own, padded, all, in_plane);
    const int channels = place >= 0 ? min(p.tile_channels, p.channels - channel0) : 0;
    source += place;
#pragma unroll 2
    for (int piece = t >> p.position_bits; piece < across; piece += THREADS >> p.position_bits) {
      const uint16_t* const from = source + piece * GRAIN * in_plane;
      uint16_t v[GRAIN];
#pragma unroll
      for (int j = 0; j < GRAIN; j++) v[j] = piece * GRAIN + j < channels ? from[j * in_plane] : uint16_t{0};
      store_piece<GRAIN>(reinterpret_cast<uint16_t*>(tile + own * pitch + piece), v);
    }
    __syncthreads();
    uint4* const written = reinterpret_cast<uint4*>(to) + static_cast<long long>(first) * pieces + piece0;
    const int most = static_cast<int>(min(all - first, static_cast<unsigned>(positions))), there = min(across, pieces - piece0);
    for (int i = t; i < across << p.position_bits; i += THREADS) {
      const int at = by.tile_pieces.quotient(i), piece = i - at * across;
      if (at < most && piece < there) written[static_cast<long long>(at) * pieces + piece] = tile[at * pitch + piece];
    }
  }
}

// Several whole filters, or some channels of one, which lie together. Pieces that only fill up a run stay as the workspace was made, zero.
template <int GRAIN>
__device__ __forceinline__ void pack_filters(const uint16_t* __restrict__ weight, uint16_t* __restrict__ to, const ConvSizes& s, const ConvPacking& p, const PackedConv& c, uint16_t* part) {
  const int block = static_cast<int>(blockIdx.x - p.input_blocks), first = block / p.filter_parts * p.block_filters, channel0 = block % p.filter_parts * p.block_channels;
  const int filters = min(p.block_filters, s.filters - first), channels = min(p.block_channels, p.channels - channel0), elements = filters * channels * p.taps;
  const uint16_t* source = weight + (static_cast<long long>(first) * p.channels + channel0) * p.taps;
#pragma unroll 8
  for (int i = threadIdx.x; i < elements; i += THREADS) part[i] = source[i];
  __syncthreads();
  const int pieces = (channels + GRAIN - 1) / GRAIN, each = pieces * p.taps;
  for (int i = threadIdx.x; i < filters * each; i += THREADS) {
    const int filter = i / each, term = i - filter * each, tap = term / pieces, piece = term - tap * pieces;
    const uint16_t* from = part + (filter * channels + piece * GRAIN) * p.taps + tap;
    uint16_t v[GRAIN];
#pragma unroll
    for (int j = 0; j < GRAIN; j++) v[j] = piece * GRAIN + j < channels ? from[j * p.taps] : uint16_t{0};
    const int all = channel0 / GRAIN + piece, of_run = all / c.run;
    store_piece<GRAIN>(to + (static_cast<long long>(first + filter) * c.pitch + (static_cast<long long>(of_run) * p.taps + tap) * c.run + (all - of_run * c.run)) * GRAIN, v);
  }
}

template <int GRAIN>
__device__ __forceinline__ void pack(const uint16_t* __restrict__ x, const uint16_t* __restrict__ weight, uint16_t* __restrict__ packed_x, uint16_t* __restrict__ packed_weight, const ConvSizes& s,
                                     const ConvPacking& p, const ConvPackDivisors& by, const PackedConv& c) {
  __shared__ uint4 shared[conv_pack_elements / 8];
  next_may_start();
  if (blockIdx.x < p.input_blocks) pack_input<GRAIN>(x, packed_x, s, p, by, c.pieces, shared);
  else pack_filters<GRAIN>(weight, packed_weight, s, p, c, reinterpret_cast<uint16_t*>(shared));
}

}  // namespace

#define PACK(GRAIN)                                                                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(THREADS) convolution_pack_##GRAIN(const uint16_t* x, const uint16_t* weight, uint16_t* packed_x, uint16_t* packed_weight, const ConvSizes s, \
                                                                                 const ConvPacking p, const ConvPackDivisors by, const PackedConv c) {                                     \
    pack<GRAIN>(x, weight, packed_x, packed_weight, s, p, by, c);                                                                                                                          \
  }
PACK(8)
PACK(4)
