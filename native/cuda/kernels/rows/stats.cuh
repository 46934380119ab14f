// What row operations keep of a row. averaged: whether what each row gives is a loss, of which the mean is wanted.
#pragma once
#include "kernel.cuh"

// Largest element and the sum of e^(x - largest).
struct ByMaxSum {
  static constexpr bool averaged = false;
  struct Stats {
    float max, sum;
  };
  static __device__ __forceinline__ Stats start() { return {-INFINITY, 0.0f}; }
  static __device__ __forceinline__ Stats join(Stats p, Stats q) {
    const float m = fmaxf(p.max, q.max);
    if (m == -INFINITY) return {m, 0.0f};
    return {m, p.sum * __expf(p.max - m) + q.sum * __expf(q.max - m)};
  }
  template <int N>
  static __device__ __forceinline__ void take_in(Stats& s, const float (&x)[N]) {
    if constexpr (N == 1) {
      // One exponential for an element: of whichever is the smaller.
      const float m = fmaxf(s.max, x[0]);
      if (m == -INFINITY) return;
      const float e = __expf(-fabsf(x[0] - s.max));
      s.sum = x[0] > s.max ? fmaf(s.sum, e, 1.0f) : s.sum + e;
      s.max = m;
      return;
    }
    float m = s.max;
#pragma unroll
    for (int j = 0; j < N; j++) m = fmaxf(m, x[j]);
    if (m == -INFINITY) return;
    s.sum *= __expf(s.max - m);
    s.max = m;
#pragma unroll
    for (int j = 0; j < N; j++) s.sum += __expf(x[j] - m);
  }
};

struct BySum {
  static constexpr bool averaged = false;
  struct Stats {
    float sum;
  };
  static __device__ __forceinline__ Stats start() { return {0.0f}; }
  static __device__ __forceinline__ Stats join(Stats p, Stats q) { return {p.sum + q.sum}; }
};

struct ByTwoSums {
  static constexpr bool averaged = false;
  struct Stats {
    float sum, dot;
  };
  static __device__ __forceinline__ Stats start() { return {0.0f, 0.0f}; }
  static __device__ __forceinline__ Stats join(Stats p, Stats q) { return {p.sum + q.sum, p.dot + q.dot}; }
};

// Number of elements, mean, and sum of squared distances from it (Chan, Golub & LeVeque 1983).
struct ByMoments {
  static constexpr bool averaged = false;
  struct Stats {
    float count, mean, squares;
  };
  static __device__ __forceinline__ Stats start() { return {0.0f, 0.0f, 0.0f}; }
  static __device__ __forceinline__ Stats join(Stats p, Stats q) {
    const float count = p.count + q.count;
    if (count == 0.0f) return p;
    const float away = q.mean - p.mean, share = __fdividef(q.count, count);
    return {count, fmaf(away, share, p.mean), p.squares + q.squares + away * away * p.count * share};
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
