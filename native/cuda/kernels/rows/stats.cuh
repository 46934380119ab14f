// What row operations keep of a row. ahead: fetches what is read of other tensors when the statistic is known; nothing, unless the operation has its own. averaged: whether what each row gives is a loss, of which the mean is wanted. weighted: whether rows_held reads weights.
#pragma once
#include "../common/arithmetic.cuh"
#include "kernel.cuh"

// `v` of all lanes of a group of `lanes`, a power of two, the same bits in each.
__device__ __forceinline__ float sum_of_lanes(float v, int lanes) {
  for (int offset = lanes / 2; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffffu, v, offset);
  return v;
}

// Largest element and the sum of e^(x - largest). Without branches, which would keep loads from overtaking them: where nothing is larger than -infinity,
// the sum is of e^x, which is 0.
struct ByMaxSum {
  static constexpr bool averaged = false, at_once = true, weighted = false;
  struct Stats {
    float max, sum;
  };
  static __device__ __forceinline__ void ahead(const RowArguments&, long long) {}
  static __device__ __forceinline__ Stats start() { return {-INFINITY, 0.0f}; }
  static __device__ __forceinline__ float shift(float max) { return max == -INFINITY ? 0.0f : max; }
  static __device__ __forceinline__ Stats join(Stats p, Stats q) {
    const float m = fmaxf(p.max, q.max), by = shift(m);
    return {m, p.sum * exp_fast(p.max - by) + q.sum * exp_fast(q.max - by)};
  }
  static __device__ __forceinline__ Stats join_warp(Stats s, int lanes) {
    float m = s.max;
    for (int offset = lanes / 2; offset > 0; offset /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, offset));
    return {m, sum_of_lanes(s.sum * exp_fast(s.max - shift(m)), lanes)};
  }
  template <int N>
  static __device__ __forceinline__ void take_in(Stats& s, const float (&x)[N]) {
    float m = s.max;
#pragma unroll
    for (int j = 0; j < N; j++) m = fmaxf(m, x[j]);
    const float by = shift(m);
    if constexpr (N == 1) {
      // One exponential for an element: of whichever is the smaller.
      const float e = exp_fast(fminf(s.max, x[0]) - by);
      s.sum = x[0] > s.max ? fmaf(s.sum, e, 1.0f) : s.sum + (x[0] == x[0] ? e : x[0]);
    } else {
      s.sum *= exp_fast(s.max - by);
#pragma unroll
      for (int j = 0; j < N; j++) s.sum += exp_fast(x[j] - by);
    }
    s.max = m;
  }
};

struct BySum {
  static constexpr bool averaged = false, at_once = false, weighted = false;
  struct Stats {
    float sum;
  };
  static __device__ __forceinline__ void ahead(const RowArguments&, long long) {}
  static __device__ __forceinline__ Stats start() { return {0.0f}; }
  static __device__ __forceinline__ Stats join(Stats p, Stats q) { return {p.sum + q.sum}; }
};

struct ByTwoSums {
  static constexpr bool averaged = false, at_once = false, weighted = false;
  struct Stats {
    float sum, dot;
  };
  static __device__ __forceinline__ void ahead(const RowArguments&, long long) {}
  static __device__ __forceinline__ Stats start() { return {0.0f, 0.0f}; }
  static __device__ __forceinline__ Stats join(Stats p, Stats q) { return {p.sum + q.sum, p.dot + q.dot}; }
};

// Number of elements, mean, and sum of squared distances from it (Chan, Golub & LeVeque 1983).
struct ByMoments {
  static constexpr bool averaged = false, at_once = true, weighted = false;
  struct Stats {
    float count, mean, squares;
  };
  static __device__ __forceinline__ void ahead(const RowArguments&, long long) {}
  static __device__ __forceinline__ Stats start() { return {0.0f, 0.0f, 0.0f}; }
  static __device__ __forceinline__ Stats join(Stats p, Stats q) {
    const float count = p.count + q.count, away = q.mean - p.mean, share = count == 0.0f ? 0.0f : __fdividef(q.count, count);
    return {count, fmaf(away, share, p.mean), p.squares + q.squares + away * away * p.count * share};
  }
  static __device__ __forceinline__ Stats join_warp(Stats s, int lanes) {
    const float count = sum_of_lanes(s.count, lanes), total = sum_of_lanes(s.count * s.mean, lanes), mean = count == 0.0f ? 0.0f : total / count, away = s.mean - mean;
    return {count, mean, sum_of_lanes(fmaf(away * away, s.count, s.squares), lanes)};
  }
  template <int N>
  static __device__ __forceinline__ void take_in(Stats& s, const float (&x)[N]) {
    if constexpr (N == 1) {  // Welford 1962
      const float away = x[0] - s.mean;
      s.count += 1.0f;
      s.mean += __fdividef(away, s.count);
      s.squares = fmaf(away, x[0] - s.mean, s.squares);
      return;
    }
    float sum = 0, squares = 0;
#pragma unroll
    for (int j = 0; j < N; j++) sum += x[j];
    const float mean = sum / N;
#pragma unroll
    for (int j = 0; j < N; j++) squares = fmaf(x[j] - mean, x[j] - mean, squares);
    s = join(s, {static_cast<float>(N), mean, squares});
  }
  static __device__ __forceinline__ float rstd(const Stats& s, float eps) { return 1.0f / sqrtf(s.squares / s.count + eps); }
};
