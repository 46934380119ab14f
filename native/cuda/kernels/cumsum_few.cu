// cumsum of few elements (rows/few.h), where a call takes as long as it waits for memory and for its own instructions: a thread has neighbouring elements, all rows are read at
// once. cumsum_few_<t>_lanes: lanes of a warp have a row; _block: a block has one. Sums in f32, in a fixed order.
#include "cumsum/lanes.cuh"
#include "rows/few.cuh"

namespace {

template <bool BLOCK, class T>
__device__ __forceinline__ void scan(const FewRows& a) {
  const Part<BLOCK ? block_has_row : lanes_by_argument> p(a);
  const int first = p.first * few_each, left = p.cols - first, lane = BLOCK ? threadIdx.x % 32 : p.first;
  const T* x = reinterpret_cast<const T*>(a.in[0]) + (p.row * p.cols + first);
  T read[few_each];
#pragma unroll
  for (int e = 0; e < few_each; e++) read[e] = e < left ? x[e] : T(0.0f);
  float v[few_each];
  widened(read, v);
#pragma unroll
  for (int e = 1; e < few_each; e++) v[e] += v[e - 1];
  // The sum of what lies in front of this thread: in its warp or row, then in the warps before.
  const LaneSums sums = lane_sums(v[few_each - 1], lane);
  float before = sums.before;
  if constexpr (BLOCK) {
    __shared__ float scratch[32];
    const int warp = threadIdx.x / 32;
    if (lane == 31) scratch[warp] = sums.upto;
    __syncthreads();
    before += warp_reduce(lane < warp ? scratch[lane] : 0.0f, AddOp());
  }
  if (!p.there) return;
  T* out = reinterpret_cast<T*>(a.out) + (p.row * p.cols + first);
#pragma unroll
  for (int e = 0; e < few_each; e++)
    if (e < left) out[e] = from_float<T>(before + v[e]);
}

}  // namespace

#define FEW(T)                                                                                                                  \
  extern "C" __global__ void __launch_bounds__(128) cumsum_few_##T##_lanes(const __grid_constant__ FewRows a) { scan<false, T>(a); } \
  extern "C" __global__ void __launch_bounds__(1024) cumsum_few_##T##_block(const __grid_constant__ FewRows a) { scan<true, T>(a); }
FEW(f32)
FEW(f16)
FEW(bf16)
