// The vectors of 16 bytes that a channel's elements lie in. RAGGED: images that do not start on 16 bytes; the first and the last vector of one then have elements of other channels, too.
#pragma once
#include "../common/vec.cuh"
#include "held.h"

using opscope::cuda::BatchNormVectors;

template <class T, bool RAGGED>
struct ChannelVectors {
  static constexpr int L = LANES<T>;
  BatchNormVectors a;
  int channel;

  struct Vector {
    long long at;      // in the tensor
    int first, plane;  // its first element in the image, whose elements are those from 0 to `plane`
    __device__ __forceinline__ bool some() const { return !RAGGED || first < plane; }
    __device__ __forceinline__ bool whole() const { return !RAGGED || (first >= 0 && first + L <= plane); }
    __device__ __forceinline__ bool has(int j) const { return static_cast<unsigned>(first + j) < static_cast<unsigned>(plane); }
    // Elements of other channels become zeroes.
    __device__ __forceinline__ void clear_others(float (&f)[L]) const {
      if (whole()) return;
#pragma unroll
      for (int j = 0; j < L; j++) f[j] = has(j) ? f[j] : 0.0f;
    }
  };
  __device__ __forceinline__ Vector operator[](int v) const {
    const int image = divided(v, a.by_image), in_image = v - image * a.per_image;
    const long long start = (static_cast<long long>(image) * a.channels + channel) * a.plane;
    const int before = RAGGED ? static_cast<int>(start & (L - 1)) : 0;
    return {start - before + static_cast<long long>(in_image) * L, in_image * L - before, a.plane};
  }
};
