// Convolutions of one to three dimensions as products without the matrix: out[f, o] = sum over l of weight[f, l] * window[l, o], l over the
// channels of the group and the kernel. A block computes M filters x N outputs of a group, over all images, 16 elements of l at a time, in f32 without
// tensor cores. Windows are gathered on their way to shared memory: what of an element of l all outputs share (where it lies, and which bit of a thread's
// mask says whether it is inside of the input) is computed by one thread for all.
//   convolution_<t>_<M>x<N>        kernels of up to 32 elements, images of a group of fewer than 2^31
//   convolution_<t>_<M>x<N>_far    any kernel: coordinates instead of masks
//   .._<M>x<N>x<S>                 S parts of the block's threads each sum a part of the terms; their sums are added up in order
#include <type_traits>

#include "common/fetch.cuh"
#include "common/terms.cuh"
#include "common/vec.cuh"

namespace {

constexpr int DEPTH = 16, OUTSIDE = -(1 << 30);  // a coordinate outside of any input

// An element, or zero: nothing is read then.
template <class T>
__device__ __forceinline__ void fetch(float* to, const T* from, bool inside) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == 4) asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(to))), "l"(from), "r"(inside ? 4 : 0) : "memory");
  else *to = inside ? to_float(*from) : 0.0f;
#endif
}

// An element of l: where it lies from the window's begin, and its bit of the masks.
template <bool MASKED>
struct alignas(8) Place {
  int offset;
  unsigned bit;
};
// The same with its coordinates, `h` beyond any input past the last element.
template <>
struct alignas(16) Place<false> {
  long long offset;
  int h, w;
};

// WM x WN warps of 4 * I filters by 8 * J outputs in each of SLICES parts of the block. grid: (outputs of all images / N, filters of a group / M, groups of this
// launch, from `first` on, times splits). `shares` as in convolution_mma.cu.
template <class T, int WM, int WN, int I, int J, int SLICES, bool MASKED>
__device__ __forceinline__ void convolve(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ out, const ConvSizes& s, int first, float* __restrict__ shares, int splits) {
  constexpr int M = WM * 4 * I, N = WN * 8 * J, THREADS = WM * WN * 32, STAGES = SLICES > 1 ? 2 : 3, PITCH = M + 4;
  constexpr int COLUMNS = N > THREADS ? N / THREADS : 1, LINES = N > THREADS ? 1 : THREADS / N;  // columns that a thread gathers, lines that threads gather at a time
  constexpr int STAGE = DEPTH * (PITCH + N), TOTAL = SLICES * STAGES * STAGE;
  static_assert((SLICES - 1) * M * N <= TOTAL && THREADS % DEPTH == 0 && DEPTH % LINES == 0);
  __shared__ __align__(16) float shared[TOTAL];
  __shared__ __align__(16) Place<MASKED> places[SLICES][2][DEPTH];
  __shared__ int depths[MASKED ? 1 : SLICES][2][DEPTH];
  const int in_group = s.channels / s.groups, filters = s.filters / s.groups, volume = s.depth.kernel * s.height.kernel * s.width.kernel, terms = in_group * volume;
  const long long in_plane = static_cast<long long>(s.depth.input) * s.height.input * s.width.input, out_plane = static_cast<long long>(s.depth.output) * s.height.output * s.width.output;
  const int group = blockIdx.z / splits + first, split = blockIdx.z % splits, slice = threadIdx.x / THREADS, thread = threadIdx.x % THREADS;
  const int all = (terms + DEPTH - 1) / DEPTH, each = (all + splits * SLICES - 1) / (splits * SLICES);
  const long long from = static_cast<long long>(split * SLICES + slice) * each * DEPTH;
  const long long columns = s.batch * out_plane, column0 = static_cast<long long>(blockIdx.x) * N;
  const int row0 = blockIdx.y * M;
  // 64-bit division takes several times as long.
  const bool small = (columns >> 32) == 0;
  const auto image_of = [&](long long c) { return small ? static_cast<long long>(static_cast<unsigned>(c) / static_cast<unsigned>(out_plane)) : c / out_plane; };
  // The outputs whose windows this thread gathers.
  const T* source[COLUMNS];
  unsigned mask[COLUMNS];
  int d0[COLUMNS], h0[COLUMNS], w0[COLUMNS];
#pragma unroll
  for (int j = 0; j < COLUMNS; j++) {
    const long long c = column0 + thread % N + j * THREADS;
    const bool inside = c < columns;
    const long long o = inside ? c : 0, image = image_of(o);
    const int place = static_cast<int>(o - image * out_plane), area = s.height.output * s.width.output;
    // Past the last output: outside of the input.
    d0[j] = place / area * s.stride - s.depth.padding;
    h0[j] = inside ? place / s.width.output % s.height.output * s.stride - s.height.padding : OUTSIDE;
    w0[j] = place % s.width.output * s.stride - s.width.padding;
    source[j] = x + (image * s.channels + static_cast<long long>(group) * in_group) * in_plane + (static_cast<long long>(d0[j]) * s.height.input + (inside ? h0[j] : 0)) * s.width.input + w0[j];
    mask[j] = 0;
    if (MASKED) {
      unsigned bit = 1;
      for (int kd = 0; kd < s.depth.kernel; kd++)
        for (int kh = 0; kh < s.height.kernel; kh++) {
          const bool row = static_cast<unsigned>(d0[j] + kd * s.dilation) < static_cast<unsigned>(s.depth.input) && static_cast<unsigned>(h0[j] + kh * s.dilation) < static_cast<unsigned>(s.height.input);
          for (int kw = 0; kw < s.width.kernel; kw++, bit <<= 1)
            if (row && static_cast<unsigned>(w0[j] + kw * s.dilation) < static_cast<unsigned>(s.width.input)) mask[j] |= bit;
        }
    }
  }
  Term term(s, static_cast<int>(min(from + thread, static_cast<long long>(terms))));
  const Term next(s, DEPTH);
  const auto write_places = [&](int step) {
    if (thread >= DEPTH) return;
    const bool inside = from + static_cast<long long>(step) * DEPTH + thread < terms;
    const int d = term.d * s.dilation, h = term.h * s.dilation, w = term.w * s.dilation;
    const long long offset = inside ? term.channel * in_plane + (static_cast<long long>(d) * s.height.input + h) * s.width.input + w : 0;
    if constexpr (MASKED) places[slice][step % 2][thread] = {static_cast<int>(offset), inside ? 1u << ((term.d * s.height.kernel + term.h) * s.width.kernel + term.w) : 0};
    else places[slice][step % 2][thread] = {offset, inside ? h : OUTSIDE, w}, depths[slice][step % 2][thread] = d;
    term.advance(s, next);
  };
  float* own = shared + slice * STAGES * STAGE;
  constexpr int FILTERS = THREADS / DEPTH;  // filters of which the threads read at a time
  const T* filter = weight + (static_cast<long long>(group) * filters + row0 + thread / DEPTH) * terms + from + thread % DEPTH;
  const auto load = [&](int step) {
    if (step < each) {
      float* a = own + step % STAGES * STAGE + thread % DEPTH * PITCH + thread / DEPTH;
      const bool inside = from + static_cast<long long>(step) * DEPTH + thread % DEPTH < terms;
#pragma unroll
      for (int i = 0; i < M / FILTERS; i++) {
        const bool valid = inside && row0 + thread / DEPTH + i * FILTERS < filters;
        fetch(a + i * FILTERS, filter + static_cast<long long>(i * FILTERS) * terms + step * DEPTH, valid);
      }
      const int l0 = LINES == 1 ? 0 : thread / N * (DEPTH / LINES);
      float* b = own + step % STAGES * STAGE + DEPTH * PITCH + l0 * N + thread % N;
#pragma unroll
      for (int i = 0; i < DEPTH / LINES; i++) {
        const Place<MASKED> p = places[slice][step % 2][l0 + i];
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
          bool valid;
          if constexpr (MASKED) valid = mask[j] & p.bit;
          else
            valid = static_cast<unsigned>(d0[j] + depths[slice][step % 2][l0 + i]) < static_cast<unsigned>(s.depth.input) && static_cast<unsigned>(h0[j] + p.h) < static_cast<unsigned>(s.height.input) &&
                    static_cast<unsigned>(w0[j] + p.w) < static_cast<unsigned>(s.width.input);
          fetch(b + i * N + j * THREADS, source[j] + p.offset, valid);
        }
      }
    }
    fetch_end();
  };
  write_places(0);
#pragma unroll
  for (int k = 0; k < STAGES - 1; k++) {
    __syncthreads();
    load(k);
    write_places(k + 1);
  }
  const int lane = thread % 32, warp = thread / 32, wm = warp / WN, wn = warp % WN;
  // 4 by 8 lanes, so that half a warp reads wide vectors in one pass (matmul_f32.cu).
  const int tx = (lane & 1) | (lane >> 2 & 6), ty = lane >> 1 & 3;
  float sum[I][J] = {};
  for (int step = 0; step < each; step++) {
    fetch_wait<STAGES - 2>();
    __syncthreads();  // this stage has come, and all have read the one before, which is filled next
    load(step + STAGES - 1);
    write_places(step + STAGES);
    const float *a = own + step % STAGES * STAGE + wm * 4 * I + ty * 4, *b = own + step % STAGES * STAGE + DEPTH * PITCH + wn * 8 * J + tx * 4;
#pragma unroll
    for (int l = 0; l < DEPTH; l++) {
      float u[I], v[J];
#pragma unroll
      for (int i = 0; i < I; i += 4) *reinterpret_cast<float4*>(u + i) = *reinterpret_cast<const float4*>(a + l * PITCH + i * 4);
#pragma unroll
      for (int j = 0; j < J; j += 4) *reinterpret_cast<float4*>(v + j) = *reinterpret_cast<const float4*>(b + l * N + j * 8);
#pragma unroll
      for (int i = 0; i < I; i++)
#pragma unroll
        for (int j = 0; j < J; j++) {
          const int column = i % 2 ? J - 1 - j : j;  // there and back (matmul_f32.cu)
          sum[i][column] = fmaf(u[i], v[column], sum[i][column]);
        }
    }
  }
  if constexpr (SLICES > 1) {
    fetch_wait<0>();
    __syncthreads();
    float* sums = shared + (slice - 1) * M * N + thread;
    if (slice > 0) {
#pragma unroll
      for (int i = 0; i < I * J; i++) sums[i * THREADS] = sum[i / J][i % J];
    }
    __syncthreads();
    if (slice > 0) return;
#pragma unroll
    for (int k = 1; k < SLICES; k++)
#pragma unroll
      for (int i = 0; i < I * J; i++) sum[i / J][i % J] += shared[((k - 1) * I * J + i) * THREADS + thread];
  }
  const auto store = [&](auto* result) {
    using R = std::remove_reference_t<decltype(*result)>;
    const int row = row0 + wm * 4 * I + ty * 4;
#pragma unroll
    for (int q = 0; q < J; q += 4) {
      const long long c = column0 + wn * 8 * J + tx * 4 + q * 8;
      if (c >= columns) continue;
      if (sizeof(R) == 4 && out_plane % 4 == 0 && reinterpret_cast<uintptr_t>(result) % 16 == 0) {  // four outputs of one image
        const long long image = image_of(c);
        float* to = reinterpret_cast<float*>(result) + (image * s.filters + static_cast<long long>(group) * filters + row) * out_plane + (c - image * out_plane);
#pragma unroll
        for (int i = 0; i < I; i++) {
          const int f = i / 4 * 16 + i % 4;
          if (row + f < filters) *reinterpret_cast<float4*>(to + f * out_plane) = make_float4(sum[i][q], sum[i][q + 1], sum[i][q + 2], sum[i][q + 3]);
        }
        continue;
      }
#pragma unroll
      for (int j = q; j < q + 4; j++) {
        if (c + j - q >= columns) break;
        const long long image = image_of(c + j - q);
        R* to = result + (image * s.filters + static_cast<long long>(group) * filters + row) * out_plane + (c + j - q - image * out_plane);
#pragma unroll
        for (int i = 0; i < I; i++) {
          const int f = i / 4 * 16 + i % 4;
          if (row + f < filters) to[f * out_plane] = from_float<R>(sum[i][j]);
        }
      }
    }
  };
  if (splits > 1) store(shares + split * s.filters * columns);
  else store(out);
}

}  // namespace

#define CONVOLUTION(T, name, WM, WN, I, J, SLICES, BLOCKS, MASKED)                                                                                                         \
  extern "C" __global__ void __launch_bounds__(WM * WN * 32 * SLICES, BLOCKS) convolution_##T##_##name(const T* x, const T* weight, T* out, const ConvSizes s, int first, float* shares, int splits) { \
    convolve<T, WM, WN, I, J, SLICES, MASKED>(x, weight, out, s, first, shares, splits);                                                                                   \
  }
#define BOTH(T, name, WM, WN, I, J, SLICES, BLOCKS) CONVOLUTION(T, name, WM, WN, I, J, SLICES, BLOCKS, true) CONVOLUTION(T, name##_far, WM, WN, I, J, SLICES, BLOCKS, false)
BOTH(f32, 64x128, 2, 2, 8, 8, 1, 4)
BOTH(f32, 64x32, 2, 1, 8, 4, 1, 8)
BOTH(f32, 32x128, 1, 2, 8, 8, 1, 6)
BOTH(f32, 16x128, 1, 2, 4, 8, 1, 8)
BOTH(f32, 16x64x4, 1, 1, 4, 8, 4, 4)
BOTH(f32, 32x32x4, 1, 1, 8, 4, 4, 4)
CONVOLUTION(f16, 64x32_far, 2, 1, 8, 4, 1, 8, false)
CONVOLUTION(bf16, 64x32_far, 2, 1, 8, 4, 1, 8, false)
