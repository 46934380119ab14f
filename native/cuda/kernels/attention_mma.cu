// softmax(q k^T / sqrt(headDim)) v of f16 and bf16 on tensor cores: a block takes 64 queries of a head, 16 for each of four warps, and
// meets BC keys at a time with the running maximum and sum of each query (Milakov & Gimelshein 2018; Dao 2023). Keys and values are
// loaded a tile ahead. Where queries are few, keys are split over blocks, and attention_join adds the shares up (attention_shares.cuh).
// attention_mma_<t>_<D>: head dims of up to D, filled up with zeroes.
#include "common/arithmetic.cuh"
#include "common/attention_block.cuh"
#include "common/attention_shares.cuh"
#include "common/mma.cuh"
#include "scaled_dot_product_attention.h"

namespace {

constexpr int BR = 64, THREADS = 128;
constexpr float LOG2E = 1.4426950408889634f;

// Rows of D elements in shared memory, in chunks of 16 bytes; a chunk more per row spreads the rows that one access touches over all banks.
template <int D>
constexpr int PITCH = D * 2 + 16;
template <int D>
__device__ __forceinline__ int place(int row, int chunk) { return row * PITCH<D> + chunk * 16; }

// Rows first .. first + ROWS of [rows, dim] into shared memory; zeroes beyond.
template <int D, int ROWS, class T>
__device__ __forceinline__ void load_rows(char* shared, const T* x, long long first, long long rows, int dim, bool aligned) {
  constexpr int CHUNKS = D / 8;
#pragma unroll 2
  for (int e = threadIdx.x; e < ROWS * CHUNKS; e += THREADS) {
    const int row = e / CHUNKS, chunk = e % CHUNKS, column = chunk * 8;
    const int valid = first + row < rows ? min(8, max(0, dim - column)) : 0;
    const T* from = valid > 0 ? x + (first + row) * dim + column : x;
    char* to = shared + place<D>(row, chunk);
    if (aligned) {
      copy_async_16(shared_address(to), from, valid * 2);
    } else {
      T part[8];
#pragma unroll
      for (int j = 0; j < 8; j++) part[j] = j < valid ? from[j] : T(0.0f);
      *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(part);
    }
  }
}

template <class T, int D, int BC>
__device__ __forceinline__ void attend(const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v, T* __restrict__ out, const AttentionSizes& s, float* __restrict__ shares) {
  extern __shared__ __align__(128) char memory[];
  constexpr int TILE = BC * PITCH<D>;
  char *const own_q = memory, *const own_k = memory + BR * PITCH<D>, *const own_v = own_k + 2 * TILE;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const AttentionBlock<BR, BC> block(s);
  const long long head = block.head, first = block.first;
  const int begin = block.begin, tiles = block.tiles;
  k += block.keys_at;
  v += block.keys_at;
  const bool aligned = s.dim % 8 == 0;
  // Of this thread: rows lane / 4 and that + 8 of the warp's 16, columns lane % 4 * 2 and the next.
  const long long query = first + warp * 16 + lane / 4;

  load_rows<D, BR>(own_q, q + head * s.queries * s.dim, first, s.queries, s.dim, aligned);
  load_rows<D, BC>(own_k, k, static_cast<long long>(begin) * BC, s.keys, s.dim, aligned);
  load_rows<D, BC>(own_v, v, static_cast<long long>(begin) * BC, s.keys, s.dim, aligned);
  copy_commit();

  float sums[D / 8][4] = {}, top[2] = {-INFINITY, -INFINITY}, total[2] = {};
  const float scale = rsqrtf(static_cast<float>(s.dim)) * LOG2E;
  for (int t = 0; t < tiles; t++) {
    if (t + 1 < tiles) {
      load_rows<D, BC>(own_k + (t + 1) % 2 * TILE, k, static_cast<long long>(begin + t + 1) * BC, s.keys, s.dim, aligned);
      load_rows<D, BC>(own_v + (t + 1) % 2 * TILE, v, static_cast<long long>(begin + t + 1) * BC, s.keys, s.dim, aligned);
    }
    copy_commit();
    copy_wait<1>();
    __syncthreads();
    const char *tile_k = own_k + t % 2 * TILE, *tile_v = own_v + t % 2 * TILE;
    float score[BC / 8][4] = {};
#pragma unroll
    for (int d = 0; d < D / 16; d++) {
      uint32_t a[4];
      const int part = lane >> 3;
      ldmatrix(a, shared_address(own_q + place<D>(warp * 16 + (part & 1) * 8 + (lane & 7), d * 2 + (part >> 1))));
#pragma unroll
      for (int j = 0; j < BC / 16; j++) {
        uint32_t b[4];
        ldmatrix(b, shared_address(tile_k + place<D>(j * 16 + (part >> 1) * 8 + (lane & 7), d * 2 + (part & 1))));
        mma(score[2 * j], a, b[0], b[1], T());
        mma(score[2 * j + 1], a, b[2], b[3], T());
      }
    }
    hide_unseen(score, s, block, static_cast<long long>(begin + t) * BC, query, lane % 4 * 2);
    float shift[2];  // the largest score of a row so far, in units of log2; 0 where there is none
#pragma unroll
    for (int h = 0; h < 2; h++) {
      float high = score[0][h * 2];
#pragma unroll
      for (int j = 0; j < BC / 8; j++) high = fmaxf(high, fmaxf(score[j][h * 2], score[j][h * 2 + 1]));
      high = fmaxf(high, __shfl_xor_sync(0xffffffffu, high, 1));
      high = fmaxf(top[h], fmaxf(high, __shfl_xor_sync(0xffffffffu, high, 2)) * scale);
      shift[h] = high == -INFINITY ? 0.0f : high;
      const float keep = exp2_fast(top[h] - shift[h]);
      top[h] = high;
      total[h] *= keep;
#pragma unroll
      for (int j = 0; j < D / 8; j++) sums[j][h * 2] *= keep, sums[j][h * 2 + 1] *= keep;
    }
#pragma unroll
    for (int j = 0; j < BC / 8; j++)
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const float weight = exp2_fast(fmaf(score[j][i], scale, -shift[i / 2]));
        score[j][i] = weight;
        total[i / 2] += weight;
      }
    // Results of one product lie as the left operand of the next.
#pragma unroll
    for (int c = 0; c < BC / 16; c++) {
      const uint32_t a[4] = {pack_pair(score[2 * c][0], score[2 * c][1], T()), pack_pair(score[2 * c][2], score[2 * c][3], T()), pack_pair(score[2 * c + 1][0], score[2 * c + 1][1], T()),
                             pack_pair(score[2 * c + 1][2], score[2 * c + 1][3], T())};
      const int part = lane >> 3;
#pragma unroll
      for (int j = 0; j < D / 16; j++) {
        uint32_t b[4];
        ldmatrix_trans(b, shared_address(tile_v + place<D>(c * 16 + (part & 1) * 8 + (lane & 7), j * 2 + (part >> 1))));
        mma(sums[2 * j], a, b[0], b[1], T());
        mma(sums[2 * j + 1], a, b[2], b[3], T());
      }
    }
    __syncthreads();
  }
  T* const of_query = out + output_of_head(s, head) + query * s.of_query;
#pragma unroll
  for (int h = 0; h < 2; h++) {
    total[h] += __shfl_xor_sync(0xffffffffu, total[h], 1);
    total[h] += __shfl_xor_sync(0xffffffffu, total[h], 2);
    const long long row = query + h * 8;
    if (row >= s.queries) continue;
    if (s.splits > 1) {
      const Shares share(shares, s, head * s.queries + row, block.split);
      if (lane % 4 == 0) share.put(top[h], total[h]);
#pragma unroll
      for (int j = 0; j < D / 8; j++) {
        const int column = j * 8 + lane % 4 * 2;
        if (column < s.dim) share.sums[column] = sums[j][h * 2];
        if (column + 1 < s.dim) share.sums[column + 1] = sums[j][h * 2 + 1];
      }
      continue;
    }
    const float factor = 1.0f / total[h];
    T* to = of_query + h * 8 * s.of_query;
    const bool pairs = s.dim % 2 == 0;
#pragma unroll
    for (int j = 0; j < D / 8; j++) {
      const int column = j * 8 + lane % 4 * 2;
      if (column >= s.dim) continue;
      const float x = sums[j][h * 2] * factor, y = sums[j][h * 2 + 1] * factor;
      if (pairs) {
        *reinterpret_cast<uint32_t*>(to + column) = pack_pair(x, y, T());
      } else {
        to[column] = from_float<T>(x);
        if (column + 1 < s.dim) to[column + 1] = from_float<T>(y);
      }
    }
  }
}

}  // namespace

#define ATTENTION(T, D, BC, BLOCKS)                                                                                                                                                  \
  extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) attention_mma_##T##_##D(const T* q, const T* k, const T* v, T* out, const AttentionSizes s, float* shares) { \
    start_attention(s);                                                                                                                                                                \
    attend<T, D, BC>(q, k, v, out, s, shares);                                                                                                                                    \
  }
#define ATTENTIONS(T) \
  ATTENTION(T, 16, 64, 5) ATTENTION(T, 32, 64, 4) ATTENTION(T, 64, 64, 4) ATTENTION(T, 96, 64, 3) ATTENTION(T, 128, 64, 2) ATTENTION(T, 160, 64, 2) ATTENTION(T, 256, 32, 2)
ATTENTIONS(f16)
ATTENTIONS(bf16)
