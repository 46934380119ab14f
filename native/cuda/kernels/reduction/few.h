// Reductions of few elements (reduction_few.cu): which cases, and how results are spread. Pure; few_test.cc has what holds over the whole range.
#pragma once
#include <cstdint>

#include "../common/divide.h"
#include "../common/few_launch.h"

namespace opscope::cuda {

// What reduction_few.cu takes, the same for host and device: out[o * inner + i] of x[((g * outer + o) * reduce + r) * inner + i] over g and r.
struct FewCells {
  unsigned long long x, out;  // addresses
  int cells, count;           // results; elements of each
  int log2;                   // 1 << log2 lanes of a warp have a result, where a block has several
  int inner, jump;            // elements from one of a result to the next, and what lies between the pieces of a result beside its own
  Divide by_inner, by_reduce;
  int of_cell;                // elements of the results that lie side by side
};

// Elements in all up to which a call is a wait for memory and for instructions, and where a thread has all of a result or values lie in one piece; of a lane, or of a thread of a block that has a result.
constexpr int64_t few_cells_most = int64_t{1} << 18, few_cells_most_of_each = int64_t{1} << 16;
constexpr int few_cell_each = 4;
constexpr int64_t few_cell_threads = 1024;
// Elements of two vectors up to which a block has their product.
constexpr int64_t few_pairs = 2048;

// `whole`: a result's elements lie in one piece, of which kernels for longer ones read vectors of `lanes` elements as soon, unless places are wanted.
inline FewLaunch few_cells_shape(int sm_count, int64_t cells, int64_t count, int64_t inner, bool whole, int64_t lanes) {
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  if (cells < 1 || count < 2 || cells * count > (count > few_cell_each && !whole ? few_cells_most : few_cells_most_of_each) || count > few_cell_threads * few_cell_each) return {};
  // Results that lie side by side are read together by neighbouring threads, if these have all of their elements.
  if (inner > 1 && count > few_cell_each && cells >= int64_t{sm_count} * 16) return {};
  if (whole && count > (cells == 1 ? 32 * few_cell_each : 128 * lanes)) return {};
  if (count > 32 * few_cell_each) return {true, true, 5, static_cast<unsigned>(over(count, 32 * few_cell_each) * 32), cells};
  int log2 = 0;
  while ((few_cell_each << log2) < count) log2++;
  const int64_t in_all = cells << log2;
  const unsigned threads = in_all >= int64_t{sm_count} * 128 ? 128 : in_all > 32 ? 64 : 32;
  return {true, false, log2, threads, over(in_all, threads)};
}

}  // namespace opscope::cuda
