// Convolutions of f32 by the tiles of products, by Winograd's products and by strips (convolution/f32.h, winograd.h, strips.h): a part of opscope_cuda_plan_test.
#include "kernels/convolution/strips.h"
#include "kernels/convolution/tiles.h"
#include "kernels/convolution/winograd.h"
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

// Transformed tiles meet every output, and products and places count with 31 bits.
void winograd() {
  bool covers = true, fits = true, can = true;
  int64_t flat = 0, planes = 0, turns = 0;
  const auto c_of = [](const ConvSizes& s) { return int64_t{s.channels} / s.groups * s.depth.kernel; };
  each_convolution([&](const ConvSizes& s) {
    const ConvWinogradShape w = conv_winograd(132, s, shape_of(s));
    if (w.axes == 0) return;
    (w.axes == 1 ? flat : planes)++, turns += w.turn < w.tiles;
    const auto meets = [&](int64_t tiles, const ConvAxis& a) { return tiles % s.dilation == 0 && tiles / s.dilation * w.step() * s.dilation >= a.output; };
    covers = covers && meets(w.across, s.width) && (w.axes == 1 ? w.down == s.height.output : meets(w.down, s.height)) && w.tiles == w.across * w.down * s.depth.output * s.batch && w.turn >= 1 && w.turn <= w.tiles;
    const ProductShape p = w.product(s);
    fits = fits && p.batch <= 65'535 && p.m % 4 == 0 && p.n % 4 == 0 && p.n >= w.turn && p.k == w.terms && std::max(w.terms * s.groups, int64_t{p.m} * s.groups) * p.n < int64_t{1} << 31 && w.cost > 0;
    can = can && (s.stride == 1 || s.dilation == 1) && w.kernel >= 2 && w.kernel <= 4 && w.kernel * w.parts_across >= s.width.kernel && w.parts * c_of(s) == w.terms && (s.height.kernel == 1 || s.height.kernel == s.width.kernel);
  });
  expect(covers && fits && can && flat > 100 && planes > 100 && turns > 100, "tiles of Winograd convolutions cover all outputs, so many at a time that products can count them");
  const ConvSizes square = {32, 128, 128, 1, 1, 1, {1, 1, 0, 1}, axis(28, 3, 1, 1, 1), axis(28, 3, 1, 1, 1)}, wide = {32, 128, 128, 1, 1, 1, {1, 1, 0, 1}, axis(28, 7, 3, 1, 1), axis(28, 5, 2, 1, 1)};
  ConvShape c = shape_of(square);
  expect(conv_winograd(132, wide, shape_of(wide)).axes == 0 && conv_winograd(132, square, c).axes == 2, "kernels are square, or of one axis");
  c.winograd_cost = conv_winograd(132, square, c).cost;
  expect(conv_kind(132, c) == ConvKind::winograd, "3x3 of many channels and filters take Winograd's products");
  const ConvSizes column = {32, 128, 128, 1, 1, 1, {1, 1, 0, 1}, axis(280, 3, 1, 1, 1), {1, 1, 0, 1}};
  expect(conv_winograd(132, column, shape_of(column)).axes == 0 && conv_winograd(132, conv_columns_as_rows(column), shape_of(column)).axes == 1 && conv_columns_as_rows(square).width.input == 28, "columns are rows");
  c.wgmma = false;
  expect(conv_winograd(132, square, c).axes == 0, "on Hopper alone");
}

// Strips meet every output.
void strips() {
  bool covers = true;
  int64_t taken = 0;
  each_convolution([&](const ConvSizes& s) {
    const ConvShape c = shape_of(s);
    const ConvStripsShape r = conv_strips(132, s, c);
    if (r.filters == 0) return;
    taken++;
    covers = covers && r.down % s.dilation == 0 && r.down * conv_strip_outputs >= s.height.output && r.strips == r.down * s.width.output * s.depth.output * s.batch && r.chunks * (r.threads / r.sharing) >= r.strips && r.threads <= conv_strip_most_threads && r.threads % (32 * r.sharing) == 0 && r.blocks * r.filters >= c.filters &&
             r.shared <= 96 << 10 && r.cost > 0;
  });
  expect(covers && taken > 100, "strips of few filters cover all outputs");
  const ConvSizes few = {128, 11, 1, 1, 1, 1, {1, 1, 0, 1}, axis(28, 5, 0, 1, 1), axis(64, 5, 0, 1, 1)};
  ConvShape c = shape_of(few);
  c.strips_cost = conv_strips(132, few, c).cost;
  expect(conv_kind(132, c) == ConvKind::strips, "one filter of many images takes them");
}

// Tiles of which a multiprocessor has several fit beside each other, and no share of a sum is empty.
void several() {
  bool holds = true;
  int64_t taken = 0, split = 0;
  each_convolution([&](const ConvSizes& s) {
    const ConvShape c = shape_of(s);
    const ConvSeveral plan = conv_several(132, c);
    if (!plan.tile) return;
    const ConvSeveralTile& t = *plan.tile;
    const int64_t steps = up(c.terms, t.step), each = up(steps, plan.splits);
    taken++, split += plan.splits > 1;
    holds = holds && plan.splits >= 1 && each * (plan.splits - 1) < steps && t.resident * (static_cast<int64_t>(t.shared()) + 3072) <= 227 << 10 && (!c.padded || c.terms / c.channels <= 32) && plan.cost > 0;
  });
  expect(holds && taken > 1000 && split > 100, "tiles of which a multiprocessor has several fit beside each other, and no share of a sum is empty");
  ConvShape c = shape_of({9, 33, 257, 1, 1, 1, axis(7, 2, 1, 1, 1), axis(1, 2, 1, 1, 1), axis(103, 2, 1, 1, 1)});
  expect(conv_kind(132, c) == ConvKind::several, "sums of some hundred terms take them");
  c.wgmma = false;
  expect(conv_several(132, c).tile == nullptr, "on Hopper alone");
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
  ConvShape elsewhere = shape_of({7043, 586, 256, 1, 2, 1, {1, 1, 0, 1}, {1, 1, 0, 1}, axis(11, 3, 1, 2, 1)});
  expect(conv_kind(132, elsewhere) == ConvKind::f32 && conv_f32(132, elsewhere).tile->filters == 256, "long sums of many filters take them");
  elsewhere.wgmma = false;
  expect(conv_kind(132, elsewhere) == ConvKind::tiles, "only on Hopper");
  several();
  winograd();
  strips();
}
