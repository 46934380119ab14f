// Convolutions of f16 and bf16 on Hopper's tensor cores by wgmma (sm_90a), as products without the matrix: out[f, c] = sum over l of filter[f, l] * window[l, c], c over the
// outputs of all images. It reads what convolution_pack.cu writes, where the channels of a position lie side by side and padding is there: what a window adds to a stage of
// the sum are whole pieces of 8 or 4 channels, which each thread copies asynchronously. Stages of 64 elements lie in a ring; two warp groups multiply one while the next are on
// their way. Where tiles are few, shares of the sum go to f32 sums of their own, which matmul_join adds up (matmul_parts.cu).
//   convolution_wgmma_<t>_<filters>x<outputs of a tile>x<stages>_<channels of a piece>
#include "common/early.cuh"
#include "common/wgmma_pair.cuh"
#include "convolution.h"

namespace {

#ifdef OPSCOPE_WGMMA

constexpr int THREADS = 256, ROW = 128, ROWS = THREADS / 8;  // bytes of the sum in a stage; rows that the threads copy at a time

// Where a piece of the sum lies in its window: channel within a run, element of the kernel, run.
struct Place {
  int at, channel, w, h, d, run;

  __device__ __forceinline__ Place(const PackedConv& s, const ConvDivisors& by, int piece) : at(piece) {
    const int tap = by.run.quotient(piece), row = by.kernel_width.quotient(tap), slab = by.kernel_height.quotient(row);
    channel = piece - tap * s.run;
    w = tap - row * s.kernel_width;
    h = row - slab * s.kernel_height;
    run = by.kernel_depth.quotient(slab);
    d = slab - run * s.kernel_depth;
  }
  __device__ __forceinline__ unsigned offset(const PackedConv& s) const { return d * s.tap_depth + h * s.tap_height + w * s.tap_width + run * s.run + channel; }
  // By as many pieces as `step` is the number of, without the divisions.
  __device__ __forceinline__ void advance(const PackedConv& s, const Place& step) {
    at += step.at;
    channel += step.channel;
    w += step.w;
    h += step.h;
    d += step.d;
    run += step.run;
    if (channel >= s.run) channel -= s.run, w++;
    if (w >= s.kernel_width) w -= s.kernel_width, h++;
    if (h >= s.kernel_height) h -= s.kernel_height, d++;
    if (d >= s.kernel_depth) d -= s.kernel_depth, run++;
  }
};

template <bool VALUE>
struct Choice {
  static constexpr bool value = VALUE;
};
template <class T>
__device__ T pointee(T*);

// Copies BYTES, of which only `bytes` are read and the rest are zeros. SHARED: through the first cache, for pieces that share their lines with those of other threads.
template <int BYTES, bool SHARED>
__device__ __forceinline__ void copy_piece(uint32_t to, const void* from, int bytes) {
  if constexpr (BYTES == 8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(bytes));
  else if constexpr (SHARED) asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes));
  else copy_async_16(to, from, bytes);
}

// Writes the sums that lie in shared memory, rows of BN + 8, to their planes: V outputs at a time. `places`: where the outputs of the first filter lie, -1 beyond the last.
template <int V, int BN, class T>
__device__ __forceinline__ void store_rows(const T* sums, const long long* places, T* to, int rows, long long plane) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int c = lane * V; c < BN; c += 32 * V) {
    const long long place = places[c];
    if (place < 0) continue;
    T* out = to + place + warp * plane;
    const T* from = sums + warp * (BN + 8) + c;
#pragma unroll 4
    for (int r = warp; r < rows; r += THREADS / 32, out += THREADS / 32 * plane, from += THREADS / 32 * (BN + 8)) {
      if constexpr (V * sizeof(T) == 16) *reinterpret_cast<uint4*>(out) = *reinterpret_cast<const uint4*>(from);
      else if constexpr (V * sizeof(T) == 8) *reinterpret_cast<uint2*>(out) = *reinterpret_cast<const uint2*>(from);
      else if constexpr (V * sizeof(T) == 4) *reinterpret_cast<uint32_t*>(out) = *reinterpret_cast<const uint32_t*>(from);
      else *out = *from;
    }
  }
}

#endif

// A tile of BM filters by BN outputs: a warp group has 64 filters and all outputs where there are 128 filters, else half of the outputs. grid: (tiles, those of filters first; groups *
// splits). `shares`: sums of each share, [splits] outputs, where there are several.
template <class T, int BM, int BN, int STAGES, int GRAIN>
__device__ __forceinline__ void convolve(const T* __restrict__ x, const T* __restrict__ filters, T* __restrict__ out, const PackedConv& s, const ConvDivisors& by, float* __restrict__ shares, int splits, int tiles) {
#ifdef OPSCOPE_WGMMA
  constexpr int SIDES = BM / 64, WIDTH = SIDES == 2 ? BN : BN / 2, SUMS = WIDTH / 2, A_BYTES = BM * ROW, BYTES = (BM + BN) * ROW, PIECES = 8 / GRAIN, STEP = 8 * PIECES;
  static_assert(BN % ROWS == 0 && BN <= THREADS);
  extern __shared__ __align__(1024) char shared[];
  __shared__ long long places[BN];
  const uint32_t base = (shared_address(shared) + 1023) & ~1023u;  // swizzled tiles repeat every 1024 bytes
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, group = blockIdx.y / splits, split = blockIdx.y % splits;
  const int filter0 = static_cast<int>(blockIdx.x % tiles) * BM, column0 = static_cast<int>(blockIdx.x / tiles) * BN;
  const int all = (s.terms + STEP - 1) / STEP, each = (all + splits - 1) / splits, first = split * each, steps = min(each, all - first);

  if (thread < BN) {
    const int c = column0 + thread, image = by.plane.quotient(c);
    places[thread] = c < s.columns ? (static_cast<long long>(image) * s.groups + group) * s.filters * s.plane + (c - image * s.plane) : -1;
  }
  // This thread copies one 16-byte chunk of every ROWS-th row. Past the last output: that one again, whose sum is not written.
  const int chunk = thread % 8, row = thread / 8;
  const uint32_t to = base + row * ROW + (chunk ^ (row & 7)) * 16;
  const int batch = by.plane.quotient(s.columns);
  unsigned origin[BN / ROWS];
#pragma unroll
  for (int i = 0; i < BN / ROWS; i++) {
    const int c = min(column0 + row + i * ROWS, s.columns - 1), image = by.plane.quotient(c), o = c - image * s.plane, d = by.area.quotient(o), in_area = o - d * s.area, h = by.width.quotient(in_area), w = in_area - h * s.width;
    origin[i] = (static_cast<unsigned>(group) * batch + image) * s.image + d * s.stride_depth * s.slab + h * s.stride_height * s.line + w * s.stride_width * s.pieces;
  }
  const char* const windows = reinterpret_cast<const char*>(x);
  const char* from_filters = reinterpret_cast<const char*>(filters + (static_cast<long long>(group) * s.filters + filter0 + row) * s.pitch * GRAIN) + (static_cast<long long>(first) * 8 + chunk) * 16;
  const long long filter_rows = static_cast<long long>(ROWS) * s.pitch * GRAIN * 2;
  const int filters_left = s.filters - filter0 - row;
  const Place step(s, by, STEP);
  Place place = Place(s, by, first * STEP + chunk * PIECES), second = Place(s, by, first * STEP + chunk * PIECES + PIECES - 1);

  const auto load = [&](int stage) {
    const uint32_t a = to + stage * BYTES, b = a + A_BYTES;
    const int valid = min(16, max(0, (s.terms - place.at) * GRAIN * 2));
#pragma unroll
    for (int i = 0; i < BM / ROWS; i++) {
      const int bytes = i * ROWS < filters_left ? valid : 0;
      copy_async_16(a + i * ROWS * ROW, bytes > 0 ? from_filters + i * filter_rows : reinterpret_cast<const char*>(filters), bytes);
    }
    from_filters += ROW;
    const unsigned offset = valid > 0 ? place.offset(s) : 0;
    const int bytes = min(valid, GRAIN * 2);
    const auto copy_windows = [&](auto shares_lines) {
#pragma unroll
      for (int i = 0; i < BN / ROWS; i++) copy_piece<GRAIN * 2, decltype(shares_lines)::value>(b + i * ROWS * ROW, windows + static_cast<unsigned long long>(origin[i] + offset) * (GRAIN * 2), bytes);
    };
    if (s.run == STEP) copy_windows(Choice<false>());
    else copy_windows(Choice<true>());
    place.advance(s, step);
    if constexpr (PIECES == 2) {
      const unsigned after = valid > 8 ? second.offset(s) : 0;
#pragma unroll
      for (int i = 0; i < BN / ROWS; i++) copy_piece<8, true>(b + i * ROWS * ROW + 8, windows + static_cast<unsigned long long>(origin[i] + after) * 8, valid - bytes);
      second.advance(s, step);
    }
  };

  wait_for_last();
#pragma unroll
  for (int i = 0; i < STAGES - 2; i++) {
    if (i < steps) load(i);
    copy_commit();
  }
  float sums[SUMS];
  const int side = warp / 4;
  int stage = 0, ahead = STAGES - 2;
  for (int i = 0; i < steps; i++) {
    copy_wait<STAGES - 3>();
    fence_shared_for_async();
    __syncthreads();
    const uint32_t a = base + stage * BYTES + (SIDES == 2 ? side * 64 * ROW : 0), b = base + stage * BYTES + A_BYTES + (SIDES == 2 ? 0 : side * WIDTH * ROW);
    settle(sums);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < 4; k++) WarpGroupProduct<SUMS>::template shared<0>(sums, wgmma_descriptor(a + k * 32, 16, 1024), wgmma_descriptor(b + k * 32, 16, 1024), i + k, T());
    wgmma_commit();
    // All warp groups are done with the stage before the last one: the next goes there.
    if (i + STAGES - 2 < steps) load(ahead);
    copy_commit();
    wgmma_wait<1>();
    if (++stage == STAGES) stage = 0;
    if (++ahead == STAGES) ahead = 0;
  }
  wgmma_wait<0>();
  settle(sums);
  copy_wait<0>();
  __syncthreads();

  // Through shared memory, so that neighbouring lanes write neighbouring outputs.
  const auto store = [&](auto* to_outputs) {
    using To = decltype(pointee(to_outputs));
    To* rows = reinterpret_cast<To*>(shared + (base - shared_address(shared)));
    const int left = min(BM, s.filters - filter0);
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int f = (SIDES == 2 ? side * 64 : 0) + warp % 4 * 16 + half * 8;
      if (f >= left) break;
      To* at = rows + (f + lane / 4) * (BN + 8) + (SIDES == 2 ? 0 : side * WIDTH) + lane % 4 * 2;
#pragma unroll
      for (int j = 0; j < SUMS / 4; j++) {
        const float u = sums[j * 4 + half * 2], v = sums[j * 4 + half * 2 + 1];
        if constexpr (sizeof(To) == 4) *reinterpret_cast<float2*>(at + j * 8) = make_float2(u, v);
        else *reinterpret_cast<uint32_t*>(at + j * 8) = pack_pair(u, v, To());
      }
    }
    __syncthreads();
    To* first_filter = to_outputs + static_cast<long long>(filter0) * s.plane;
    if (s.plane % (16 / sizeof(To)) == 0) store_rows<16 / sizeof(To), BN>(rows, places, first_filter, left, s.plane);
    else if (s.plane % 2 == 0) store_rows<2, BN>(rows, places, first_filter, left, s.plane);
    else store_rows<1, BN>(rows, places, first_filter, left, s.plane);
  };
  if (splits > 1) store(shares + static_cast<long long>(split) * s.groups * s.filters * s.columns);
  else store(out);
#endif
}

}  // namespace

#define CONVOLUTION(T, BM, BN, STAGES, GRAIN, BLOCKS)                                                                                                                                      \
  extern "C" __global__ void __launch_bounds__(256, BLOCKS) convolution_wgmma_##T##_##BM##x##BN##x##STAGES##_##GRAIN(const T* x, const T* filters, T* out, const PackedConv s,                \
                                                                                                                   const ConvDivisors by, float* shares, int splits, int tiles) {            \
    convolve<T, BM, BN, STAGES, GRAIN>(x, filters, out, s, by, shares, splits, tiles);                                                                                                     \
  }
#define CONVOLUTIONS(T, GRAIN)                                                                                                                                 \
  CONVOLUTION(T, 64, 128, 4, GRAIN, 2) CONVOLUTION(T, 64, 128, 8, GRAIN, 1) CONVOLUTION(T, 64, 192, 3, GRAIN, 2) CONVOLUTION(T, 64, 192, 6, GRAIN, 1) \
  CONVOLUTION(T, 128, 128, 3, GRAIN, 2) CONVOLUTION(T, 128, 256, 4, GRAIN, 1)
CONVOLUTIONS(f16, 8)
CONVOLUTIONS(f16, 4)
CONVOLUTIONS(bf16, 8)
CONVOLUTIONS(bf16, 4)
