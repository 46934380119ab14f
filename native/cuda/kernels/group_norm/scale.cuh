// What group_norm makes of an element once the statistics of its group are known. For group_norm.cu, group_norm_long.cu and group_norm_stay.cu.
#pragma once
#include "../common/vec.cuh"
#include "../group_norm.h"

// weights: weight and bias of each channel of the group, in shared memory.
template <class T>
struct GroupScale {
  static constexpr int L = LANES<T>;
  // 16-bit elements have no digits that one multiply-add would lose.
  static constexpr bool at_once = sizeof(T) == 2;
  const GroupNormArguments& a;
  const float2* weights;
  float mean, rstd;

  // Of a vector whose first element is number i of the group; i may be below 0 where the group does not start on 16 bytes.
  __device__ __forceinline__ void apply(float (&f)[L], int i) const {
    const int channel = static_cast<int>(__umulhi(static_cast<unsigned>(max(i, 0)), a.factor) >> a.shift), left = (channel + 1) * a.plane - i;
    const float2 by = scaled(channel);
    if (left >= L) {
#pragma unroll
      for (int j = 0; j < L; j++) f[j] = applied(f[j], by);
    } else {
      const float2 next = scaled(min(channel + 1, a.channels - 1));
#pragma unroll
      for (int j = 0; j < L; j++) f[j] = applied(f[j], make_float2(j < left ? by.x : next.x, j < left ? by.y : next.y));
    }
  }

 private:
  __device__ __forceinline__ float2 scaled(int channel) const {
    const float2 w = weights[channel];
    return make_float2(w.x * rstd, at_once ? fmaf(-mean, w.x * rstd, w.y) : w.y);
  }
  __device__ __forceinline__ float applied(float v, float2 by) const { return fmaf(at_once ? v : v - mean, by.x, by.y); }
};
