// Many rows of up to 15 elements that are no whole vectors (rows/narrow.h): rows_narrow_<op>_<t>_<C>, C elements of a row. A lane has as many rows as are whole vectors, in registers: a warp reads and writes its
// rows in vectors, and swaps them through shared memory, where lanes are an odd number of vectors apart; where a vector holds whole rows there is nothing to swap. What is done for a row is written out.
#include "common/arithmetic.cuh"
#include "common/vec.cuh"
#include "rows/arguments.h"
#include "rows/narrow_sizes.h"

namespace {

constexpr float log2e = 1.4426950408889634f;

// 1 / x of a normal number, to one unit in the last place.
__device__ __forceinline__ float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

constexpr int common_divisor(int a, int b) { return b == 0 ? a : common_divisor(b, a % b); }

template <class T>
__device__ __forceinline__ const T* input(const RowArguments& a, int k) { return reinterpret_cast<const T*>(a.in[k]); }

// What is done for a row: `row(f, r)` makes f[0] the result of row r of the lane, of the elements f[0] of the first input and f[1] of a second. C elements of a row, R rows of a lane, of which `first` is the first.

// in: x, weight; number: eps.
template <int C, int R, class T>
struct RmsNorm {
  static constexpr int inputs = 1;
  float w[C], eps;
  __device__ RmsNorm(const RowArguments& a, long long) : eps(a.number) {
#pragma unroll
    for (int j = 0; j < C; j++) w[j] = to_float(input<T>(a, 1)[j]);
  }
  __device__ void row(float (&v)[1][C], int) const {
    float(&f)[C] = v[0];
    float squares = 0;
#pragma unroll
    for (int j = 0; j < C; j++) squares = fmaf(f[j], f[j], squares);
    const float scale = rsqrtf(fmaf(squares, 1.0f / C, eps));
#pragma unroll
    for (int j = 0; j < C; j++) f[j] *= scale * w[j];
  }
};

// in: x, weight, bias; number: eps.
template <int C, int R, class T>
struct LayerNorm {
  static constexpr int inputs = 1;
  float w[C], b[C], eps;
  __device__ LayerNorm(const RowArguments& a, long long) : eps(a.number) {
#pragma unroll
    for (int j = 0; j < C; j++) w[j] = to_float(input<T>(a, 1)[j]), b[j] = to_float(input<T>(a, 2)[j]);
  }
  __device__ void row(float (&v)[1][C], int) const {
    float(&f)[C] = v[0];
    float sum = 0, squares = 0;
#pragma unroll
    for (int j = 0; j < C; j++) sum += f[j];
    const float mean = sum * (1.0f / C);
#pragma unroll
    for (int j = 0; j < C; j++) f[j] -= mean, squares = fmaf(f[j], f[j], squares);
    const float scale = rsqrtf(fmaf(squares, 1.0f / C, eps));
#pragma unroll
    for (int j = 0; j < C; j++) f[j] = fmaf(f[j] * scale, w[j], b[j]);
  }
};

// What the softmax of a row and its like begin with: the largest element, e^(f - largest), and their sum.
template <int C>
__device__ __forceinline__ float exponentials(const float (&f)[C], float (&e)[C], float& largest) {
  largest = f[0];
#pragma unroll
  for (int j = 1; j < C; j++) largest = fmaxf(largest, f[j]);
  const float shift = largest * log2e;
  float sum = 0;
#pragma unroll
  for (int j = 0; j < C; j++) sum += e[j] = exp2_fast(fmaf(f[j], log2e, -shift));
  return sum;
}

template <int C, int R, class T>
struct Softmax {
  static constexpr int inputs = 1;
  __device__ Softmax(const RowArguments&, long long) {}
  __device__ void row(float (&v)[1][C], int) const {
    float e[C], largest;
    const float scale = reciprocal(exponentials(v[0], e, largest));
#pragma unroll
    for (int j = 0; j < C; j++) v[0][j] = e[j] * scale;
  }
};

template <int C, int R, class T>
struct LogSoftmax {
  static constexpr int inputs = 1;
  __device__ LogSoftmax(const RowArguments&, long long) {}
  __device__ void row(float (&v)[1][C], int) const {
    float e[C], largest;
    const float log = logf(exponentials(v[0], e, largest));
#pragma unroll
    for (int j = 0; j < C; j++) v[0][j] = v[0][j] - largest - log;
  }
};

// in: grad, the output of softmax.
template <int C, int R, class T>
struct SoftmaxBackward {
  static constexpr int inputs = 2;
  __device__ SoftmaxBackward(const RowArguments&, long long) {}
  __device__ void row(float (&v)[2][C], int) const {
    float sum = 0;
#pragma unroll
    for (int j = 0; j < C; j++) sum = fmaf(v[0][j], v[1][j], sum);
#pragma unroll
    for (int j = 0; j < C; j++) v[0][j] = v[1][j] * (v[0][j] - sum);
  }
};

// in: logits, target, grad.
template <int C, int R, class T>
struct CrossEntropyBackward {
  static constexpr int inputs = 1;
  int target[R];
  float scale;
  __device__ CrossEntropyBackward(const RowArguments& a, long long first) : scale(*input<float>(a, 2) / static_cast<float>(a.rows)) {
#pragma unroll
    for (int r = 0; r < R; r++) target[r] = first + r < a.rows ? input<int>(a, 1)[first + r] : 0;
  }
  __device__ void row(float (&v)[1][C], int r) const {
    float e[C], largest;
    const float sum = exponentials(v[0], e, largest), factor = scale * reciprocal(sum);
#pragma unroll
    for (int j = 0; j < C; j++) v[0][j] = (j == target[r] ? e[j] - sum : e[j]) * factor;
  }
};

template <int C, int R, class T>
struct Cumsum {
  static constexpr int inputs = 1;
  __device__ Cumsum(const RowArguments&, long long) {}
  __device__ void row(float (&v)[1][C], int) const {
#pragma unroll
    for (int j = 1; j < C; j++) v[0][j] += v[0][j - 1];
  }
};

// Word w of some vectors; places are known when this is compiled.
__device__ __forceinline__ uint32_t& word_of(uint4* v, int w) {
  uint4& one = v[w / 4];
  return w % 4 == 0 ? one.x : w % 4 == 1 ? one.y : w % 4 == 2 ? one.z : one.w;
}

// N elements from element `at` on, of 16 bits an even place and number.
template <class T, int N>
__device__ __forceinline__ void take(uint4* v, int at, float (&f)[N]) {
#pragma unroll
  for (int j = 0; j < N; j += 4 / static_cast<int>(sizeof(T))) {
    if constexpr (sizeof(T) == 4) f[j] = __uint_as_float(word_of(v, at + j));
    else unpack_pair(word_of(v, (at + j) / 2), f[j], f[j + 1], T());
  }
}
template <class T, int N>
__device__ __forceinline__ void give(uint4* v, int at, const float (&f)[N]) {
#pragma unroll
  for (int j = 0; j < N; j += 4 / static_cast<int>(sizeof(T))) {
    if constexpr (sizeof(T) == 4) word_of(v, at + j) = __float_as_uint(f[j]);
    else word_of(v, (at + j) / 2) = pack_pair(f[j], f[j + 1], T());
  }
}

template <int C, class T, template <int, int, class> class P>
__device__ __forceinline__ void rows_narrow(const RowArguments& a) {
  // V vectors of a lane are R rows. Elements of 16 bits are met two at a time, and with them two rows, so that these begin on a word.
  constexpr int L = LANES<T>, G = common_divisor(L, C), V = C / G, R = L / G, S = sizeof(T) == 2 ? 2 : 1, warps = narrow_row_threads / 32;
  using Own = P<C, R, T>;
  constexpr int K = Own::inputs;
  static_assert(C % L != 0 && V % 2 == 1 && R % S == 0);
  __shared__ uint4 swapped[V > 1 ? warps : 1][V > 1 ? 32 * V : 1];
  const int lane = threadIdx.x % 32;
  uint4* const swap = swapped[V > 1 ? threadIdx.x / 32 : 0];
  const long long first = thread_of_grid() / 32 * (32 * V) + lane, elements = a.rows * C, whole = elements / L;
  const int behind = static_cast<int>(elements % L);
  Own own(a, thread_of_grid() * R);
  uint4 v[K][V];
#pragma unroll
  for (int k = 0; k < K; k++)
#pragma unroll
    for (int u = 0; u < V; u++) {
      const long long at = first + u * 32;
      v[k][u] = at < whole ? load16(input<T>(a, k) + at * L) : uint4{0, 0, 0, 0};
      if (behind > 0 && at == whole) {
        float f[L];
#pragma unroll
        for (int j = 0; j < L; j++) f[j] = j < behind ? to_float(input<T>(a, k)[at * L + j]) : 0.0f;
        v[k][u] = pack<T>(f);
      }
    }
  if constexpr (V > 1) {
#pragma unroll
    for (int k = 0; k < K; k++) {
      if (k > 0) __syncwarp();
#pragma unroll
      for (int u = 0; u < V; u++) swap[u * 32 + lane] = v[k][u];
      __syncwarp();
#pragma unroll
      for (int u = 0; u < V; u++) v[k][u] = swap[lane * V + u];
    }
  }
#pragma unroll
  for (int r = 0; r < R; r += S) {
    float f[K][S * C];
#pragma unroll
    for (int k = 0; k < K; k++) take<T>(v[k], r * C, f[k]);
#pragma unroll
    for (int s = 0; s < S; s++) {
      float row[K][C];
#pragma unroll
      for (int k = 0; k < K; k++)
#pragma unroll
        for (int j = 0; j < C; j++) row[k][j] = f[k][s * C + j];
      own.row(row, r + s);
#pragma unroll
      for (int j = 0; j < C; j++) f[0][s * C + j] = row[0][j];
    }
    give<T>(v[0], r * C, f[0]);
  }
  if constexpr (V > 1) {
    // Each lane writes where it alone has read.
#pragma unroll
    for (int u = 0; u < V; u++) swap[lane * V + u] = v[0][u];
    __syncwarp();
#pragma unroll
    for (int u = 0; u < V; u++) v[0][u] = swap[u * 32 + lane];
  }
  T* const out = reinterpret_cast<T*>(a.out);
#pragma unroll
  for (int u = 0; u < V; u++) {
    const long long at = first + u * 32;
    if (at < whole) {
      store16(out + at * L, v[0][u]);
    } else if (behind > 0 && at == whole) {
      float f[L];
      unpack<T>(v[0][u], f);
#pragma unroll
      for (int j = 0; j < L; j++)
        if (j < behind) out[at * L + j] = from_float<T>(f[j]);
    }
  }
}

}  // namespace

#define NARROW_OF(op, Policy, T, C) \
  extern "C" __global__ void __launch_bounds__(narrow_row_threads) rows_narrow_##op##_##T##_##C(const RowArguments a) { rows_narrow<C, T, Policy>(a); }
#define NARROW_3(op, Policy, T) NARROW_OF(op, Policy, T, 1) NARROW_OF(op, Policy, T, 2) NARROW_OF(op, Policy, T, 3)
#define NARROW_14(op, Policy, T)                                                                                                                                                       \
  NARROW_3(op, Policy, T) NARROW_OF(op, Policy, T, 5) NARROW_OF(op, Policy, T, 6) NARROW_OF(op, Policy, T, 7) NARROW_OF(op, Policy, T, 9) NARROW_OF(op, Policy, T, 10)                   \
  NARROW_OF(op, Policy, T, 11) NARROW_OF(op, Policy, T, 13) NARROW_OF(op, Policy, T, 14)
#define NARROW_HALF(op, Policy, T) NARROW_14(op, Policy, T) NARROW_OF(op, Policy, T, 4) NARROW_OF(op, Policy, T, 12)
#define NARROW_ALL(op, Policy, T) NARROW_HALF(op, Policy, T) NARROW_OF(op, Policy, T, 15)
// As many columns as narrow_most says.
#define NARROW(op, Policy) NARROW_14(op, Policy, f32) NARROW_OF(op, Policy, f32, 15) NARROW_ALL(op, Policy, f16) NARROW_ALL(op, Policy, bf16)
NARROW(rms_norm, RmsNorm)
NARROW(layer_norm, LayerNorm)
NARROW(softmax, Softmax)
NARROW(log_softmax, LogSoftmax)
NARROW_3(softmax_backward, SoftmaxBackward, f32) NARROW_HALF(softmax_backward, SoftmaxBackward, f16) NARROW_HALF(softmax_backward, SoftmaxBackward, bf16)
NARROW(cross_entropy_backward, CrossEntropyBackward)
NARROW(cumsum, Cumsum)
