// Convolutions in tiles: of 16 bits on tensor cores, and in f32.
#include "convolution/halo.h"
#include "convolution/launch.h"
#include "convolution/winograd.h"
#include "matmul/launch.h"

namespace opscope::cuda {

void plan_conv_mma(Planner& p, const ConvOperands& from, const ConvSizes& s, int axes, const ConvShape& shape) {
  const ConvTiling tiling = conv_mma_tiling(p.device.sm_count, shape);
  const int64_t side = tiling.tile->filters, splits = std::min(tiling.splits, Launch::max_blocks_yz / s.groups);
  // Stages of 64 bytes of the sum (common/product.cuh).
  const unsigned shared = (side == 128 ? 4 : 8) * 2 * static_cast<unsigned>(side) * 64;
  const CUdeviceptr shares = shares_of(p, shape.outputs(), splits);
  p.launch(p.kernel_in("convolution_mma", "convolution_mma_" + p.dtype() + "_" + std::to_string(side) + "_" + std::to_string(axes), shared),
           {ceil_div(shape.columns, side), ceil_div(shape.filters, side), s.groups * splits}, tiling.tile->warps * 32, shared, from.x, from.weight, p.output(), s, shares, static_cast<int>(splits));
  launch_join(p, shares, p.output(), shape.outputs(), splits);
}

void plan_conv_wgmma(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvPacked& packed, const ConvShape& shape) {
  const ConvTiling tiling = conv_wgmma_tiling(p.device.sm_count, shape);
  const ConvTile& tile = *tiling.tile;
  const PackedConv& c = packed.conv;
  // As many shares as a launch can hold beside the groups, none of them empty.
  const int64_t steps = up(shape.packed_terms, tile.depth), splits = up(steps, up(steps, std::min(tiling.splits, Launch::max_blocks_yz / s.groups))), tiles = ceil_div(shape.filters, tile.filters);
  const CUdeviceptr input = p.workspace(packed.input_elements * 2), filters = p.workspace(packed.filter_elements * 2), shares = shares_of(p, shape.outputs(), splits);
  const std::string grain = std::to_string(packed.grain);
  p.launch(p.kernel_in("convolution_pack", "convolution_pack_" + grain), {packed.blocks}, 256, 0, from.x, from.weight, input, filters, s, packed.packing, packed.pack_divisors, c);
  const unsigned shared = conv_wgmma_shared(tile);
  p.launch(p.kernel_in("convolution_wgmma", "convolution_wgmma_" + p.dtype() + "_" + tile.name + "_" + grain, shared), {ceil_div(shape.columns, tile.outputs) * tiles, s.groups * splits}, 256, shared, input, filters,
           p.output(), c, packed.divisors, shares, static_cast<int>(splits), static_cast<int>(tiles))
      .early(p.device);
  launch_join(p, shares, p.output(), shape.outputs(), splits);
}

void plan_conv_halo(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvPacked& packed, const ConvShape& shape) {
  const ConvHaloShape h = conv_halo(p.device.sm_count, s, shape, packed);
  const CUdeviceptr input = p.workspace(packed.input_elements * 2), filters = p.workspace(packed.filter_elements * 2);
  p.launch(p.kernel_in("convolution_pack", "convolution_pack_8"), {packed.blocks}, 256, 0, from.x, from.weight, input, filters, s, packed.packing, packed.pack_divisors, packed.conv);
  p.launch(p.kernel_in("convolution_halo", "convolution_halo_" + p.dtype() + "_" + std::to_string(h.eights), h.shared), {h.blocks, s.groups}, conv_halo_threads, h.shared, input, filters, p.output(), packed.conv, h.task).early(p.device);
}

void plan_conv_tiles(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvShape& shape) {
  const bool f32 = p.spec.dtype == Dtype::f32;
  const ConvTiling tiling = f32 ? conv_tiling(p.device.sm_count, shape) : conv_splits(p.device.sm_count, shape, conv_tile_16bit);
  const ConvTile& tile = *tiling.tile;
  const int64_t in_image = int64_t{s.channels} / s.groups * s.depth.input * s.height.input * s.width.input, volume = int64_t{s.depth.kernel} * s.height.kernel * s.width.kernel;
  const bool masked = f32 && volume <= most_masked && in_image < int64_t{1} << 31;
  const int64_t most = Launch::max_blocks_yz / tiling.splits;
  const CUdeviceptr shares = shares_of(p, shape.outputs(), tiling.splits);
  const CUfunction kernel = p.kernel_in("convolution", "convolution_" + p.dtype() + "_" + tile.name + (masked ? "" : "_far"));
  for (int64_t first = 0; first < s.groups; first += most)
    p.launch(kernel, {ceil_div(shape.columns, tile.outputs), ceil_div(shape.filters, tile.filters), std::min(most, s.groups - first) * tiling.splits}, tile.warps * 32, 0, from.x, from.weight, p.output(), s,
             static_cast<int>(first), shares, static_cast<int>(tiling.splits));
  launch_join(p, shares, p.output(), shape.outputs(), tiling.splits);
}

void plan_conv_winograd(Planner& p, const ConvOperands& from, const ConvSizes& sizes, const ConvShape& shape) {
  const ConvSizes s = conv_columns_as_rows(sizes);
  const ConvWinogradShape w = conv_winograd(p.device.sm_count, s, shape);
  const ProductShape product = w.product(s);
  const int64_t rows = w.terms * s.groups, results = int64_t{product.m} * s.groups;
  const CUdeviceptr tiles = p.workspace(w.points * rows * product.n * 4), filters = p.workspace(w.points * rows * product.m * 4), sums = p.workspace(w.points * results * product.n * 4);
  ConvWinograd task = {static_cast<int>(w.terms), static_cast<int>(shape.filters), product.m, static_cast<int>(w.parts), static_cast<int>(w.parts_across), product.n, 0, 0, w.step(), static_cast<int>(rows * product.n), static_cast<int>(results * product.n), divide_by(product.n), divide_by(w.terms), divide_by(w.parts),
                       divide_by(s.depth.kernel), divide_by(shape.filters), divide_by(w.across), divide_by(w.down), divide_by(s.depth.output), divide_by(s.dilation)};
  const std::string kind = std::to_string(w.axes) + "_" + std::to_string(w.kernel);
  const int across = static_cast<int>(w.across), down = static_cast<int>(w.down);
  const auto kernel = [&](const std::string& name) { return p.kernel_in("convolution_winograd", "convolution_winograd_" + name); };
  // Filters are transformed beside the first tiles.
  int64_t filter_blocks = ceil_div(up(shape.filters, 8) * up(rows, 4) * 32, winograd_threads);
  for (int64_t first = 0; first < w.tiles; first += w.turn) {
    task.first = static_cast<int>(first), task.tiles = static_cast<int>(std::min(w.turn, w.tiles - first));
    p.launch(kernel("input_" + kind), {filter_blocks + ceil_div(rows * product.n, winograd_threads)}, winograd_threads, 0, from.x, from.weight, tiles, filters, s, task, across, down, static_cast<int>(rows), static_cast<int>(filter_blocks));
    filter_blocks = 0;
    launch_product(p, product, filters, tiles, sums);
    p.launch(kernel("output_" + kind), {ceil_div(int64_t{s.filters} * product.n, winograd_threads)}, winograd_threads, 0, sums, p.output(), s, task, across, down).early(p.device);
  }
}

void plan_conv_several(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvShape& shape) {
  const ConvSeveral plan = conv_several(p.device.sm_count, shape);
  const ConvSeveralTile& t = *plan.tile;
  const F32Product task = {static_cast<int>(shape.filters), static_cast<int>(shape.columns), static_cast<int>(shape.terms), static_cast<int>(up(shape.filters, t.filters)), static_cast<int>(up(shape.columns, t.outputs)), s.groups};
  const CUdeviceptr shares = shares_of(p, shape.outputs(), plan.splits);
  p.launch(p.kernel_in("convolution_several", std::string("convolution_several_") + t.name + (plan.splits > 1 ? "_shares" : ""), t.shared()), {int64_t{task.tiles_m} * task.tiles_n * s.groups, plan.splits}, conv_several_threads, t.shared(), from.x, from.weight, p.output(), s,
           narrow_of(s, shape), task, shares);
  launch_join(p, shares, p.output(), shape.outputs(), plan.splits);
}

void plan_conv_f32(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvShape& shape) {
  const ConvF32 plan = conv_f32(p.device.sm_count, shape);
  const ConvF32Tile& t = *plan.tile;
  const F32Product task = {static_cast<int>(shape.filters), static_cast<int>(shape.columns), static_cast<int>(shape.terms), static_cast<int>(up(shape.filters, t.filters)), static_cast<int>(up(shape.columns, t.outputs)), s.groups};
  const CUdeviceptr shares = shares_of(p, shape.outputs(), plan.splits);
  p.launch(p.kernel_in("convolution_f32", std::string("convolution_f32_") + t.name, t.shared()), {int64_t{task.tiles_m} * task.tiles_n * s.groups * plan.splits}, conv_f32_threads, t.shared(), from.x, from.weight, p.output(), s, narrow_of(s, shape), task, shares,
           static_cast<int>(plan.splits));
  launch_join(p, shares, p.output(), shape.outputs(), plan.splits);
}

}  // namespace opscope::cuda
