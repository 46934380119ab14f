// Statistics of a group whose blocks stay for many groups. For group_norm_long.cu and group_norm_stay.cu.
#pragma once
#include "../common/bulk.cuh"
#include "../common/cluster.cuh"
#include "../group_norm.h"
#include "../rows/stats.cuh"

#ifdef OPSCOPE_BULK

// Of every second group in turn: who writes one side has passed the barrier after which all have read it.
struct GroupBlocks {
  ByMoments::Stats of_warps[2][group_threads / 32];
  __align__(16) uint4 of_blocks[2][group_parts];
  BulkBarrier come[2];

  // By one thread of each block, before those of a cluster meet.
  __device__ __forceinline__ void init() { bulk_init(come), bulk_init(come + 1); }
  __device__ __forceinline__ void expect(int parts) {
    if (parts > 1) expect_side(0, parts), expect_side(1, parts);
  }

  // Of the group of a `round`, after all warps have put theirs and met.
  __device__ __forceinline__ ByMoments::Stats join(unsigned round, int parts, unsigned rank) {
    const unsigned odd = round & 1, phase = (round >> 1) & 1;
    const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32), warps = static_cast<int>(blockDim.x / 32);
    ByMoments::Stats t = ByMoments::join_warp(lane < warps ? of_warps[odd][lane] : ByMoments::start(), 32);
    if (parts > 1) {
      if (warp == 0 && lane < parts) send_to_block({__float_as_uint(t.count), __float_as_uint(t.mean), __float_as_uint(t.squares), 0}, &of_blocks[odd][rank], come + odd, static_cast<unsigned>(lane));
      bulk_wait(come + odd, phase);
      // Two rounds on: no block sends for that round before this one has sent for the next.
      if (threadIdx.x == 0) expect_side(odd, parts);
      const uint4 q = lane < parts ? of_blocks[odd][lane] : uint4{0, 0, 0, 0};
      t = ByMoments::join_warp({__uint_as_float(q.x), __uint_as_float(q.y), __uint_as_float(q.z)}, group_parts);
      t.mean = __shfl_sync(0xffffffffu, t.mean, 0), t.count = __shfl_sync(0xffffffffu, t.count, 0), t.squares = __shfl_sync(0xffffffffu, t.squares, 0);
    }
    return t;
  }

 private:
  __device__ __forceinline__ void expect_side(unsigned side, int parts) { bulk_expect(come + side, static_cast<unsigned>(parts) * 16); }
};

#endif
