// Strided views of x, each written one element after the other: out_v[i, j, k, l] = x[offset + v * distance + i * s0 + j * s1 + k * s2 + l].
// dims: [elements of x, views, distance, offset, and the four extents, then three strides].
#include "simd/copy.h"

namespace {

constexpr int64_t MOST_VIEWS = 3;

struct Views {
  int64_t elements, count, distance, offset, outer, middle, rows, width, strides[3];
  explicit Views(const int64_t* d) : elements(d[0]), count(d[1]), distance(d[2]), offset(d[3]), outer(d[4]), middle(d[5]), rows(d[6]), width(d[7]), strides{d[8], d[9], d[10]} {}
  int64_t size() const { return times(times(outer, middle), times(rows, width)); }
};

template <class U>
void run(const Call& c) {
  const Views v(c.dims);
  const Range own = part(v.size(), 64 / sizeof(U), c.thread, c.threads);
  for (int64_t view = 0; view < v.count; view++) {
    const U* const from = input<U>(c, 0) + v.offset + view * v.distance;
    U* const out = output<U>(c, static_cast<int>(view));
    int64_t row = own.begin / v.width, column = own.begin - row * v.width, j = row / v.rows, k = row - j * v.rows, i = j / v.middle;
    j -= i * v.middle;
    for (int64_t at = own.begin; at < own.end; column = 0) {
      const int64_t n = least(v.width - column, own.end - at);
      copy_bytes(from + i * v.strides[0] + j * v.strides[1] + k * v.strides[2] + column, out + at, n * static_cast<int64_t>(sizeof(U)));
      at += n;
      if (++k < v.rows) continue;
      k = 0;
      if (++j < v.middle) continue;
      j = 0;
      i++;
    }
  }
}

bool shape(const int64_t* d, int count, int64_t* sizes) {
  if (count != 11) return false;
  const Views v(d);
  if (v.count < 1 || v.count > MOST_VIEWS || v.outer < 1 || v.middle < 1 || v.rows < 1 || v.width < 1) return false;
  // The last element of the last view is one of x.
  const int64_t reaches[] = {v.offset, times(v.count - 1, v.distance), times(v.outer - 1, v.strides[0]), times(v.middle - 1, v.strides[1]), times(v.rows - 1, v.strides[2])};
  int64_t left = v.elements - v.width;
  for (const int64_t reach : reaches) {
    if (reach > left) return false;
    left -= reach;
  }
  sizes[0] = v.elements;
  for (int64_t view = 1; view <= v.count; view++) sizes[view] = v.size();
  return true;
}

int list(const int64_t* d) { return static_cast<int>(d[1]) - 1; }

}  // namespace

OPSCOPE_KERNEL(copy_view, "t>t|t>t>t|t>t>t>t", 11, 11, 0, shape, nullptr, {run<uint32_t>, run<uint16_t>, run<uint16_t>}, list)
