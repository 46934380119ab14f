// Few filters with a kernel of several elements, or a stride, over many channels, in 16 bits (convolution/taps.h says when): a tensor-core product of each filter's elements with the planes of an image, as they
// lie in memory, gives sums in f32, a row for every element of the kernel; outputs add these up in the order of the kernel.
//   convolution_taps_weight_2    the filters with their channels side by side, zeros behind the last channel and the last row
//   convolution_taps_<t>_<S>     sums of 16 S rows and 128 positions of an image by a block, over a share of the channels
//   convolution_taps_sum_<t>     the outputs
// How to build and run: scripts/gpu/kernels.sh.
#include "common/early.cuh"
#include "common/mma.cuh"
#include "convolution.h"
#include "convolution/taps_task.h"

namespace {

constexpr int THREADS = opscope::cuda::conv_taps_threads, POSITIONS = opscope::cuda::conv_taps_positions, CHANNELS = opscope::cuda::conv_taps_channels, STAGES = opscope::cuda::conv_taps_stages;
constexpr int LINE = opscope::cuda::conv_taps_line, LINE_ROW = opscope::cuda::conv_taps_row, WARPS = THREADS / 32;
static_assert(POSITIONS == WARPS * 16);

__device__ __forceinline__ uint32_t half_at(uint32_t address) {
  uint16_t v;
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(v) : "r"(address));
  return v;
}

template <class T, int S>
__device__ __forceinline__ void taps(const T* __restrict__ x, const T* __restrict__ weight, float* __restrict__ sums, const ConvTapsTask& t) {
  constexpr int ROWS = S * 16, STAGE = CHANNELS * LINE + ROWS * LINE_ROW, LINES = CHANNELS / WARPS;
  extern __shared__ __align__(16) char shared[];
  const uint32_t base = shared_address(shared);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, quad = lane >> 2, mine = lane & 3;
  const int image = blockIdx.x / t.tiles, position0 = (static_cast<int>(blockIdx.x) - image * t.tiles) * POSITIONS, row0 = blockIdx.y * ROWS;
  const T* const from = x + static_cast<long long>(image) * t.channels * t.plane + position0;
  const auto end = reinterpret_cast<unsigned long long>(x + t.elements);
  const T* const rows = weight + static_cast<long long>(row0) * t.padded;
  const int first = blockIdx.z * t.stages, stages = min(first + t.stages, t.padded / CHANNELS), line_bytes = min(POSITIONS, t.plane - position0) * 2;

  // The 16-byte pieces that hold a channel's positions, as they lie in memory.
  const auto piece = [&](uint32_t to, int channel, int number) {
    const auto start = reinterpret_cast<unsigned long long>(from + static_cast<long long>(channel) * t.plane), at = (start & ~15ull) + number * 16;
    const bool there = channel < t.channels && at < end && at < start + line_bytes;
    copy_async_16(to + number * 16, there ? reinterpret_cast<const void*>(at) : x, there ? static_cast<int>(min(16ull, end - at)) : 0);
  };
  const auto load = [&](int stage) {
    if (stage < stages) {
      const uint32_t to = base + stage % STAGES * STAGE;
#pragma unroll
      for (int i = 0; i < LINES; i += 2) {
        const int line = warp * LINES + i + lane / 16;
        piece(to + line * LINE, stage * CHANNELS + line, lane % 16);
      }
      if (warp == 0) piece(to + lane * LINE, stage * CHANNELS + lane, 16);
      for (int e = threadIdx.x; e < ROWS * (CHANNELS / 8); e += THREADS) {
        const int row = e / (CHANNELS / 8), part = e % (CHANNELS / 8);
        copy_async_16(to + CHANNELS * LINE + row * LINE_ROW + part * 16, rows + static_cast<long long>(row) * t.padded + stage * CHANNELS + part * 8, 16);
      }
    }
    copy_commit();
  };
  wait_for_last();  // the weights
  for (int stage = first; stage < first + STAGES - 1; stage++) load(stage);
  // Channels eight apart start equally far behind 16 bytes.
  const auto behind = [&](int channel) { return static_cast<uint32_t>(reinterpret_cast<unsigned long long>(from + static_cast<long long>(channel) * t.plane) & 15); };
  const uint32_t even = 2 * mine * LINE + behind(2 * mine) + (warp * 16 + quad) * 2, odd = (2 * mine + 1) * LINE + behind(2 * mine + 1) + (warp * 16 + quad) * 2;
  const uint32_t fragment = CHANNELS * LINE + (lane % 16) * LINE_ROW + lane / 16 * 16;
  float acc[S][2][4] = {};
  for (int stage = first; stage < stages; stage++) {
    copy_wait<STAGES - 2>();
    __syncthreads();
    load(stage + STAGES - 1);
    const uint32_t at = base + stage % STAGES * STAGE;
#pragma unroll
    for (int step = 0; step < CHANNELS / 16; step++) {
      uint32_t b[2][2];
#pragma unroll
      for (int j = 0; j < 2; j++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
          const uint32_t there = at + (step * 16 + half * 8) * LINE + j * 16;
          b[j][half] = half_at(there + even) | half_at(there + odd) << 16;
        }
#pragma unroll
      for (int i = 0; i < S; i++) {
        uint32_t a[4];
        ldmatrix(a, at + fragment + i * 16 * LINE_ROW + step * 32);
#pragma unroll
        for (int j = 0; j < 2; j++) mma(acc[i][j], a, b[j][0], b[j][1], T());
      }
    }
  }
  copy_wait<0>();
  next_may_start();
#pragma unroll
  for (int i = 0; i < S; i++)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int row = row0 + i * 16 + half * 8 + quad;
      if (row >= t.rows) continue;
      float* const to = sums + blockIdx.z * t.share + (static_cast<long long>(image) * t.rows + row) * t.pitch;
#pragma unroll
      for (int j = 0; j < 2; j++) {
        const int position = position0 + warp * 16 + j * 8 + mine * 2;
        if (position < t.plane) *reinterpret_cast<float2*>(to + position) = make_float2(acc[i][j][half * 2], acc[i][j][half * 2 + 1]);
      }
    }
}

// A thread for each output.
template <class T>
__device__ __forceinline__ void sum(const float* __restrict__ sums, T* __restrict__ out, const ConvSizes& s, int outputs, int pitch, int shares, long long share) {
  wait_for_last();
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= outputs) return;
  const unsigned row = static_cast<unsigned>(i) / static_cast<unsigned>(s.width.output), layer = row / static_cast<unsigned>(s.height.output), filter = layer / static_cast<unsigned>(s.depth.output);
  const int w0 = static_cast<int>(i - row * s.width.output) * s.stride - s.width.padding, h0 = static_cast<int>(row - layer * s.height.output) * s.stride - s.height.padding,
            d0 = static_cast<int>(layer - filter * s.depth.output) * s.stride - s.depth.padding;
  float total = 0;
  for (int part = 0; part < shares; part++) {
    // Rows of an image lie filter by filter.
    const float* from = sums + part * share + static_cast<long long>(filter) * s.depth.kernel * s.height.kernel * s.width.kernel * pitch;
    for (int kd = 0; kd < s.depth.kernel; kd++)
      for (int kh = 0; kh < s.height.kernel; kh++) {
        const int d = d0 + kd * s.dilation, h = h0 + kh * s.dilation;
        const bool met = static_cast<unsigned>(d) < static_cast<unsigned>(s.depth.input) && static_cast<unsigned>(h) < static_cast<unsigned>(s.height.input);
        const float* line = from + (static_cast<long long>(d) * s.height.input + h) * s.width.input;
#pragma unroll 4
        for (int kw = 0; kw < s.width.kernel; kw++, from += pitch, line += pitch) {
          const int w = w0 + kw * s.dilation;
          if (met && static_cast<unsigned>(w) < static_cast<unsigned>(s.width.input)) total += line[w];
        }
      }
  }
  out[i] = from_float<T>(total);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256) convolution_taps_weight_2(const uint16_t* weight, uint16_t* out, int channels, int taps, int rows, int padded, int elements) {
  next_may_start();
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= elements) return;
  const int row = i / padded, channel = i - row * padded, filter = row / taps;
  out[i] = row < rows && channel < channels ? weight[(static_cast<long long>(filter) * channels + channel) * taps + (row - filter * taps)] : uint16_t{0};
}

#define TAPS(T, S)                                                                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(THREADS, S == 8 ? 2 : 3) convolution_taps_##T##_##S(const T* x, const T* weight, float* sums, const __grid_constant__ ConvTapsTask t) { \
    taps<T, S>(x, weight, sums, t);                                                                                                                                                        \
  }
#define ALL(T)                                                                                                                                                                             \
  TAPS(T, 1) TAPS(T, 2) TAPS(T, 4) TAPS(T, 8)                                                                                                                                                \
  extern "C" __global__ void __launch_bounds__(256) convolution_taps_sum_##T(const float* sums, T* out, const ConvSizes s, int outputs, int pitch, int shares, long long share) { \
    sum<T>(sums, out, s, outputs, pitch, shares, share); \
  }
ALL(f16)
ALL(bf16)
