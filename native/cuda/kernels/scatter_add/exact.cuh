// Sums in double precision that are the same in any order, in registers. For scatter_exact.cu.
// Numbers of few bits whose exponents lie close to each other add up without rounding: all are multiples of the last bit of the least, and no partial sum of theirs has more than 53 bits. Where they lie further apart they are
// added up in groups of which that holds, the largest first, so that the order does not matter either.
#pragma once
#include "before.cuh"
#include "mantissa.cuh"

// How far the exponents of `count` numbers of T may be apart.
template <class T>
__device__ __forceinline__ int exact_range(int count) { return 53 - MANTISSA<T> - (32 - __clz(max(count - 1, 0))); }
__device__ __forceinline__ int exponent_of(unsigned magnitude) { return max(static_cast<int>(magnitude >> 23), 1); }
__device__ __forceinline__ unsigned magnitude_of(float v) { return __float_as_uint(v) & 0x7fffffff; }

struct ExactSum {
  double sum = 0;
  unsigned most = 0, least = ~0u;  // magnitudes; the least but zero, less one

  __device__ __forceinline__ void add(float v) {
    const unsigned own = magnitude_of(v);
    most = max(most, own), least = min(least, own - 1);
    sum += static_cast<double>(v);
  }
  __device__ __forceinline__ void join(const ExactSum& other) { sum += other.sum, most = max(most, other.most), least = min(least, other.least); }
  // Infinities and NaN need no order.
  __device__ __forceinline__ bool is_exact(int range) const { return most == 0 || most >= 0x7f800000 || exponent_of(most) - exponent_of(least + 1) <= range; }
};

// The sum of finite numbers, the greatest of magnitude `most`: visit(see) calls see(number) for each of a thread's, join(sum, most) joins what the threads have.
template <class Visit, class Join>
static __device__ __noinline__ double sum_in_groups(unsigned most, int range, Visit visit, Join join) {
  double total = 0;
  while (most != 0) {
    const int high = exponent_of(most), low = high - range;
    double sum = 0;
    most = 0;
    visit([&](float v) {
      const unsigned own = magnitude_of(v);
      const int exponent = exponent_of(own);
      if (exponent > high) return;
      if (exponent >= low) sum += static_cast<double>(v);
      else most = max(most, own);
    });
    join(sum, most);
    total += sum;
  }
  return total;
}

// The sum of what `sharers` threads beside each other have, a power of two of them; visit: as above.
template <class Visit>
__device__ __forceinline__ double shared_sum(ExactSum own, int range, int sharers, unsigned mask, Visit visit) {
  for (int offset = 1; offset < sharers; offset *= 2) own.join({__shfl_xor_sync(mask, own.sum, offset), __shfl_xor_sync(mask, own.most, offset), __shfl_xor_sync(mask, own.least, offset)});
  if (own.is_exact(range)) return own.sum;
  return sum_in_groups(own.most, range, visit, [=](double& sum, unsigned& most) {
    for (int offset = 1; offset < sharers; offset *= 2) sum += __shfl_xor_sync(mask, sum, offset), most = max(most, __shfl_xor_sync(mask, most, offset));
  });
}

// What the threads of a block have of a list of numbers in shared memory: `starts` [count + 1] are numbers of each row, which become where each begins.
template <int THREADS>
__device__ __forceinline__ int starts_of(unsigned* starts, int count, unsigned (&sums)[32]) {
  const int t = threadIdx.x, each = (count + THREADS - 1) / THREADS, from = min(t * each, count), to = min(from + each, count);
  unsigned own = 0;
  for (int i = from; i < to; i++) own += starts[i];
  unsigned all, before = before_thread<THREADS>(own, sums, all);
  for (int i = from; i < to; i++) {
    const unsigned of_row = starts[i];
    starts[i] = before, before += of_row;
  }
  __syncthreads();
  return static_cast<int>(all);
}
