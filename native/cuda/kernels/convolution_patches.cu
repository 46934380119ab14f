// Convolutions of one or two filters whose stride is the width of their kernel (convolution/patches.h says which): a lane has columns of the input 32 apart, which meet the same element of the kernel's rows in every run of
// them, and adds up their products over rows and channels in f32. So an access of a warp is a run of memory, and each element is read by one lane. Neighbouring sums of the columns of a window add up through shared memory.
//   convolution_patches_<t>_<stride>_<filters>
#include "common/vec.cuh"
#include "convolution/patches_task.h"

namespace {

constexpr int THREADS = conv_patches_threads, WARPS = THREADS / 32;

// grid: runs of columns. Shared memory: [channel][row][F][S].
template <int S, int F, class T>
__device__ __forceinline__ void patches(const T* x, const T* weight, T* out, const ConvPatches& t) {
  constexpr int U = conv_patches_columns(S), RUN = 32 * U, OUTPUTS = RUN / S, STEPS = U % S == 0 && 32 % S != 0 ? S : 1;
  extern __shared__ float weights[];
  __shared__ float parts[WARPS][RUN];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, part = warp % t.sharing, first_warp = warp - part;
  const int run = blockIdx.x * (WARPS / t.sharing) + warp / t.sharing;
  const int terms = t.channels * t.rows * S;
  for (int i = threadIdx.x; i < t.channels * t.rows * F * S; i += THREADS) {
    const int kw = i % S, f = i / S % F, line = i / (S * F);
    weights[i] = to_float(weight[f * terms + line * S + kw]);
  }
  int at[U];
#pragma unroll
  for (int i = 0; i < U; i++) {
    // Past the last column: the last one again.
    const int column = min(static_cast<unsigned>(run) * RUN + i * 32 + lane, static_cast<unsigned>(t.columns) * S - 1), output = column / S;
    const int image = t.by_plane.quotient(output), place = output - image * t.plane, row = t.by_width.quotient(place), depth = t.by_height.quotient(row);
    at[i] = image * t.channels * t.in_plane + depth * S * t.input_area + (row - depth * t.output_height) * S * t.input_width + (place - row * t.output_width) * S + column - output * S;
  }
  __syncthreads();
  float sums[F][U] = {};
  for (int channel = part; channel < t.channels; channel += t.sharing) {
    const T* plane = x + static_cast<long long>(channel) * t.in_plane;
    const float* w = weights + channel * t.rows * F * S;
#pragma unroll 2
    for (int row = 0; row < t.rows; row++, w += F * S) {
      const int depth = row / t.kernel_height;
      const T* from = plane + depth * t.input_area + (row - depth * t.kernel_height) * t.input_width;
      float v[U];
#pragma unroll
      for (int i = 0; i < U; i++) v[i] = to_float(from[at[i]]);
#pragma unroll
      for (int f = 0; f < F; f++) {
        float own[STEPS];
#pragma unroll
        for (int j = 0; j < STEPS; j++) own[j] = w[f * S + (lane + j * 32) % S];
#pragma unroll
        for (int i = 0; i < U; i++) sums[f][i] = fmaf(own[i % STEPS], v[i], sums[f][i]);
      }
    }
  }
#pragma unroll
  for (int f = 0; f < F; f++) {
    if (f > 0) __syncthreads();
#pragma unroll
    for (int i = 0; i < U; i++) parts[warp][i * 32 + lane] = sums[f][i];
    __syncthreads();
    for (int o = part * 32 + lane; o < OUTPUTS; o += t.sharing * 32) {
      const int output = run * OUTPUTS + o;
      if (output >= t.columns) break;
      float total = 0;
      for (int p = 0; p < t.sharing; p++)
#pragma unroll
        for (int j = 0; j < S; j++) total += parts[first_warp + p][o * S + j];
      const int image = t.by_plane.quotient(output);
      out[(static_cast<long long>(image) * F + f) * t.plane + output - image * t.plane] = from_float<T>(total);
    }
  }
}

}  // namespace

#define PATCHES(T, S, F)                                                                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(THREADS, F == 1 ? 4 : 3) convolution_patches_##T##_##S##_##F(const T* x, const T* weight, T* out, const ConvPatches t) { patches<S, F>(x, weight, out, t); }
#define STRIDES(T, F) PATCHES(T, 2, F) PATCHES(T, 3, F) PATCHES(T, 4, F)
#define FILTERS(T) STRIDES(T, 1) STRIDES(T, 2)
FILTERS(f32)
FILTERS(f16)
FILTERS(bf16)
