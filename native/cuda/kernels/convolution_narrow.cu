// Kernels of one element with few channels of a group, f16 and bf16 (convolution/narrow.h says when): a warp has 64 positions of all images, keeps their channels in registers as operands of the
// tensor cores, and passes over the filters. A thread has eight positions of a row of the product, V of which lie together, so that it reads and writes whole vectors of V elements.
//   convolution_narrow_<t>_<S>_<V>   up to 16 * S channels; V 1: also with a stride
// Where positions are few, blocks share the filters, too.
#include "common/mma.cuh"
#include "convolution.h"

namespace {

constexpr int THREADS = conv_narrow_threads, POSITIONS = conv_narrow_positions, SLOTS = 8;  // of a warp; of a thread

// Elements of a channel at a thread's positions, two in a word.
template <int V>
__device__ __forceinline__ void load_chunk(uint32_t (&words)[SLOTS / 2], int chunk, const uint16_t* from) {
  if constexpr (V == 8) {
    const uint4 v = *reinterpret_cast<const uint4*>(from);
    words[0] = v.x, words[1] = v.y, words[2] = v.z, words[3] = v.w;
  } else if constexpr (V == 4) {
    const uint2 v = *reinterpret_cast<const uint2*>(from);
    words[chunk * 2] = v.x, words[chunk * 2 + 1] = v.y;
  } else if constexpr (V == 2) {
    words[chunk] = *reinterpret_cast<const uint32_t*>(from);
  } else {
    const uint32_t v = *from;
    words[chunk / 2] = chunk % 2 ? words[chunk / 2] | v << 16 : v;
  }
}
template <int V>
__device__ __forceinline__ void store_chunk(uint16_t* to, int chunk, const uint32_t (&words)[SLOTS / 2]) {
  if constexpr (V == 8) *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
  else if constexpr (V == 4) *reinterpret_cast<uint2*>(to) = make_uint2(words[chunk * 2], words[chunk * 2 + 1]);
  else if constexpr (V == 2) *reinterpret_cast<uint32_t*>(to) = words[chunk];
  else *to = static_cast<uint16_t>(chunk % 2 ? words[chunk / 2] >> 16 : words[chunk / 2]);
}

// Writes eight filters of a warp's positions, which follow each other in each filter's plane whatever its alignment: two elements of a lane where they share a word.
__device__ __forceinline__ void store_lines(uint16_t* to, int plane, int filters, const uint16_t* lines, int pitch) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int f = 0; f < 8; f++) {
    if (f >= filters) break;
    uint16_t* const line = to + f * plane;
    const uint16_t* const from = lines + f * pitch;
    if (reinterpret_cast<uintptr_t>(line) % 4 == 0) {
      *reinterpret_cast<uint32_t*>(line + 2 * lane) = *reinterpret_cast<const uint32_t*>(from + 2 * lane);
    } else {
      // The first and the last one by themselves.
      if (lane == 0) line[0] = from[0], line[POSITIONS - 1] = from[POSITIONS - 1];
      else *reinterpret_cast<uint32_t*>(line + 2 * lane - 1) = from[2 * lane - 1] | static_cast<uint32_t>(from[2 * lane]) << 16;
    }
  }
}

// The same where a warp's positions are those of several images: neighbouring lanes store neighbours.
__device__ __forceinline__ void store_apart(uint16_t* to, const int (&place)[2], const bool (&inside)[2], int plane, int filters, const uint16_t* lines, int pitch) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int f = 0; f < 8; f++) {
    if (f >= filters) break;
#pragma unroll
    for (int i = 0; i < 2; i++)
      if (inside[i]) to[place[i] + f * plane] = lines[f * pitch + i * 32 + lane];
  }
}

// grid: blocks that take tiles of positions in turns, groups, parts of `of_part` eights of filters. Shared memory: filters as the second operands of lanes.
template <class T, int STEPS, int V>
__device__ __forceinline__ void narrow(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ out, const ConvSizes& s, const ConvNarrow& c, int of_part) {
  constexpr int CHUNKS = SLOTS / V, WARPS = THREADS / 32;
  constexpr int PITCH = POSITIONS + 2;
  __shared__ __align__(4) uint16_t lines[V == 1 ? WARPS : 1][V == 1 ? 8 * PITCH : 1];
  extern __shared__ uint2 operands[];  // [eights of filters][steps][lane]
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, of_four = lane % 4, of_eight = lane / 4, group = blockIdx.y, first_filter = static_cast<int>(blockIdx.z) * of_part * 8,
            filters = min(c.filters - first_filter, of_part * 8), eights = (filters + 7) / 8, filter0 = group * c.filters + first_filter;
  const uint16_t* const filter = reinterpret_cast<const uint16_t*>(weight) + static_cast<long long>(filter0) * c.terms;
#pragma unroll 8
  for (int i = threadIdx.x; i < eights * STEPS * 32; i += THREADS) {
    const int f = i / (STEPS * 32) * 8 + i % 32 / 4, k = i / 32 % STEPS * 16 + i % 4 * 2;
    const auto pair = [&](int k) {
      const uint32_t low = f < filters && k < c.terms ? filter[f * c.terms + k] : 0, high = f < filters && k + 1 < c.terms ? filter[f * c.terms + k + 1] : 0;
      return low | high << 16;
    };
    operands[i] = make_uint2(pair(k), pair(k + 8));
  }
  __syncthreads();
  const uint16_t* const source = reinterpret_cast<const uint16_t*>(x);
  uint16_t* const target = reinterpret_cast<uint16_t*>(out);
  for (int column0 = (static_cast<int>(blockIdx.x) * WARPS + warp) * POSITIONS; column0 < c.columns; column0 += static_cast<int>(gridDim.x) * WARPS * POSITIONS) {
    int from[CHUNKS], to[CHUNKS];
    bool inside[CHUNKS];
#pragma unroll
    for (int t = 0; t < CHUNKS; t++) {
      const int column = column0 + (t * 8 + of_eight) * V;
      inside[t] = column < c.columns;
      // Past the end: the last position again, which is not written.
      const int at = min(column, c.columns - V), image = c.by_plane.quotient(at), place = at - image * c.plane;
      int met = place;
      if (V == 1 && s.stride > 1) {
        const int d = c.by_area.quotient(place), in_area = place - d * c.area, h = c.by_width.quotient(in_area);
        met = ((d * s.height.input + h) * s.width.input + in_area - h * s.width.output) * s.stride;
      }
      from[t] = (image * s.channels + group * c.channels) * c.in_plane + met;
      to[t] = (image * s.filters + filter0) * c.plane + place;
    }
    // Whether all positions are those of one image.
    const int first = c.by_plane.quotient(column0), line0 = (first * s.filters + filter0) * c.plane + column0 - first * c.plane;
    const bool together = column0 - first * c.plane + POSITIONS <= c.plane;
    // Where a lane stores positions of several images.
    int own_to[2];
    bool own_inside[2];
    if constexpr (V == 1) {
#pragma unroll
      for (int i = 0; i < 2; i++) {
        const int column = column0 + i * 32 + lane, at = min(column, c.columns - 1), image = c.by_plane.quotient(at);
        own_inside[i] = column < c.columns, own_to[i] = (image * s.filters + filter0) * c.plane + at - image * c.plane;
      }
    }
    uint32_t a[STEPS][SLOTS / 2][4];
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
      uint32_t row[4][SLOTS / 2] = {};
#pragma unroll
      for (int r = 0; r < 4; r++) {
        const int k = step * 16 + of_four * 2 + r % 2 + r / 2 * 8;
        const uint16_t* const channel = source + k * c.in_plane;
        if (k < c.terms)
#pragma unroll
          for (int t = 0; t < CHUNKS; t++) load_chunk<V>(row[r], t, channel + from[t]);
      }
#pragma unroll
      for (int w = 0; w < SLOTS / 2; w++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
          a[step][w][half * 2] = __byte_perm(row[half * 2][w], row[half * 2 + 1][w], 0x5410);
          a[step][w][half * 2 + 1] = __byte_perm(row[half * 2][w], row[half * 2 + 1][w], 0x7632);
        }
    }
    for (int j = 0; j < eights; j++) {
      float sum[SLOTS / 2][4] = {};
#pragma unroll
      for (int step = 0; step < STEPS; step++) {
        if (STEPS > 4 && step * 16 >= c.terms) continue;
        const uint2 b = operands[(j * STEPS + step) * 32 + lane];
#pragma unroll
        for (int w = 0; w < SLOTS / 2; w++) mma(sum[w], a[step][w], b.x, b.y, T());
      }
#pragma unroll
      for (int n = 0; n < 2; n++) {
        const int f = j * 8 + of_four * 2 + n;
        uint32_t words[SLOTS / 2];
#pragma unroll
        for (int w = 0; w < SLOTS / 2; w++) words[w] = pack_pair(sum[w][n], sum[w][n + 2], T());
        if (V == 1) {
#pragma unroll
          for (int t = 0; t < CHUNKS; t++) store_chunk<V>(&lines[warp][(of_four * 2 + n) * PITCH + t * 8 + of_eight], t, words);
          continue;
        }
        if (f >= filters) continue;
#pragma unroll
        for (int t = 0; t < CHUNKS; t++)
          if (inside[t]) store_chunk<V>(target + (to[t] + f * c.plane), t, words);
      }
      if (V == 1) {
        __syncwarp();
        if (together) store_lines(target + (line0 + j * 8 * c.plane), c.plane, filters - j * 8, lines[warp], PITCH);
        else store_apart(target + j * 8 * c.plane, own_to, own_inside, c.plane, filters - j * 8, lines[warp], PITCH);
        __syncwarp();
      }
    }
  }
}

}  // namespace

#define NARROW(T, S, V, BLOCKS)                                                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) convolution_narrow_##T##_##S##_##V(const T* x, const T* weight, T* out, const ConvSizes s, const ConvNarrow c, int of_part) { \
    narrow<T, S, V>(x, weight, out, s, c, of_part);                                                                                                                                                       \
  }
#define STEPS(T, V) NARROW(T, 1, V, 8) NARROW(T, 2, V, 6) NARROW(T, 4, V, 4)
#define ALL(T) STEPS(T, 8) STEPS(T, 4) STEPS(T, 2) STEPS(T, 1) NARROW(T, 8, 8, 2) NARROW(T, 8, 4, 2) NARROW(T, 8, 2, 2)
ALL(f16)
ALL(bf16)
