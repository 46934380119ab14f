// Tiles of planes in shared memory, for kernels whose windows lie in one plane each: pooling and depthwise convolutions.
#pragma once
#include "../common/piece.cuh"
#include "../common/vec.cuh"
#include "../pooling.h"

// `vectors` of 16 bytes to shared memory, for all threads of the block.
__device__ __forceinline__ void fetch_tile(uint4* to, const uint4* from, int vectors) {
  __shared__ alignas(8) unsigned long long barrier;
  begin_piece(&barrier, to, from, vectors);
  __syncthreads();
  await_piece(&barrier);
}

// A block has a tile of whole planes, of rows of a plane, or of a part of the only row (pooling/shape.h): one piece of memory, whatever its alignment, and so
// are its outputs. ADAPTIVE: windows divide the plane, so that neighbours share a row or a column at most.
template <class T, bool ADAPTIVE = false>
struct PlaneTile {
  static constexpr int L = LANES<T>;
  const PoolTile& s;
  T* tile;  // what lies before a row is read, and not used
  T* to;    // outputs
  long long plane, out_first;
  int planes, row, rows, col, cols, top, bottom, left, shift, out_shift, count;

  // Fetches the tile.
  __device__ __forceinline__ PlaneTile(const T* __restrict__ x, const PoolTile& sizes, uint4* shared) : s(sizes), tile(reinterpret_cast<T*>(shared) + L) {
    unsigned block = blockIdx.x;
    const int split = static_cast<int>(block % static_cast<unsigned>(s.splits));
    block /= static_cast<unsigned>(s.splits);
    const int band = static_cast<int>(block % static_cast<unsigned>(s.bands));
    plane = static_cast<long long>(block / static_cast<unsigned>(s.bands)) * s.together;
    planes = static_cast<int>(min(static_cast<long long>(s.together), s.planes - plane));
    row = band * s.rows, rows = min(s.rows, s.out_height - row), col = split * s.cols, cols = min(s.cols, s.out_width - col);
    top = planes > 1 ? 0 : first_of<unsigned>(row, s.height, s.out_height, s.stride_down, s.padding_down);
    bottom = planes > 1 ? s.height : end_of<unsigned>(row + rows, s.height, s.out_height, s.stride_down, s.padding_down, s.kernel_down);
    left = s.splits == 1 ? 0 : first_of<unsigned long long>(col, s.width, s.out_width, s.stride, s.padding);
    const int right = s.splits == 1 ? s.width : end_of<unsigned long long>(col + cols, s.width, s.out_width, s.stride, s.padding, s.kernel), lines = planes > 1 ? planes * s.height : bottom - top;
    const long long first = (plane * s.height + top) * s.width + left;
    shift = static_cast<int>(first & (L - 1));
    fetch_tile(shared + 1, reinterpret_cast<const uint4*>(x + (first - shift)), (shift + (lines - 1) * s.width + right - left + L - 1) / L);
    out_first = (plane * s.out_height + row) * s.out_width + col;
    out_shift = static_cast<int>(out_first & (L - 1));
    count = planes > 1 ? planes * s.out_height * s.out_width : (rows - 1) * s.out_width + cols;
    to = tile + s.out_at + out_shift;
  }

  // Where the window of output `o` of an axis begins in the input, and where the window before that one ends. I: what holds the product of both extents.
  template <class I>
  static __device__ __forceinline__ int first_of(int o, int input, int output, int stride, int padding) {
    return ADAPTIVE ? static_cast<int>(static_cast<I>(o) * static_cast<I>(input) / static_cast<I>(output)) : max(0, o * stride - padding);
  }
  template <class I>
  static __device__ __forceinline__ int end_of(int o, int input, int output, int stride, int padding, int kernel) {
    return ADAPTIVE ? static_cast<int>((static_cast<I>(o) * static_cast<I>(input) + static_cast<I>(output - 1)) / static_cast<I>(output)) : min(input, (o - 1) * stride - padding + kernel);
  }

  // f(plane of the tile, first of `end` rows of outputs, column, column of the input where its windows begin, element of the tile where row 0 of the plane would) for each
  // column of windows of a thread.
  template <class F>
  __device__ __forceinline__ void each_column(F f) const {
    const int chunks = (rows + s.chunk - 1) / s.chunk, items = planes * chunks * cols;
    for (int item = threadIdx.x; item < items; item += blockDim.x) {
      int p = 0, chunk = 0, c = item;
      if (items > cols) {
        chunk = static_cast<int>(static_cast<unsigned>(item) / static_cast<unsigned>(cols));
        c = item - chunk * cols;
        if (planes > 1) {
          p = chunks == 1 ? chunk : static_cast<int>(static_cast<unsigned>(chunk) / static_cast<unsigned>(chunks));
          chunk -= p * chunks;
        }
      }
      const int from = chunk * s.chunk, x0 = (col + c) * s.stride - s.padding;
      f(p, from, min(rows, from + s.chunk), c, x0, (p * s.height - top) * s.width + shift + x0 - left);
    }
  }

  // Writes the outputs, whole vectors where they are.
  __device__ __forceinline__ void store(T* __restrict__ out) const {
    __syncthreads();
    const int head = min(count, (L - out_shift) & (L - 1)), done = head + (count - head) / L * L;
    T* const target = out + out_first;
#pragma unroll 4
    for (int i = head + static_cast<int>(threadIdx.x) * L; i < done; i += blockDim.x * L) store16(target + i, load16(to + i));
    if (static_cast<int>(threadIdx.x) < head) target[threadIdx.x] = to[threadIdx.x];
    if (static_cast<int>(threadIdx.x) < count - done) target[done + threadIdx.x] = to[done + threadIdx.x];
  }
};
