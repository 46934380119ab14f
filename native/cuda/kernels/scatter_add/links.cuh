// Tiles of rows and lists of their indices in shared memory. For scatter_range.cu, scatter_tile.cu and scatter_packed.cu.
#pragma once
#include "../scatter_range.h"
#include "ordered.cuh"

// Numbered indices, and what follows each in its list. The head of a list and what follows are 0, or a number and 1.
struct Links {
  const unsigned* places;
  const unsigned short* next;
};

// out = x + the sum of the indices of the list that begins with `head`, in their order. False, and nothing done, where these are more than `most_listed`.
template <int BYTES, class T>
__device__ __forceinline__ bool add_links(const Links& links, unsigned head, const T* __restrict__ x, const T* __restrict__ src, T* __restrict__ out, long long row, int dim, int lane, int lanes) {
  int listed = 0;
  const Four first = next_four(0, [&](auto see) {
    for (unsigned at = head; at != 0 && listed <= most_listed; at = links.next[at - 1], listed++) see(links.places[at - 1]);
  });
  if (listed > most_listed) return false;
  const auto visit = [&](auto see) {
    for (unsigned at = head; at != 0; at = links.next[at - 1]) see(links.places[at - 1]);
  };
  add_indices<BYTES>(listed, first, visit, x, src, out, row, dim, lane, lanes);
  return true;
}
