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

// Tiles are as kernels are built, two stages of them at least are held, and the parts of pairs are whole boxes.
bool fits() {
  bool right = true;
  int pairs = 0;
  for (const int m : {64, 136, 264, 512, 540, 1000, 4096})
    for (const int n : {64, 160, 528, 1536, 5000, 39'192})
      for (const int k : {64, 72, 312, 1024, 4096})
        for (const int64_t batch : {1, 5})
          for (const int layout : {0, 1, 2, 3}) {
            const ProductShape s = {batch, m, n, k, (layout & 1) != 0, (layout & 2) != 0};
            const FitPlan p = fit_plan(132, s);
            if (p.rows == 0) continue;
            const bool lines_x = p.turned ? !s.trans_b : s.trans_a, lines_y = p.turned ? s.trans_a : !s.trans_b;
            const int groups = fit_groups(p.rows), count_x = p.along_x ? p.blocks : 1, count_y = p.along_x ? 1 : p.blocks;
            right = right && std::any_of(std::begin(fit_tiles), std::end(fit_tiles), [&](const FitTile& t) { return t.rows == p.rows && t.columns == p.columns; });
            right = right && fit_stages(p.rows, p.columns, groups, lines_y, p.turned) >= 3 && fit_shared_bytes(p.rows, p.columns, groups, lines_y, p.turned) <= fit_most_shared;
            right = right && p.rows / count_y % (lines_x ? 64 : 8) == 0 && fit_rows_y(p.columns, lines_y) / count_x % (lines_y ? 64 : 8) == 0 && p.rows / count_y <= 256 && p.cost > 0;
            pairs += p.blocks == 2;
          }
  return right && pairs > 10;
}

}  // namespace

void fitted_products() {
  expect(fits(), "tiles that fit a product are as kernels are built, and shared memory holds them");
  const auto is = [](const ProductShape& s, int columns, bool turned) {
    const FitPlan p = taken(s);
    return p.rows == 256 && p.columns == columns && p.turned == turned;
  };
  expect(is({3, 5000, 264, 2000, false, false}, 136, false) && is({2, 4096, 528, 2136, false, false}, 136, false) && is({4, 540, 18'864, 216, false, true}, 136, true) && is({1, 5168, 808, 952, true, false}, 136, false),
         "a side with a narrow remainder has tiles of as many columns as divide it");
  expect(taken({7, 488, 1560, 67, true, false}).rows == 0 && taken({1, 1024, 1024, 1024, false, false}).rows == 0 && taken({1, 4096, 4096, 4096, false, false}).rows == 0 && taken({1, 512, 512, 512, false, false}).rows == 0 && taken({1, 8192, 8192, 256, false, true}).rows == 0 && taken({1, 4096, 63, 4096, false, false}).rows == 0 && taken({1, 5000, 263, 2000, false, false}).rows == 0 && taken({1, 5000, 264, 2001, false, false}).rows == 0,
         "other tiles take few results, a short k of whole waves, a few columns and rows that start off 16 bytes");
}
