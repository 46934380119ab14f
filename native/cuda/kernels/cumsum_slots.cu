// cumsum of rows of several blocks, each element read once (cumsum/slots.h says when): a block keeps its part of a row in registers, leaves its sum in a slot, and adds up the slots of
// the blocks before it. In f32, in a fixed order.
//   cumsum_slots_<t>_<R>   R rounds of neighbouring elements of a thread
#include "common/reduce.cuh"
#include "common/slots.cuh"
#include "common/vec.cuh"
#include "cumsum/lanes.cuh"
#include "cumsum/slots.h"

namespace {

using opscope::cuda::cumsum_slot_blocks;
using opscope::cuda::cumsum_slot_threads;
constexpr int EACH = opscope::cuda::cumsum_slot_each, WARPS = cumsum_slot_threads / 32;

__device__ __forceinline__ void load_four(const f32* p, float (&f)[EACH]) {
  const uint4 v = load16(p);
  unpack<f32>(v, f);
}
template <class T>
__device__ __forceinline__ void load_four(const T* p, float (&f)[EACH]) {
  const uint2 v = *reinterpret_cast<const uint2*>(p);
  unpack_pair(v.x, f[0], f[1], T());
  unpack_pair(v.y, f[2], f[3], T());
}
__device__ __forceinline__ void store_four(f32* p, const float (&f)[EACH]) { store16(p, pack<f32>(f)); }
template <class T>
__device__ __forceinline__ void store_four(T* p, const float (&f)[EACH]) {
  *reinterpret_cast<uint2*>(p) = make_uint2(pack_pair(f[0], f[1], T()), pack_pair(f[2], f[3], T()));
}

// grid: `parts` blocks for each row. `slots`, for each row: how many launches have ended, then a word for each part: the number of the launch that left it, and its sum.
template <int R, class T>
__device__ __forceinline__ void scan(const T* __restrict__ x, T* __restrict__ out, int cols, int parts, unsigned long long* slots) {
  __shared__ float sums[WARPS], scratch[32];
  __shared__ unsigned long long launch;
  const unsigned row = blockIdx.x / static_cast<unsigned>(parts);
  const int part = static_cast<int>(blockIdx.x - row * static_cast<unsigned>(parts)), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned long long* const own = slots + static_cast<long long>(row) * (parts + 1);
  if (threadIdx.x == 0 && parts > 1) launch = *const_cast<volatile unsigned long long*>(own) + 1;
  const long long start = static_cast<long long>(row) * cols;
  // Of the warp's part in the row; vectors start where those of memory do.
  const int first = (part * WARPS + warp) * (32 * EACH * R) - static_cast<int>(start % EACH), at = first + lane * EACH;
  const T* const from = x + start;
  T* const to = out + start;
  const bool whole = first >= 0 && first + 32 * EACH * R <= cols;
  float f[R][EACH];
  if (whole) {
#pragma unroll
    for (int r = 0; r < R; r++) load_four(from + at + r * 32 * EACH, f[r]);
  } else {
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
      for (int e = 0; e < EACH; e++) {
        const int i = at + r * 32 * EACH + e;
        f[r][e] = static_cast<unsigned>(i) < static_cast<unsigned>(cols) ? to_float(from[i]) : 0.0f;
      }
  }
  float sum = 0;
#pragma unroll
  for (int r = 0; r < R; r++) {
#pragma unroll
    for (int e = 1; e < EACH; e++) f[r][e] += f[r][e - 1];
    const LaneSums lanes = lane_sums(f[r][EACH - 1], lane);
#pragma unroll
    for (int e = 0; e < EACH; e++) f[r][e] += sum + lanes.before;
    sum += __shfl_sync(0xffffffffu, lanes.upto, 31);
  }
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  float before = 0, total = 0;
#pragma unroll
  for (int w = 0; w < WARPS; w++) {
    if (w < warp) before += sums[w];
    total += sums[w];
  }
  if (parts > 1) {
    const unsigned long long mark = launch << 32;
    if (threadIdx.x == 0) leave_word(own + 1 + part, mark | __float_as_uint(total));
    constexpr int U = opscope::cuda::cumsum_slot_words;
    float carry = 0;
    for (int first = threadIdx.x; first < part; first += U * cumsum_slot_threads) {
      unsigned long long word[U];
      await_words(word, own + 1 + first, cumsum_slot_threads, (part - first + cumsum_slot_threads - 1) / cumsum_slot_threads, mark);
#pragma unroll
      for (const unsigned long long w : word) carry += __uint_as_float(static_cast<unsigned>(w));
    }
    before += block_reduce(carry, 0.0f, scratch, AddOp());
    // All others have read it, and this block has read what they left.
    if (threadIdx.x == 0 && part + 1 == parts) leave_word(own, launch);
  }
#pragma unroll
  for (int r = 0; r < R; r++) {
#pragma unroll
    for (int e = 0; e < EACH; e++) f[r][e] += before;
    const int i = at + r * 32 * EACH;
    if (whole) {
      store_four(to + i, f[r]);
    } else {
#pragma unroll
      for (int e = 0; e < EACH; e++)
        if (static_cast<unsigned>(i + e) < static_cast<unsigned>(cols)) to[i + e] = from_float<T>(f[r][e]);
    }
  }
}

}  // namespace

#define SLOTS(T, R)                                                                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(cumsum_slot_threads, cumsum_slot_blocks) cumsum_slots_##T##_##R(const T* x, T* out, int cols, int parts, unsigned long long* slots) { \
    scan<R>(x, out, cols, parts, slots);                                                                                                                                                \
  }
#define ALL(T) SLOTS(T, 1) SLOTS(T, 2) SLOTS(T, 4) SLOTS(T, 8)
ALL(f32)
ALL(f16)
ALL(bf16)
