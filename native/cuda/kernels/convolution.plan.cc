// conv1d, conv2d and conv3d. dims: [batch, channels, filters, groups, stride, dilation, then depth, height, width each of: input, kernel,
// padding, output].
#include "convolution.h"

#include <algorithm>

#include "convolution/depthwise.h"
#include "convolution/each.h"
#include "convolution/few.h"
#include "convolution/filters.h"
#include "convolution/gather.h"
#include "convolution/group.h"
#include "convolution/halo.h"
#include "convolution/image.h"
#include "convolution/launch.h"
#include "convolution/narrow.h"
#include "convolution/patches.h"
#include "convolution/planes.h"
#include "convolution/rows.h"
#include "convolution/slab.h"
#include "convolution/spans.h"
#include "convolution/strips.h"
#include "convolution/taps.h"
#include "convolution/trim.h"
#include "convolution/unfold.h"
#include "convolution/winograd.h"
#include "convolution/windows_task.h"
#include "matmul/launch.h"

namespace opscope::cuda {

namespace {

std::vector<TensorShape> tensors(const OpKernels&, const Dims& d) {
  // Each dim is up to 2^40 (check_shape): products of two and more could overflow.
  const auto together = [](std::initializer_list<int64_t> all) {
    double product = 1;
    for (const int64_t one : all) product *= static_cast<double>(one);
    return product;
  };
  const int64_t groups = d[3], stride = d[4], dilation = d[5];
  bool sensible = groups >= 1 && groups <= std::min(d[1], d[2]) && d[1] % groups == 0 && d[2] % groups == 0 && stride >= 1 && dilation >= 1;
  for (size_t axis = 6; axis < 18; axis += 4)
    sensible = sensible && d[axis] >= 1 && d[axis + 1] >= 1 && d[axis + 3] >= 1 && together({d[axis + 3] - 1, stride}) + together({dilation, d[axis + 1] - 1}) + 1 <= static_cast<double>(d[axis] + 2 * d[axis + 2]);
  sensible = sensible && std::max({together({d[0], d[1], d[6], d[10], d[14]}), together({d[2], d[1], d[7], d[11], d[15]}), together({d[0], d[2], d[9], d[13], d[17]})}) < 4e18;
  if (!sensible) return {in(0), in(0), out(0)};
  return {in(d[0] * d[1] * d[6] * d[10] * d[14]), in(d[2] * (d[1] / groups) * d[7] * d[11] * d[15]), out(d[0] * d[2] * d[9] * d[13] * d[17])};
}

void plan_direct(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvShape& shape, int group) {
  const int64_t outputs = shape.outputs();
  const int together = conv_filters_together(p.device.sm_count, shape, group);
  const int64_t blocks = ceil_div(shape.filters, together);
  const auto windows = [&](int64_t of_filters, int64_t chunks) {
    return ConvWindows{shape.columns, static_cast<int>(of_filters), static_cast<int>(chunks), conv_divisor(static_cast<int>(shape.plane)), conv_divisor(s.height.output * s.width.output), conv_divisor(s.width.output), conv_divisor(s.height.output)};
  };
  if (group == 1 && conv_takes_window(p.device.sm_count, shape, together)) {
    const int64_t chunks = ceil_div(shape.columns, 256 * (together == 1 ? 4 : 2));
    p.launch(p.kernel_in("convolution_window", "convolution_window_" + p.dtype() + "_" + std::to_string(together) + (shape.terms == shape.channels ? "_point" : "")), {shape.groups * blocks * chunks}, 256, static_cast<unsigned>(shape.terms * together * 4), from.x, from.weight,
             p.output(), s, windows(blocks, chunks));
    return;
  }
  if (const int shared = conv_filters_together(p.device.sm_count, shape, 8); group == 32 && conv_shares_window(p.device.sm_count, shape, s.channels / s.groups, shared)) {
    const int64_t parts = ceil_div(shape.filters, shared), chunks = ceil_div(shape.columns, 32);
    const auto weights = static_cast<unsigned>(shape.terms * shared * 4);
    p.launch(p.kernel_in("convolution_window", "convolution_window_" + p.dtype() + "_" + std::to_string(shared) + "_shared", weights), {shape.groups * parts * chunks}, 256, weights, from.x, from.weight, p.output(), s, windows(parts, chunks));
    return;
  }
  if (together > 1) {
    const int64_t positions = shape.columns * shape.groups * blocks;
    p.launch(p.kernel_in("convolution_direct", "convolution_direct_" + p.dtype() + "_" + std::to_string(together)), {ceil_div(positions * group, 256)}, 256, 0, from.x, from.weight, p.output(), s,
             static_cast<long long>(positions), group, static_cast<int>(blocks));
    return;
  }
  p.launch(p.kernel_in("convolution_direct", "convolution_direct_" + p.dtype()), {ceil_div(outputs * group, 256)}, 256, 0, from.x, from.weight, p.output(), s, static_cast<long long>(outputs), group);
}

void plan_each(Planner& p, const ConvOperands& from, const ConvSizes& s, int group) {
  const ConvEach each = conv_each(s, group);
  p.launch(p.kernel_in("convolution_each", "convolution_each_" + p.dtype()), {ceil_div(int64_t{each.outputs} * group, 128)}, 128, 0, from.x, from.weight, p.output(), s, each);
}

// Few multiplications (convolution_few.cu). Whether they are.
bool plan_few(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvShape& shape) {
  const FewConvolutionShape few = few_convolution(shape.outputs(), shape.terms, p.spec.tensors[0].elements + p.spec.tensors[1].elements);
  if (!few.taken) return false;
  FewConvolution c = {from.x, from.weight, p.output(), static_cast<int>(shape.outputs()), static_cast<int>(shape.terms), few.log2, s.channels, s.channels / s.groups, s.filters, s.stride, s.dilation, {}, {}, {}, {}, 0, 0, 0};
  const ConvAxis* axes[] = {&s.depth, &s.height, &s.width};
  for (size_t i = 0; i < 3; i++) c.input[i] = axes[i]->input, c.padding[i] = axes[i]->padding, c.output[i] = axes[i]->output, c.kernel[i] = axes[i]->kernel;
  const auto axis = [](const ConvAxis& a) { return a.input > 1 || a.kernel > 1 || a.padding > 0; };
  const char* counted = axis(s.depth) ? "_3" : axis(s.height) ? "_2" : "_1";
  c.plane = static_cast<int>(shape.plane), c.face = c.kernel[1] * c.kernel[2], c.volume = c.kernel[0] * c.face;
  const FewConvolutionDivides by = {divide_by(s.filters), divide_by(shape.filters), divide_by(shape.plane), divide_by(int64_t{c.output[1]} * c.output[2]), divide_by(c.output[2]), divide_by(c.volume), divide_by(c.face), divide_by(c.kernel[2])};
  p.launch(p.kernel_in("convolution_few", "convolution_few_" + p.dtype() + counted), {few.blocks}, few.threads, 0, c, by);
  return true;
}

void plan_gather(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvShape& shape, const ConvGather& gather) {
  p.launch(p.kernel_in("convolution_gather", "convolution_gather_" + p.dtype() + "_" + std::to_string(gather.positions)), {gather.blocks(shape)}, conv_gather_warps * 32, 0, from.x, from.weight, p.output(), s, conv_each(s, 1),
           static_cast<int>(shape.columns), gather.across, static_cast<int>(gather.filter_blocks(shape)), static_cast<int>(gather.column_blocks(shape)));
}

void plan_depthwise(Planner& p, const ConvOperands& from, const ConvSizes& s, const PoolTiling& tiling) {
  p.launch(p.kernel_in("convolution_depthwise", "convolution_depthwise_" + p.dtype() + "_" + conv_depthwise_kernel(tiling.tile)), {tiling.blocks}, pool_tile_threads, static_cast<unsigned>(tiling.shared), from.x, from.weight,
           p.output(), tiling.tile, s.channels);
}

void plan_thin(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvShape& shape) {
  const ConvThin t = conv_thin(p.device.sm_count, shape);
  Launch& launch = p.launch(p.kernel_in("convolution_thin", "convolution_thin_" + p.dtype() + "_" + std::to_string(t.filters)), {t.columns * t.shares, s.groups}, conv_thin_warps * 32, 0, from.x, from.weight, p.output(),
                            static_cast<int>(shape.columns), static_cast<int>(shape.plane), static_cast<int>(shape.channels), static_cast<int>(shape.filters), static_cast<int>(t.shares));
  if (t.shares > 1) launch.cluster(static_cast<unsigned>(t.shares));
}

void plan_terms(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvShape& shape) {
  const ConvTerms r = conv_terms(p.device.sm_count, shape);
  p.launch(p.kernel_in("convolution_terms", "convolution_terms_" + p.dtype() + "_" + std::to_string(r.filters)), {ceil_div(shape.columns, conv_terms_threads), r.blocks * s.groups}, conv_terms_threads, r.shared, from.x, from.weight, p.output(), s, narrow_of(s, shape),
           static_cast<int>(r.blocks));
}

void plan_scale(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvShape& shape) {
  p.launch(p.kernel_in("convolution_scale", "convolution_scale_" + p.dtype()), {ceil_div(shape.outputs(), conv_scale_threads * 16 / shape.element_bytes)}, conv_scale_threads, 0, from.x, from.weight, p.output(), conv_scale(s));
}

void plan_planes(Planner& p, const ConvOperands& from, const ConvShape& shape) {
  const ConvPlanesShape r = conv_planes(p.device.sm_count, shape);
  p.launch(p.kernel_in("convolution_planes", "convolution_planes_" + p.dtype() + "_" + std::to_string(r.eights) + (r.pairs ? "_pairs" : ""), r.shared), {r.blocks}, conv_planes_threads, r.shared, from.x, from.weight, p.output(), r.task);
}

void plan_filters(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvShape& shape) {
  const ConvFilters f = conv_filters(p.device.sm_count, shape);
  p.launch(p.kernel_in("convolution_filters", std::string("convolution_filters_") + (!shape.point ? "window" : shape.plane % 4 == 0 ? "wide" : "point"), f.shared), {f.blocks, s.groups}, f.warps * 32, f.shared, from.x, from.weight, p.output(), s,
           narrow_of(s, shape));
}

void plan_slab(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvShape& shape) {
  const ConvSlab slab = conv_slab(p.device.sm_count, shape);
  p.launch(p.kernel_in("convolution_slab", "convolution_slab_" + std::to_string(slab.filters), slab.shared), {slab.blocks, s.groups}, slab_threads, slab.shared, from.x, from.weight, p.output(), s, narrow_of(s, shape),
           static_cast<int>(slab.tiles), slab.depth);
}

void plan_narrow(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvShape& shape) {
  const ConvNarrowShape n = conv_narrow(p.device.sm_count, shape);
  p.launch(p.kernel_in("convolution_narrow", "convolution_narrow_" + p.dtype() + "_" + std::to_string(n.steps) + "_" + std::to_string(n.positions), n.shared), {n.blocks, s.groups, n.parts}, conv_narrow_threads, n.shared, from.x, from.weight,
           p.output(), s, narrow_of(s, shape), n.of_part);
}

void plan_group(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvShape& shape) {
  const ConvGrouped g = conv_grouped(p.device.sm_count, s, shape);
  const CUdeviceptr to = g.sums > 0 ? p.workspace(g.sums * 4) : p.output();
  p.launch(p.kernel_in("convolution_group", (g.sums > 0 ? "convolution_layers_" : "convolution_group_") + p.dtype() + "_" + std::to_string(g.eights), g.shared), {g.blocks, s.groups}, conv_group_threads, g.shared, from.x, from.weight, to, s, g.conv);
  if (g.sums == 0) return;
  const int64_t parts = ceil_div(int64_t{s.height.output} * s.width.output, conv_layers_threads * conv_layers_places);
  p.launch(p.kernel_in("convolution_group", "convolution_layers_sum_" + p.dtype()), {int64_t{s.batch} * s.filters * s.depth.output * parts}, conv_layers_threads, 0, to, p.output(), s, static_cast<int>(parts)).early(p.device);
}

void plan_taps(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvShape& shape) {
  const ConvTapsShape t = conv_taps_shape(p.device.sm_count, s, shape.element_bytes);
  const CUdeviceptr weight = p.workspace(t.weights * 2), sums = p.workspace(t.shares * t.task.share * 4);
  p.launch(p.kernel_in("convolution_taps", "convolution_taps_weight_2"), {ceil_div(t.weights, 256)}, 256, 0, from.weight, weight, s.channels, t.task.rows / s.filters, t.task.rows, t.task.padded, static_cast<int>(t.weights));
  p.launch(p.kernel_in("convolution_taps", "convolution_taps_" + p.dtype() + "_" + std::to_string(t.sixteens), t.shared), {t.blocks, t.passes, t.shares}, conv_taps_threads, t.shared, from.x, weight, sums, t.task).early(p.device);
  p.launch(p.kernel_in("convolution_taps", "convolution_taps_sum_" + p.dtype()), {ceil_div(shape.outputs(), 256)}, 256, 0, sums, p.output(), s, static_cast<int>(shape.outputs()), t.task.pitch, static_cast<int>(t.shares), t.task.share).early(p.device);
}

void plan_spans(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvShape& shape) {
  const ConvSpansShape r = conv_spans(p.device.sm_count, shape);
  p.launch(p.kernel_in("convolution_spans", "convolution_spans_" + p.dtype(), r.shared), {r.blocks, s.groups}, conv_spans_threads, r.shared, from.x, from.weight, p.output(), r.spans);
}

// `whole`, `trim`: of a kernel of which one element is met.
void plan_rows(Planner& p, const ConvOperands& from, const ConvShape& shape, const ConvSizes* whole = nullptr, const ConvTrim& trim = {}) {
  ConvRowsShape r = conv_rows(p.device.sm_count, shape);
  if (whole) {
    r.conv.of_term = whole->depth.kernel * whole->height.kernel * whole->width.kernel, r.conv.of_filter = r.conv.terms * r.conv.of_term;
    r.conv.first = (trim.depth.first * whole->height.kernel + trim.height.first) * whole->width.kernel + trim.width.first;
  }
  p.launch(p.kernel_in("convolution_rows", "convolution_rows_" + p.dtype() + "_" + std::to_string(r.terms)), {r.blocks_x, r.blocks_y}, conv_rows_threads, 0, from.x, from.weight, p.output(), r.conv);
}

void plan_patches(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvShape& shape) {
  const ConvPatchesShape r = conv_patches(p.device.sm_count, s, shape);
  p.launch(p.kernel_in("convolution_patches", "convolution_patches_" + p.dtype() + "_" + std::to_string(s.stride) + "_" + std::to_string(s.filters)), {r.blocks}, conv_patches_threads, r.shared, from.x, from.weight, p.output(), r.conv);
}

void plan_strips(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvShape& shape) {
  const ConvStripsShape r = conv_strips(p.device.sm_count, s, shape);
  const ConvStrips task = {static_cast<int>(shape.filters), static_cast<int>(r.blocks), static_cast<int>(r.chunks), static_cast<int>(r.strips), static_cast<int>(r.down), r.sharing, divide_by(r.chunks), divide_by(r.blocks), divide_by(s.width.output), divide_by(r.down),
                           divide_by(s.depth.output), divide_by(s.dilation)};
  p.launch(p.kernel_in("convolution_strips", "convolution_strips_" + std::to_string(s.width.kernel) + "_" + std::to_string(r.filters) + (r.sharing > 1 ? "_shared" : ""), r.shared), {r.chunks * r.blocks * shape.groups}, static_cast<unsigned>(r.threads), r.shared, from.x, from.weight, p.output(), s, task);
}

void plan_point(Planner& p, const ConvOperands& from, const ConvSizes& s, const ConvShape& shape) {
  const int64_t plane = shape.plane, positions = conv_point_positions(p.device.sm_count, shape), blocks = ceil_div(shape.filters, 4), across = ceil_div(plane, positions), threads = int64_t{s.batch} * s.groups * blocks * across;
  p.launch(p.kernel_in("convolution_direct", "convolution_point_" + p.dtype() + (positions == 1 ? "_one" : plane % (16 / shape.element_bytes) == 0 ? "_wide" : "_four")), {ceil_div(threads, 256)}, 256, 0, from.x, from.weight, p.output(), s.groups, static_cast<int>(shape.filters),
           s.channels / s.groups, static_cast<long long>(plane), static_cast<long long>(across), static_cast<int>(blocks), static_cast<long long>(threads));
}

// A convolution, and the kernel that it takes.
struct Problem {
  ConvSizes sizes;
  ConvShape shape;
  ConvPacked packed;
  PoolTiling planes;
  ConvChoice choice;
};

// `whole`: with all elements of the kernel, so that windows lie as convolution_depthwise.cu expects them.
Problem problem_of(Planner& p, const ConvSizes& s, bool whole) {
  Problem result = {s, {}, {}, {}, {}};
  ConvShape& shape = result.shape;
  const int64_t plane = int64_t{s.depth.output} * s.height.output * s.width.output, channels = s.channels / s.groups, terms = channels * s.depth.kernel * s.height.kernel * s.width.kernel;
  const auto same = [](const ConvAxis& a) { return a.kernel == 1 && a.padding == 0 && a.output == a.input; };
  const bool point = s.stride == 1 && same(s.depth) && same(s.height) && same(s.width), half = p.spec.dtype != Dtype::f32;
  shape = {s.batch * plane, s.filters / s.groups, s.groups, terms, plane, point, half && conv_axes(s) > 0, channels};
  const auto met = [&](const ConvAxis& a) { return a.padding == 0 && a.kernel == a.input && (a.kernel == 1 || s.dilation == 1); };
  shape.whole = met(s.depth) && met(s.height) && met(s.width);
  shape.dense = s.groups == 1 && shape.whole;
  shape.padded = s.depth.padding + s.height.padding + s.width.padding > 0;
  const auto one = [](const ConvAxis& a) { return a.kernel == 1 && a.padding == 0; };
  shape.sampled = one(s.depth) && one(s.height) && one(s.width);
  shape.clusters = p.device.major >= 9;
  shape.wgmma = p.device.major == 9 && p.device.minor == 0;
  shape.element_bytes = static_cast<int64_t>(dtype_bytes(p.spec.dtype));
  const int64_t input = int64_t{s.batch} * s.channels * s.depth.input * s.height.input * s.width.input, elements[] = {input, int64_t{s.filters} * terms, s.filters * shape.columns};
  for (const int64_t some : elements) shape.largest = std::max(shape.largest, some), shape.bytes += some * shape.element_bytes;
  if (p.device.major == 9 && p.device.minor == 0 && half) result.packed = conv_packed(s);
  if (const ConvPacked& packed = result.packed; packed.grain > 0) {
    constexpr int64_t most_in_l2 = 50'000'000;
    shape.split_runs = packed.conv.run < 8 && packed.conv.run < packed.conv.pieces && terms > channels && packed.input_elements * 2 > most_in_l2;
    shape.packed_terms = int64_t{packed.conv.terms} * packed.grain;
    shape.packed_bytes = 2 * (packed.input_elements + packed.filter_elements + input / packed.lines_apart + int64_t{s.filters} * terms);
  }
  shape.taps_cost = conv_taps_shape(p.device.sm_count, s, shape.element_bytes).cost;
  shape.winograd_cost = conv_winograd(p.device.sm_count, conv_columns_as_rows(s), shape).cost;
  if (result.packed.grain > 0) shape.halo_cost = conv_halo(p.device.sm_count, s, shape, result.packed).cost;
  shape.strips_cost = conv_strips(p.device.sm_count, s, shape).cost;
  shape.group_cost = conv_grouped(p.device.sm_count, s, shape).cost, shape.patches_cost = conv_patches(p.device.sm_count, s, shape).cost;
  if (whole) result.planes = conv_depthwise(shape.element_bytes, s);
  shape.depthwise = result.planes.blocks > 0;
  result.choice = conv_choice(p.device.sm_count, shape);
  return result;
}

// Where the elements of the filters that meet the input lie.
CUdeviceptr plan_trim(Planner& p, const ConvSizes& s, const ConvTrim& t, int64_t elements) {
  const CUdeviceptr weight = p.workspace(elements * static_cast<int64_t>(dtype_bytes(p.spec.dtype)));
  const ConvKernelPart part = {elements, t.depth.count, t.height.count, t.width.count, s.depth.kernel, s.height.kernel, s.width.kernel, t.depth.first, t.height.first, t.width.first};
  p.launch(p.kernel_in("convolution_trim", "convolution_trim_" + std::to_string(dtype_bytes(p.spec.dtype))), {ceil_div(elements, 256)}, 256, 0, p.input(1), weight, part);
  return weight;
}

// All images as one product (convolution/image.h).
void plan_image(Planner& p, const ConvSizes& s, const ConvImage& image) {
  const int64_t elements = image.outputs * image.terms, bytes = static_cast<int64_t>(dtype_bytes(p.spec.dtype));
  const CUdeviceptr matrix = p.workspace(elements * bytes);
  p.launch(p.kernel_in("convolution_image", "convolution_image_" + std::to_string(bytes)), {ceil_div(elements, 128)}, 128, 0, p.input(1), matrix, s, static_cast<int>(image.terms), static_cast<int>(elements));
  launch_matmul(p, {{1, s.batch, static_cast<int>(image.outputs), static_cast<int>(image.terms), false, true}, p.input(0), matrix, p.output()});
}

// Where what each window meets lies.
CUdeviceptr plan_unfold(Planner& p, const ConvSizes& s) {
  const int64_t elements = conv_unfolded_elements(s);
  const CUdeviceptr x = p.workspace(elements * static_cast<int64_t>(dtype_bytes(p.spec.dtype)));
  p.launch(p.kernel_in("convolution_unfold", "convolution_unfold_" + std::to_string(dtype_bytes(p.spec.dtype))), {ceil_div(elements, 256)}, 256, 0, p.input(0), x, conv_unfold(s));
  return x;
}

void plan_kind(Planner& p, const ConvOperands& from, const Problem& problem) {
  const ConvSizes& s = problem.sizes;
  const ConvShape& shape = problem.shape;
  switch (problem.choice.kind) {
    case ConvKind::each:
      if (!plan_few(p, from, s, shape)) plan_each(p, from, s, conv_each_group(shape));
      return;
    case ConvKind::gather: return plan_gather(p, from, s, shape, conv_gather(p.device.sm_count, shape));
    case ConvKind::depthwise: return plan_depthwise(p, from, s, problem.planes);
    case ConvKind::direct: return plan_direct(p, from, s, shape, 1);
    case ConvKind::direct_warp: return plan_direct(p, from, s, shape, 32);
    case ConvKind::narrow: return plan_narrow(p, from, s, shape);
    case ConvKind::group: return plan_group(p, from, s, shape);
    case ConvKind::slab: return plan_slab(p, from, s, shape);
    case ConvKind::filters: return plan_filters(p, from, s, shape);
    case ConvKind::taps: return plan_taps(p, from, s, shape);
    case ConvKind::spans: return plan_spans(p, from, s, shape);
    case ConvKind::rows: return plan_rows(p, from, shape);
    case ConvKind::patches: return plan_patches(p, from, s, shape);
    case ConvKind::strips: return plan_strips(p, from, s, shape);
    case ConvKind::thin: return plan_thin(p, from, s, shape);
    case ConvKind::planes: return plan_planes(p, from, shape);
    case ConvKind::point: return plan_point(p, from, s, shape);
    case ConvKind::few: {
      const ProductShape product = conv_few_product(shape);
      return launch_narrow(p, {product, from.weight, from.x, p.output()}, narrow_plan(p.device.sm_count, conv_few_shared, shape.element_bytes, product));
    }
    case ConvKind::product:
      if (shape.dense) return launch_matmul(p, {{1, static_cast<int>(shape.columns), static_cast<int>(shape.filters), static_cast<int>(shape.terms), false, true}, from.x, from.weight, p.output()});
      // One image takes every kernel of matmul.
      if (s.batch * s.groups == 1) return launch_matmul(p, {{1, static_cast<int>(shape.filters), static_cast<int>(shape.plane), static_cast<int>(shape.terms), false, false}, from.weight, from.x, p.output()});
      return launch_product(p, {int64_t{s.batch} * s.groups, static_cast<int>(shape.filters), static_cast<int>(shape.plane), static_cast<int>(shape.terms), false, false, s.groups}, from.weight, from.x, p.output());
    case ConvKind::mma: return plan_conv_mma(p, from, s, conv_axes(s), shape);
    case ConvKind::wgmma: return plan_conv_wgmma(p, from, s, problem.packed, shape);
    case ConvKind::several: return plan_conv_several(p, from, s, shape);
    case ConvKind::scale: return plan_scale(p, from, s, shape);
    case ConvKind::terms: return plan_terms(p, from, s, shape);
    case ConvKind::halo: return plan_conv_halo(p, from, s, problem.packed, shape);
    case ConvKind::winograd: return plan_conv_winograd(p, from, s, shape);
    case ConvKind::f32: return plan_conv_f32(p, from, s, shape);
    case ConvKind::tiles: return plan_conv_tiles(p, from, s, shape);
  }
}

void plan(Planner& p) {
  constexpr int64_t most = int64_t{1} << 31;
  for (const int64_t dim : p.spec.dims)
    if (dim >= most / 4) throw Error("unsupported", "The CUDA kernels for " + p.spec.op + " take extents of less than 2^29.");
  const auto dim = [&](size_t i) { return static_cast<int>(p.dim(i)); };
  const auto axis = [&](size_t i) { return ConvAxis{dim(i), dim(i + 1), dim(i + 2), dim(i + 3)}; };
  const ConvSizes whole = {dim(0), dim(1), dim(2), dim(3), dim(4), dim(5), axis(6), axis(10), axis(14)};
  const int64_t plane = int64_t{whole.depth.output} * whole.height.output * whole.width.output, volume = int64_t{whole.depth.kernel} * whole.height.kernel * whole.width.kernel;
  if (plane >= most || p.dim(1) / p.dim(3) * volume >= most) throw Error("unsupported", "The CUDA kernels for " + p.spec.op + " take images and filters of less than 2^31 elements.");
  const Problem problem = problem_of(p, whole, true);
  const ConvImage image = conv_image(whole, problem.shape);
  const bool of_images = image.terms > 0 && !problem.shape.depthwise && image.cost < problem.choice.cost;
  if (const ConvTrim trim = conv_trim(whole); conv_is_trimmed(whole, trim) && !problem.shape.depthwise) {
    const Problem trimmed = problem_of(p, conv_trimmed(whole, trim), false);
    const double cost = of_images ? image.cost : problem.choice.cost;
    // A thread reads its few weights where they lie.
    if (trimmed.choice.kind == ConvKind::rows && conv_taps(trimmed.sizes) == 1 && trimmed.choice.cost < cost) return plan_rows(p, {p.input(0), p.input(1)}, trimmed.shape, &whole, trim);
    const int64_t elements = int64_t{whole.filters} * trimmed.shape.terms;
    if (conv_trim_pays(cost, trimmed.choice.cost, elements)) return plan_kind(p, {p.input(0), plan_trim(p, whole, trim, elements)}, trimmed);
  }
  if (of_images) return plan_image(p, whole, image);
  if (conv_unfolds(whole) && !problem.shape.depthwise) {
    const Problem unfolded = problem_of(p, conv_unfolded(whole), false);
    if (conv_takes_unfolded(problem.choice.kind, unfolded.choice.kind, unfolded.shape) && conv_unfold_pays(problem.choice.cost, unfolded.choice.cost, whole, problem.shape.element_bytes)) return plan_kind(p, {plan_unfold(p, whole), p.input(1)}, unfolded);
  }
  plan_kind(p, {p.input(0), p.input(1)}, problem);
}

const bool registered = [] {
  for (const char* op : {"conv1d", "conv2d", "conv3d"}) Register({op, real_dtypes, {18}, tensors, plan, 0, 0, true});
  return true;
}();

}  // namespace

}  // namespace opscope::cuda
