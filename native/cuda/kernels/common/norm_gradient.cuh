// Elements of the gradient of a normalized row. The mean is subtracted before anything is rounded to the scale of the result: in rows of one element both are equal, and the gradient is zero.
#pragma once
#include "vec.cuh"

// `g`: gradient times weight, a product rounded by itself (__fmul_rn), as it is in the sums. `h`: the normalized element. `of`: minus the means of `g` and `g * h` over the row.
__device__ __forceinline__ float norm_gradient(float g, float h, float2 of, float rstd) { return rstd * fmaf(h, of.y, g + of.x); }

// For kernels that keep the sums for weights and biases in registers: takes a vector of a row into account, in the sums of the thread's columns, and in those of the row, of grad * weight and of that times the normalized element. Leaves grad * weight in `g` and normalized elements in `h`.
template <bool CENTERED, int L>
__device__ __forceinline__ void add_norm_vector(float (&g)[L], float (&h)[L], const float (&weight)[L], float mean, float scale, float (&weight_sum)[L], float (&bias_sum)[L], float2& sums) {
#pragma unroll
  for (int j = 0; j < L; j++) {
    const float own_h = (h[j] - mean) * scale, own_g = g[j] * weight[j];
    weight_sum[j] = fmaf(g[j], own_h, weight_sum[j]);
    if (CENTERED) bias_sum[j] += g[j], sums.x += own_g;
    sums.y = fmaf(own_g, own_h, sums.y);
    g[j] = own_g, h[j] = own_h;
  }
}

// Gradients of a vector of x. `of_one`, `of_x`: what 1 and x less its mean count, by the sums of the row.
template <class T>
__device__ __forceinline__ void norm_vector(const uint4& grad, const uint4& x, const uint4& weight, float mean, float scale, float of_one, float of_x, float (&g)[LANES<T>]) {
  constexpr int L = LANES<T>;
  float h[L], f[L];
  unpack<T>(grad, g);
  unpack<T>(x, h);
  unpack<T>(weight, f);
#pragma unroll
  for (int j = 0; j < L; j++) g[j] = fmaf(g[j] * f[j], scale, fmaf(h[j] - mean, of_x, of_one));
}

// Writes the sums of a vector of columns, those for biases `apart` elements behind those for weights.
template <bool CENTERED, int L>
__device__ __forceinline__ void store_norm_sums(float* to, int apart, const float (&weight_sum)[L], const float (&bias_sum)[L]) {
#pragma unroll
  for (int j = 0; j < L; j += 4) {
    store16(to + j, pack<float>({weight_sum[j], weight_sum[j + 1], weight_sum[j + 2], weight_sum[j + 3]}));
    if (CENTERED) store16(to + apart + j, pack<float>({bias_sum[j], bias_sum[j + 1], bias_sum[j + 2], bias_sum[j + 3]}));
  }
}
