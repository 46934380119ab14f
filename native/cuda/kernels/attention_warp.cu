// softmax(q k^T / sqrt(headDim)) v of few queries, or of short heads: a warp takes 16 queries of a head and meets BC keys at a time on tensor cores, with the running maximum and sum of each
// query. Nothing passes through shared memory: a thread multiplies the 16 bytes of a row that it loads, because products count the elements of a head, and the columns of the values, in the order
// in which threads have them. The next tile arrives while one is multiplied. Rows start on 16 bytes. f32 as three products of tf32 numbers (attention_f32.cuh).
//   attention_warp_<t>_<D>_<W>   head dims of up to D. W 1: each warp has queries of its own; 4, 8: the warps of a block share the keys of 16 queries, and join what they have in a fixed order; _stays: by fewer blocks than there are such queries, each of which goes on from one set to the next
// Above a head dim of 128 two warps have the same scores, and each half of the values' columns.
#include "common/attention_warp.cuh"

#define ATTENTION_AS(T, D, W, THREADS, BLOCKS)                                                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) attention_warp_##T##_##D##_##W(const T* q, const T* k, const T* v, T* out, const AttentionSizes s, float* shares, unsigned* arrivals) { \
    start_attention(s);                                                                                                                                                                                    \
    attend<T, D, W, false>(q, k, v, out, s, shares, arrivals);                                                                                                                                               \
  }
// BLOCKS of 128 threads that a multiprocessor holds: attention_warp_resident says the same.
#define ATTENTION(T, D, BLOCKS) ATTENTION_AS(T, D, 1, 128, BLOCKS) ATTENTION_AS(T, D, 4, 128, (BLOCKS / 2 * 2)) ATTENTION_AS(T, D, 8, 256, (BLOCKS / 2))
#define STAYS(T, D, W, THREADS, BLOCKS)                                                                                                                                                               \
  extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) attention_warp_##T##_##D##_##W##_stays(const T* q, const T* k, const T* v, T* out, const AttentionSizes s, float* shares, unsigned* arrivals) { \
    start_attention(s);                                                                                                                                                                                    \
    attend<T, D, W, false, true>(q, k, v, out, s, shares, arrivals);                                                                                                                                         \
  }
STAYS(f16, 128, 4, 128, 2) STAYS(f16, 128, 8, 256, 1) STAYS(bf16, 128, 4, 128, 2) STAYS(bf16, 128, 8, 256, 1)
ATTENTION(f32, 32, 4) ATTENTION(f32, 64, 3) ATTENTION(f32, 96, 3) ATTENTION(f32, 128, 2) ATTENTION(f32, 160, 2) ATTENTION(f32, 256, 2)
ATTENTION(f16, 32, 4) ATTENTION(f16, 64, 4) ATTENTION(f16, 128, 2) ATTENTION(f16, 256, 2)
ATTENTION(bf16, 32, 4) ATTENTION(bf16, 64, 4) ATTENTION(bf16, 128, 2) ATTENTION(bf16, 256, 2)
