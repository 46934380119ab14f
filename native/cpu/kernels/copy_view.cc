// Strided views of x, each written one element after the other: out_v[i, j, k, l] = x[offset + v * distance + i * s0 + j * s1 + k * s2 + l]. With a
// bias, x is rows of s2 elements, to each of which it is added.
// dims: [elements of x, views, distance, offset, the four extents, three strides, 1 with a bias].
#include "simd/copy.h"
#include "simd/map.h"

namespace {

constexpr int64_t MOST_VIEWS = 3;

struct Views {
  int64_t elements, count, distance, offset, outer, middle, rows, width, strides[3];
  bool bias;
  explicit Views(const int64_t* d) : elements(d[0]), count(d[1]), distance(d[2]), offset(d[3]), outer(d[4]), middle(d[5]), rows(d[6]), width(d[7]), strides{d[8], d[9], d[10]}, bias(d[11] == 1) {}
  int64_t size() const { return times(times(outer, middle), times(rows, width)); }
};

template <class T, bool BIAS>
void run_views(const Call& c, const Views& v) {
  const Range own = part(v.size(), 64 / sizeof(T), c.thread, c.threads);
  for (int64_t view = 0; view < v.count; view++) {
    const int64_t first = v.offset + view * v.distance;
    const T* const from = input<T>(c, 0) + first;
    T* const out = output<T>(c, static_cast<int>(view));
    int64_t row = own.begin / v.width, column = own.begin - row * v.width, j = row / v.rows, k = row - j * v.rows, i = j / v.middle;
    j -= i * v.middle;
    for (int64_t at = own.begin; at < own.end; column = 0) {
      const int64_t n = least(v.width - column, own.end - at);
      const T* const run = from + i * v.strides[0] + j * v.strides[1] + k * v.strides[2] + column;
      if constexpr (BIAS) map2<false>(run, input<T>(c, 1) + first + j * v.strides[1] + column, out + at, 0, n, [](V a, V b) { return vadd(a, b); });
      else copy_bytes(run, out + at, n * static_cast<int64_t>(sizeof(T)));
      at += n;
      if (++k < v.rows) continue;
      k = 0;
      if (++j < v.middle) continue;
      j = 0;
      i++;
    }
  }
}

template <class T>
void run(const Call& c) {
  const Views v(c.dims);
  if (v.bias) run_views<T, true>(c, v);
  else run_views<T, false>(c, v);
}

bool shape(const int64_t* d, int count, int64_t* sizes) {
  if (count != 12) return false;
  const Views v(d);
  if (v.count < 1 || v.count > MOST_VIEWS || v.outer < 1 || v.middle < 1 || v.rows < 1 || v.width < 1) return false;
  // The last element of the last view is one of x.
  const int64_t reaches[] = {v.offset, times(v.count - 1, v.distance), times(v.outer - 1, v.strides[0]), times(v.middle - 1, v.strides[1]), times(v.rows - 1, v.strides[2])};
  int64_t left = v.elements - v.width;
  for (const int64_t reach : reaches) {
    if (reach > left) return false;
    left -= reach;
  }
  // Rows of x lie one after the other, and no run of elements reaches into the next.
  const int64_t cols = v.strides[2], reach = reaches[0] + reaches[1] + reaches[3] + v.width;
  if (v.bias && (cols < 1 || v.strides[0] % cols != 0 || reach > cols)) return false;
  int64_t* next = sizes;
  *next++ = v.elements;
  if (v.bias) *next++ = cols;
  for (int64_t view = 0; view < v.count; view++) *next++ = v.size();
  return true;
}

int list(const int64_t* d) { return static_cast<int>(d[1] - 1 + (d[11] == 1 ? MOST_VIEWS : 0)); }

}  // namespace

OPSCOPE_KERNEL(copy_view, "t>t|t>t>t|t>t>t>t|tt>t|tt>t>t|tt>t>t>t", 12, 12, 0, shape, nullptr, {run<float>, run<F16>, run<BF16>}, list)
