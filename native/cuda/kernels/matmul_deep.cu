// matmul of few results and a long k: m and n are small, and memory bounds the product (matmul/deep.h says when). Blocks share k. A block copies parts of both operands to shared memory as they
// lie in memory, in 16-byte pieces, four parts ahead; its threads share the results of a part, and where these are few its k. Sums of threads and of blocks are added up in order.
//   matmul_deep_<t>_<X><e|v>_<Y><e|v>   a thread has X results along the short side and Y along the long one, read as elements or as a vector
// How to build and run: scripts/gpu/kernels.sh.
#include "common/mma.cuh"
#include "matmul/deep_task.h"
#include "matmul/stream.cuh"

namespace {

using opscope::cuda::DeepOperand;
using opscope::cuda::DeepTask;
constexpr int THREADS = opscope::cuda::deep_threads, STAGES = opscope::cuda::deep_stages;

template <class T>
struct Operand {
  const DeepOperand& o;
  unsigned long long base, end;  // addresses of this product's and of what is behind it
  long long k;
  int count;  // elements of the side

  __device__ __forceinline__ Operand(const DeepOperand& operand, unsigned long long address, long long all_k, int elements)
      : o(operand), base(address), end(address + all_k * elements * sizeof(T)), k(all_k), count(elements) {}

  // `n` of k from `first` on, in which 16-byte pieces start.
  __device__ __forceinline__ void load(char* stage, long long first, int n) const {
    const int lines = o.along_k ? count : 1, bytes = n * (o.along_k ? 1 : count) * static_cast<int>(sizeof(T)), across = 1 << o.log2_threads;
    for (int line = threadIdx.x >> o.log2_threads; line < lines; line += THREADS >> o.log2_threads) {
      const unsigned long long start = base + (o.along_k ? line * k + first : first * count) * sizeof(T), from = start & ~15ull;
      const int pieces = static_cast<int>(start - from) + bytes;
      const uint32_t to = shared_address(stage + o.at + line * o.pitch);
      for (int at = (threadIdx.x & (across - 1)) * 16; at < pieces; at += across * 16)
        copy_async_16(to + at, reinterpret_cast<const void*>(from + at), static_cast<int>(min(16ull, end - (from + at))));
    }
  }

  // Bytes of a stage before element s at its first k; from one k to the next.
  __device__ __forceinline__ int before(int s) const {
    s = min(s, count - 1);
    return o.at + (o.along_k ? s * o.pitch + static_cast<int>((base + s * k * sizeof(T)) & 15) : static_cast<int>(base & 15) + s * static_cast<int>(sizeof(T)));
  }
  __device__ __forceinline__ int step() const { return (o.along_k ? 1 : count) * static_cast<int>(sizeof(T)); }
};

// Element i of those that a thread of group g has, of `groups`.
template <int N, bool WIDE>
__device__ __forceinline__ int element_of(int g, int groups, int i) { return WIDE ? g * N + i : g + groups * i; }

template <class T, int N, bool WIDE>
__device__ __forceinline__ void read(float (&v)[N], const char* from, const int (&before)[N]) {
  if constexpr (!WIDE) {
#pragma unroll
    for (int i = 0; i < N; i++) v[i] = to_float(*reinterpret_cast<const T*>(from + before[i]));
  } else if constexpr (sizeof(T) == 4) {
    const float4 w = *reinterpret_cast<const float4*>(from + before[0]);
    v[0] = w.x, v[1] = w.y, v[2] = w.z, v[3] = w.w;
  } else {
    const uint2 w = *reinterpret_cast<const uint2*>(from + before[0]);
    unpack_pair(w.x, v[0], v[1], T()), unpack_pair(w.y, v[2], v[3], T());
  }
}

template <class T, int X, bool WIDE_X, int Y, bool WIDE_Y>
__device__ __forceinline__ void product(const SkinnyArguments& a, const DeepTask& t) {
  extern __shared__ __align__(16) char shared[];
  const int batch = static_cast<int>(blockIdx.x), groups_y = t.groups / t.groups_x, ways = THREADS / t.groups;
  const int way = static_cast<int>(threadIdx.x) / t.groups, g = static_cast<int>(threadIdx.x) - way * t.groups, gx = g % t.groups_x, gy = g / t.groups_x;
  const Operand<T> x(t.x, a.vectors + batch * a.vectors_batch * sizeof(T), a.k, a.few), y(t.y, a.matrix + batch * a.matrix_batch * sizeof(T), a.k, static_cast<int>(a.length));
  const long long from = blockIdx.y * a.share, to = min(a.k, from + a.share);
  const int parts = static_cast<int>((to - from + t.chunk - 1) / t.chunk);
  const auto size_of = [&](int part) { return static_cast<int>(min(static_cast<long long>(t.chunk), to - from - static_cast<long long>(part) * t.chunk)); };
  const auto load = [&](int part) {
    if (part < parts) {
      char* stage = shared + part % STAGES * t.stage;
      const long long first = from + static_cast<long long>(part) * t.chunk;
      x.load(stage, first, size_of(part)), y.load(stage, first, size_of(part));
    }
    copy_commit();
  };
  for (int part = 0; part < STAGES - 1; part++) load(part);
  int before_x[X], before_y[Y];
#pragma unroll
  for (int i = 0; i < X; i++) before_x[i] = x.before(element_of<X, WIDE_X>(gx, t.groups_x, i));
#pragma unroll
  for (int j = 0; j < Y; j++) before_y[j] = y.before(element_of<Y, WIDE_Y>(gy, groups_y, j));
  const int step_x = x.step(), step_y = y.step();
  float sum[X][Y] = {};
  for (int part = 0; part < parts; part++) {
    copy_wait<STAGES - 2>();
    __syncthreads();
    load(part + STAGES - 1);
    const char* stage = shared + part % STAGES * t.stage;
    const int count = way < ways ? size_of(part) : 0;
#pragma unroll 4
    for (int l = way; l < count; l += ways) {
      float u[X], v[Y];
      read<T, X, WIDE_X>(u, stage + l * step_x, before_x);
      read<T, Y, WIDE_Y>(v, stage + l * step_y, before_y);
#pragma unroll
      for (int i = 0; i < X; i++)
#pragma unroll
        for (int j = 0; j < Y; j++) sum[i][j] = fmaf(u[i], v[j], sum[i][j]);
    }
  }
  copy_wait<0>();
  __syncthreads();
  // Result e is number e / groups of those of group e % groups.
  float* sums = reinterpret_cast<float*>(shared);
#pragma unroll
  for (int i = 0; i < X; i++)
#pragma unroll
    for (int j = 0; j < Y; j++) sums[(i * Y + j) * THREADS + threadIdx.x] = sum[i][j];
  __syncthreads();
  const int all = t.groups * X * Y, rounded = (all + 3) / 4 * 4;
  const auto place = [&](int e) {
    const int number = e / t.groups, group = e - number * t.groups;
    const int sx = element_of<X, WIDE_X>(group % t.groups_x, t.groups_x, number / Y), sy = element_of<Y, WIDE_Y>(group / t.groups_x, groups_y, number % Y);
    return e < all && sx < a.few && sy < a.length ? static_cast<long long>(sy) * a.out_length + static_cast<long long>(sx) * a.out_few : -1ll;
  };
  const Results<T, decltype(place)> results = {a, batch, static_cast<int>(gridDim.x), rounded, place};
  // `of` threads, this one number `mine` of them, add up a result.
  const auto total_of = [&](int e, int mine, int of) {
    const int number = e / t.groups, group = e - number * t.groups;
    float total = 0;
    for (int w = mine; w < ways; w += of) total += sums[number * THREADS + w * t.groups + group];
    return total;
  };
  const int of = min(16, THREADS / all);
  if (of < 2) {
    for (int e = threadIdx.x; e < rounded; e += THREADS) results.give(e, e < all ? total_of(e, 0, 1) : 0.0f);
  } else {
    float* halves = sums + X * Y * THREADS;
    const int e = static_cast<int>(threadIdx.x) / of, mine = static_cast<int>(threadIdx.x) - e * of;
    if (e < all) halves[threadIdx.x] = total_of(e, mine, of);
    __syncthreads();
    if (threadIdx.x < rounded) {
      float total = 0;
      for (int i = 0; i < of && threadIdx.x < all; i++) total += halves[threadIdx.x * of + i];
      results.give(static_cast<int>(threadIdx.x), total);
    }
  }
  __syncthreads();
  results.add_up(reinterpret_cast<float4*>(shared));
}

}  // namespace

#define KERNEL(T, X, EX, WIDE_X, Y, EY, WIDE_Y)                                                                                                   \
  extern "C" __global__ void __launch_bounds__(THREADS, X * Y > 16 ? 2 : 3) matmul_deep_##T##_##X##EX##_##Y##EY(const SkinnyArguments a, const DeepTask t) { \
    product<T, X, WIDE_X, Y, WIDE_Y>(a, t);                                                                                                                  \
  }
#define WITH_4(T, X, EX, WIDE_X) KERNEL(T, X, EX, WIDE_X, 4, e, false) KERNEL(T, X, EX, WIDE_X, 4, v, true)
#define DEEP(T)                                                                                              \
  KERNEL(T, 1, e, false, 1, e, false) KERNEL(T, 1, e, false, 2, e, false) KERNEL(T, 2, e, false, 2, e, false) \
  WITH_4(T, 1, e, false) WITH_4(T, 2, e, false) WITH_4(T, 4, e, false) WITH_4(T, 4, v, true)
DEEP(f32)
KERNEL(f32, 4, e, false, 8, e, false) KERNEL(f32, 4, v, true, 8, e, false)
DEEP(f16)
DEEP(bf16)
