// A single result of a product, stored with what follows it (linear.h).
#pragma once
#include "../elementwise/functions.cuh"
#include "linear.h"

template <class T>
__device__ __forceinline__ float linear_bias(const LinearStore& e, int column) { return to_float(static_cast<const T*>(e.bias)[column]); }
// What is added to the result at `at` of rows.
template <class T>
__device__ __forceinline__ float linear_added(const LinearStore& e, long long at) { return e.kind == LinearKind::residual ? to_float(static_cast<const T*>(e.residual)[at]) : 0.0f; }

// `biased`: the result and its bias. `at`: its place in c.
template <class T>
__device__ __forceinline__ void linear_store(T* c, const LinearStore& e, float biased, float added, long long at, int row, int column) {
  const float result = e.kind == LinearKind::gelu ? gelu<T>(biased) : biased + added;
  if (e.kind != LinearKind::heads) {
    c[at] = from_float<T>(result);
    return;
  }
  const int batch = divided(row, e.by_seq), head = divided(column, e.by_width), view = divided(head, e.by_heads);
  T* out = static_cast<T*>(view == 0 ? e.views[0] : view == 1 ? e.views[1] : e.views[2]);
  out[((static_cast<long long>(batch) * e.heads + (head - view * e.heads)) * e.seq + (row - batch * e.seq)) * e.width + (column - head * e.width)] = from_float<T>(result);
}
