// Kernels of one element with few filters of many channels on small planes, f16 and bf16 (convolution/planes.h says when). The channels of an image are a run of memory, whatever its alignment, and so are its outputs: one warp keeps
// the copy engine filling a ring with some channels of a few images at a time, the others read them as operands of the tensor cores, 32 positions of a warp, and store the outputs of those images as a run.
//   convolution_planes_<t>_<E>   up to 8 * E filters; _pairs: of planes whose positions lie in words of two
#include <type_traits>

#include "common/wgmma.cuh"
#include "convolution/planes_task.h"

namespace {

constexpr int WARPS = conv_planes_warps, THREADS = WARPS * 32, TILE = conv_planes_of_tile;

#ifdef OPSCOPE_WGMMA

// `bytes`: a multiple of 16, as both addresses.
__device__ __forceinline__ void bulk_run(uint32_t to, const void* from, int bytes, uint32_t barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes), "r"(barrier) : "memory");
}
__device__ __forceinline__ void barrier_of_warps() { asm volatile("bar.sync 1, %0;" ::"n"(THREADS) : "memory"); }
__device__ __forceinline__ uint32_t shared_16(uint32_t at) {
  uint16_t v;
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(v) : "r"(at));
  return v;
}
__device__ __forceinline__ uint32_t shared_32(uint32_t at) {
  uint32_t v;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at));
  return v;
}

#endif

// Shared memory: the filters as the second operands of lanes, [sixteens of channels][eights of filters][lane]; the ring; the outputs of a tile, as far behind 16 bytes as where they go; barriers.
template <class T, int EIGHTS, bool PAIRS>
__device__ __forceinline__ void planes(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ out, const ConvPlanesTask& t) {
#ifdef OPSCOPE_WGMMA
  extern __shared__ __align__(16) char memory[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, sixteens = (t.channels + 15) / 16, chunks = (t.channels + t.chunk - 1) / t.chunk, slot_bytes = t.together * t.pitch;
  uint2* const operands = reinterpret_cast<uint2*>(memory);
  char* const ring = memory + sixteens * EIGHTS * 32 * 8;
  char* const staged = ring + t.stages * slot_bytes;
  const int staged_bytes = (t.together * t.filters * t.plane * 2 + 31) / 16 * 16;
  const uint32_t full = shared_address(staged + staged_bytes), empty = full + 8 * t.stages;
  if (threadIdx.x == 0) {
    for (int i = 0; i < t.stages; i++) {
      barrier_init(full + 8 * i, 32);
      barrier_init(empty + 8 * i, THREADS);
    }
    fence_shared_for_async();
  }
  __syncthreads();
  if (warp == WARPS) {
    const char* const from = reinterpret_cast<const char*>(x);
    int slot = 0, phase = 1;
    for (int tile = blockIdx.x; tile < t.tiles; tile += gridDim.x) {
      const int first = tile * t.together, images = min(t.together, t.images - first);
      for (int c = 0; c < chunks; c++) {
        const int bytes = min(t.chunk, t.channels - c * t.chunk) * t.plane * 2;
        barrier_wait(empty + 8 * slot, phase);
        int all = 0;
        for (int i = lane; i < images; i += 32) all += (static_cast<int>((static_cast<long long>(first + i) * t.channels * t.plane * 2) & 15) + bytes + 15) / 16 * 16;
        barrier_expect(full + 8 * slot, all);
        for (int i = lane; i < images; i += 32) {
          const long long at = (static_cast<long long>(first + i) * t.channels + c * t.chunk) * t.plane * 2;
          const int shift = static_cast<int>(at & 15);
          bulk_run(shared_address(ring) + slot * slot_bytes + i * t.pitch, from + (at - shift), (shift + bytes + 15) / 16 * 16, full + 8 * slot);
        }
        if (++slot == t.stages) slot = 0, phase ^= 1;
      }
    }
    return;
  }

  const uint16_t* const filter = reinterpret_cast<const uint16_t*>(weight);
#pragma unroll 4
  for (int i = threadIdx.x; i < sixteens * EIGHTS * 32; i += THREADS) {
    const int f = i / 32 % EIGHTS * 8 + i % 32 / 4, k = i / (32 * EIGHTS) * 16 + i % 4 * 2;
    const auto pair = [&](int k) {
      const uint32_t low = f < t.filters && k < t.channels ? filter[f * t.channels + k] : 0, high = f < t.filters && k + 1 < t.channels ? filter[f * t.channels + k + 1] : 0;
      return low | high << 16;
    };
    operands[i] = make_uint2(pair(k), pair(k + 8));
  }
  barrier_of_warps();
  const int of_four = lane % 4, of_eight = lane / 4, row = t.plane * 2;  // bytes from one channel to the next
  int slot = 0, phase = 0;
  for (int tile = blockIdx.x; tile < t.tiles; tile += gridDim.x) {
    const int first = tile * t.together, images = min(t.together, t.images - first), positions = images * t.plane;
    // Rows lane / 4 and that + 8 of both products of a warp: where they lie in a stage, in pairs one position after the other.
    int position[2][2], image[2][2], from[2][2];
#pragma unroll
    for (int m = 0; m < 2; m++)
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const int p = warp * 32 + m * 16 + (PAIRS ? of_eight * 2 + h : of_eight + h * 8), at = p < positions ? p : 0;
        image[m][h] = divided(at, t.by_plane);
        position[m][h] = p < positions ? at - image[m][h] * t.plane : -1;
        from[m][h] = image[m][h] * t.pitch + static_cast<int>((static_cast<long long>(first + image[m][h]) * t.channels * t.plane * 2) & 15) + (at - image[m][h] * t.plane) * 2 + of_four * 2 * row;
      }
    float sum[2][EIGHTS][4];
#pragma unroll
    for (int m = 0; m < 2; m++)
#pragma unroll
      for (int j = 0; j < EIGHTS; j++)
#pragma unroll
        for (int i = 0; i < 4; i++) sum[m][j][i] = 0;
    for (int c = 0; c < chunks; c++) {
      const uint32_t base = shared_address(ring) + slot * slot_bytes;
      const int channels = min(t.chunk, t.channels - c * t.chunk);
      const uint2* operand = operands + c * (t.chunk / 16) * EIGHTS * 32 + lane;
      barrier_wait(full + 8 * slot, phase);
      const auto step = [&](int k, auto whole) {
        uint32_t a[2][4];
#pragma unroll
        for (int m = 0; m < 2; m++)
#pragma unroll
          for (int r = 0; r < 2; r++) {
            // Channels k and k + 1, then those eight on.
            const int channel = k + r * 8 + of_four * 2;
            const bool one = decltype(whole)::value || channel < channels, two = decltype(whole)::value || channel + 1 < channels;
            const uint32_t at = base + (k + r * 8) * row;
            if constexpr (PAIRS) {
              const uint32_t low = one ? shared_32(at + from[m][0]) : 0, high = two ? shared_32(at + from[m][0] + row) : 0;
              a[m][r * 2] = __byte_perm(low, high, 0x5410), a[m][r * 2 + 1] = __byte_perm(low, high, 0x7632);
            } else {
#pragma unroll
              for (int h = 0; h < 2; h++) {
                const uint32_t low = one ? shared_16(at + from[m][h]) : 0, high = two ? shared_16(at + from[m][h] + row) : 0;
                a[m][r * 2 + h] = low | high << 16;
              }
            }
          }
#pragma unroll
        for (int j = 0; j < EIGHTS; j++) {
          const uint2 b = operand[j * 32];
#pragma unroll
          for (int m = 0; m < 2; m++) mma(sum[m][j], a[m], b.x, b.y, T());
        }
        operand += EIGHTS * 32;
      };
      const int whole = channels / 16 * 16;
      for (int k = 0; k < whole; k += 16) step(k, std::true_type());
      if (whole < channels) step(whole, std::false_type());
      barrier_arrive(empty + 8 * slot);
      if (++slot == t.stages) slot = 0, phase ^= 1;
    }
    const long long begin = static_cast<long long>(first) * t.filters * t.plane;
    const int shift = static_cast<int>(begin & 7), count = images * t.filters * t.plane;
    uint16_t* const to = reinterpret_cast<uint16_t*>(staged) + shift;
#pragma unroll
    for (int m = 0; m < 2; m++)
#pragma unroll
      for (int j = 0; j < EIGHTS; j++)
#pragma unroll
        for (int n = 0; n < 2; n++) {
          const int f = j * 8 + of_four * 2 + n;
          if (f >= t.filters) continue;
          const uint32_t both = pack_pair(sum[m][j][n], sum[m][j][n + 2], T());
          if constexpr (PAIRS) {
            if (position[m][0] >= 0) *reinterpret_cast<uint32_t*>(to + (image[m][0] * t.filters + f) * t.plane + position[m][0]) = both;
          } else {
#pragma unroll
            for (int h = 0; h < 2; h++)
              if (position[m][h] >= 0) to[(image[m][h] * t.filters + f) * t.plane + position[m][h]] = static_cast<uint16_t>(both >> h * 16);
          }
        }
    barrier_of_warps();
    uint16_t* const target = reinterpret_cast<uint16_t*>(out) + (begin - shift);
    const uint16_t* const source = reinterpret_cast<const uint16_t*>(staged);
    for (int v = threadIdx.x; v * 8 < shift + count; v += THREADS) {
      if (v * 8 >= shift && v * 8 + 8 <= shift + count) {
        *reinterpret_cast<uint4*>(target + v * 8) = *reinterpret_cast<const uint4*>(source + v * 8);
      } else {
        for (int i = max(v * 8, shift); i < min(v * 8 + 8, shift + count); i++) target[i] = source[i];
      }
    }
    barrier_of_warps();
  }
#endif
}

}  // namespace

#define PLANES(T, EIGHTS, BLOCKS)                                                                                                                                                                       \
  extern "C" __global__ void __launch_bounds__(conv_planes_threads, BLOCKS) convolution_planes_##T##_##EIGHTS(const T* x, const T* weight, T* out, const ConvPlanesTask t) { planes<T, EIGHTS, false>(x, weight, out, t); } \
  extern "C" __global__ void __launch_bounds__(conv_planes_threads, BLOCKS) convolution_planes_##T##_##EIGHTS##_pairs(const T* x, const T* weight, T* out, const ConvPlanesTask t) { planes<T, EIGHTS, true>(x, weight, out, t); }
#define ALL(T) PLANES(T, 1, 4) PLANES(T, 2, 4) PLANES(T, 3, 4) PLANES(T, 4, 4) PLANES(T, 6, 3) PLANES(T, 8, 3) PLANES(T, 12, 2) PLANES(T, 16, 2)
ALL(f16)
ALL(bf16)
