// Few filters with few outputs, a thread for each position (convolution_terms.cu): which convolutions. Pure; see convolution_test.cc.
#pragma once
#include <algorithm>
#include <cmath>

#include "../matmul/shape.h"
#include "shape.h"
#include "terms_task.h"

namespace opscope::cuda {

struct ConvTerms {
  int filters = 0;      // of a thread, as kernels are built; 0: other kernels take the case
  int64_t blocks = 0;   // of filters of a group
  unsigned shared = 0;  // bytes
  double cost = 0;      // microseconds
};

inline ConvTerms conv_terms(int sm_count, const ConvShape& c) {
  constexpr int64_t most = int64_t{1} << 31, most_taps = 32, most_filters = 16, most_shared = 48 << 10, most_blocks = 65'535;
  constexpr int64_t least_plane = 8;  // outputs of smaller ones lie in lines of memory of their own
  if (c.point || c.sampled || c.plane < least_plane || c.largest >= most || c.columns >= most - conv_terms_threads || (c.padded && c.terms / c.channels > most_taps) || c.filters > most_filters) return {};
  ConvTerms r;
  r.filters = c.filters > 4 ? 8 : c.filters > 2 ? 4 : static_cast<int>(c.filters);
  r.blocks = up(c.filters, r.filters);
  const int64_t terms = up(c.terms, conv_terms_at_once) * conv_terms_at_once, shared = terms * (r.filters * 4 + 8);
  if (shared > most_shared || r.blocks * c.groups > most_blocks) return {};
  r.shared = static_cast<unsigned>(shared);
  // Microseconds of a launch, of a thread, of a term of it and of a filter of that, and of the terms that are on their way together where nothing hides them.
  constexpr double launch = 4.6, thread = 8e-6, term = 5e-7, product = 1e-7, wait = 0.6;
  const double threads = static_cast<double>(up(c.columns, conv_terms_threads) * conv_terms_threads * r.blocks * c.groups) * 132 / sm_count;
  r.cost = launch + std::hypot(threads * (thread + static_cast<double>(terms) * (term + product * r.filters)), static_cast<double>(terms / conv_terms_at_once) * wait);
  return r;
}

}  // namespace opscope::cuda
