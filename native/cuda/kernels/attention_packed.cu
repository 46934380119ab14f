// softmax(q k^T / sqrt(headDim)) v of many heads with a few queries and keys each: a warp takes as many heads as fill its tile of 16 queries (common/attention_warp.cuh), so that fewer warps start, wait for memory and end.
//   attention_packed_<t>_<D>   head dims of up to D
#include "common/attention_warp.cuh"

// BLOCKS of 128 threads of a multiprocessor: as many as have registers.
#define PACKED(T, D, BLOCKS)                                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(128, BLOCKS) attention_packed_##T##_##D(const T* q, const T* k, const T* v, T* out, const AttentionSizes s) { \
    attend<T, D, 1, true>(q, k, v, out, s, nullptr, nullptr);                                                                                                  \
  }
PACKED(f32, 32, 4) PACKED(f32, 64, 3) PACKED(f32, 128, 2)
PACKED(f16, 32, 4) PACKED(f16, 64, 4) PACKED(f16, 128, 2) PACKED(f16, 256, 2)
PACKED(bf16, 32, 4) PACKED(bf16, 64, 4) PACKED(bf16, 128, 2) PACKED(bf16, 256, 2)
