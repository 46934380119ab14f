// Convolutions of one to three dimensions. dims: [batch, channels, filters, groups, stride, dilation, then depth, height, width each of:
// input, kernel, padding, output]; core/ops/convolution/table.ts has the formula.
//
// A group of an image is a product of its filters [filters, channels * kernel] and a matrix [channels * kernel, outputs] whose columns
// are windows, which is never made: the windows are read in a padded copy of the input (simd/phases.h), or panels are packed from the input
// (simd/windows.h), or the input is the matrix.
#include "simd/phases.h"

namespace {

// Floats for the filters without the parts that meet nothing; 0 where all meet something.
int64_t trimmed_floats(const Geometry& whole, const Geometry& g, size_t bytes) {
  return g.volume() == whole.volume() ? 0 : up((g.filters * g.group_channels() * g.volume() * static_cast<int64_t>(bytes) + 3) / 4, LINE);
}

// Those filters, copied by the team.
template <class T>
const T* trim(const Call& c, const Geometry& whole, const Geometry& g) {
  T* const to = reinterpret_cast<T*>(c.scratch);
  const Range depth = whole.taps(whole.depth), height = whole.taps(whole.height), width = whole.taps(whole.width), mine = part(g.filters * g.group_channels(), 1, c.thread, c.threads);
  T* at = to + mine.begin * g.volume();
  for (int64_t i = mine.begin; i < mine.end; i++)
    for (int64_t d = depth.begin; d < depth.end; d++)
      for (int64_t h = height.begin; h < height.end; h++)
        for (int64_t w = width.begin; w < width.end; w++) *at++ = input<T>(c, 1)[((i * whole.depth.kernel + d) * whole.height.kernel + h) * whole.width.kernel + w];
  c.barrier(c.team);
  return to;
}

template <class T>
void run(const Call& call) {
  const Geometry whole(call.dims), g = whole.trimmed();
  const int64_t floats = trimmed_floats(whole, g, sizeof(T));
  const T *const x = input<T>(call, 0), *const weight = floats > 0 ? trim<T>(call, whole, g) : input<T>(call, 1);
  Call c = call;
  c.scratch += floats;
  if (const Parts parts(g, c.threads); !g.plain() && parts.fits()) return run_parts<T>(c, parts, weight);
  const Products s = g.products();
  T* const out = output<T>(c);
  run_products(c, s, sizeof(T) < sizeof(float), [=, &g](int64_t i, float* sums, const auto& multiply_by) {
    const int64_t group = i % g.groups;
    const T* of_group = x + i * g.group_channels() * g.in_plane();
    const LeftMatrix<T> left{weight + group * s.m * s.k, s.k, false};
    if (g.plain()) multiply_into(out + i * s.m * s.n, s.n, sums, left, RightMatrix<T>{of_group, s.n, false, s.k}, multiply_by);
    else multiply_into(out + i * s.m * s.n, s.n, sums, left, Windows<T>{of_group, g}, multiply_by);
  });
}

bool shape(const int64_t* d, int, int64_t* sizes) {
  const Geometry g(d);
  const Axis* const axes[] = {&g.depth, &g.height, &g.width};
  for (const Axis* a : axes)
    if (a->input < 1 || a->kernel < 1 || a->output < 1 || times(a->output - 1, g.stride) + times(g.dilation, a->kernel - 1) + 1 > a->input + 2 * a->padding) return false;
  if (g.groups < 1 || g.stride < 1 || g.dilation < 1 || g.channels % g.groups != 0 || g.filters % g.groups != 0) return false;
  const auto plane = [](int64_t a, int64_t b, int64_t e) { return times(times(a, b), e); };
  sizes[0] = times(times(g.batch, g.channels), plane(g.depth.input, g.height.input, g.width.input));
  sizes[1] = times(times(g.filters, g.group_channels()), plane(g.depth.kernel, g.height.kernel, g.width.kernel));
  sizes[2] = times(times(g.batch, g.filters), plane(g.depth.output, g.height.output, g.width.output));
  return true;
}

size_t scratch(const int64_t* d, int, int threads, size_t bytes) {
  const Geometry whole(d), g = whole.trimmed();
  const Parts parts(g, threads);
  const size_t rest = !g.plain() && parts.fits() ? static_cast<size_t>(parts.floats * threads) : g.products().scratch(threads, bytes < sizeof(float));
  return static_cast<size_t>(trimmed_floats(whole, g, bytes)) + rest;
}

}  // namespace

OPSCOPE_TYPED(conv1d, run, "tt>t", 18, 18, 0, shape, scratch)
OPSCOPE_TYPED(conv2d, run, "tt>t", 18, 18, 0, shape, scratch)
OPSCOPE_TYPED(conv3d, run, "tt>t", 18, 18, 0, shape, scratch)
