// batch_norm of x [batch, channels, plane]. Training, where a cluster holds a channel: batch_norm_<t>_cluster does all. Else batch_norm_<t>_part and _part_vectors take the moments of parts of a channel, _channels those of whole ones, _join makes mean and
// rstd of them; then, as in inference, _apply writes the output. Statistics are joined in a fixed order.
#include "batch_norm/vectors.cuh"
#include "rows/stats.cuh"

namespace {

// Takes this thread's of `threads` elements of some images of a channel into s.
template <class T>
__device__ __forceinline__ void take_images(ByMoments::Stats& s, const T* x, long long channel, long long channels, long long plane, long long from, long long to, int step, int thread, int threads) {
  for (long long image = from; image < to; image += step) {
    const long long start = (image * channels + channel) * plane;
    each_lanes<T>(start, plane, thread, threads, [&](long long k, auto lanes) {
      float f[decltype(lanes)::count];
      take(x + start + k, f);
      ByMoments::take_in(s, f);
    });
  }
}

// A warp for each channel of few elements.
template <class T>
__device__ __forceinline__ void channel_moments(const T* x, ByMoments::Stats* out, long long channels, long long plane, long long count) {
  const long long channel = static_cast<long long>(blockIdx.x) * 8 + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  ByMoments::Stats s = ByMoments::start();
  if (channel < channels) take_images(s, x, channel, channels, plane, 0, count / plane, 1, lane, 32);
  s = join_lanes<ByMoments>(s, 32);
  if (lane == 0 && channel < channels) out[channel] = s;
}

// grid: channels * parts. Elements `part` * index .. of the channel's batch * plane: of small planes.
template <class T>
__device__ __forceinline__ void part_moments(const T* x, ByMoments::Stats* out, long long channels, long long plane, long long count, long long part, int parts) {
  __shared__ ByMoments::Stats scratch[32];
  const long long channel = blockIdx.x / parts, from = blockIdx.x % parts * part, to = min(count, from + part);
  ByMoments::Stats s = ByMoments::start();
  for (long long i = from + threadIdx.x; i < to; i += blockDim.x) {
    const long long image = (i | plane) >> 32 ? i / plane : static_cast<unsigned>(i) / static_cast<unsigned>(plane);
    const float f[1] = {to_float(x[(image * channels + channel) * plane + (i - image * plane)])};
    ByMoments::take_in(s, f);
  }
  s = join_group<ByMoments>(s, blockDim.x, scratch);
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}

// The same of larger ones, by vectors of the channel, four of a thread on their way.
template <class T>
__device__ __forceinline__ void part_vectors(const T* x, ByMoments::Stats* out, const BatchNormVectors& a) {
  constexpr int L = LANES<T>, V = 4;
  __shared__ ByMoments::Stats scratch[32];
  const int threads = static_cast<int>(blockDim.x), channel = static_cast<int>(blockIdx.x) / a.parts, from = (static_cast<int>(blockIdx.x) - channel * a.parts) * a.part, end = min(from + a.part, a.vectors);
  const ChannelVectors<T, true> vectors = {a, channel};
  ByMoments::Stats s = ByMoments::start();
  for (int own = from + static_cast<int>(threadIdx.x); own < end; own += V * threads) {
    uint4 kept[V];
#pragma unroll
    for (int u = 0; u < V; u++) {
      const auto vector = vectors[min(own + u * threads, end - 1)];
      kept[u] = vector.some() ? load16(x + vector.at) : uint4{0, 0, 0, 0};
    }
#pragma unroll
    for (int u = 0; u < V; u++) {
      if (own + u * threads >= end) break;
      const auto vector = vectors[own + u * threads];
      float f[L];
      unpack<T>(kept[u], f);
      if (vector.whole()) {
        ByMoments::take_in(s, f);
        continue;
      }
#pragma unroll
      for (int j = 0; j < L; j++) {
        const float one[1] = {f[j]};
        if (vector.has(j)) ByMoments::take_in(s, one);
      }
    }
  }
  s = join_group<ByMoments>(s, blockDim.x, scratch);
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}

// A cluster of `blocks` for each channel, each with `images` of them; `group` threads, a power of two, for an image at a time.
template <class T>
__device__ __forceinline__ void whole_channel(const T* x, const float* weight, const float* bias, T* out, float* mean, float* rstd, long long channels, long long plane, long long batch, long long images, int group,
                                              int blocks, float eps) {
  __shared__ ByMoments::Stats scratch[32];
  __shared__ ByMoments::Stats slot;
  const long long channel = blockIdx.x / blocks, first = blockIdx.x % blocks * images, last = min(batch, first + images);
  const int thread = threadIdx.x % group, own = threadIdx.x / group, together = blockDim.x / group;
  ByMoments::Stats s = ByMoments::start();
  take_images(s, x, channel, channels, plane, first + own, last, together, thread, group);
  s = join_group<ByMoments>(s, blockDim.x, scratch);
  if (blocks > 1) s = join_cluster(s, slot, blocks, [](const ByMoments::Stats& p, const ByMoments::Stats& q) { return ByMoments::join(p, q); });
  const float spread = ByMoments::rstd(s, eps), scale = spread * weight[channel], shift = bias[channel];
  if (first == 0 && threadIdx.x == 0) mean[channel] = s.mean, rstd[channel] = spread;
  for (long long image = first + own; image < last; image += together) {
    const long long start = (image * channels + channel) * plane;
    each_lanes<T>(start, plane, thread, group, [&](long long k, auto lanes) {
      float f[decltype(lanes)::count];
      take(x + start + k, f);
      for (float& value : f) value = fmaf(value - s.mean, scale, shift);
      give(out + start + k, f);
    });
  }
  if (blocks > 1) cluster_wait();
}

// What a channel's elements are turned into: (x - center) * scale + shift.
struct Channel {
  float center, scale, shift;
};

// A vector of elements per thread, which is read before its channel is worked out.
template <class T>
__device__ __forceinline__ void apply(const T* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias, const float* __restrict__ mean, const float* __restrict__ spread,
                                      T* __restrict__ out, long long channels, long long plane, long long n, float eps, int training) {
  constexpr int L = LANES<T>;
  const long long i = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * L;
  if (i >= n) return;
  const int count = static_cast<int>(min(static_cast<long long>(L), n - i));
  uint4 kept = {0, 0, 0, 0};
  if (count == L) kept = load16(x + i);
  // Inference has the variance, training 1 / sqrt(variance + eps).
  const auto of = [&](long long channel) {
    const float s = spread[channel];
    return Channel{mean[channel], (training ? s : rsqrtf(s + eps)) * weight[channel], bias[channel]};
  };
  const auto applied = [](float v, const Channel& c) { return fmaf(v - c.center, c.scale, c.shift); };
  const bool small = (n >> 32) == 0;
  const long long run = small ? static_cast<unsigned>(i) / static_cast<unsigned>(plane) : i / plane;
  long long place = i - run * plane, channel = small ? static_cast<unsigned>(run) % static_cast<unsigned>(channels) : run % channels;
  Channel own = of(channel);
  float f[L];
  if (count == L && place + L <= 2 * plane) {
    unpack<T>(kept, f);
    if (place + L <= plane) {
#pragma unroll
      for (int j = 0; j < L; j++) f[j] = applied(f[j], own);
    } else {
      const Channel next = of(channel + 1 == channels ? 0 : channel + 1);
      const int left = static_cast<int>(plane - place);
#pragma unroll
      for (int j = 0; j < L; j++) f[j] = applied(f[j], j < left ? own : next);
    }
    return give(out + i, f);
  }
#pragma unroll
  for (int j = 0; j < L; j++) {
    f[j] = j < count ? applied(to_float(x[i + j]), own) : 0.0f;
    if (++place == plane) {
      place = 0;
      if (++channel == channels) channel = 0;
      own = of(channel);
    }
  }
  if (count == L) return give(out + i, f);
#pragma unroll
  for (int j = 0; j < L; j++)
    if (j < count) out[i + j] = from_float<T>(f[j]);
}

}  // namespace

// One warp per channel.
extern "C" __global__ void __launch_bounds__(256) batch_norm_join(const ByMoments::Stats* parts, float* mean, float* rstd, long long channels, int count, float eps) {
  const long long channel = static_cast<long long>(blockIdx.x) * 8 + threadIdx.x / 32;
  ByMoments::Stats s = ByMoments::start();
  if (channel < channels)
    for (int i = threadIdx.x % 32; i < count; i += 32) s = ByMoments::join(s, parts[channel * count + i]);
  s = join_lanes<ByMoments>(s, 32);
  if (channel >= channels || threadIdx.x % 32 != 0) return;
  mean[channel] = s.mean;
  rstd[channel] = ByMoments::rstd(s, eps);
}

#define BATCH_NORM(T)                                                                                                                                                                      \
  extern "C" __global__ void __launch_bounds__(256) batch_norm_##T##_cluster(const T* x, const float* weight, const float* bias, T* out, float* mean, float* rstd, long long channels,     \
                                                                             long long plane, long long batch, long long images, int group, int blocks, float eps) {                       \
    whole_channel(x, weight, bias, out, mean, rstd, channels, plane, batch, images, group, blocks, eps);                                                                                   \
  }                                                                                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(256) batch_norm_##T##_part(const T* x, ByMoments::Stats* out, long long channels, long long plane, long long count, long long part, int parts) { \
    part_moments(x, out, channels, plane, count, part, parts);                                                                                                                             \
  }                                                                                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(256) batch_norm_##T##_part_vectors(const T* x, ByMoments::Stats* out, const BatchNormVectors a) { part_vectors(x, out, a); }                  \
  extern "C" __global__ void __launch_bounds__(256) batch_norm_##T##_channels(const T* x, ByMoments::Stats* out, long long channels, long long plane, long long count) {                     \
    channel_moments(x, out, channels, plane, count);                                                                                                                                       \
  }                                                                                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(256) batch_norm_##T##_apply(const T* x, const float* weight, const float* bias, const float* mean, const float* spread, T* out,             \
                                                                           long long channels, long long plane, long long n, float eps, int training) {                                    \
    apply(x, weight, bias, mean, spread, out, channels, plane, n, eps, training);                                                                                                          \
  }
BATCH_NORM(f32)
BATCH_NORM(f16)
BATCH_NORM(bf16)
