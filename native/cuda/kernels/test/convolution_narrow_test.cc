// Convolutions of few channels, filters or terms (convolution/narrow.h, group.h, filters.h, rows.h, slab.h, spans.h): a part of opscope_cuda_plan_test.
#include "kernels/convolution/filters.h"
#include "kernels/convolution/group.h"
#include "kernels/convolution/narrow.h"
#include "kernels/convolution/patches.h"
#include "kernels/convolution/rows.h"
#include "kernels/convolution/tiles.h"
#include "kernels/test/convolutions.h"
#include "kernels/test/expect.h"

using namespace opscope;
using namespace opscope::cuda;

namespace {

// Kernels of one element with few channels: registers hold the channels, vectors do not cross images, and blocks that fit at once take all positions.
void narrow() {
  bool holds = true, whole = true;
  for (const int64_t plane : {1, 49, 196, 619, 3136})
    for (const int64_t images : {1, 7, 5000})
      for (const int64_t filters : {1, 23, 64, 257, 70'000})
        for (const int64_t groups : {1, 17, 5000})
          for (const int64_t channels : {1, 16, 20, 64, 65, 128, 129})
            for (const bool point : {false, true}) {
              ConvShape c = {images * plane, filters, groups, channels, plane, point, true, channels};
              c.element_bytes = 2, c.sampled = true;
              const ConvNarrowShape n = conv_narrow(132, c);
              // Many channels alone where positions lie together and blocks share the filters, very many filters there as well.
              const bool taken = channels >= 3 && channels <= 64 && filters <= 256, refused = channels < 3 || channels > 128 || (channels > 64 && (!point || plane % 2 != 0));
              holds = holds && (!taken || n.steps > 0) && (!refused || n.steps == 0);
              if (n.steps == 0) continue;
              holds = holds && n.steps * 16 >= channels && (n.steps & (n.steps - 1)) == 0 && n.shared <= 32 << 10 && n.parts * n.of_part * 8 >= filters && (n.parts - 1) * n.of_part * 8 < filters && n.cost > 0;
              whole = whole && plane % n.positions == 0 && (point || n.positions == 1) && n.blocks >= 1 && n.blocks <= up(c.columns, int64_t{conv_narrow_threads} * 2);
            }
  expect(holds && whole, "channels of a kernel of one element fit the registers of tensor cores, and vectors of positions lie in one image");
}

// Few filters of many channels on small planes: images of a tile fill its positions, stages hold their channels in sixteens, and all of it lies in shared memory.
void planes() {
  bool covers = true, fits = true, refused = true;
  int64_t taken = 0;
  for (const int64_t plane : {1, 2, 3, 23, 24, 64, 100, 127, 129})
    for (const int64_t images : {1, 7, 43'669})
      for (const int64_t filters : {1, 8, 17, 64, 128, 129})
        for (const int64_t channels : {8, 9, 100, 229, 2049})
          for (const int64_t groups : {1, 2}) {
            ConvShape c = {images * plane, filters, groups, channels, plane, true, true, channels};
            c.element_bytes = 2, c.wgmma = true, c.largest = images * plane * std::max(channels, filters), c.bytes = images * plane * (channels + filters) * 2;
            const ConvPlanesShape p = conv_planes(132, c);
            if (plane < 2 || plane > conv_planes_of_tile || filters > 128 || groups > 1 || channels < 9) refused = refused && p.eights == 0;
            if (p.eights == 0) continue;
            taken++;
            const ConvPlanesTask& t = p.task;
            covers = covers && p.eights * 8 >= filters && t.together * t.plane <= conv_planes_of_tile && t.tiles * t.together >= images && (t.tiles - 1) * t.together < images && p.pairs == (plane % 2 == 0) && p.blocks >= 1 && p.blocks <= t.tiles && p.cost > 0;
            fits = fits && t.chunk % 16 == 0 && t.chunk > 0 && t.pitch % 16 == 0 && t.pitch >= 14 + t.chunk * t.plane * 2 && t.stages >= 2 && p.shared <= 224u << 10 &&
                   p.shared >= up(channels, 16) * p.eights * 256 + t.stages * (t.together * t.pitch + 16) + t.together * filters * plane * 2 + 14;
          }
  ConvShape other = {100'000, 17, 1, 229, 23, true, true, 229};
  other.element_bytes = 2, other.largest = 1 << 25;
  expect(covers && fits && refused && taken > 100 && conv_planes(132, other).eights == 0, "whole images of small planes fill the tiles of a block of Hopper, and fit its shared memory");
}

// Groups of few channels: tiles cover the outputs, and what their windows meet fits shared memory.
void group() {
  bool covers = true, fits = true;
  int64_t taken = 0, volumes = 0;
  each_convolution([&](const ConvSizes& s) {
    const int64_t plane = int64_t{s.depth.output} * s.height.output * s.width.output, channels = s.channels / s.groups;
    ConvShape c = {s.batch * plane, s.filters / s.groups, s.groups, channels * s.depth.kernel * s.height.kernel * s.width.kernel, plane, false, true, channels};
    c.element_bytes = 2, c.largest = std::max<int64_t>(c.outputs(), int64_t{s.batch} * s.channels * s.depth.input * s.height.input * s.width.input);
    const ConvGrouped g = conv_grouped(132, s, c);
    if (g.eights == 0) return;
    taken++;
    const ConvGroup& k = g.conv;
    const bool volume = s.depth.input > 1 || s.depth.kernel > 1 || s.depth.padding > 0;
    volumes += volume;
    covers = covers && (g.sums > 0) == volume && g.sums % (c.filters * s.depth.kernel) == 0 && k.filters == c.filters * s.depth.kernel && g.eights * 8 >= k.filters && k.pairs * 2 >= channels && k.steps * 8 >= k.pairs * s.height.kernel * s.width.kernel && k.rows * k.tiles_down >= s.height.output && k.rows * (k.tiles_down - 1) < s.height.output &&
             k.cols * k.tiles_across >= s.width.output && k.cols * (k.tiles_across - 1) < s.width.output && k.tiles == s.batch * s.depth.input * k.tiles_down * k.tiles_across && s.width.input % k.vector == 0 && (k.vector == 1 || k.tiles_across == 1) && g.blocks >= 1 && g.blocks <= k.tiles;
    fits = fits && k.pitch >= k.lines * k.line && k.pitch % 32 == 8 && g.shared <= 64 << 10 && k.lines >= (k.rows - 1) * s.stride + (s.height.kernel - 1) * s.dilation + 1 && g.cost > 0;
  });
  expect(covers && fits && taken > 1000 && volumes > 100, "tiles of groups of few channels cover the outputs and fit shared memory");
}

// All filters of a group in a block: warps have some each.
void filters() {
  bool covers = true;
  for (const int64_t columns : {1, 257, 100'000, 10'000'000})
    for (const int64_t count : {1, 8, 23, 64, 65})
      for (const int64_t channels : {1, 31, 500})
        for (const int64_t kernel : {1, 9, 25, 49}) {
          const ConvShape c = {columns, count, 1, channels * kernel, columns, kernel == 1, false, channels};
          const ConvFilters f = conv_filters(132, c);
          covers = covers && (f.warps > 0 || count <= 8 || count > 64 || kernel > 31 || channels == 500 || (channels == 31 && kernel > 1));
          if (f.warps > 0) covers = covers && f.warps * conv_filters_of_warp >= count && f.warps <= 8 && f.blocks * conv_filters_positions >= columns && f.shared <= 64 << 10 && f.cost > 0;
        }
  expect(covers, "blocks with all filters of a group cover the outputs");
}

// Kernels that meet the whole image: threads of a block have filters of several images, and blocks have all of them.
void rows() {
  bool covers = true;
  for (const int64_t images : {1, 100, 32'769, 10'000'000})
    for (const int64_t filters : {1, 43, 65, 256, 257, 5000})
      for (const int64_t groups : {1, 17})
        for (const int64_t terms : {1, 2, 3, 8, 9}) {
          ConvShape c = {images, filters, groups, terms, 1, terms == 1, false, 1};
          c.whole = true;
          const ConvRowsShape r = conv_rows(132, c);
          covers = covers && (r.terms > 0) == (terms <= 8);
          if (r.terms == 0) continue;
          const ConvRows& k = r.conv;
          covers = covers && r.terms >= terms && k.filters * k.together <= conv_rows_threads && k.together >= 1 && k.filters * r.blocks_y >= filters * groups && k.pitch == groups * terms && r.blocks_x >= 1 && (r.blocks_x - 1) * k.together < images && r.cost > 0;
        }
  expect(covers, "threads of a block have filters of images, and blocks have all of them");
}

// Blocks that hold some terms of their sums cover filters, outputs and terms, and what they hold fits.
void slabs() {
  bool covers = true;
  int taken = 0, few_filters = 0, large = 0;
  for (const int64_t columns : {1LL, 8192LL, 100'003LL, 10'000'000LL})
    for (const int64_t filters : {16, 20, 33, 64, 65, 257, 1000})
      for (const int64_t groups : {1, 7})
        for (const int64_t taps : {1, 9, 31, 33})
          for (const int64_t channels : {1, 2, 7, 13, 64, 500})
            for (const int64_t plane : {7LL, 100LL}) {
              ConvShape c = {columns, filters, groups, channels * taps, plane, false, false, channels};
              c.padded = channels % 2 == 1;
              const ConvSlab s = conv_slab(132, c);
              if (s.filters == 0) continue;
              taken++, few_filters += s.filters == 32, large += taps > 32;
              const int64_t outputs = s.filters == 32 ? 256 : 192 - s.filters;
              covers = covers && (taps <= 32 || !c.padded) && s.tiles * s.filters >= filters && s.blocks % s.tiles == 0 && s.blocks / s.tiles * outputs >= columns && (s.blocks / s.tiles - 1) * outputs < columns && s.depth >= 1 &&
                       s.depth <= 64 && static_cast<int64_t>(s.shared) >= s.depth * (slab_pitch(s.filters) + slab_pitch(static_cast<int>(outputs)) + 2) * 4 &&
                       (plane % 4 == 0 || static_cast<int64_t>(s.shared) >= s.filters * slab_pitch(static_cast<int>(outputs)) * 4) && s.shared <= 56 << 10 && s.cost > 0;
            }
  expect(covers && taken > 20 && few_filters > 5 && large > 5, "blocks that hold some terms of their sums cover the outputs; kernels without padding have any number of elements");
  ConvShape short_sum = {3'222'240, 64, 1, 39, 70, false, false, 13};
  short_sum.bytes = 1'162'410'000;
  expect(conv_kind(132, short_sum) == ConvKind::slab && conv_slab(132, short_sum).depth == 39 && conv_slab(132, {3'222'240, 64, 1, 91, 70, false, false, 13}).depth == 46, "a short sum is held as a whole, a longer one in equal parts");
  ConvShape strided = {963'456, 35, 1, 33, 15'054, false, false, 33};
  strided.sampled = true, strided.bytes = 644'000'000, strided.largest = 127'167'744;
  ConvShape few = {861'038, 3, 1, 128, 16'246, true, true, 128};
  few.element_bytes = 2, few.bytes = 226'000'000, few.largest = 110'212'864;
  expect(conv_kind(132, strided) == ConvKind::slab && conv_kind(132, few) == ConvKind::few && (few.filters = 5, conv_few_cost(132, few) == 0), "so are kernels of one element with a stride; few filters without one are vectors of a product");
  expect(conv_slab(132, {160'126, 199, 1, 144, 3481, false, false, 16}).depth == 48 && conv_slab(132, {160'128, 199, 1, 144, 3484, false, false, 16}).filters == 0 && conv_slab(132, {160'126, 199, 1, 153, 3481, false, false, 17}).filters == 0,
         "a sum of up to 144 terms is where planes are no whole vectors");
}

// Tiles of positions cover each plane once, whatever their vectors begin with.
void spans() {
  bool covers = true, taken = false;
  for (const int64_t bytes : {2, 4})
    for (const int64_t plane : {63, 64, 65, 3515, 100'001})
      for (const int64_t channels : {1, 2, 7, 16, 17})
        for (const int64_t filters : {1, 9, 200}) {
          const int64_t images = 3000;
          ConvShape c = {plane * images, filters, 1, channels, plane, true, bytes == 2, channels};
          c.element_bytes = bytes;
          const ConvSpansShape s = conv_spans(132, c);
          const int64_t lanes = 16 / bytes;
          taken = taken || s.blocks > 0;
          if (s.blocks == 0) continue;
          covers = covers && bytes == 2 && plane % lanes != 0 && channels <= 2 && int64_t{s.spans.tile} * s.spans.tiles >= plane && int64_t{s.spans.tile} * (s.spans.tiles - 1) < plane && s.blocks == images * s.spans.tiles &&
                   s.spans.vectors * lanes >= s.spans.tile + lanes - 1 && s.shared <= 48 << 10;
        }
  expect(covers && taken, "tiles of positions cover each plane once");
}

// Runs of columns cover the outputs once, and warps that share channels have some each.
void patches() {
  bool right = true;
  int taken = 0;
  for (const int stride : {1, 2, 3, 4, 5})
    for (const int kernel : {1, 2, 3, 4})
      for (const int filters : {1, 2, 3})
        for (const int channels : {1, 2, 36, 4000})
          for (const int images : {1, 55}) {
            const auto out = [&](int input) { return (input - kernel) / stride + 1; };
            const ConvSizes s = {images, channels, filters, 1, stride, 1, {1, 1, 0, 1}, {400, kernel, 0, out(400)}, {637, kernel, 0, out(637)}};
            ConvShape c = {int64_t{images} * s.height.output * s.width.output, filters, 1, int64_t{channels} * kernel * kernel, int64_t{s.height.output} * s.width.output, false, true, channels};
            c.largest = int64_t{images} * channels * 400 * 637, c.bytes = c.largest * 2;
            const ConvPatchesShape r = conv_patches(132, s, c);
            if (r.blocks == 0) continue;
            taken++;
            const int64_t run = 32 * conv_patches_columns(stride), warps = r.blocks * (conv_patches_threads / 32) / r.conv.sharing;
            right = right && kernel == stride && stride > 1 && stride < 5 && filters < 3 && run % stride == 0 && warps * run >= c.columns * stride && (r.conv.sharing == 1 || channels >= r.conv.sharing) && r.shared <= 36 << 10;
          }
  expect(right && taken > 10, "runs of columns cover the outputs of kernels as wide as their stride");
}

// One term of a sum: elements times weights.
void scales() {
  const ConvSizes s = {3, 35'521, 13'462'459, 35'521, 2, 1, {1, 1, 0, 1}, axis(3, 1, 0, 2, 1), axis(5, 1, 0, 2, 1)};
  const ConvScale c = conv_scale(s);
  expect(c.outputs == 242'324'262 && c.plane == 6 && c.of_group == 379 && c.in_plane == 15 && c.along == 2 && c.row == 10, "outputs of all images follow each other, and their elements lie a stride apart");
  ConvShape shape = {18, 379, 35'521, 1, 6, false, false, 1};
  shape.sampled = true, shape.bytes = int64_t{4} * c.outputs;
  expect(conv_kind(132, shape) == ConvKind::scale && conv_scale_cost(132, {18, 379, 35'521, 9, 6, false, false, 1}) == 0, "kernels of one element and one channel of a group take them, others do not");
}

}  // namespace

void narrow_convolution_shapes() {
  patches();
  narrow();
  planes();
  group();
  filters();
  rows();
  slabs();
  scales();
  spans();
}
