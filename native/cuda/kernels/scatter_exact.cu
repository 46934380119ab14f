// scatter_add (scatter_add.cu) of several indices for each row: a block has a range of rows, whose indices come in a bin (scatter_bin of scatter_range.cu) in an order that depends on the race, and which it puts in the order of
// rows in shared memory. Threads then add up what the indices of a row lead to in registers, as sums that are the same in any order (scatter_add/exact.cuh).
//   scatter_exact_<t>_<bytes>   bytes of a vector of a row that a thread has
// A range with more indices than its block has room for is taken in parts, for which the block looks through all indices; a row with more by the whole block.
#include "common/early.cuh"
#include "scatter_add/bins.cuh"
#include "scatter_add/exact_rows.cuh"

namespace {

// grid: ranges of `span` rows. Shared memory: the number of indices of each row, then where those of the next begin [span], and indices in the order of rows [room]. counts: of bins [.., room], zero before and after.
template <int BYTES, class T>
__device__ __forceinline__ void add_exactly(const ExactRows<T>& rows_of, const int* __restrict__ index, unsigned* counts, const uint2* bins, long long rows, int n, int span, int room) {
  constexpr int U = 8, THREADS = exact_threads;
  extern __shared__ unsigned ends[];
  __shared__ unsigned sums[32];
  unsigned* const places = ends + span;
  const int t = threadIdx.x;
  const long long begin = static_cast<long long>(blockIdx.x) * span;
  const int own = static_cast<int>(min(static_cast<long long>(span), rows - begin));
  for (int i = t; i < own; i += THREADS) ends[i] = 0;
  wait_for_last();
  const int all = static_cast<int>(min(__ldcg(counts + blockIdx.x), static_cast<unsigned>(room) + 1));
  __syncthreads();
  if (t == 0) counts[blockIdx.x] = 0;
  if (all > room) return add_in_parts<BYTES>(rows_of, index, begin, own, n, ends, places, room);
  const uint2* const bin = bins + static_cast<long long>(blockIdx.x) * room;
  each_of_bin<THREADS, U>(bin, all, [&](int, unsigned, unsigned row) { atomicAdd(ends + row, 1u); });
  __syncthreads();
  starts_of<THREADS>(ends, own, sums);
  each_of_bin<THREADS, U>(bin, all, [&](int, unsigned place, unsigned row) { places[atomicAdd(ends + row, 1u)] = place; });
  __syncthreads();
  add_rows<BYTES>(rows_of, begin, own, ends, places);
}

}  // namespace

#define EXACT(T, BYTES)                                                                                                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(exact_threads, exact_blocks) scatter_exact_##T##_##BYTES(const T* x, const int* index, const T* src, T* out, unsigned* counts, const uint2* bins, long long rows, int dim, int n, \
                                                                                                   int lanes, int sharers, int span, int room, Divide by_lanes) {                                                           \
    add_exactly<BYTES>(ExactRows<T>{x, src, out, dim, lanes, sharers, by_lanes}, index, counts, bins, rows, n, span, room);                                                                                                 \
  }
EXACT(f32, 4) EXACT(f32, 8) EXACT(f32, 16)
EXACT(f16, 2) EXACT(f16, 4) EXACT(f16, 8)
EXACT(bf16, 2) EXACT(bf16, 4) EXACT(bf16, 8)
