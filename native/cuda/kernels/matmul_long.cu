// matmul of f16, bf16 and tf32 with one long side, whatever the alignment of rows (matmul/long.h says when it is used). Memory bounds such a product: a block
// keeps the short operand in shared memory, takes tiles of the long one as they lie in memory, in 16-byte pieces, while it works on the tile before, spaces their
// rows in shared memory, and stores tiles of the output through shared memory, in 16-byte pieces too. f32 accumulation, in one order.
//   matmul_long_<dtype>_<k|l>_<groups>   k or the long side is contiguous in the long operand; groups of 16 rows of a warp
// How to build and run: scripts/gpu/kernels.sh.
#include "common/mma.cuh"
#include "matmul/long_task.h"

namespace {

using opscope::cuda::LongTask;
constexpr int THREADS = opscope::cuda::long_threads, WARPS = THREADS / 32, COLUMNS = opscope::cuda::long_columns;

// As many elements as fill a 32-bit word.
template <class T>
constexpr int PAIR = 4 / sizeof(T);

template <class T>
__device__ __forceinline__ uint32_t word_of(const T* from, int step, bool second) {
  if constexpr (sizeof(T) == 4) return round_tf32(*reinterpret_cast<const uint32_t*>(from));
  else return reinterpret_cast<const uint16_t*>(from)[0] | (second ? static_cast<uint32_t>(reinterpret_cast<const uint16_t*>(from)[step]) << 16 : 0u);
}

// Lines of `length` elements, `pitch` apart, to lines of shared memory: the 16-byte pieces of memory that hold them, up to the end of the tensor.
template <class T>
__device__ __forceinline__ void copy_in(char* to, int to_pitch, const T* from, long long pitch, int lines, int length, const T* end) {
  const int pieces = (length * static_cast<int>(sizeof(T)) + 29) / 16;
  for (int i = threadIdx.x; i < lines * pieces; i += THREADS) {
    const int line = i / pieces, piece = i - line * pieces;
    const auto start = reinterpret_cast<unsigned long long>(from + line * pitch), at = (start & ~15ull) + piece * 16;
    if (at < start + length * sizeof(T))
      copy_async_16(shared_address(to + line * to_pitch + piece * 16), reinterpret_cast<const void*>(at), static_cast<int>(min(16ull, reinterpret_cast<unsigned long long>(end) - at)));
  }
}

// And back; each line starts in shared memory as far behind 16 bytes as in memory.
template <class T>
__device__ __forceinline__ void copy_out(T* to, long long pitch, const char* from, int from_pitch, int lines, int length) {
  constexpr int L = LANES<T>;
  const int pieces = (length + 2 * L - 2) / L;
  for (int i = threadIdx.x; i < lines * pieces; i += THREADS) {
    const int line = i / pieces, piece = i - line * pieces;
    T* start = to + line * pitch;
    const int before = static_cast<int>(reinterpret_cast<unsigned long long>(start) & 15) / static_cast<int>(sizeof(T)), first = piece * L - before;
    if (first >= length) continue;
    const char* source = from + line * from_pitch + piece * 16;
    if (first >= 0 && first + L <= length) {
      store16(start + first, load16(source));
    } else {
#pragma unroll
      for (int j = 0; j < L; j++)
        if (first + j >= 0 && first + j < length) start[first + j] = reinterpret_cast<const T*>(source)[j];
    }
  }
}

template <class T>
__device__ __forceinline__ int elements_behind_16(const T* p) { return static_cast<int>(reinterpret_cast<unsigned long long>(p) & 15) / static_cast<int>(sizeof(T)); }

// 16 rows of a tile by 32 bytes of k.
template <class T, bool K>
__device__ __forceinline__ void rows_fragment(uint32_t (&r)[4], const char* tile, int pitch, int row, int step, int lane) {
  const int part = lane >> 3, high_row = part & 1, high_k = part >> 1;
  if constexpr (K) {
    ldmatrix(r, shared_address(tile + (row + high_row * 8 + (lane & 7)) * pitch + step * 32 + high_k * 16));
  } else if constexpr (sizeof(T) == 2) {
    ldmatrix_trans(r, shared_address(tile + (step * 16 + high_k * 8 + (lane & 7)) * pitch + (row + high_row * 8) * 2));
  } else {
#pragma unroll
    for (int i = 0; i < 4; i++) r[i] = *reinterpret_cast<const uint32_t*>(tile + (step * 8 + (lane & 3) + (i >> 1) * 4) * pitch + (row + (lane >> 2) + (i & 1) * 8) * 4);
  }
}

template <class T, bool K, int GROUPS>
__device__ __forceinline__ void product(const T* x, const T* w, T* out, const LongTask& t) {
  extern __shared__ __align__(128) char shared[];
  char *tile = shared + t.x_at, *results = shared + t.out_at, *stage = shared + t.stage_at;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const T* x_end = x + static_cast<long long>(t.length) * t.k;
  const int weights = t.few * t.k;
  const auto load = [&](int number) {
    if (number >= t.tiles) return;
    const int first = number * t.tile, rows = min(t.tile, t.length - first);
    if constexpr (K) copy_in(stage, 0, x + static_cast<long long>(first) * t.k, 0, 1, rows * t.k, x_end);
    else copy_in(stage, t.pitch_stage, x + first, t.length, t.k, rows, x_end);
  };
  copy_in(tile, 0, w, 0, 1, weights, w + weights);
  const bool ahead = t.x_at + weights * static_cast<int>(sizeof(T)) <= t.stage_at;  // w leaves room for x
  if (ahead) load(blockIdx.x);
  copy_commit();
  copy_wait<0>();
  __syncthreads();
  // w with k contiguous, and zeroes behind.
  {
    const int words = t.steps * 8, lines = (t.few + 15) / 16 * 16;
    const T* raw = reinterpret_cast<const T*>(tile);
    // Neighbouring threads take what lies side by side in w.
    const bool along_k = t.w_k == 1;
    for (int i = threadIdx.x; i < lines * words; i += THREADS) {
      const int line = along_k ? i / words : i % lines, word = along_k ? i - line * words : i / lines, k = word * PAIR<T>;
      uint32_t v = 0;
      if (line < t.few && k < t.k) v = word_of(raw + k * t.w_k + line * t.w_few, t.w_k, k + 1 < t.k);
      *reinterpret_cast<uint32_t*>(shared + line * t.pitch_w + word * 4) = v;
    }
  }
  __syncthreads();
  // k behind the end is zero in every tile.
  for (int i = threadIdx.x; i < (t.out_at - t.x_at) / 16; i += THREADS) reinterpret_cast<uint4*>(tile)[i] = make_uint4(0, 0, 0, 0);
  if (!ahead) load(blockIdx.x);
  copy_commit();
  const int line_words = K ? (t.k + PAIR<T> - 1) / PAIR<T> : t.tile / PAIR<T>;
  const int row_units = t.tile / (16 * GROUPS), units = row_units * ((t.few + COLUMNS - 1) / COLUMNS);
  for (int number = blockIdx.x; number < t.tiles; number += gridDim.x) {
    const int first = number * t.tile, rows = min(t.tile, t.length - first);
    copy_wait<0>();
    __syncthreads();
    {
      const int lines = K ? rows : t.k, step_lines = THREADS / line_words, step_words = THREADS % line_words;
      const T* raw = reinterpret_cast<const T*>(stage);
      const int behind = elements_behind_16(x + static_cast<long long>(first) * t.k);
      int line = threadIdx.x / line_words, word = threadIdx.x % line_words;
      while (line < lines) {
        const T* from;
        if constexpr (K) from = raw + behind + line * t.k + word * PAIR<T>;
        else from = raw + line * (t.pitch_stage / static_cast<int>(sizeof(T))) + elements_behind_16(x + first + static_cast<long long>(line) * t.length) + word * PAIR<T>;
        *reinterpret_cast<uint32_t*>(tile + line * t.pitch_x + word * 4) = word_of(from, 1, !K || word * PAIR<T> + 1 < t.k);
        line += step_lines, word += step_words;
        if (word >= line_words) word -= line_words, line++;
      }
    }
    __syncthreads();
    load(number + gridDim.x);
    copy_commit();
    T* out_tile = t.rows ? out + static_cast<long long>(first) * t.few : out + first;
    const int out_behind = elements_behind_16(out_tile);
    for (int unit = warp; unit < units; unit += WARPS) {
      const int row0 = unit % row_units * (16 * GROUPS), column0 = unit / row_units * COLUMNS;
      if (row0 >= rows) continue;
      float sums[GROUPS][COLUMNS / 8][4] = {};
      for (int step = 0; step < t.steps; step++) {
        uint32_t a[GROUPS][4];
#pragma unroll
        for (int g = 0; g < GROUPS; g++) rows_fragment<T, K>(a[g], tile, t.pitch_x, row0 + g * 16, step, lane);
#pragma unroll
        for (int j = 0; j < COLUMNS / 16; j++) {
          if (column0 + j * 16 >= t.few) break;
          uint32_t b[4];
          ldmatrix(b, shared_address(shared + (column0 + j * 16 + (lane >> 4) * 8 + (lane & 7)) * t.pitch_w + step * 32 + (lane >> 3 & 1) * 16));
#pragma unroll
          for (int g = 0; g < GROUPS; g++) {
            mma(sums[g][j * 2], a[g], b[0], b[1], T());
            mma(sums[g][j * 2 + 1], a[g], b[2], b[3], T());
          }
        }
      }
#pragma unroll
      for (int j = 0; j < COLUMNS / 8; j++)
#pragma unroll
        for (int odd = 0; odd < 2; odd++) {
          const int column = column0 + j * 8 + lane % 4 * 2 + odd;
          if (column >= t.few) continue;
          T* to = reinterpret_cast<T*>(results);
          if (t.rows) to += out_behind + column;
          else to = reinterpret_cast<T*>(results + column * t.pitch_out) + elements_behind_16(out_tile + static_cast<long long>(column) * t.length);
#pragma unroll
          for (int g = 0; g < GROUPS; g++)
#pragma unroll
            for (int half = 0; half < 2; half++) to[(row0 + g * 16 + half * 8 + lane / 4) * (t.rows ? t.few : 1)] = from_float<T>(sums[g][j][half * 2 + odd]);
        }
    }
    __syncthreads();
    if (t.rows) copy_out(out_tile, 0, results, 0, 1, rows * t.few);
    else copy_out(out_tile, t.length, results, t.pitch_out, t.few, rows);
  }
}

}  // namespace

#define LONG(T, NAME, K, GROUPS)                                                                                                                       \
  extern "C" __global__ void __launch_bounds__(THREADS, GROUPS == 2 ? 2 : 4) matmul_long_##T##_##NAME##_##GROUPS(const T* x, const T* w, T* out, const LongTask t) { \
    product<T, K, GROUPS>(x, w, out, t);                                                                                                               \
  }
#define LONG_GROUPS(T, NAME, K) LONG(T, NAME, K, 1) LONG(T, NAME, K, 2)
#define LONG_LAYOUTS(T) LONG_GROUPS(T, k, true) LONG_GROUPS(T, l, false)
LONG_LAYOUTS(f16)
LONG_LAYOUTS(bf16)
LONG_LAYOUTS(tf32)
