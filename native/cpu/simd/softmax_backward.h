// The gradient of softmax (kernels/softmax.cc). dims: [rows, cols].
#pragma once
#include "far_pairs.h"
#include "rows.h"

namespace {

template <class T>
struct SoftmaxBackward {
  struct Stats {
    float dot;
  };
  int64_t rows, cols;
  const T *grad, *y;
  T* out;
  bool distant_cache;
  explicit SoftmaxBackward(const Call& c) : rows(c.dims[0]), cols(c.dims[1]), grad(input<T>(c, 0)), y(input<T>(c, 1)), out(output<T>(c)), distant_cache(c.distant_cache) {}
  Stats of(int64_t row, int64_t from, int64_t to) const {
    const int64_t at = row * cols + from;
    return {sum_of_pairs(grad + at, y + at, to - from, [](V g, V p) { return vmul(g, p); }, distant_cache)};
  }
  static Stats join(Stats a, Stats b) { return {a.dot + b.dot}; }
  auto value(int64_t row, int64_t from, const Stats& s) const {
    return [g = grad + row * cols + from, p = y + row * cols + from, dot = vset(s.dot)](int64_t i, int n) { return vmul(take(p + i, n), vsub(take(g + i, n), dot)); };
  }
  void fetch(int64_t i, auto where) const {
    fetch_line(grad + i, where);
    fetch_line(y + i, where);
  }
};

// Rows of so many vectors, the last of which may be shorter, stay in registers.
template <int VECTORS, class T>
void softmax_backward_of_vectors(const SoftmaxBackward<T>& p, Range rows) {
  const int rest = static_cast<int>(p.cols - (VECTORS - 1) * W);
  for (int64_t row = rows.begin; row < rows.end; row++) {
    const int64_t at = row * p.cols;
    V grad[VECTORS], y[VECTORS], sum = vset(0);
    for (int i = 0; i < VECTORS; i++) {
      const bool whole = i + 1 < VECTORS || rest == W;
      grad[i] = whole ? vload(p.grad + at + i * W) : vload_n(p.grad + at + i * W, rest, 0);
      y[i] = whole ? vload(p.y + at + i * W) : vload_n(p.y + at + i * W, rest, 0);
      sum = i == 0 ? vmul(grad[i], y[i]) : vadd(sum, vmul(grad[i], y[i]));
    }
    const V dot = vset(vsum(sum));
    for (int i = 0; i < VECTORS; i++) {
      const V v = vmul(y[i], vsub(grad[i], dot));
      if (i + 1 < VECTORS || rest == W) vstore(p.out + at + i * W, v);
      else vstore_n(p.out + at + i * W, v, rest);
    }
  }
}

template <class T>
void run_softmax_backward(const Call& c) {
  SoftmaxBackward<T> p(c);
  const Range r = part(p.rows, 1, c.thread, c.threads);
  const int64_t vectors = W == 1 || c.stream ? 0 : (p.cols + W - 1) / W;
  if (vectors == 1) softmax_backward_of_vectors<1>(p, r);
  else if (vectors == 2) softmax_backward_of_vectors<2>(p, r);
  else if (vectors == 3) softmax_backward_of_vectors<3>(p, r);
  else if (vectors == 4) softmax_backward_of_vectors<4>(p, r);
  else run_rows(c, p);
}

bool softmax_backward_shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[1] = sizes[2] = times(d[0], d[1]);
  return true;
}

}  // namespace
