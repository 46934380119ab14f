// Running sums over lanes of a warp.
#pragma once

struct LaneSums {
  float before, upto;  // the sum of the lanes in front of this one, and with its own value
};

// Over the `lanes` neighbouring lanes, a power of two, of which this is number `lane`. In a fixed order.
__device__ __forceinline__ LaneSums lane_sums(float value, int lane, int lanes = 32) {
  float sum = value;
#pragma unroll
  for (int offset = 1; offset < lanes; offset *= 2) {
    const float other = __shfl_up_sync(0xffffffffu, sum, offset);
    if (lane >= offset) sum += other;
  }
  const float before = __shfl_up_sync(0xffffffffu, sum, 1);
  return {lane == 0 ? 0.0f : before, sum};
}
