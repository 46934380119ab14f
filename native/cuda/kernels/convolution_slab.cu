// Convolutions in f32 (convolution/slab.h says when): a block has a tile of filters and outputs of all images, and `depth` terms of their sums in shared memory, as matmul_slab_f32.cu has those of a
// product; up to four blocks of a multiprocessor take turns at gathering and multiplying. Windows are gathered on their way there. Results of planes that are no whole vectors go through shared memory, so that a warp writes neighbours.
// Sums in the order of the terms.
//   convolution_slab_<filters of a tile>
#include "convolution/windows.cuh"
#include "matmul/slab.cuh"

namespace {

using slab::THREADS, slab::WARPS;

// grid: tiles of outputs by `tiles` of filters, groups.
template <int BM, int BN>
__device__ __forceinline__ void convolve(const float* __restrict__ x, const float* __restrict__ weight, float* __restrict__ out, const ConvSizes& s, const ConvNarrow& c, int tiles, int depth) {
  constexpr int PITCH_A = opscope::cuda::slab_pitch(BM), PITCH_B = opscope::cuda::slab_pitch(BN), ACROSS = BN < THREADS ? BN : THREADS, LINES = THREADS / ACROSS, EACH = BN / ACROSS;
  extern __shared__ __align__(16) float shared[];
  float *side_a = shared, *side_b = shared + depth * PITCH_A;
  Place* const places = reinterpret_cast<Place*>(side_b + depth * PITCH_B);
  const int column_tile = static_cast<int>(blockIdx.x) / tiles, group = blockIdx.y, f0 = (static_cast<int>(blockIdx.x) - column_tile * tiles) * BM, c0 = column_tile * BN, filters = min(BM, c.filters - f0),
            columns = min(BN, c.columns - c0);
  // The outputs whose windows this thread gathers, every LINES-th term of them.
  const float* from[EACH];
  unsigned mask[EACH];
#pragma unroll
  for (int e = 0; e < EACH; e++) {
    const int column = static_cast<int>(threadIdx.x) % ACROSS + e * ACROSS, at = min(c0 + column, c.columns - 1), image = c.by_plane.quotient(at);
    const Window window = window_at(s, c, at - image * c.plane);
    from[e] = x + ((image * s.channels + group * c.channels) * c.in_plane + window.offset);
    mask[e] = column < columns ? window.mask : 0;
  }
  const uint32_t to = shared_address(side_b + static_cast<int>(threadIdx.x) % ACROSS);
  const float* const filter = weight + static_cast<long long>(group * c.filters + f0) * c.terms;
  slab::Results<BM, BN> tile;
  const bool works = tile.works(filters, columns);
  for (int first = 0; first < c.terms; first += depth) {
    const int count = min(depth, c.terms - first);
    if (first > 0) __syncthreads();
    write_places(places, s, c, first, count);
    __syncthreads();
#pragma unroll 4
    for (int t = static_cast<int>(threadIdx.x) / ACROSS; t < count; t += LINES) {
      const Place place = places[t];
#pragma unroll
      for (int e = 0; e < EACH; e++) copy_async_4(to + (t * PITCH_B + e * ACROSS) * 4, from[e] + place.offset, mask[e] & place.bit ? 4 : 0);
    }
    copy_commit();
    slab::turn<BM, BN, true, false>(filter + first, nullptr, side_a, nullptr, count, c.terms, filters, 0);
    copy_wait<0>();
    __syncthreads();
    if (works) tile.add(side_a, side_b, count);
  }
  // Where the first filter's output of a column lies.
  const auto place_of = [&](int in_tile) {
    const int output = c0 + in_tile, of = c.by_plane.quotient(output);
    return (of * s.filters + group * c.filters + f0) * c.plane + (output - of * c.plane);
  };
  if (c.plane % 4 == 0) {
#pragma unroll
    for (int j = 0; j < 2; j++) {
      if (!works || tile.column_of(j) >= columns) continue;
      float* const first = out + place_of(tile.column_of(j));
#pragma unroll
      for (int i = 0; i < 8; i++)
        if (tile.row_of(i) < filters) *reinterpret_cast<float4*>(first + tile.row_of(i) * c.plane) = tile.vector(i, j);
    }
    return;
  }
  __syncthreads();
  if (works) tile.put(shared);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int first[BN / 32];
#pragma unroll
  for (int i = 0; i < BN / 32; i++) first[i] = place_of(min(i * 32 + lane, columns - 1));
  __syncthreads();
  for (int filter = warp; filter < filters; filter += WARPS)
#pragma unroll
    for (int i = 0; i < BN / 32; i++)
      if (i * 32 + lane < columns) out[first[i] + filter * c.plane] = shared[filter * PITCH_B + i * 32 + lane];
}

}  // namespace

#define SLAB(BM, BN) \
  extern "C" __global__ void __launch_bounds__(THREADS, 4) convolution_slab_##BM(const float* x, const float* weight, float* out, const ConvSizes s, const ConvNarrow c, int tiles, int depth) { convolve<BM, BN>(x, weight, out, s, c, tiles, depth); }
SLAB(32, 256)
SLAB(64, 128)
SLAB(128, 64)
