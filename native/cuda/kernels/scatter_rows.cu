// scatter_add (scatter_add.cu) of many rows, without a sort:
//   scatter_drop        each index goes to a slot of its row, of which each has a few; which slot depends on the race, so they are put in order when they are read
//   scatter_slots_<t>   some threads for each row, which has its indices in slots
//   scatter_link        each index puts itself at the head of a list of its row, in an order that depends on the race, too
//   scatter_chains_<t>  some threads for each row, which has its indices in a list
//   scatter_link_copy, scatter_lists_<t>   the same, and some threads for each index: those of the head of a list add to its row. Rows are copied while lists are made
// _16, _8, _4: rows are whole vectors of so many bytes. Slots and lists are left empty for the next call. A row with more indices than either holds is left to its whole block, which
// looks through all indices in their order.
#include "scatter_rows.h"
#include "common/early.cuh"
#include "scatter_add/ordered.cuh"

namespace {

constexpr int THREADS = link_threads;

// grid: rows by groups of `lanes` threads. first [rows]: indices of a row, which lie in `rest`, slots [rows, room]; or, where there is no room, the heads of lists, which go on in `rest` [n]. A head
// and what follows an index is 0 or an index and 1.
template <int BYTES, bool SLOTS, class T>
__device__ __forceinline__ void by_row(const T* __restrict__ x, const int* __restrict__ index, const T* __restrict__ src, T* __restrict__ out, unsigned* firsts, const unsigned* rest, long long rows, int dim, int n, int lanes,
                                       int room) {
  __shared__ int waiting[THREADS], count;
  const int groups = blockDim.x / lanes, group = threadIdx.x / lanes, lane = threadIdx.x % lanes, column = min(column_of<BYTES, T>(lane), dim - 1);
  const long long first = static_cast<long long>(blockIdx.x) * groups, row = first + group;
  if (threadIdx.x == 0) count = 0;
  if (row < rows) fetch_ahead(x + row * dim + column);
  __syncthreads();
  wait_for_last();
  if (row < rows) {
    const unsigned head = __ldcg(firsts + row);
    int own = 0;
    const auto visit = [&](auto see) {
      if constexpr (SLOTS) {
        const uint4* of_row = reinterpret_cast<const uint4*>(rest + row * room);
        for (int k = 0; k < own; k += 8) {
          const uint4 v = of_row[k / 4], w = k + 4 < own ? of_row[k / 4 + 1] : v;
          see(v.x);
          if (k + 1 < own) see(v.y);
          if (k + 2 < own) see(v.z);
          if (k + 3 < own) see(v.w);
          if (k + 4 < own) see(w.x);
          if (k + 5 < own) see(w.y);
          if (k + 6 < own) see(w.z);
          if (k + 7 < own) see(w.w);
        }
      } else {
        for (unsigned at = head; at != 0; at = __ldcg(rest + at - 1)) see(at - 1);
      }
    };
    if constexpr (SLOTS) {
      own = static_cast<int>(head);
    } else {
      for (unsigned at = head; at != 0 && own <= list_room; at = __ldcg(rest + at - 1), own++) ahead(src + static_cast<long long>(at - 1) * dim + column);
    }
    if (own <= room) {
      const Four four = next_four(0, [&](auto see) {
        visit([&](unsigned i) {
          if (SLOTS && own > 4) ahead(src + static_cast<long long>(i) * dim + column);
          see(i);
        });
      });
      add_indices<BYTES>(own, four, visit, x, src, out, row, dim, lane, lanes);
    } else if (lane == 0) {
      waiting[atomicAdd(&count, 1)] = group;
    }
  }
  __syncthreads();
  if (row < rows && lane == 0) firsts[row] = 0;
  for (int k = 0; k < count; k++) add_long(index, x, src, out, first + waiting[k], dim, n);
}

// The list that begins with `head` by the threads of its row; one of more than `list_room` is left to the block: `waiting` has its row, and `count` how many these are.
template <int BYTES, class T>
__device__ __forceinline__ void add_list(unsigned head, const unsigned* next, const T* __restrict__ x, const T* __restrict__ src, T* __restrict__ out, long long row, int dim, int lane, int lanes, int* waiting, int& count) {
  int own = 0;
  const auto visit = [&](auto see) {
    for (unsigned at = head; at != 0; at = __ldcg(next + at - 1)) see(at - 1);
  };
  const Four first = next_four(0, [&](auto see) {
    for (unsigned at = head; at != 0 && own <= list_room; at = __ldcg(next + at - 1), own++) see(at - 1);
  });
  if (own <= list_room) add_indices<BYTES>(own, first, visit, x, src, out, row, dim, lane, lanes);
  else if (lane == 0) waiting[atomicAdd(&count, 1)] = static_cast<int>(row);
}

// grid: indices by groups of `lanes` threads. heads [rows], next [n]: 0, or an index and 1.
template <int BYTES, class T>
__device__ __forceinline__ void lists_of_rows(const T* __restrict__ x, const int* __restrict__ index, const T* __restrict__ src, T* __restrict__ out, unsigned* heads, const unsigned* next, long long rows, int dim, int n,
                                              int lanes) {
  __shared__ int waiting[THREADS], count;
  const int groups = blockDim.x / lanes, group = threadIdx.x / lanes, lane = threadIdx.x % lanes;
  const long long i = static_cast<long long>(blockIdx.x) * groups + group;
  if (threadIdx.x == 0) count = 0;
  const long long row = i < n ? index[i] : -1;
  if (row >= 0 && row < rows) fetch_ahead(src + i * dim + min(column_of<BYTES, T>(lane), dim - 1));
  __syncthreads();
  wait_for_last();
  const unsigned head = row >= 0 && row < rows ? __ldcg(heads + row) : 0;
  // Others of the row read its head before or after it is left empty, and it is never them.
  const bool leads = head == static_cast<unsigned>(i) + 1;
  if (leads) add_list<BYTES>(head, next, x, src, out, row, dim, lane, lanes, waiting, count);
  __syncthreads();
  if (leads && lane == 0) heads[row] = 0;
  for (int k = 0; k < count; k++) add_long(index, x, src, out, waiting[k], dim, n);
}

// Puts this thread's index at the head of the list of its row.
__device__ __forceinline__ void link_index(const int* index, unsigned* heads, unsigned* next, long long rows, int n) {
  const int i = blockIdx.x * THREADS + threadIdx.x, row = i < n ? index[i] : -1;
  if (row >= 0 && row < rows) next[i] = atomicExch(heads + row, static_cast<unsigned>(i) + 1);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS) scatter_drop(const int* index, unsigned* counts, unsigned* slots, long long rows, int n, int room) {
  next_may_start();
  const int i = blockIdx.x * THREADS + threadIdx.x, row = i < n ? index[i] : -1;
  if (row < 0 || row >= rows) return;
  const unsigned slot = atomicAdd(counts + row, 1u);
  if (slot < static_cast<unsigned>(room)) slots[static_cast<long long>(row) * room + slot] = static_cast<unsigned>(i);
}
extern "C" __global__ void __launch_bounds__(THREADS) scatter_link(const int* index, unsigned* heads, unsigned* next, long long rows, int n) {
  next_may_start();
  link_index(index, heads, next, rows, n);
}
// `links` blocks link, the others copy `halves` of two bytes: a vector of 16 bytes of a thread, one thread those behind the last.
extern "C" __global__ void __launch_bounds__(THREADS) scatter_link_copy(const int* index, unsigned* heads, unsigned* next, long long rows, int n, int links, const uint16_t* x, uint16_t* out, long long halves) {
  next_may_start();
  if (static_cast<int>(blockIdx.x) < links) return link_index(index, heads, next, rows, n);
  const long long first = (static_cast<long long>(blockIdx.x - links) * THREADS + threadIdx.x) * 8;
  if (first + 8 <= halves) return store16(out + first, load16(x + first));
  for (long long i = first; i < halves; i++) out[i] = x[i];
}

#define SCATTER_ROWS(T, NAME, BYTES)                                                                                                                                                 \
  extern "C" __global__ void __launch_bounds__(THREADS, 4) scatter_slots_##NAME(const T* x, const int* index, const T* src, T* out, unsigned* firsts, const unsigned* rest, long long rows, int dim, int n, int lanes, \
                                                                                int room) {                                                                                         \
    by_row<BYTES, true>(x, index, src, out, firsts, rest, rows, dim, n, lanes, room);                                                                                                   \
  }                                                                                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(THREADS, 4) scatter_chains_##NAME(const T* x, const int* index, const T* src, T* out, unsigned* firsts, const unsigned* rest, long long rows, int dim, int n, int lanes, \
                                                                                 int room) {                                                                                        \
    by_row<BYTES, false>(x, index, src, out, firsts, rest, rows, dim, n, lanes, room);                                                                                                  \
  }                                                                                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(THREADS) scatter_lists_##NAME(const T* x, const int* index, const T* src, T* out, unsigned* heads, const unsigned* next, long long rows, int dim, int n, int lanes) { \
    lists_of_rows<BYTES>(x, index, src, out, heads, next, rows, dim, n, lanes);                                                                                                         \
  }
#define SCATTER(T) SCATTER_ROWS(T, T, 0) SCATTER_ROWS(T, T##_8, 8) SCATTER_ROWS(T, T##_16, 16)
SCATTER(f32)
SCATTER(f16) SCATTER_ROWS(f16, f16_4, 4)
SCATTER(bf16) SCATTER_ROWS(bf16, bf16_4, 4)
