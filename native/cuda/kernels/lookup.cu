// Rows and elements of tables by index; an index outside the table is passed over. Bits are copied as they are: _4 and _2 are the bytes of a
// copy, _16 copies vectors of 16 bytes where rows hold a whole number of them; _many: several of a thread; _parts: of long rows, a part of the columns of all of them after another; embedding_shifted_<bytes>, _gathered_<bytes>, _narrow_<bytes>_<units>: rows
// that do not, in vectors of the result.
#include "lookup.h"
#include "common/loose.cuh"
#include "common/vec.cuh"

namespace {

__device__ __forceinline__ bool inside(long long index, long long rows) { return index >= 0 && index < rows; }

// out[i] = table[indices[i]]; dim in units of U. A thread has N units, a block apart.
template <int N, class U>
__device__ __forceinline__ void embedding(const int* __restrict__ indices, const U* __restrict__ table, U* __restrict__ out, long long rows, long long dim, long long n) {
  const long long first = static_cast<long long>(blockIdx.x) * (blockDim.x * N) + threadIdx.x;
  const auto unit = [&](int k) { return first + k * static_cast<long long>(blockDim.x); };
  long long index[N], column[N];
#pragma unroll
  for (int k = 0; k < N; k++) {
    const long long i = min(unit(k), n - 1), place = (n >> 32) == 0 ? static_cast<unsigned>(i) / static_cast<unsigned>(dim) : i / dim;
    index[k] = indices[place], column[k] = i - place * dim;
  }
  U own[N] = {};
#pragma unroll
  for (int k = 0; k < N; k++)
    if (inside(index[k], rows)) own[k] = table[index[k] * dim + column[k]];
#pragma unroll
  for (int k = 0; k < N; k++)
    if (unit(k) < n && inside(index[k], rows)) out[unit(k)] = own[k];
}

// The same for long rows that several indices name: blocks go through all indices for a part of the columns before the next part, so that L2 holds those parts of the table. dim: vectors.
__device__ __forceinline__ void embedding_parts(const int* __restrict__ indices, const uint4* __restrict__ table, uint4* __restrict__ out, long long rows, long long dim, unsigned n) {
  constexpr int N = many_units;
  const unsigned part = blockIdx.x / n, place = blockIdx.x - part * n;
  const long long index = indices[place], first = static_cast<long long>(part) * (blockDim.x * N) + threadIdx.x;
  if (!inside(index, rows)) return;
  const uint4* const from = table + index * dim;
  uint4* const to = out + place * dim;
  uint4 own[N];
#pragma unroll
  for (int k = 0; k < N; k++) own[k] = from[min(first + k * static_cast<long long>(blockDim.x), dim - 1)];
#pragma unroll
  for (int k = 0; k < N; k++)
    if (const long long column = first + k * static_cast<long long>(blockDim.x); column < dim) __stcs(to + column, own[k]);
}

// The same for rows of several vectors that do not start on 16 bytes: a thread has a vector of the result, which comes from one row of the table or, at the end of it, from two.
template <class U>
__device__ __forceinline__ void embedding_shifted(const int* __restrict__ indices, const U* __restrict__ table, U* __restrict__ out, long long rows, long long dim, long long n) {
  constexpr int L = 16 / sizeof(U);
  const long long i = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * L;
  if (i >= n) return;
  const long long place = (n >> 32) == 0 ? static_cast<unsigned>(i) / static_cast<unsigned>(dim) : i / dim, column = i - place * dim;
  // Elements of the first row, and of both that there are.
  const int all = static_cast<int>(min(static_cast<long long>(L), n - i)), own = static_cast<int>(min(static_cast<long long>(L), dim - column));
  const long long index = indices[place], next = own < all ? indices[place + 1] : -1;
  const bool has_own = inside(index, rows), has_next = inside(next, rows);
  uint4 v = {}, w = {};
  if (has_own) {
    const U* from = table + index * dim + column;
    v = loose_vector(reinterpret_cast<const char*>(from), reinterpret_cast<const char*>(from), reinterpret_cast<const char*>(from + own));
  }
  if (has_next) {
    const U* row = table + next * dim;
    w = loose_vector(reinterpret_cast<const char*>(row) - own * sizeof(U), reinterpret_cast<const char*>(row), reinterpret_cast<const char*>(row + (all - own)));
  }
  if (own == L) {
    if (has_own) store16(out + i, v);
    return;
  }
  alignas(16) U mine[L], others[L];
  *reinterpret_cast<uint4*>(mine) = v, *reinterpret_cast<uint4*>(others) = w;
#pragma unroll
  for (int k = 0; k < L; k++) mine[k] = k < own ? mine[k] : others[k];
  if (has_own && has_next && all == L) {
    store16(out + i, *reinterpret_cast<uint4*>(mine));
    return;
  }
#pragma unroll
  for (int k = 0; k < L; k++)
    if (k < all && (k < own ? has_own : has_next)) out[i + k] = mine[k];
}

// The same for shorter rows, an element at a time: all loads of a thread, of either row, are on their way together.
template <class U>
__device__ __forceinline__ void embedding_gathered(const int* __restrict__ indices, const U* __restrict__ table, U* __restrict__ out, long long rows, long long dim, long long n) {
  constexpr int L = 16 / sizeof(U);
  const long long i = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * L;
  if (i >= n) return;
  const bool small = (n >> 32) == 0;
  const long long place = small ? static_cast<unsigned>(i) / static_cast<unsigned>(dim) : i / dim, last = small ? static_cast<unsigned>(n - 1) / static_cast<unsigned>(dim) : (n - 1) / dim, column = i - place * dim;
  const int own = static_cast<int>(min(static_cast<long long>(L), dim - column));
  const long long index = indices[place], next = indices[min(place + 1, last)];
  const bool has_own = inside(index, rows), has_next = inside(next, rows);
  const U* const from = table + (has_own ? index : 0) * dim + column;
  const U* const behind = table + (has_next ? next : 0) * dim - own;
  alignas(16) U mine[L];
#pragma unroll
  for (int k = 0; k < L; k++) mine[k] = (k < own ? from : behind)[k];
  if (has_own && (has_next || own == L) && i + L <= n) {
    store16(out + i, *reinterpret_cast<uint4*>(mine));
    return;
  }
#pragma unroll
  for (int k = 0; k < L; k++)
    if (i + k < n && (k < own ? has_own : has_next)) out[i + k] = mine[k];
}

// The same for rows of fewer than two vectors: a thread has four rows of C units, which lie behind each other in the result; a block writes its rows in vectors, through shared memory, unless an index of it is outside the table.
template <int C, class U>
__device__ __forceinline__ void embedding_narrow(const int* __restrict__ indices, const U* __restrict__ table, U* __restrict__ out, long long rows, long long n) {
  constexpr int R = narrow_rows, UNITS = R * C, WORDS = UNITS * sizeof(U) / 8, VECTORS = narrow_threads * WORDS / 2;
  __shared__ uint4 tile[VECTORS];
  const long long block = static_cast<long long>(blockIdx.x) * (narrow_threads * R), first = block + threadIdx.x * R;
  int index[R] = {-1, -1, -1, -1};
  if (first + R <= n) {
    const int4 four = *reinterpret_cast<const int4*>(indices + first);
    index[0] = four.x, index[1] = four.y, index[2] = four.z, index[3] = four.w;
  } else {
#pragma unroll
    for (int r = 0; r < R; r++)
      if (first + r < n) index[r] = indices[first + r];
  }
  U own[UNITS];
  bool has[R], all = true;
#pragma unroll
  for (int r = 0; r < R; r++) {
    has[r] = inside(index[r], rows), all = all && has[r];
    const U* const from = table + static_cast<long long>(has[r] ? index[r] : 0) * C;
#pragma unroll
    for (int c = 0; c < C; c++) own[r * C + c] = from[c];
  }
  if (!__syncthreads_and(all)) {
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
      for (int c = 0; c < C; c++)
        if (has[r]) out[first * C + r * C + c] = own[r * C + c];
    return;
  }
  uint2* const words = reinterpret_cast<uint2*>(tile) + threadIdx.x * WORDS;
#pragma unroll
  for (int w = 0; w < WORDS; w++) {
    if constexpr (sizeof(U) == 2) words[w] = make_uint2(own[4 * w] | static_cast<unsigned>(own[4 * w + 1]) << 16, own[4 * w + 2] | static_cast<unsigned>(own[4 * w + 3]) << 16);
    else words[w] = make_uint2(own[2 * w], own[2 * w + 1]);
  }
  __syncthreads();
#pragma unroll
  for (int v = threadIdx.x; v < VECTORS; v += narrow_threads) store16(reinterpret_cast<uint4*>(out + block * C) + v, tile[v]);
}

// Four units behind each other, `read(k)` each, written together where all of their indices are inside the table.
template <class U, class F>
__device__ __forceinline__ void write_four(const int4& four, U* out, long long rows, F read) {
  const int index[4] = {four.x, four.y, four.z, four.w};
  struct alignas(4 * sizeof(U)) Four {
    U at[4];
  } own;
  bool all = true;
#pragma unroll
  for (int k = 0; k < 4; k++) all = all && inside(index[k], rows), own.at[k] = inside(index[k], rows) ? read(index[k], k) : U{};
  if (all) {
    *reinterpret_cast<Four*>(out) = own;
    return;
  }
#pragma unroll
  for (int k = 0; k < 4; k++)
    if (inside(index[k], rows)) out[k] = own.at[k];
}

// Rows of one U: four of a thread, as two bytes of one at a time are a sixteenth of what a line of memory holds.
template <class U>
__device__ __forceinline__ void embedding_each(const int* __restrict__ indices, const U* __restrict__ table, U* __restrict__ out, long long rows, long long n) {
  const long long i = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
  if (i + 4 > n) {
    for (long long k = i; k < n; k++)
      if (inside(indices[k], rows)) out[k] = table[indices[k]];
    return;
  }
  write_four(*reinterpret_cast<const int4*>(indices + i), out + i, rows, [&](int index, int) { return table[index]; });
}

// out[i, j] = x[index[i, j], j].
template <class U>
__device__ __forceinline__ void gather(const U* __restrict__ x, const int* __restrict__ index, U* __restrict__ out, long long rows, long long dim, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const long long place = (n >> 32) == 0 ? static_cast<unsigned>(i) / static_cast<unsigned>(dim) : i / dim, row = index[i];
  if (inside(row, rows)) out[i] = x[row * dim + (i - place * dim)];
}

// Four of a thread.
template <class U>
__device__ __forceinline__ void gather_four(const U* __restrict__ x, const int* __restrict__ index, U* __restrict__ out, long long rows, long long dim, long long n) {
  const long long i = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
  if (i >= n) return;
  const long long place = (n >> 32) == 0 ? static_cast<unsigned>(i) / static_cast<unsigned>(dim) : i / dim;
  long long column[4] = {i - place * dim};
#pragma unroll
  for (int k = 1; k < 4; k++) column[k] = column[k - 1] + 1 == dim ? 0 : column[k - 1] + 1;
  if (i + 4 > n) {
#pragma unroll
    for (int k = 0; k < 3; k++)
      if (i + k < n && inside(index[i + k], rows)) out[i + k] = x[index[i + k] * dim + column[k]];
    return;
  }
  write_four(*reinterpret_cast<const int4*>(index + i), out + i, rows, [&](int row, int k) { return x[row * dim + column[k]]; });
}

// One thread per pair; x, out [tokens, heads, dim], cos, sin [tokens, dim / 2].
template <class T>
__device__ __forceinline__ void rope(const T* __restrict__ x, const T* __restrict__ cos, const T* __restrict__ sin, T* __restrict__ out, long long pairs, long long heads, long long half,
                                     int interleaved) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  const bool small = (pairs >> 32) == 0;
  const long long head = small ? static_cast<unsigned>(i) / static_cast<unsigned>(half) : i / half, pair = i - head * half;
  const long long token = small ? static_cast<unsigned>(head) / static_cast<unsigned>(heads) : head / heads;
  const long long first = head * half * 2 + (interleaved ? 2 * pair : pair), second = first + (interleaved ? 1 : half);
  const float a = to_float(x[first]), b = to_float(x[second]), c = to_float(cos[token * half + pair]), s = to_float(sin[token * half + pair]);
  out[first] = from_float<T>(a * c - b * s);
  out[second] = from_float<T>(b * c + a * s);
}

// Several pairs of a thread, a block apart: `heads_on` heads and `pairs_on` pairs further each.
template <class T>
__device__ __forceinline__ void rope_many(const T* __restrict__ x, const T* __restrict__ cos, const T* __restrict__ sin, T* __restrict__ out, long long pairs, long long heads, long long half, int interleaved, int heads_on,
                                          int pairs_on) {
  constexpr int N = many_units;
  const long long i = static_cast<long long>(blockIdx.x) * (blockDim.x * N) + threadIdx.x, apart = interleaved ? 1 : half;
  if (i >= pairs) return;
  const bool small = (pairs >> 32) == 0;
  long long head = small ? static_cast<unsigned>(i) / static_cast<unsigned>(half) : i / half, pair = i - head * half, first[N];
  T a[N], b[N], c[N], s[N];
#pragma unroll
  for (int k = 0; k < N; k++) {
    if (i + k * static_cast<long long>(blockDim.x) < pairs) {
      const long long token = heads == 1 ? head : small ? static_cast<unsigned>(head) / static_cast<unsigned>(heads) : head / heads;
      first[k] = head * half * 2 + (interleaved ? 2 * pair : pair);
      a[k] = x[first[k]], b[k] = x[first[k] + apart], c[k] = cos[token * half + pair], s[k] = sin[token * half + pair];
    }
    head += heads_on, pair += pairs_on;
    if (pair >= half) pair -= half, head++;
  }
#pragma unroll
  for (int k = 0; k < N; k++) {
    if (i + k * static_cast<long long>(blockDim.x) >= pairs) break;
    out[first[k]] = from_float<T>(to_float(a[k]) * to_float(c[k]) - to_float(b[k]) * to_float(s[k]));
    out[first[k] + apart] = from_float<T>(to_float(b[k]) * to_float(c[k]) + to_float(a[k]) * to_float(s[k]));
  }
}

}  // namespace

#define COPIES(U, bytes, N)                                                                                                                                                       \
  extern "C" __global__ void __launch_bounds__(256) embedding_##bytes(const int* indices, const U* table, U* out, long long rows, long long dim, long long n) {                \
    embedding<N>(indices, table, out, rows, dim, n);                                                                                                                           \
  }
COPIES(uint16_t, 2, 1)
COPIES(uint32_t, 4, 1)
COPIES(uint4, 16, 1)
COPIES(uint4, 16_many, many_units)
extern "C" __global__ void __launch_bounds__(256) embedding_16_parts(const int* indices, const uint4* table, uint4* out, long long rows, long long dim, unsigned n) { embedding_parts(indices, table, out, rows, dim, n); }
#define SHIFTED(U, bytes)                                                                                                                                               \
  extern "C" __global__ void __launch_bounds__(256) embedding_shifted_##bytes(const int* indices, const U* table, U* out, long long rows, long long dim, long long n) { \
    embedding_shifted(indices, table, out, rows, dim, n);                                                                                                               \
  }
SHIFTED(uint16_t, 2)
SHIFTED(uint32_t, 4)
#define GATHERED(U, bytes)                                                                                                                                               \
  extern "C" __global__ void __launch_bounds__(256) embedding_gathered_##bytes(const int* indices, const U* table, U* out, long long rows, long long dim, long long n) { \
    embedding_gathered(indices, table, out, rows, dim, n);                                                                                                               \
  }
GATHERED(uint16_t, 2)
GATHERED(uint32_t, 4)
#define NARROW(U, bytes, C)                                                                                                                                                       \
  extern "C" __global__ void __launch_bounds__(narrow_threads) embedding_narrow_##bytes##_##C(const int* indices, const U* table, U* out, long long rows, long long n) { \
    embedding_narrow<C>(indices, table, out, rows, n);                                                                                                                          \
  }
NARROW(uint16_t, 2, 3) NARROW(uint16_t, 2, 5) NARROW(uint16_t, 2, 7) NARROW(uint16_t, 2, 9) NARROW(uint16_t, 2, 11) NARROW(uint16_t, 2, 13) NARROW(uint16_t, 2, 15)
NARROW(uint32_t, 4, 2) NARROW(uint32_t, 4, 3) NARROW(uint32_t, 4, 5) NARROW(uint32_t, 4, 6) NARROW(uint32_t, 4, 7)
#define GATHER(U, bytes)                                                                                                                                                                  \
  extern "C" __global__ void __launch_bounds__(256) gather_##bytes(const U* x, const int* index, U* out, long long rows, long long dim, long long n) { gather(x, index, out, rows, dim, n); } \
  extern "C" __global__ void __launch_bounds__(256) gather_##bytes##_four(const U* x, const int* index, U* out, long long rows, long long dim, long long n) { gather_four(x, index, out, rows, dim, n); }
GATHER(uint16_t, 2)
GATHER(uint32_t, 4)

#define EACH(U, bytes) \
  extern "C" __global__ void __launch_bounds__(256) embedding_each_##bytes(const int* indices, const U* table, U* out, long long rows, long long n) { embedding_each(indices, table, out, rows, n); }
EACH(uint16_t, 2)
EACH(uint32_t, 4)

#define ROPE(T)                                                                                                                                                                \
  extern "C" __global__ void __launch_bounds__(256) rope_##T(const T* x, const T* cos, const T* sin, T* out, long long pairs, long long heads, long long half, int interleaved) { \
    rope(x, cos, sin, out, pairs, heads, half, interleaved);                                                                                                                   \
  }                                                                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(256) rope_##T##_many(const T* x, const T* cos, const T* sin, T* out, long long pairs, long long heads, long long half, int interleaved, int heads_on, \
                                                                    int pairs_on) {                                                                                           \
    rope_many(x, cos, sin, out, pairs, heads, half, interleaved, heads_on, pairs_on);                                                                                          \
  }
ROPE(f32)
ROPE(f16)
ROPE(bf16)
