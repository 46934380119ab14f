// matmul of f16, bf16 and tf32 where m or n is at most 32, whatever the alignment of rows (matmul/stream.h says when). Memory bounds such a product: the long matrix goes from memory to the
// registers of tensor cores, 16 bytes at a time, eight loads of a thread on their way; the short side lies in shared memory as these want it. Nothing is shifted: a warp has rows that start
// equally far behind 16 bytes, and reads them from the 16 bytes on that their start lies in. The order of k within a product is that in which lanes read it, the same for both
// operands. k may be split over blocks; shares are added up in order.
//   matmul_stream_rows_<dtype>_<S>      k is contiguous in the long matrix [length, k]: a warp has 16 rows, its neighbours others or other parts of k
//   matmul_stream_columns_<dtype>_<S>   k is not, [k, length]: a warp has every eighth row of the block's share and a window of columns that starts with 16 bytes of memory; the block adds
//                                       up the windows of its warps where they overlap
//   matmul_stream_few_<dtype>_<S>       the short side as columns want it, where a block has few columns for what it would turn: a launch before
// S: elements of the short side, in groups of eight.
// How to build and run: scripts/gpu/kernels.sh.
#include "common/early.cuh"
#include "common/mma.cuh"
#include "matmul/sizes.h"
#include "matmul/stream.cuh"

namespace {

constexpr int WARPS = opscope::cuda::stream_warps, THREADS = WARPS * 32;

template <class T>
__device__ __forceinline__ uint4 rounded(uint4 v) {
  if constexpr (sizeof(T) == 4) v = make_uint4(round_tf32(v.x), round_tf32(v.y), round_tf32(v.z), round_tf32(v.w));
  return v;
}

// A word of the short side as tensor cores want it: element s at `k`, and in 16 bits at `next`; zero outside [0, end) and behind the last s.
template <class T, class Source>
__device__ __forceinline__ uint32_t word_of(const Source& raw, int k, int next, int end, int s) {
  const bool in = s < raw.a.few;
  if constexpr (sizeof(T) == 4) {
    return in && k >= 0 && k < end ? round_tf32(__float_as_uint(raw.at(k, s).value)) : 0;
  } else {
    uint16_t low = 0, high = 0;
    if (in && k >= 0 && k < end) reinterpret_cast<T&>(low) = raw.at(k, s);
    if (in && next >= 0 && next < end) reinterpret_cast<T&>(high) = raw.at(next, s);
    return low | static_cast<uint32_t>(high) << 16;
  }
}

// Zero outside elements [begin, end).
template <class T>
__device__ __forceinline__ uint4 only(const uint4& v, int begin, int end) {
  uint32_t w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const auto in = [&](int e) { return e >= begin && e < end; };
    if constexpr (sizeof(T) == 4) w[j] = in(j) ? w[j] : 0;
    else w[j] = (in(2 * j) ? w[j] & 0xffffu : 0) | (in(2 * j + 1) ? w[j] & 0xffff0000u : 0);
  }
  return make_uint4(w[0], w[1], w[2], w[3]);
}

// A step is 64 bytes of k: lane (g, q) has vector q of rows g and g + 8.
template <class T, int NT>
__device__ __forceinline__ void rows(const SkinnyArguments& a, const StreamTask& t) {
  constexpr int L = LANES<T>, U = 4, STEPS = opscope::cuda::stream_few / (NT * 512), S = NT * 8;
  extern __shared__ __align__(16) char shared[];
  const uint4* few = reinterpret_cast<const uint4*>(shared);  // [STEPS][NT][32]
  float* warp_sums = reinterpret_cast<float*>(shared + opscope::cuda::stream_few);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, q = lane % 4, batch = static_cast<int>(blockIdx.x / t.blocks), k = static_cast<int>(a.k);
  const int across = 16 * t.warp_rows, ways = WARPS / t.warp_rows, warp_row = warp % t.warp_rows, way = warp / t.warp_rows;
  const unsigned long long matrix = a.matrix + batch * a.matrix_batch * sizeof(T);
  FewRaw<T> raw(a, batch, shared + opscope::cuda::stream_few, STEPS * 64 + 64);
  // The same for all tiles of a block, which are so many apart that their rows start alike.
  const long long first_cell = blockIdx.x - batch * t.blocks;
  const int residue = static_cast<int>(first_cell % t.period);
  const long long rows_alike = (a.length - residue + t.period - 1) / t.period;
  const auto first_of = [&](long long cell) { return cell / t.period * across; };
  const auto row_at = [&](long long first, int i) { return matrix + (residue + t.period * min(first + warp_row * 16 + i, rows_alike - 1)) * k * sizeof(T); };
  const int shift = static_cast<int>(row_at(0, 0) & 15) / static_cast<int>(sizeof(T)), in_row = (shift + k + L - 1) / L, last_end = shift + k - (in_row - 1) * L;
  const int steps = (in_row + 3) / 4, share = static_cast<int>(a.share), from = min(steps, static_cast<int>(blockIdx.y) * share), to = min(steps, from + share);
  const auto load_few = [&](int base) {
    if (base < to) raw.load(base * 4 * L - shift, min(base + STEPS, to) * 4 * L - shift);
  };
  const char* row[2];
  uint4 x[U][2];
  const auto load = [&](int step0) {
#pragma unroll
    for (int u = 0; u < U; u++) {
      const int vector = (step0 + u) * 4 + q;
      const bool there = step0 + u < to && vector < in_row;
#pragma unroll
      for (int h = 0; h < 2; h++) x[u][h] = there ? load16(row[h] + vector * 16ll) : make_uint4(0, 0, 0, 0);
    }
  };
  const auto begin_tile = [&](long long cell) {
    row[0] = reinterpret_cast<const char*>(row_at(first_of(cell), g) & ~15ull), row[1] = reinterpret_cast<const char*>(row_at(first_of(cell), g + 8) & ~15ull);
    load(from + way * U);
  };
  bool kept = false;
  begin_tile(first_cell);
  for (long long cell = first_cell; cell < a.tiles; cell += t.blocks) {
    const long long first = first_of(cell);
    float sums[NT][4] = {};
    for (int base = from; base < to; base += STEPS) {
      const int count = min(STEPS, to - base);
      if (base > from) load(base + way * U);
      if (!kept) {
        if (base == from) load_few(from);
        copy_wait<0>();
        __syncthreads();
        uint32_t* words = reinterpret_cast<uint32_t*>(shared);
#pragma unroll 4
        for (int i = threadIdx.x; i < count * NT * 128; i += THREADS) {
          const int f = i / 4, e = i % 4 * (L / 4), at = ((base + f / (NT * 32)) * 4 + f % 4) * L + e - shift;
          words[i] = word_of<T>(raw, at, at + 1, k, f / 32 % NT * 8 + f / 4 % 8);
        }
        __syncthreads();
        load_few(base + STEPS);
      }
      for (int step0 = way * U; step0 < count; step0 += ways * U) {
        if (step0 != way * U) load(base + step0);
#pragma unroll
        for (int u = 0; u < U; u++) {
          const int step = base + step0 + u;
          if (step >= to) break;
          if (step == 0 || step == steps - 1) {
            // Neighbouring rows in the first and the last vector.
            const int vector = step * 4 + q, begin = vector == 0 ? shift : 0, end = vector == in_row - 1 ? last_end : L;
            x[u][0] = only<T>(x[u][0], begin, end), x[u][1] = only<T>(x[u][1], begin, end);
          }
          const uint4 upper = rounded<T>(x[u][0]), lower = rounded<T>(x[u][1]);
          const uint32_t low[4] = {upper.x, lower.x, upper.y, lower.y}, high[4] = {upper.z, lower.z, upper.w, lower.w};
#pragma unroll
          for (int j = 0; j < NT; j++) {
            const uint4 w = few[((step0 + u) * NT + j) * 32 + lane];
            mma(sums[j], low, w.x, w.y, T());
            mma(sums[j], high, w.z, w.w, T());
          }
        }
      }
    }
    kept = to - from <= STEPS;
    // The next tile comes while this one is stored.
    if (cell + t.blocks < a.tiles) begin_tile(cell + t.blocks);
    __syncthreads();
#pragma unroll
    for (int j = 0; j < NT; j++)
#pragma unroll
      for (int r = 0; r < 4; r++) warp_sums[(warp * 16 + g + r / 2 * 8) * (S + 1) + j * 8 + q * 2 + r % 2] = sums[j][r];
    __syncthreads();
    give_rows<S, T>(a, t, warp_sums, batch, across, ways, first, rows_alike, residue);
  }
}

// Word i of the short side for columns: [units][WARPS][NT][32], WORDS of four elements of k, which begins at `from`.
template <class T, int NT, class Source>
__device__ __forceinline__ uint32_t column_word(const Source& source, int i, int from, int end) {
  constexpr int WORDS = static_cast<int>(sizeof(T));
  const int f = i / WORDS, k = from + f / (32 * NT) % WARPS + (f / (32 * NT * WARPS) * 16 + i % WORDS * (4 / WORDS) * 4 + f % 4) * WARPS;
  return word_of<T>(source, k, k + 4 * WARPS, end, f / 32 % NT * 8 + f / 4 % 8);
}

template <class T>
struct FewInMemory {
  const SkinnyArguments& a;
  const T* vectors;
  __device__ __forceinline__ T at(int k, int s) const { return vectors[k * a.vectors_k + s * a.vectors_few]; }
};

// The short side of every product for columns, for launches in which a block has few columns for what it would turn.
template <class T, int NT>
__device__ __forceinline__ void few_words(const SkinnyArguments& a, uint32_t* out, int words) {
  next_may_start();
  const int i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= words) return;
  const FewInMemory<T> few = {a, reinterpret_cast<const T*>(a.vectors) + blockIdx.y * a.vectors_batch};
  out[static_cast<long long>(blockIdx.y) * words + i] = column_word<T, NT>(few, i, 0, static_cast<int>(a.k));
}

// A unit is four loads of a lane and of each of C vectors of a row: lane (g, q) has vector g of rows q, 4 + q, 8 + q and 12 + q of the warp's.
template <class T, int NT, int C>
__device__ __forceinline__ void columns(const SkinnyArguments& a, const StreamTask& t) {
  constexpr int L = LANES<T>, V = 2 / C, WINDOW = 8 * L * C, PITCH = WINDOW + 1, PAIRS = L / 2;
  constexpr bool PREPARED = NT > 1;
  constexpr int WORDS = static_cast<int>(sizeof(T)), UNIT = WARPS * NT * 32 * WORDS, UNITS = opscope::cuda::stream_few / (UNIT * 4);  // words of four elements, and of a unit of all warps
  struct __align__(4 * WORDS) Weights {
    uint32_t w[WORDS];
  };
  extern __shared__ __align__(16) char shared[];
  float* warp_sums = reinterpret_cast<float*>(shared + opscope::cuda::stream_few);
  __shared__ int shifts[WARPS];  // elements of a warp's window before the block's first column
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, q = lane % 4, batch = static_cast<int>(blockIdx.x / t.blocks);
  const int share = static_cast<int>(a.share), from = static_cast<int>(blockIdx.y) * share, to = min(static_cast<int>(a.k), from + share);
  // Rows of this warp, eight apart.
  const int mine = (to - from - warp + WARPS - 1) / WARPS, most = (to - from + WARPS - 1) / WARPS;
  const long long row_bytes = WARPS * a.length * sizeof(T);
  const unsigned long long matrix = a.matrix + batch * a.matrix_batch * sizeof(T);
  FewRaw<T> raw(a, batch, shared + opscope::cuda::stream_few, UNITS * 16 * WARPS * static_cast<int>(sizeof(T)) + 64);
  const int all_units = (static_cast<int>(a.k) + 16 * WARPS - 1) / (16 * WARPS);
  // Of prepared ones, every other part comes to where others lie as in memory.
  const auto part_at = [&](int base) { return shared + (PREPARED && base / (UNITS * 16) % 2 == 1 ? opscope::cuda::stream_few : 0); };
  const auto load_few = [&](int base) {
    if (base >= most) return;
    if constexpr (!PREPARED) {
      raw.load(from + base * WARPS, min(to, from + (base + UNITS * 16) * WARPS));
    } else {
      const char* words = reinterpret_cast<const char*>(t.few) + (batch * static_cast<long long>(all_units) + (from / WARPS + base) / 16) * UNIT * 4;
      const int bytes = min(UNITS, (most - base + 15) / 16) * UNIT * 4;
      char* part = part_at(base);
      for (int i = threadIdx.x * 16; i < bytes; i += THREADS * 16) copy_async_16(shared_address(part + i), words + i, 16);
      copy_commit();
    }
  };
  const auto start_of = [&](int w, long long first) { return matrix + ((from + w) * a.length + first) * sizeof(T); };
  uint4 x[V][4][C];
  const auto load = [&](long long first, int base, int unit0) {
    const unsigned long long begin = start_of(warp, first);
    const char* start = reinterpret_cast<const char*>(begin & ~15ull) + q * row_bytes + g * 16;
    const long long left = a.length - first + static_cast<int>(begin & 15) / static_cast<int>(sizeof(T)) - g * L;
#pragma unroll
    for (int v = 0; v < V; v++)
#pragma unroll
      for (int e = 0; e < 4; e++) {
        const int i = base + (unit0 + v) * 16 + e * 4;
#pragma unroll
        for (int c = 0; c < C; c++) x[v][e][c] = unit0 + v < UNITS && i + q < mine && left > 8 * c * L ? load16(start + i * row_bytes + c * 128) : make_uint4(0, 0, 0, 0);
      }
  };
  bool kept = false;
  load((blockIdx.x - batch * t.blocks) * t.window, 0, 0);
  for (long long cell = blockIdx.x - batch * t.blocks; cell < a.tiles; cell += t.blocks) {
    const long long first = cell * t.window;
    float sums[NT][C][PAIRS][4] = {};
    for (int base = 0; base < most; base += UNITS * 16) {
      const int units = min(UNITS, (most - base + 15) / 16);
      if (base > 0) load(first, base, 0);
      if (!kept) {
        if (base == 0) {
          if (PREPARED) wait_for_last();
          load_few(0);
        }
        copy_wait<0>();
        __syncthreads();
        if constexpr (!PREPARED) {
          uint32_t* words = reinterpret_cast<uint32_t*>(shared);
#pragma unroll 4
          for (int i = threadIdx.x; i < units * UNIT; i += THREADS) words[i] = column_word<T, NT>(raw, i, from + base * WARPS, to);
          __syncthreads();
        }
        load_few(base + UNITS * 16);
      }
      const Weights* few = reinterpret_cast<const Weights*>(part_at(base));  // [UNITS][WARPS][NT][32]
      for (int unit0 = 0; unit0 < units; unit0 += V) {
        if (unit0 > 0) load(first, base, unit0);
#pragma unroll
        for (int v = 0; v < V; v++) {
          if (unit0 + v >= units) break;
          Weights w[NT];
#pragma unroll
          for (int j = 0; j < NT; j++) w[j] = few[(((unit0 + v) * WARPS + warp) * NT + j) * 32 + lane];
#pragma unroll
          for (int c = 0; c < C; c++) {
            uint32_t r[4][4];
#pragma unroll
            for (int e = 0; e < 4; e++) {
              const uint4 row = rounded<T>(x[v][e][c]);
              r[e][0] = row.x, r[e][1] = row.y, r[e][2] = row.z, r[e][3] = row.w;
            }
#pragma unroll
            for (int p = 0; p < PAIRS; p++) {
              if constexpr (sizeof(T) == 4) {
                const uint32_t low[4] = {r[0][2 * p], r[0][2 * p + 1], r[1][2 * p], r[1][2 * p + 1]}, high[4] = {r[2][2 * p], r[2][2 * p + 1], r[3][2 * p], r[3][2 * p + 1]};
#pragma unroll
                for (int j = 0; j < NT; j++) {
                  mma(sums[j][c][p], low, w[j].w[0], w[j].w[1], T());
                  mma(sums[j][c][p], high, w[j].w[2], w[j].w[3], T());
                }
              } else {
                const uint32_t turned[4] = {__byte_perm(r[0][p], r[1][p], 0x5410), __byte_perm(r[0][p], r[1][p], 0x7632), __byte_perm(r[2][p], r[3][p], 0x5410), __byte_perm(r[2][p], r[3][p], 0x7632)};
#pragma unroll
                for (int j = 0; j < NT; j++) mma(sums[j][c][p], turned, w[j].w[0], w[j].w[1], T());
              }
            }
          }
        }
      }
    }
    kept = most <= UNITS * 16;
    // The next tile comes while this one is stored.
    if (cell + t.blocks < a.tiles) load((cell + t.blocks) * t.window, 0, 0);
    // Neighbouring threads have what lies together in the output.
    const bool columns_first = a.out_few != 1;
    const auto column_of = [&](int e) { return columns_first ? e % WINDOW : e % (8 * WINDOW) / 8; };
    const auto few_of = [&](int e) { return columns_first ? e / WINDOW : e / (8 * WINDOW) * 8 + e % 8; };
    const auto place = [&](int e) {
      const int column = column_of(e), s = few_of(e);
      return column < t.window && first + column < a.length && s < a.few ? (first + column) * a.out_length + static_cast<long long>(s) * a.out_few : -1ll;
    };
    const Results<T, decltype(place)> results = {a, batch, static_cast<int>(gridDim.x / t.blocks), (a.few + 7) / 8 * 8 * WINDOW, place};
#pragma unroll
    for (int j = 0; j < NT; j++) {
      if (j * 8 >= a.few) break;
      __syncthreads();
      if (j == 0 && threadIdx.x < WARPS) shifts[threadIdx.x] = static_cast<int>(start_of(threadIdx.x, first) & 15) / static_cast<int>(sizeof(T));
#pragma unroll
      for (int c = 0; c < C; c++)
#pragma unroll
        for (int p = 0; p < PAIRS; p++)
#pragma unroll
          for (int r = 0; r < 4; r++) warp_sums[(warp * 8 + q * 2 + r % 2) * PITCH + c * 8 * L + g * L + p * 2 + r / 2] = sums[j][c][p][r];
      __syncthreads();
      for (int e = j * 8 * WINDOW + threadIdx.x; e < (j + 1) * 8 * WINDOW; e += THREADS) {
        const int column = column_of(e), s = few_of(e) % 8;
        float total = 0;
        if (column < t.window) {
#pragma unroll
          for (int w = 0; w < WARPS; w++) total += warp_sums[(w * 8 + s) * PITCH + column + shifts[w]];
        }
        results.give(e, total);
      }
    }
    __syncthreads();
    results.add_up(reinterpret_cast<float4*>(warp_sums));
  }
}

}  // namespace

#define ROWS(T, S) \
  extern "C" __global__ void __launch_bounds__(THREADS, 2) matmul_stream_rows_##T##_##S(const SkinnyArguments a, const StreamTask t) { rows<T, S / 8>(a, t); }
#define COLUMNS(T, S, C) \
  extern "C" __global__ void __launch_bounds__(THREADS, 2) matmul_stream_columns_##T##_##S(const SkinnyArguments a, const StreamTask t) { columns<T, S / 8, C>(a, t); }
#define FEW(T, S) \
  extern "C" __global__ void __launch_bounds__(THREADS) matmul_stream_few_##T##_##S(const SkinnyArguments a, uint32_t* out, int words) { few_words<T, S / 8>(a, out, words); }
#define STREAM(T, C) ROWS(T, 16) ROWS(T, 32) COLUMNS(T, 8, 2) COLUMNS(T, 16, 2) COLUMNS(T, 32, C) FEW(T, 16) FEW(T, 32)
STREAM(f16, 1)
STREAM(bf16, 1)
STREAM(tf32, 2)
ROWS(f16, 8)
ROWS(bf16, 8)
