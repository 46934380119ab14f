// matmul where m or n is 5 to 32, k is short and not contiguous in the long matrix, and the matrix is small (matmul/narrow_split.h says when). A warp has 32 columns of the long matrix, a group of the
// short side and a part of k: all that a thread loads is on its way together, and no thread has more than 8 sums. Parts of k are added up in order, by all threads.
//   matmul_narrow_split_<t>_<S>   S: of the short side in a warp
// How to build and run: scripts/gpu/kernels.sh.
#include "common/vec.cuh"
#include "matmul/narrow_split_task.h"
#include "matmul/skinny.h"

namespace {

using opscope::cuda::NarrowSplitTask;
constexpr int COLUMNS = opscope::cuda::narrow_split_columns, AHEAD = opscope::cuda::narrow_split_ahead, SUMS_PITCH = COLUMNS + 1;

// The short side of a product, [k] and [few] with `pitch` between them, in f32. In memory it is one run, of which all threads have their share on its way.
template <class T>
__device__ __forceinline__ void load_few(float* few, const T* vectors, const SkinnyArguments& a, int pitch) {
  constexpr int EACH = 8;
  const bool along_k = a.vectors_k == 1;
  const int k = static_cast<int>(a.k), size = k * a.few, line = along_k ? k : a.few;
  const float inverse = 1.0f / static_cast<float>(line);  // sizes are far below what its rounding would show in
  for (int first = threadIdx.x; first < size; first += blockDim.x * EACH) {
    T v[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++) v[i] = vectors[min(first + i * static_cast<int>(blockDim.x), size - 1)];
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      const int e = first + i * static_cast<int>(blockDim.x), high = static_cast<int>((static_cast<float>(e) + 0.5f) * inverse), low = e - high * line;
      if (e < size) few[along_k ? low * pitch + high : high * pitch + low] = to_float(v[i]);
    }
  }
}

template <class T, int S>
__device__ __forceinline__ void product(const SkinnyArguments& a, const NarrowSplitTask& t) {
  extern __shared__ __align__(16) float shared[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, part = warp / t.groups, group = warp - part * t.groups;
  const int width = t.groups * S, pitch = opscope::cuda::narrow_split_pitch(width, S), batch = static_cast<int>(blockIdx.x) / t.tiles;
  const long long first = static_cast<long long>(static_cast<int>(blockIdx.x) - batch * t.tiles) * COLUMNS;
  const int count = static_cast<int>(min(static_cast<long long>(COLUMNS), a.length - first)), k = static_cast<int>(a.k);
  const int each = (k + t.parts - 1) / t.parts, begin = min(k, part * each), end = min(k, begin + each);
  const T* matrix = reinterpret_cast<const T*>(a.matrix) + batch * a.matrix_batch + first + min(lane, count - 1) + begin * a.length;
  T x[AHEAD];
  const auto load = [&](int l0) {
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      if (l0 + u >= end) break;
      x[u] = *matrix;
      matrix += a.length;
    }
  };
  // The matrix first: its way is the longest.
  load(begin);
  load_few(shared, reinterpret_cast<const T*>(a.vectors) + batch * a.vectors_batch, a, pitch);
  __syncthreads();
  float sum[S] = {};
  for (int l0 = begin; l0 < end; l0 += AHEAD) {
    if (l0 > begin) load(l0);
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      if (l0 + u >= end) break;
      const float* from = shared + (l0 + u) * pitch + group * S;
      const float value = to_float(x[u]);
      float y[S];
      if constexpr (S % 4 == 0) {
#pragma unroll
        for (int s = 0; s < S; s += 4) *reinterpret_cast<float4*>(y + s) = *reinterpret_cast<const float4*>(from + s);
      } else {
#pragma unroll
        for (int s = 0; s < S; s += 2) *reinterpret_cast<float2*>(y + s) = *reinterpret_cast<const float2*>(from + s);
      }
#pragma unroll
      for (int s = 0; s < S; s++) sum[s] = fmaf(value, y[s], sum[s]);
    }
  }
  T* out = reinterpret_cast<T*>(a.out) + batch * a.out_batch + first * a.out_length;
  const bool rows = a.out_few == 1;  // of the short side
  if (t.parts == 1 && !rows) {
#pragma unroll
    for (int s = 0; s < S; s++)
      if (lane < count && group * S + s < a.few) out[static_cast<long long>(group * S + s) * a.out_few + lane] = from_float<T>(sum[s]);
    return;
  }
  float* sums = shared + t.sums_at;  // [part][vector][column]
#pragma unroll
  for (int s = 0; s < S; s++) sums[(part * width + group * S + s) * SUMS_PITCH + lane] = sum[s];
  __syncthreads();
  // Neighbouring threads store neighbours.
  const int results = rows ? count * a.few : a.few * COLUMNS;
  for (int e = threadIdx.x; e < results; e += blockDim.x) {
    const int high = rows ? e / a.few : e / COLUMNS, low = e - high * (rows ? a.few : COLUMNS), s = rows ? low : high, column = rows ? high : low;
    if (column >= count) continue;
    float total = 0;
    for (int p = 0; p < t.parts; p++) total += sums[(p * width + s) * SUMS_PITCH + column];
    out[rows ? e : static_cast<long long>(s) * a.out_few + column] = from_float<T>(total);
  }
}

}  // namespace

#define KERNEL(T, S) \
  extern "C" __global__ void __launch_bounds__(1024) matmul_narrow_split_##T##_##S(const SkinnyArguments a, const NarrowSplitTask t) { product<T, S>(a, t); }
#define KERNELS(T) KERNEL(T, 6) KERNEL(T, 8)
KERNELS(f32)
KERNELS(f16)
KERNELS(bf16)
