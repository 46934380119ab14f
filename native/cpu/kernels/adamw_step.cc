// One step of AdamW. dims: [n]; scalars: [lr, beta1, beta2, eps, weightDecay, step]. The formula stands in core/ops/adamw_step/op.ts.
#include <math.h>

#include "simd/simd.h"

namespace {

template <class T>
void run(const Call& c) {
  const double lr = c.scalars[0], beta1 = c.scalars[1], beta2 = c.scalars[2], step = c.scalars[5];
  // 1 - beta^step without the cancellation where beta^step is near 1.
  const auto correction = [step](double beta) { return -expm1(step * log(beta)); };
  const auto number = [](double x) { return vset(static_cast<float>(x)); };
  const V decay = number(1 - lr * c.scalars[4]), rate = number(-lr / correction(beta1)), spread = number(1 / sqrt(correction(beta2))), eps = number(c.scalars[3]);
  const V keep1 = number(beta1), new1 = number(1 - beta1), keep2 = number(beta2), new2 = number(1 - beta2);
  const T* grad = input<T>(c, 1);
  T *param = output<T>(c, 0), *m = output<T>(c, 1), *v = output<T>(c, 2);
  const auto moments = [=](V g, V& first, V& second) {
    first = vfma(keep1, first, vmul(new1, g));
    second = vfma(keep2, second, vmul(new2, vmul(g, g)));
  };
  const auto stepped = [=](V p, V first, V second) { return vfma(rate, vdiv(first, vfma(vsqrt(second), spread, eps)), vmul(p, decay)); };
  const Range r = part(c.dims[0], LINE, c.thread, c.threads);
  int64_t i = r.begin;
  for (; i + W <= r.end; i += W) {
    V first = vload(m + i), second = vload(v + i);
    moments(vload(grad + i), first, second);
    const V p = stepped(vload(param + i), first, second);
    vstore(m + i, first);
    vstore(v + i, second);
    vstore(param + i, p);
  }
  if (i == r.end) return;
  const int n = static_cast<int>(r.end - i);
  V first = vload_n(m + i, n, 0), second = vload_n(v + i, n, 0);
  moments(vload_n(grad + i, n, 0), first, second);
  const V p = stepped(vload_n(param + i, n, 0), first, second);
  vstore_n(m + i, first, n);
  vstore_n(v + i, second, n);
  vstore_n(param + i, p, n);
}

bool shape(const int64_t* d, int, int64_t* sizes) {
  for (int i = 0; i < 4; i++) sizes[i] = d[0];
  return true;
}

}  // namespace

OPSCOPE_ROUNDED(adamw_step, run, "=tt=t=t", 1, 1, 6, shape, nullptr)
