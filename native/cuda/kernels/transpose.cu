// out[c, r] = x[r, c], as bits: _4 and _2 are the bytes of an element. Tiles lie in a grid of two dimensions, the longer along x (`down`: that of the rows), so
// that no block divides.
//   transpose_each_<bytes>             a thread for each element, by its place in the result: little data, where code and a barrier cost more than sectors read twice
//   transpose_<bytes>                  tiles of 64 x 64 elements through shared memory: reads and writes are 128 bytes a warp, or 64 of elements of 2 bytes
//   transpose_2_small, transpose_pairs 32 x 32 elements of 2 bytes; two elements of 2 bytes at a time, where rows and columns are even
//   transpose_<bytes>_vectors          tiles of 64 x 64 or 128 x 128 in vectors both ways
//   transpose_tall_<bytes>, _wide_     up to 12 columns or rows; a block's part of the long side passes through shared memory as it lies
//   transpose_slim_<bytes>, _broad_    up to 80 (4 bytes) or 32 (2 bytes), odd numbers up to 128; words of 4 bytes, and rows in shared memory an odd number of elements apart
#include "common/divide.h"
#include "common/vec.cuh"

namespace {

// Of this block's tile: `down` puts the tiles of a column behind each other.
template <int SIDE>
struct Corner {
  long long top, left;
  __device__ __forceinline__ explicit Corner(int down) : top(static_cast<long long>(down ? blockIdx.x : blockIdx.y) * SIDE), left(static_cast<long long>(down ? blockIdx.y : blockIdx.x) * SIDE) {}
};

template <class U>
__device__ __forceinline__ void transpose_each(const U* __restrict__ x, U* __restrict__ out, int rows, int cols, int n, Divide by_rows) {
  const int i = static_cast<int>(blockIdx.x * 256 + threadIdx.x), c = divided(i, by_rows);
  if (i < n) out[i] = x[(i - c * rows) * cols + c];
}

template <class U, int SIDE>
__device__ __forceinline__ void transpose(const U* __restrict__ x, U* __restrict__ out, long long rows, long long cols, int down) {
  constexpr int PER_LANE = SIDE / 32;
  __shared__ U tile[SIDE][SIDE + 4 / sizeof(U)];
  const long long top = Corner<SIDE>(down).top, left = Corner<SIDE>(down).left;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  // All loads before the first store.
  U v[SIDE / 8][PER_LANE] = {};
#pragma unroll
  for (int r = 0; r < SIDE / 8; r++)
#pragma unroll
    for (int k = 0; k < PER_LANE; k++) {
      const long long row = top + warp + 8 * r, column = left + lane + 32 * k;
      if (row < rows && column < cols) v[r][k] = x[row * cols + column];
    }
#pragma unroll
  for (int r = 0; r < SIDE / 8; r++)
#pragma unroll
    for (int k = 0; k < PER_LANE; k++) tile[warp + 8 * r][lane + 32 * k] = v[r][k];
  __syncthreads();
#pragma unroll
  for (int c = warp; c < SIDE; c += 8)
#pragma unroll
    for (int k = 0; k < PER_LANE; k++) {
      const int r = lane + 32 * k;
      if (left + c < cols && top + r < rows) out[(left + c) * rows + top + r] = tile[r][c];
    }
}

// 64 x 64 elements as 64 rows of 32 pairs.
__device__ __forceinline__ void transpose_of_pairs(const uint16_t* __restrict__ x, uint16_t* __restrict__ out, long long rows, long long cols, int down) {
  __shared__ uint32_t tile[64][33];
  const long long top = Corner<64>(down).top, left = Corner<64>(down).left;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  uint32_t v[8] = {};
#pragma unroll
  for (int r = 0; r < 8; r++)
    if (const long long row = top + warp + 8 * r; row < rows && left + 2 * lane < cols) v[r] = *reinterpret_cast<const uint32_t*>(x + row * cols + left + 2 * lane);
#pragma unroll
  for (int r = 0; r < 8; r++) tile[warp + 8 * r][lane] = v[r];
  __syncthreads();
  // Two columns at a time: this lane's rows 2 * lane and the next.
#pragma unroll
  for (int c = warp; c < 32; c += 8) {
    if (left + 2 * c >= cols || top + 2 * lane >= rows) continue;
    const uint32_t upper = tile[2 * lane][c], lower = tile[2 * lane + 1][c];
    uint16_t* to = out + (left + 2 * c) * rows + top + 2 * lane;
    *reinterpret_cast<uint32_t*>(to) = __byte_perm(upper, lower, 0x5410);
    *reinterpret_cast<uint32_t*>(to + rows) = __byte_perm(upper, lower, 0x7632);
  }
}

// Tiles of 64 x 64 (4 bytes) or 128 x 128 (2 bytes) elements in 16-byte vectors both ways, where rows and columns are whole vectors: 256 bytes of each row. In
// the tile, the vectors of a row stand in the order of their number xor that of the row's group, so that reads down a column meet different banks.
template <class U>
__device__ __forceinline__ void transpose_vectors(const U* __restrict__ x, U* __restrict__ out, long long rows, long long cols, int down) {
  constexpr int L = 16 / sizeof(U), ACROSS = 16, SIDE = ACROSS * L;
  __shared__ uint4 tile[SIDE * ACROSS];
  const long long top = Corner<SIDE>(down).top, left = Corner<SIDE>(down).left;
  const int lane = threadIdx.x % ACROSS, row = threadIdx.x / ACROSS;
  // All loads before the first store; a row or vector outside takes the last inside, and is not written.
  const long long from = min(left + lane * L, cols - L);
  uint4 v[SIDE / 16];
#pragma unroll
  for (int k = 0; k < SIDE / 16; k++) v[k] = load16(x + min(top + row + 16 * k, rows - 1) * cols + from);
#pragma unroll
  for (int k = 0; k < SIDE / 16; k++) tile[(row + 16 * k) * ACROSS + (lane ^ ((row + 16 * k) / L))] = v[k];
  __syncthreads();
  if (top + lane * L >= rows) return;
  // Word w of column group c, of this lane's rows.
  const auto word = [&](int j, int c, int w) { return reinterpret_cast<const uint32_t*>(tile + (lane * L + j) * ACROSS + (c ^ lane))[w]; };
  // As one access, which the compiler takes apart otherwise.
  const auto put = [](U* to, const uint4& v) { __stwb(reinterpret_cast<uint4*>(to), v); };
#pragma unroll
  for (int q = row; q < ACROSS * 4; q += 16) {
    const int c = q / 4, w = q % 4;
    const long long column = left + c * L + w * (4 / sizeof(U));
    if (column >= cols) continue;
    U* to = out + column * rows + top + lane * L;
    if constexpr (sizeof(U) == 4) {
      put(to, make_uint4(word(0, c, w), word(1, c, w), word(2, c, w), word(3, c, w)));
    } else {
      // Two columns of a word: the lower halves of eight rows, and the upper ones.
      uint32_t pair[8];
#pragma unroll
      for (int j = 0; j < 8; j++) pair[j] = word(j, c, w);
      put(to, make_uint4(__byte_perm(pair[0], pair[1], 0x5410), __byte_perm(pair[2], pair[3], 0x5410), __byte_perm(pair[4], pair[5], 0x5410), __byte_perm(pair[6], pair[7], 0x5410)));
      put(to + rows, make_uint4(__byte_perm(pair[0], pair[1], 0x7632), __byte_perm(pair[2], pair[3], 0x7632), __byte_perm(pair[4], pair[5], 0x7632), __byte_perm(pair[6], pair[7], 0x7632)));
    }
  }
}

// TALL: x [length, narrow], else x [narrow, length]. A block takes `part` of the length, a multiple of 8, so that what lies in one piece starts on 16 bytes.
template <class U, bool TALL>
__device__ __forceinline__ void transpose_narrow(const U* __restrict__ x, U* __restrict__ out, long long length, int narrow, int part) {
  extern __shared__ uint4 vectors[];
  constexpr int L = 16 / sizeof(U);
  U* tile = reinterpret_cast<U*>(vectors);
  const long long first = static_cast<long long>(blockIdx.x) * part;
  const int n = static_cast<int>(min(static_cast<long long>(part), length - first)), elements = n * narrow, whole = elements / L;
  const long long at = first * narrow;
  if (TALL) {
#pragma unroll 4
    for (int v = threadIdx.x; v < whole; v += 256) vectors[v] = reinterpret_cast<const uint4*>(x + at)[v];
    for (int i = whole * L + threadIdx.x; i < elements; i += 256) tile[i] = x[at + i];
  } else {
    for (int r = 0; r < narrow; r++)
#pragma unroll 4
      for (int c = threadIdx.x; c < n; c += 256) tile[c * narrow + r] = x[r * length + first + c];
  }
  __syncthreads();
  if (TALL) {
    for (int c = 0; c < narrow; c++)
#pragma unroll 4
      for (int r = threadIdx.x; r < n; r += 256) out[c * length + first + r] = tile[r * narrow + c];
  } else {
#pragma unroll 4
    for (int v = threadIdx.x; v < whole; v += 256) reinterpret_cast<uint4*>(out + at)[v] = vectors[v];
    for (int i = whole * L + threadIdx.x; i < elements; i += 256) out[at + i] = tile[i];
  }
}

// Between tall or wide and tiles. TALL: x [length, narrow], else x [narrow, length]. A block takes `part` of the length, 64 by a power of two, through shared memory with `pitch` elements
// from one place of the length to the next: odd, so that neither side meets a bank twice. What lies in one piece moves in vectors of 16 bytes where it lies the same way in shared memory, else in
// words of 4 bytes, and so does the rest: where a row starts between two words, its first and last element move alone. places: 2^22 / narrow, rounded up, exact for the elements of a part
// (transpose/shape.h).
template <class U, bool TALL>
__device__ __forceinline__ void transpose_between(const U* __restrict__ x, U* __restrict__ out, long long length, int narrow, int part, int pitch, unsigned places) {
  extern __shared__ uint4 vectors[];
  constexpr int W = 4 / sizeof(U), L = 16 / sizeof(U);
  U* const tile = reinterpret_cast<U*>(vectors);
  const long long first = static_cast<long long>(blockIdx.x) * part, at = first * narrow;
  const int n = static_cast<int>(min(static_cast<long long>(part), length - first)), elements = n * narrow, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const auto place = [&](int i) { return tile + i + static_cast<int>(static_cast<unsigned>(i) * places >> 22) * (pitch - narrow); };
  // The side of one piece: what of it lies in vectors or words, and what is behind the last one.
  const auto piece = [&](auto move_vector, auto move_word, auto move_one) {
    if (pitch == narrow) {
#pragma unroll 4
      for (int v = threadIdx.x; v < elements / L; v += 256) move_vector(v);
      if (const int i = elements / L * L + static_cast<int>(threadIdx.x); i < elements) move_one(i);
      return;
    }
#pragma unroll 4
    for (int i = threadIdx.x * W; i + W <= elements; i += 256 * W) move_word(i);
    if (W == 2 && elements % 2 != 0 && threadIdx.x == 0) move_one(elements - 1);
  };
  // The other side: runs of 32 words of a row, one for each warp at a time.
  const auto strip = [&](auto move_word, auto move_one) {
    const int shift = 31 - __clz(part / (32 * W)), runs = narrow << shift;
#pragma unroll 4
    for (int i = warp; i < runs; i += 8) {
      const int r = i >> shift, c = ((i & ((1 << shift) - 1)) * 32 + lane) * W;
      // A part starts on an even place: rows of an odd length start between two words every other time.
      if (W == 2 && (length & r & 1) != 0) {
        if (c + 2 < n) move_word(r, c + 1);
        else if (c + 1 < n) move_one(r, c + 1);
        if (c == 0) move_one(r, 0);
        continue;
      }
      if (W == 1 ? c < n : c + 1 < n) move_word(r, c);
      else if (c < n) move_one(r, c);
    }
  };
  if constexpr (TALL) {
    piece([&](int v) { vectors[v] = load16(x + at + v * L); },
          [&](int i) {
            const uint32_t w = *reinterpret_cast<const uint32_t*>(x + at + i);
            *place(i) = static_cast<U>(w);
            if constexpr (W == 2) *place(i + 1) = static_cast<U>(w >> 16);
          },
          [&](int i) { *place(i) = x[at + i]; });
    __syncthreads();
    strip(
        [&](int c, int r) {
          uint32_t w = tile[r * pitch + c];
          if constexpr (W == 2) w |= static_cast<uint32_t>(tile[(r + 1) * pitch + c]) << 16;
          *reinterpret_cast<uint32_t*>(out + c * length + first + r) = w;
        },
        [&](int c, int r) { out[c * length + first + r] = tile[r * pitch + c]; });
  } else {
    strip(
        [&](int r, int c) {
          const uint32_t w = *reinterpret_cast<const uint32_t*>(x + r * length + first + c);
          tile[c * pitch + r] = static_cast<U>(w);
          if constexpr (W == 2) tile[(c + 1) * pitch + r] = static_cast<U>(w >> 16);
        },
        [&](int r, int c) { tile[c * pitch + r] = x[r * length + first + c]; });
    __syncthreads();
    piece([&](int v) { store16(out + at + v * L, vectors[v]); },
          [&](int i) {
            uint32_t w = *place(i);
            if constexpr (W == 2) w |= static_cast<uint32_t>(*place(i + 1)) << 16;
            *reinterpret_cast<uint32_t*>(out + at + i) = w;
          },
          [&](int i) { out[at + i] = *place(i); });
  }
}

}  // namespace

#define NARROW(U, bytes)                                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(256) transpose_tall_##bytes(const U* x, U* out, long long length, int narrow, int part) { transpose_narrow<U, true>(x, out, length, narrow, part); } \
  extern "C" __global__ void __launch_bounds__(256) transpose_wide_##bytes(const U* x, U* out, long long length, int narrow, int part) { transpose_narrow<U, false>(x, out, length, narrow, part); }
NARROW(uint16_t, 2)
NARROW(uint32_t, 4)

#define BETWEEN(U, bytes)                                                                                                                                                       \
  extern "C" __global__ void __launch_bounds__(256) transpose_each_##bytes(const U* x, U* out, int rows, int cols, int n, Divide by_rows) { transpose_each(x, out, rows, cols, n, by_rows); } \
  extern "C" __global__ void __launch_bounds__(256) transpose_slim_##bytes(const U* x, U* out, long long length, int narrow, int part, int pitch, unsigned places) {               \
    transpose_between<U, true>(x, out, length, narrow, part, pitch, places);                                                                                                     \
  }                                                                                                                                                                             \
  extern "C" __global__ void __launch_bounds__(256) transpose_broad_##bytes(const U* x, U* out, long long length, int narrow, int part, int pitch, unsigned places) {              \
    transpose_between<U, false>(x, out, length, narrow, part, pitch, places);                                                                                                    \
  }
BETWEEN(uint16_t, 2)
BETWEEN(uint32_t, 4)

extern "C" __global__ void __launch_bounds__(256) transpose_pairs(const uint16_t* x, uint16_t* out, long long rows, long long cols, int down) {
  transpose_of_pairs(x, out, rows, cols, down);
}
extern "C" __global__ void __launch_bounds__(256) transpose_4_vectors(const uint32_t* x, uint32_t* out, long long rows, long long cols, int down) {
  transpose_vectors(x, out, rows, cols, down);
}
extern "C" __global__ void __launch_bounds__(256) transpose_2_vectors(const uint16_t* x, uint16_t* out, long long rows, long long cols, int down) {
  transpose_vectors(x, out, rows, cols, down);
}
extern "C" __global__ void __launch_bounds__(256) transpose_4(const uint32_t* x, uint32_t* out, long long rows, long long cols, int down) {
  transpose<uint32_t, 64>(x, out, rows, cols, down);
}
extern "C" __global__ void __launch_bounds__(256) transpose_2_small(const uint16_t* x, uint16_t* out, long long rows, long long cols, int down) {
  transpose<uint16_t, 32>(x, out, rows, cols, down);
}
extern "C" __global__ void __launch_bounds__(256) transpose_2(const uint16_t* x, uint16_t* out, long long rows, long long cols, int down) {
  transpose<uint16_t, 64>(x, out, rows, cols, down);
}
