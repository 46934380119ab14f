// How strided views are copied: dims as core/ops/copy_view/op.ts states them, and what a thread takes.
#pragma once
#include <cstdint>

#include "../common/divide.h"

// Extents and strides of every view, in vectors of the bytes that a thread copies; output v begins `distance` vectors behind output v - 1.
struct ViewShape {
  long long count, distance, offset, strides[3];
  long long middle, rows, width;
  Divide by_middle, by_rows, by_width;
};

#ifndef __CUDACC__
namespace opscope::cuda {

inline constexpr int64_t most_views = 3;
// Vectors of a view that a thread finds by products and shifts (common/divide.h).
inline constexpr int64_t near_vectors = int64_t{1} << 31;

// The largest vector, in bytes, on whose multiples every run of elements begins and ends: d are the dims.
template <class Dims>
int64_t view_vector(int64_t element_bytes, const Dims& d) {
  int64_t bits = d[3] | d[7];
  if (d[1] > 1) bits |= d[2];
  for (int axis = 0; axis < 3; axis++)
    if (d[4 + axis] > 1) bits |= d[8 + axis];
  int64_t bytes = element_bytes;
  while (bytes < 16 && bits % (2 * bytes / element_bytes) == 0) bytes *= 2;
  return bytes;
}

template <class Dims>
ViewShape view_shape(int64_t lanes, const Dims& d) {
  ViewShape s = {d[4] * d[5] * d[6] * d[7] / lanes, d[2] / lanes, d[3] / lanes, {d[8] / lanes, d[9] / lanes, d[10] / lanes}, d[5], d[6], d[7] / lanes, {}, {}, {}};
  if (s.count < near_vectors) s.by_middle = divide_by(s.middle), s.by_rows = divide_by(s.rows), s.by_width = divide_by(s.width);
  return s;
}

}  // namespace opscope::cuda
#endif
