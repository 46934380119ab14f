// The largest element of each column of a strip, and the row where it is met first: of the columns of one 16-byte access, rows one after another. A
// comparison, a selection and a maximum that keeps NaN for an element, or for two of 16 bits; words that hold element and place (Places in reduction.cu) take eleven instructions.
#pragma once
#include "../common/vec.cuh"

// R: argmax or argmin. Rows are numbered from 0 in the order they are met, up to `most_rows` of them.
template <class R, class T>
struct Strip {
  static constexpr int L = LANES<T>;
  static constexpr unsigned most_rows = 65535;
  float best[L];  // NaN from the first one on
  unsigned place[L];

  static __device__ __forceinline__ bool largest() { return R::value(1.0f) > 0; }

  __device__ __forceinline__ Strip() {
#pragma unroll
    for (int j = 0; j < L; j++) best[j] = largest() ? -INFINITY : INFINITY, place[j] = 0;
  }
  __device__ __forceinline__ void see(const uint4& v, unsigned row) {
    float f[L];
    unpack<T>(v, f);
#pragma unroll
    for (int j = 0; j < L; j++) {
      place[j] = (largest() ? f[j] > best[j] : f[j] < best[j]) ? row : place[j];
      best[j] = largest() ? max_or_nan(best[j], f[j]) : min_or_nan(best[j], f[j]);
    }
  }
  // Whether an element was NaN: it counts as the largest, and comparisons pass over it.
  __device__ __forceinline__ bool nan() const {
    bool any = false;
#pragma unroll
    for (int j = 0; j < L; j++) any |= best[j] != best[j];
    return any;
  }
  __device__ __forceinline__ float value(int j) const { return R::value(best[j]); }
  __device__ __forceinline__ unsigned row(int j) const { return place[j]; }
};

// Elements of 16 bits, two in a word.
template <class R, class T, class Pair>
struct PairStrip {
  static constexpr int L = 8;
  static constexpr unsigned most_rows = 65535;
  uint32_t best[4], place[4];

  static __device__ __forceinline__ Pair pair(uint32_t w) { return *reinterpret_cast<const Pair*>(&w); }
  static __device__ __forceinline__ uint32_t word(const Pair& p) { return *reinterpret_cast<const uint32_t*>(&p); }
  static __device__ __forceinline__ uint32_t infinity() {
    const float low = R::value(1.0f) > 0 ? -INFINITY : INFINITY;
    return pack_pair(low, low, T());
  }

  __device__ __forceinline__ PairStrip() {
#pragma unroll
    for (int k = 0; k < 4; k++) best[k] = infinity(), place[k] = 0;
  }
  __device__ __forceinline__ void see(const uint4& v, unsigned row) {
    const uint32_t w[4] = {v.x, v.y, v.z, v.w}, rows = row | row << 16;
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const uint32_t more = R::value(1.0f) > 0 ? __hgt2_mask(pair(w[k]), pair(best[k])) : __hlt2_mask(pair(w[k]), pair(best[k]));
      best[k] = word(R::value(1.0f) > 0 ? __hmax2_nan(pair(best[k]), pair(w[k])) : __hmin2_nan(pair(best[k]), pair(w[k])));
      place[k] = (rows & more) | (place[k] & ~more);
    }
  }
  __device__ __forceinline__ bool nan() const {
    bool any = false;
#pragma unroll
    for (int k = 0; k < 4; k++) any |= __hneu2_mask(pair(best[k]), pair(best[k])) != 0;
    return any;
  }
  __device__ __forceinline__ float value(int j) const {
    float low, high;
    unpack_pair(best[j / 2], low, high, T());
    return R::value(j % 2 ? high : low);
  }
  __device__ __forceinline__ unsigned row(int j) const { return place[j / 2] >> (j % 2 * 16) & 0xffff; }
};
template <class R>
struct Strip<R, f16> : PairStrip<R, f16, __half2> {};
template <class R>
struct Strip<R, bf16> : PairStrip<R, bf16, __nv_bfloat162> {};
