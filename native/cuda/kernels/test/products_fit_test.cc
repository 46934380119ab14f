// Products in 16 bits by tiles that fit their result: part of opscope_cuda_plan_test.
#include <algorithm>

#include "kernels/matmul/fit_choice.h"
#include "kernels/test/expect.h"

using namespace opscope::cuda;

namespace {

WgmmaPlan others_of(const ProductShape& s) {
  const WgmmaShape shape = {s.batch, s.m, s.n, s.k};
  const WgmmaPlan turns = turns_plan(132, shape);
  return turns.turns ? turns : wgmma_plan(132, shape, 64);
}
FitPlan taken(const ProductShape& s) {
  const FitPlan fit = fit_plan(132, s);
  return fit_pays(132, s, fit, others_of(s)) ? fit : FitPlan{};
}

// Tiles are as kernels are built, two stages of them at least are held, and the parts that blocks of a cluster bring are whole repeats of eight rows or lines.
bool fits() {
  bool right = true;
  int clusters = 0, squares = 0;  // with blocks along both sides
  for (const int m : {64, 136, 264, 512, 540, 1000, 4096})
    for (const int n : {64, 160, 528, 1536, 5000, 39'192})
      for (const int k : {64, 72, 312, 1024, 4096})
        for (const int64_t batch : {1, 5})
          for (const int layout : {0, 1, 2, 3}) {
            const ProductShape s = {batch, m, n, k, (layout & 1) != 0, (layout & 2) != 0};
            const FitPlan p = fit_plan(132, s);
            if (p.rows == 0) continue;
            const bool lines_x = p.turned ? !s.trans_b : s.trans_a, lines_y = p.turned ? s.trans_a : !s.trans_b;
            const int blocks = 1 << (p.log_x + p.log_y), part_y = fit_rows_y(p.columns, lines_y) >> p.log_x;
            right = right && std::any_of(std::begin(fit_tiles), std::end(fit_tiles), [&](const FitTile& t) { return t.rows == p.rows && t.columns == p.columns && (!lines_y || t.lines == FitLines::of_y || (lines_x && t.lines == FitLines::of_both)); });
            right = right && fit_stages(p.rows, p.columns, lines_y, p.turned) >= 3 && fit_shared_bytes(p.rows, p.columns, lines_y, p.turned) <= fit_most_shared && fit_threads(p.rows, p.columns) <= 512;
            right = right && (lines_x || (p.rows >> p.log_y) % 8 == 0) && (lines_y || part_y % 8 == 0) && part_y << p.log_x == fit_rows_y(p.columns, lines_y) && p.columns <= 256 && blocks <= 8 && fit_room(132, blocks) % blocks == 0 && p.cost > 0;
            clusters += blocks > 1, squares += p.log_x > 0 && p.log_y > 0;
          }
  return right && clusters > 10 && squares > 0;
}

}  // namespace

void fitted_products() {
  expect(fits(), "tiles that fit a product are as kernels are built, and shared memory holds them");
  const auto is = [](const ProductShape& s, int columns, bool turned) {
    const FitPlan p = taken(s);
    return p.rows == 256 && p.columns == columns && p.turned == turned;
  };
  expect(is({3, 5000, 264, 2000, false, false}, 136, false) && is({2, 4096, 528, 2136, false, false}, 136, false), "a side with a narrow remainder has tiles of as many columns as divide it");
  const FitPlan square = taken({1, 768, 768, 768, false, false}), shared = taken({1, 5168, 808, 952, true, false});
  expect(square.rows == 64 && square.log_x + square.log_y == 0 && taken({1, 512, 512, 512, true, false}).rows == 64 && shared.log_x > 0 && shared.log_y > 0, "one wave of small tiles, and clusters along both sides where rows start off 32 bytes");
  expect(taken({1, 128, 1280, 112, false, false}).rows == 0 && taken({1, 256, 256, 256, false, false}).rows == 0 && taken({1, 8192, 8192, 8192, false, false}).rows == 0 && taken({1, 8192, 8192, 256, false, true}).rows == 0 && taken({1, 4096, 63, 4096, false, false}).rows == 0 && taken({1, 5000, 263, 2000, false, false}).rows == 0 && taken({1, 5000, 264, 2001, false, false}).rows == 0,
         "other tiles take few results, long products on whole sectors, a short k of whole waves, a few columns and rows that start off 16 bytes");
}
