// Convolutions by the tiles of f32 products (convolution/f32.h): a part of opscope_cuda_plan_test.
#include "kernels/convolution/tiles.h"
#include "kernels/test/convolutions.h"
#include "kernels/test/expect.h"

using namespace opscope::cuda;

namespace {

ConvShape shape_of(const ConvSizes& s) {
  const int64_t plane = int64_t{s.depth.output} * s.height.output * s.width.output, channels = s.channels / s.groups;
  ConvShape c = {s.batch * plane, s.filters / s.groups, s.groups, channels * s.depth.kernel * s.height.kernel * s.width.kernel, plane, false, false, channels};
  c.largest = std::max({c.outputs(), int64_t{s.batch} * s.channels * s.depth.input * s.height.input * s.width.input, int64_t{s.filters} * c.terms});
  c.wgmma = true, c.padded = s.depth.padding + s.height.padding + s.width.padding > 0;
  return c;
}

}  // namespace

void f32_convolutions() {
  bool holds = true, masked = true;
  int64_t taken = 0, split = 0;
  each_convolution([&](const ConvSizes& s) {
    const ConvShape c = shape_of(s);
    const ConvF32 plan = conv_f32(132, c);
    if (!plan.tile) return;
    const ConvF32Tile& t = *plan.tile;
    const int64_t steps = up(c.terms, 32), each = up(steps, plan.splits);
    taken++, split += plan.splits > 1;
    holds = holds && plan.splits >= 1 && each * (plan.splits - 1) < steps && t.shared() <= 227 * 1024 && plan.cost > 0 && up(c.filters, t.filters) * up(c.columns, t.outputs) * c.groups * plan.splits < int64_t{1} << 31;
    masked = masked && c.largest < int64_t{1} << 31 && (!c.padded || c.terms / c.channels <= 32);
  });
  expect(holds && taken > 1000 && split > 100, "f32 tiles of convolutions fit a multiprocessor, and no share of a sum is empty");
  expect(masked, "they take padding where a mask has a bit for each element of the kernel, and count with 31 bits");
  ConvShape elsewhere = shape_of({37'061, 37, 256, 1, 1, 1, {1, 1, 0, 1}, {1, 1, 0, 1}, axis(10, 5, 0, 1, 1)});
  expect(conv_kind(132, elsewhere) == ConvKind::f32 && conv_f32(132, elsewhere).tile->filters == 256, "many filters of many outputs take them");
  elsewhere.wgmma = false;
  expect(conv_kind(132, elsewhere) == ConvKind::tiles, "only on Hopper");
}
