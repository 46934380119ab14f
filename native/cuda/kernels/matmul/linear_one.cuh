// A single result of a product, stored with what follows it (linear.h).
#pragma once
#include "../elementwise/functions.cuh"
#include "linear.h"

// What is read for the result at [row, column]: its bias, and what is added to it.
template <class T>
struct LinearInputs {
  float bias = 0, added = 0;
  LinearInputs() = default;
  __device__ __forceinline__ LinearInputs(const LinearStore& e, long long at, int column) {
    bias = to_float(static_cast<const T*>(e.bias)[column]);
    added = e.kind == LinearKind::residual ? to_float(static_cast<const T*>(e.residual)[at]) : 0.0f;
  }
};

// `at`: its place in c of rows of `columns`.
template <class T>
__device__ __forceinline__ void linear_store(T* c, const LinearStore& e, const LinearInputs<T>& in, float result, long long at, int row, int column) {
  result += in.bias;
  if (e.kind == LinearKind::gelu) result = gelu<T>(result);
  else result += in.added;
  if (e.kind != LinearKind::heads) {
    c[at] = from_float<T>(result);
    return;
  }
  const int batch = divided(row, e.by_seq), head = divided(column, e.by_width), view = divided(head, e.by_heads);
  T* out = static_cast<T*>(view == 0 ? e.views[0] : view == 1 ? e.views[1] : e.views[2]);
  out[((static_cast<long long>(batch) * e.heads + (head - view * e.heads)) * e.seq + (row - batch * e.seq)) * e.width + (column - head * e.width)] = from_float<T>(result);
}
