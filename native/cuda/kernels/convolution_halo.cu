// Convolutions of f16 and bf16 with few filters, by mma.sync (convolution/halo.h says when). It reads what convolution_pack.cu writes. A block has a tile of outputs, and all filters of a group or 64 of them; what the windows of the
// tile meet of some channels at one depth of the kernel lies in shared memory once, and each element of the kernel reads it from another place. Two stages take turns: one is copied while the other is multiplied.
//   convolution_halo_<t>_<E>   up to 8 * E filters
// How to build and run: scripts/gpu/kernels.sh.
#include "common/early.cuh"
#include "common/mma.cuh"
#include "convolution.h"
#include "convolution/halo_task.h"

using opscope::cuda::ConvHalo;

namespace {

constexpr int THREADS = opscope::cuda::conv_halo_threads, WARPS = THREADS / 32, OUTPUTS = opscope::cuda::conv_halo_outputs, STEPS = opscope::cuda::conv_halo_most_steps, SIXTEENS = OUTPUTS / WARPS / 16;

__device__ __forceinline__ void ldmatrix_two(uint32_t (&r)[4], uint32_t address) { asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(address)); }

// grid: tiles, those of filters first; groups. Shared memory: two stages, each of positions and of filters of each element of the kernel's layer.
template <class T, int EIGHTS>
__device__ __forceinline__ void convolve(const T* __restrict__ x, const T* __restrict__ filters, T* __restrict__ out, const PackedConv& s, const ConvHalo& t) {
  constexpr int F = EIGHTS * 8, PAIRS = (EIGHTS + 1) / 2, STORED = PAIRS * 16, LINE = OUTPUTS + 8;
  extern __shared__ __align__(16) char memory[];
  __shared__ long long places[OUTPUTS];
  __shared__ int2 offsets[STEPS];
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, group = blockIdx.y;
  const int tile = static_cast<int>(blockIdx.x) / t.filter_tiles, f0 = (static_cast<int>(blockIdx.x) - tile * t.filter_tiles) * F, of_rows = tile / t.across, of_layers = of_rows / t.down;
  const int ow0 = (tile - of_rows * t.across) * t.cols, oh0 = (of_rows - of_layers * t.down) * t.rows, layer0 = of_layers * t.layers;
  const int positions = t.layers * t.lines * t.line, taps = s.kernel_height * s.kernel_width, pieces = 1 << t.piece_bits, deep = pieces / 2, steps = taps * deep, left = min(F, s.filters - f0);
  const int positions_bytes = positions * t.pitch, stage_bytes = positions_bytes + taps * STORED * t.pitch, plane = t.rows * t.cols;

  // Where an output of the tile lies within it.
  struct At {
    int layer, row, col;
  };
  const auto at_of = [&](int m) {
    const int layer = divided(m, t.by_plane), in_layer = m - layer * plane, row = divided(in_layer, t.by_cols);
    return At{layer, row, in_layer - row * t.cols};
  };
  for (int m = thread; m < OUTPUTS; m += THREADS) {
    const At a = at_of(m);
    const int layer = layer0 + a.layer, image = divided(layer, t.by_depth), row = oh0 + a.row, col = ow0 + a.col;
    const bool there = a.layer < t.layers && layer < t.all_layers && row < t.height && col < s.width;
    places[m] = there ? ((static_cast<long long>(image) * s.groups + group) * s.filters + f0) * s.plane + (layer - image * t.depth) * s.area + row * s.width + col : -1;
  }
  for (int i = thread; i < steps; i += THREADS) {
    const int tap = i / deep, k = i - tap * deep, h = tap / s.kernel_width, w = tap - h * s.kernel_width;
    offsets[i] = make_int2((h * t.tap_height * t.line + w * t.tap_width) * t.pitch + k * 32, tap * STORED * t.pitch + k * 32);
  }
  // Where a position of the tile lies in the packed input, in pieces; beyond the last one of a row, a column or all layers that one again, whose outputs are not written.
  unsigned* const sources = reinterpret_cast<unsigned*>(memory + 2 * stage_bytes);
  for (int i = thread; i < positions; i += THREADS) {
    const int line = divided(i, t.by_line), of_layer = divided(line, t.by_lines), layer = min(layer0 + of_layer, t.all_layers - 1), image = divided(layer, t.by_depth), d = (layer - image * t.depth) * s.stride_depth;
    const int h = min(oh0 * s.stride_height + line - of_layer * t.lines, t.in_height - 1), w = min(ow0 * s.stride_width + i - line * t.line, t.in_width - 1);
    sources[i] = static_cast<unsigned>(group * t.batch + image) * s.image + d * s.slab + h * s.line + static_cast<unsigned>(w) * s.pieces;
  }
  const uint32_t base = shared_address(memory);
  uint32_t rows[SIXTEENS];
#pragma unroll
  for (int i = 0; i < SIXTEENS; i++) {
    At a = at_of((warp * SIXTEENS + i) * 16 + lane % 16);
    if (a.layer >= t.layers) a = {0, 0, 0};
    rows[i] = base + ((a.layer * t.lines + a.row * s.stride_height) * t.line + a.col * s.stride_width) * t.pitch + lane / 16 * 16;
  }
  const uint32_t columns = base + positions_bytes + (lane / 16 * 8 + lane % 8) * t.pitch + lane / 8 % 2 * 16;

  const char* const input = reinterpret_cast<const char*>(x);
  const char* const weights = reinterpret_cast<const char*>(filters);
  const int all_taps = taps * s.kernel_depth, stages = s.pieces / s.run * t.parts * s.kernel_depth;
  int run = 0, part = 0, depth = 0;  // of the stage that is copied next
  const auto fill = [&](int stage) {
    const uint32_t to = base + stage % 2 * stage_bytes;
    const int piece0 = part * pieces, there = min(pieces, s.run - piece0);
    const char* const from_input = input + (static_cast<long long>(depth * t.tap_depth) * s.slab + run * s.run + piece0) * 16;
#pragma unroll 4
    for (int i = thread; i < positions << t.piece_bits; i += THREADS) {
      const int position = i >> t.piece_bits, piece = i & (pieces - 1);
      const bool valid = piece < there;
      copy_async_16(to + position * t.pitch + piece * 16, from_input + (valid ? static_cast<unsigned long long>(sources[position] + piece) * 16 : 0), valid ? 16 : 0);
    }
    const uint32_t to_filters = to + positions_bytes;
    const char* const from_filters = weights + (static_cast<long long>(group * s.filters + f0) * s.pitch + (static_cast<long long>(run) * all_taps + depth * taps) * s.run + piece0) * 16;
#pragma unroll 4
    for (int i = thread; i < taps * STORED << t.piece_bits; i += THREADS) {
      const int piece = i & (pieces - 1), row = i >> t.piece_bits, tap = row / STORED, f = row - tap * STORED;
      const bool valid = piece < there && f < left;
      copy_async_16(to_filters + row * t.pitch + piece * 16, from_filters + (valid ? static_cast<unsigned long long>(static_cast<unsigned>(f) * s.pitch + tap * s.run + piece) * 16 : 0), valid ? 16 : 0);
    }
    if (++depth == s.kernel_depth) {
      depth = 0;
      if (++part == t.parts) part = 0, run++;
    }
  };

  __syncthreads();  // sources, places and offsets are there
  wait_for_last();
  fill(0);
  copy_commit();
  float sum[SIXTEENS][EIGHTS][4] = {};
  for (int stage = 0; stage < stages; stage++) {
    if (stage + 1 < stages) fill(stage + 1);
    copy_commit();
    copy_wait<1>();
    __syncthreads();
    const int from = stage % 2 * stage_bytes;
    uint32_t a[2][SIXTEENS][4], b[2][PAIRS][4];
    const auto load = [&](int i, int turn) {
      const int2 offset = offsets[i];
#pragma unroll
      for (int j = 0; j < SIXTEENS; j++) ldmatrix(a[turn][j], rows[j] + from + offset.x);
#pragma unroll
      for (int j = 0; j < PAIRS; j++) {
        const uint32_t at = columns + from + offset.y + j * (16 * t.pitch);
        if (EIGHTS % 2 == 1 && j == PAIRS - 1) ldmatrix_two(b[turn][j], at);
        else ldmatrix(b[turn][j], at);
      }
    };
    const auto multiply = [&](int turn) {
#pragma unroll
      for (int e = 0; e < EIGHTS; e++)
#pragma unroll
        for (int j = 0; j < SIXTEENS; j++) mma(sum[j][e], a[turn][j], b[turn][e / 2][e % 2 * 2], b[turn][e / 2][e % 2 * 2 + 1], T());
    };
    load(0, 0);
    int i = 0;
    for (; i + 2 < steps; i += 2) {
      load(i + 1, 1);
      multiply(0);
      load(i + 2, 0);
      multiply(1);
    }
    if (i + 1 < steps) load(i + 1, 1);
    multiply(0);
    if (i + 1 < steps) multiply(1);
    __syncthreads();
  }

  // Through shared memory, so that neighbouring lanes write neighbouring outputs.
  T* const staged = reinterpret_cast<T*>(memory);
#pragma unroll
  for (int j = 0; j < SIXTEENS; j++)
#pragma unroll
    for (int e = 0; e < EIGHTS; e++)
#pragma unroll
      for (int v = 0; v < 4; v++) staged[(e * 8 + lane % 4 * 2 + v % 2) * LINE + (warp * SIXTEENS + j) * 16 + lane / 4 + v / 2 * 8] = from_float<T>(sum[j][e][v]);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < OUTPUTS / 32; i++) {
    const long long place = places[i * 32 + lane];
    if (place < 0) continue;
    for (int f = warp; f < left; f += WARPS) out[place + static_cast<long long>(f) * s.plane] = staged[f * LINE + i * 32 + lane];
  }
}

}  // namespace

#define HALO(T, EIGHTS) \
  extern "C" __global__ void __launch_bounds__(THREADS, 2) convolution_halo_##T##_##EIGHTS(const T* x, const T* filters, T* out, const PackedConv s, const ConvHalo t) { convolve<T, EIGHTS>(x, filters, out, s, t); }
#define ALL(T) HALO(T, 1) HALO(T, 2) HALO(T, 3) HALO(T, 4) HALO(T, 6) HALO(T, 8)
ALL(f16)
ALL(bf16)
