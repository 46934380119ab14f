// scaled_matmul of a long matrix and up to 32 rows of the other one, both with rows that start on 16 bytes (scaled_matmul.plan.cc says when): a warp reads 16 rows of the long matrix, 16 bytes by a lane,
// straight into the registers of tensor cores; the few rows come from the caches. What lies together in k is multiplied in another order, the same in both. `parts` warps of a block share the k of a tile,
// and their sums are added up in order.
//   scaled_matmul_few_<dtype>_<8, 16 or 32>_<rows|columns>   up to so many rows, or columns, of the result
// How to build and run: scripts/gpu/kernels.sh.
#include "common/product.cuh"

namespace {

constexpr int WARPS = 8, AHEAD = 4;  // of a block; 16-byte loads that a lane has on their way of each of its two rows

template <class T, int GROUPS, bool ROWS_FEW>
__device__ __forceinline__ void product(const T* __restrict__ matrix, const T* __restrict__ few, const float* __restrict__ scale_long, const float* __restrict__ scale_few, bf16* __restrict__ out, int length, int count, int k,
                                        int parts, int share) {
  using Sum = typename SumOf<T>::type;
  __shared__ Sum others[WARPS][GROUPS * 4][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, part = warp % parts, group = lane / 4, quarter = lane % 4, last = length - 1;
  const long long first = (static_cast<long long>(blockIdx.x) * (WARPS / parts) + warp / parts) * 16 + group * 2;  // two neighbours of the long side are a lane's
  const bool inside = first < length;
  const int row = inside ? static_cast<int>(first) : last;
  const char* from[2];
#pragma unroll
  for (int r = 0; r < 2; r++) from[r] = reinterpret_cast<const char*>(matrix) + static_cast<long long>(min(row + r, last)) * k;
  const char* other[GROUPS];
#pragma unroll
  for (int g = 0; g < GROUPS; g++) other[g] = reinterpret_cast<const char*>(few) + static_cast<long long>(min(g * 8 + group, count - 1)) * k;
  Sum sums[GROUPS][4] = {};
  const int end = min(k, (part + 1) * share);
  for (int base = part * share; base < end; base += AHEAD * 64) {
    const int at = base + quarter * 16;
    uint4 x[AHEAD][2];
#pragma unroll
    for (int i = 0; i < AHEAD; i++)
#pragma unroll
      for (int r = 0; r < 2; r++) x[i][r] = at + i * 64 < end ? load16(from[r] + at + i * 64) : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
      if (base + i * 64 >= end) break;
      const uint32_t low[4] = {x[i][0].x, x[i][1].x, x[i][0].y, x[i][1].y}, high[4] = {x[i][0].z, x[i][1].z, x[i][0].w, x[i][1].w};
#pragma unroll
      for (int g = 0; g < GROUPS; g++) {
        const uint4 y = at + i * 64 < end ? load16(other[g] + at + i * 64) : make_uint4(0, 0, 0, 0);
        mma(sums[g], low, y.x, y.y, T{});
        mma(sums[g], high, y.z, y.w, T{});
      }
    }
  }
  if (parts > 1) {
#pragma unroll
    for (int i = 0; i < GROUPS * 4; i++) others[warp][i][lane] = sums[i / 4][i % 4];
    __syncthreads();
    if (part > 0) return;
    for (int w = warp + 1; w < warp + parts; w++)
#pragma unroll
      for (int i = 0; i < GROUPS * 4; i++) sums[i / 4][i % 4] += others[w][i][lane];
  }
  if (!inside) return;
  const bool both = row < last;
  const float scales[2] = {scale_long[row], both ? scale_long[row + 1] : 0.0f};
#pragma unroll
  for (int g = 0; g < GROUPS; g++)
#pragma unroll
    for (int j = 0; j < 2; j++) {
      const int place = g * 8 + quarter * 2 + j;
      if (place >= count) continue;
      const float scale = scale_few[place], x = scale * scales[0] * static_cast<float>(sums[g][j]), y = scale * scales[1] * static_cast<float>(sums[g][2 + j]);
      if (ROWS_FEW) {
        store_pair(out + static_cast<long long>(place) * length + row, x, y, length % 2 == 0, both);
      } else {
        bf16* to = out + static_cast<long long>(row) * count + place;
        to[0] = from_float<bf16>(x);
        if (both) to[count] = from_float<bf16>(y);
      }
    }
}

}  // namespace

#define FEW_OF(T, dtype, GROUPS, COUNT, NAME, ROWS_FEW)                                                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(WARPS * 32) scaled_matmul_few_##dtype##_##COUNT##_##NAME(const T* matrix, const T* few, const float* scale_long, const float* scale_few, bf16* out, int length, int count, \
                                                                                                        int k, int parts, int share) {                                                                                     \
    product<T, GROUPS, ROWS_FEW>(matrix, few, scale_long, scale_few, out, length, count, k, parts, share);                                                                                                       \
  }
#define FEW_COUNT(T, dtype, GROUPS, COUNT) FEW_OF(T, dtype, GROUPS, COUNT, rows, true) FEW_OF(T, dtype, GROUPS, COUNT, columns, false)
#define FEW(T, dtype) FEW_COUNT(T, dtype, 1, 8) FEW_COUNT(T, dtype, 2, 16) FEW_COUNT(T, dtype, 4, 32)
FEW(int8, i8)
FEW(e4m3, f8e4m3)
