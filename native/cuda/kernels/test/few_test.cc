// How cases of few elements are spread over the GPU (the few.h of each family): a part of opscope_cuda_plan_test.
#include "kernels/common/divide.h"
#include "kernels/convolution/few.h"
#include "kernels/matmul/few.h"
#include "kernels/matmul/narrow_split.h"
#include "kernels/pooling/few.h"
#include "kernels/reduction/few.h"
#include "kernels/rows/few.h"
#include "kernels/test/expect.h"

using namespace opscope::cuda;

namespace {

// Blocks hold their rows, and lanes their elements; no block is without one.
template <class Shape>
bool covers(const Shape& s, int64_t rows, int64_t cols, int64_t each) {
  if (s.threads < 32 || s.threads > 1024 || s.threads % 32 != 0) return false;
  if (s.blocks_each) return s.blocks == rows && s.threads * each >= cols && (s.threads - 32) * each < cols;
  const int64_t in_all = rows << s.log2;
  return s.log2 <= 5 && (each << s.log2) >= cols && s.blocks * s.threads >= in_all && (s.blocks - 1) * s.threads < in_all;
}

void few_rows() {
  bool whole = true, taken = true, losses = true, cells = true;
  for (int64_t cols = 1; cols <= int64_t{1} << 33; cols += cols / 7 + 1)
    for (int64_t rows = 1; rows <= int64_t{1} << 33; rows += rows / 5 + 1) {
      const FewLaunch s = few_shape(132, rows, cols);
      taken = taken && s.taken == (rows <= few_most / cols && cols <= 4096);
      whole = whole && (!s.taken || covers(s, rows, cols, few_each));
      const FewLaunch l = few_loss_shape(8, rows, cols);
      losses = losses && (!l.taken || (covers(l, rows, cols, few_each) && (l.blocks_each || l.blocks == 1 || l.threads == 256)));
      for (const int64_t inner : {1, 3, 100}) {
        const FewLaunch c = few_cells_shape(132, rows, cols, inner, inner == 1, 8);
        cells = cells && (!c.taken || (cols > 1 && rows * cols <= few_cells_most && covers(c, rows, cols, few_cell_each)));
      }
    }
  expect(whole, "few rows are held by lanes of a warp or by a block each");
  expect(taken, "rows of up to 4096 elements, and of up to 2^18 in all, are few");
  expect(losses, "rows of few losses are held by one block, or by blocks that meet");
  expect(cells, "few results are held by lanes of a warp or by a block each");
  expect(few_cells_shape(132, 1, 6, 1, true, 4).taken && few_cells_shape(132, 1, 128, 1, true, 4).log2 == 5 && !few_cells_shape(132, 1, 129, 1, true, 4).taken && few_cells_shape(132, 2, 129, 1, true, 4).blocks_each,
         "a single value of up to 128 elements is few, of more elements several");
}

void few_windows() {
  bool whole = true, short_ones = true;
  for (int64_t outputs = 1; outputs <= int64_t{1} << 33; outputs += outputs / 5 + 1)
    for (const int64_t window : {1, 2, 9, 25, 49, 300, 5000})
      for (const bool together : {false, true}) {
        const FewLaunch f = few_pooling(outputs, outputs, window, together);
        if (!f.taken) continue;
        if (f.blocks_each) {
          whole = whole && !together && window > 32 * few_window && f.blocks == outputs && f.threads % 32 == 0 && f.threads <= few_pool_block;
          continue;
        }
        const int64_t in_all = outputs << f.log2;
        whole = whole && f.log2 <= 5 && (!together || f.log2 == 0) && f.threads % 32 == 0 && f.threads <= 128 && f.blocks * f.threads >= in_all && (f.blocks - 1) * f.threads < in_all;
        short_ones = short_ones && (together || (few_window << f.log2) * 8 >= window);
      }
  expect(whole, "few outputs of a pooling have lanes of a warp, or a block where windows are large");
  expect(short_ones, "lanes meet a window in at most eight rounds");
  expect(few_pooling(1 << 22, 1 << 19, 4, true, true).taken && !few_pooling(1 << 22, 1 << 19, 9, true, true).taken && !few_pooling(1 << 22, 1 << 19, 4, true).taken, "small windows that are apart are read at once where there are more of them");
}

void few_products() {
  bool whole = true, convolutions = true;
  for (const int64_t batch : {1, 3, 64, 5000})
    for (int m = 1; m < 3000; m += m / 3 + 1)
      for (int n = 1; n < 3000; n += n / 3 + 1)
        for (int k = 1; k < 20'000; k += k / 3 + 1) {
          const int64_t results = batch * m * n;
          const FewLaunch p = few_product(132, results, k, false, false, false);
          whole = whole && (!p.taken || (results * k <= few_multiplications && p.blocks * p.threads <= few_product_threads + 128 && covers(p, results, k, p.long_sum ? few_long_terms : few_terms)));
          const FewConvolutionShape f = few_convolution(results, k, results);
          if (f.taken) convolutions = convolutions && f.threads % 32 == 0 && f.threads <= 128 && f.blocks * f.threads >= results << f.log2 && (f.blocks - 1) * f.threads < results << f.log2;
        }
  expect(whole, "lanes of a warp, or blocks, hold the terms of a product of few multiplications");
  expect(convolutions, "lanes of a warp have the outputs of a convolution of few multiplications");
}

// Warps of a block cover the short side and k, and shared memory holds the short side and the sums of parts.
void shared_sides() {
  bool covered = true, met = false;
  for (const int few : {4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 24, 25, 32, 33, 64, 65})
    for (const int length : {1023, 1024, 1025, 8193, 16'385, 100'003})
      for (const int k : {8, 9, 16, 17, 64, 231, 512, 513})
        for (const int64_t bytes : {2, 4})
          for (const int layout : {0, 1, 2, 3})
            for (const bool columns : {false, true}) {
              const ProductShape s = {3, columns ? length : few, columns ? few : length, k, (layout & 1) != 0, (layout & 2) != 0};
              const NarrowSplitPlan p = narrow_split_plan(132, 227 << 10, bytes, s);
              if (p.vectors == 0) continue;
              met = true;
              const NarrowSplitTask& t = p.task;
              const int width = t.groups * p.vectors, sums = t.parts * width * (narrow_split_columns + 1);
              covered = covered && width >= few && (t.groups - 1) * p.vectors < few && p.vectors % 2 == 0 && t.parts <= k && p.threads == t.groups * t.parts * 32 && p.threads <= 1024;
              covered = covered && t.tiles * narrow_split_columns >= length && (t.tiles - 1) * narrow_split_columns < length && p.blocks == 3 * t.tiles && !p.sides.k_contiguous;
              covered = covered && t.sums_at % 2 == 0 && p.shared >= (k * narrow_split_pitch(width, p.vectors) + (t.parts > 1 || columns ? sums : 0)) * 4;
            }
  expect(met && covered, "warps that share a short side cover it and k");
  expect(narrow_split_plan(132, 227 << 10, 4, {1, 31, 16'385, 16, true, false}).vectors == 8 && narrow_split_plan(132, 227 << 10, 2, {1, 17, 8193, 17, true, false}).vectors == 6 && narrow_split_plan(132, 227 << 10, 2, {1, 24, 8192, 24, true, false}).vectors == 0 &&
             narrow_split_plan(132, 227 << 10, 4, {1, 31, 16'385, 16, true, true}).vectors == 0 && narrow_split_plan(132, 48 << 10, 4, {1, 31, 16'385, 512, true, false}).vectors == 0,
         "few columns of a matrix with k not contiguous are shared by warps, 16-bit rows that start on 16 bytes are not");
}

void divisions() {
  bool exact = true;
  for (int64_t divisor = 1; divisor < int64_t{1} << 31; divisor += divisor / 50 + 1) {
    const Divide d = divide_by(divisor);
    for (int64_t i = 0; i < int64_t{1} << 31; i = i * 9 / 8 + 1)
      for (const int64_t at : {i, i / divisor * divisor, i / divisor * divisor + divisor - 1})
        if (at < int64_t{1} << 31) exact = exact && at / divisor == static_cast<int64_t>((static_cast<uint64_t>(at) * 2 * d.factor) >> 32 >> d.shift);
  }
  expect(exact, "division by a number that the host knows is exact below 2^31");
}

}  // namespace

void few_shapes() {
  few_rows();
  few_windows();
  few_products();
  shared_sides();
  divisions();
}
