// Convolutions of one to three dimensions. dims: [batch, channels, filters, groups, stride, dilation, then depth, height, width each of:
// input, kernel, padding, output]; core/ops/convolution/table.ts has the formula.
//
// A group of an image is a product of its filters [filters, channels * kernel] and a matrix [channels * kernel, outputs] whose columns
// are windows, which is never made: the windows are read in a padded copy of the input (simd/phases.h, simd/part_copies.h), or panels are packed from the input
// (simd/windows.h), or the input is the matrix; tiles of bf16 meet pairs of channels in such copies (simd/part_tiles.h). 3x3 windows with
// stride 1 are transformed first where that is less work (f32, AVX-512; simd/winograd.h).
#include "simd/conv_operands.h"
#include "simd/direct_rows.h"
#include "simd/few_outputs.h"
#include "simd/few_terms.h"
#include "simd/filter_columns.h"
#include "simd/image_columns.h"
#include "simd/part_tiles.h"
#include "simd/parts.h"
#include "simd/plane_taps.h"
#include "simd/tap_products.h"
#include "simd/tap_sums.h"
#include "simd/tiles.h"
#include "simd/vector_products.h"
#include "simd/winograd.h"

namespace {

// Floats for those filters where they are copied; `pairs` of filters of one element lie as stored.
int64_t filter_floats(const Geometry& whole, const Geometry& g, bool pairs, size_t bytes) {
  return (!pairs || whole.volume() == 1) && g.volume() == whole.volume() ? 0 : up((g.filters * g.group_channels() * g.volume() * static_cast<int64_t>(bytes) + 3) / 4, LINE);
}

// Those filters, copied by the team. g: trimmed, and of the channels that they get.
template <class F, class T>
const typename F::Element* copy_filters(const Call& c, const Geometry& whole, const Geometry& g) {
  auto* const to = reinterpret_cast<typename F::Element*>(c.scratch);
  const int64_t channels = whole.group_channels(), units = g.group_channels();
  const KernelTaps taps(whole);
  const typename F::Copied copied(taps);
  const Range mine = part(g.filters * units, 1, c.thread, c.threads);
  for (int64_t i = mine.begin; i < mine.end;) {
    const int64_t filter = i / units, first = i - filter * units, past = least(units, first + mine.end - i);
    copied.copy(input<T>(c, 1) + filter * channels * taps.volume, channels, {first, past}, to + i * taps.count);
    i += past - first;
  }
  c.barrier(c.team);
  return to;
}

template <class T, class F = AsStored<T>>
void run(const Call& call);

// whole: the convolution, or a slice of it.
template <class T, class F>
void run_slice(const Call& call, const Geometry& whole) {
  const Geometry trimmed = whole.trimmed(), g = F::units(trimmed.turned());
  const Parts parts(g, call.threads);
  const bool packs = F::packs_windows(trimmed, call.threads), fits = !packs && !trimmed.plain(F::TILES) && parts.fits();
  if constexpr (F::PAIRS)
    if (!fits && !packs && !trimmed.is_matrix()) return run<T>(call);
  const int64_t floats = filter_floats(whole, g, F::PAIRS && fits, sizeof(typename F::Element));
  Call c = call;
  c.scratch += floats;
  if (fits) {
    const Products units = g.products(), all = trimmed.products();
    const auto with = [&](const auto& filters_of) { run_parts<typename F::Rows, T>(c, parts, trimmed.group_channels(), filters_of); };
    if (floats == 0) return with([w = input<T>(call, 1), all](int64_t group) { return F::filters(w + group * all.m * all.k, all.k); });
    return with([w = copy_filters<F, T>(call, whole, g), units](int64_t group) { return LeftMatrix<typename F::Element>{w + group * units.m * units.k, units.k, false}; });
  }
  const T* const weight = floats > 0 ? copy_filters<AsStored<T>, T>(call, whole, trimmed) : input<T>(call, 1);
  const T* const x = input<T>(c, 0);
  const Products s = trimmed.products();
  T* const out = output<T>(c);
  [[maybe_unused]] const typename F::State state{};
  run_products(c, F::products(s), sizeof(T) < sizeof(float), [=, &trimmed](int64_t i, float* sums, const auto& multiply_by) {
    const int64_t group = i % trimmed.groups;
    const T* of_group = x + i * trimmed.group_channels() * trimmed.in_plane();
    const auto left = F::left(weight + group * s.m * s.k, s.k);
    if (trimmed.is_matrix()) return multiply_into(F::output(out + i * s.m * s.n), s.n, sums, left, F::right(of_group, s.n, false, s.k), multiply_by);
#if defined(OPSCOPE_TILES)
    if constexpr (F::TILES) return multiply_into(F::output(out + i * s.m * s.n), s.n, sums, left, WindowsOfTiles{{of_group, trimmed}, s.k}, multiply_by);
#endif
    if constexpr (!F::PAIRS) multiply_into(out + i * s.m * s.n, s.n, sums, left, Windows<T>{of_group, trimmed}, multiply_by);
  });
}

Products images(const Geometry& g) { return {1, g.batch, g.filters, g.channels * g.volume()}; }

// A product of images and filters, whose terms lie next to one another in both.
template <class T, class F>
void run_images(const Call& c, const Geometry& g) {
  const Products s = images(g);
  [[maybe_unused]] const typename F::State state{};
  run_products(c, F::products(s), sizeof(T) < sizeof(float), [&](int64_t, float* sums, const auto& multiply_by) {
    multiply_into(F::output(output<T>(c)), s.n, sums, F::left(input<T>(c, 0), s.k), F::right(input<T>(c, 1), s.k, true, s.k), multiply_by);
  });
}

// Whether there are slices, and each can be worked on in parts. Panels of tiles of bf16 repay those of nearly whole kernels only.
template <class F>
bool is_sliced(const Geometry& whole, int threads) {
  bool fit = whole.mostly_padding(!F::TILES) != nullptr;
  if (fit) each_slice(whole, [&](const Geometry& slice) { fit &= Parts(F::units(slice.trimmed().turned()), threads).fits(); });
  return fit;
}

// Processors with tiles multiply pairs more slowly than floats.
template <class F>
bool pairs_images(const Geometry& whole) { return F::PAIRS && !F::TILES && whole.group_channels() > 1; }

// Not where the input is the matrix and its rows fill vectors, or where tiles of bf16 repay their panels.
template <class F>
bool by_image_columns(const Geometry& whole) {
  if ((whole.is_matrix() && whole.out_plane() >= W / 2) || (F::TILES && F::packs_windows(whole.trimmed(), 1))) return false;
  const ImageColumns columns(whole, pairs_images<F>(whole));
  return F::PAIRS ? columns.pays_beside_pairs() : columns.pays();
}

// One filter of single elements: its channels as a vector times the input as a matrix. Large ones of f32 wait for memory either way.
bool by_vectors(const Geometry& whole, bool is_float) {
  constexpr int64_t MOST_FLOATS_READ = 1 << 22;
  return whole.plain() && whole.group_filters() == 1 && (!is_float || times(whole.batch * whole.channels, whole.in_plane()) <= MOST_FLOATS_READ);
}

// Many channels to few filters, not where pairs of bf16 multiply.
template <class F>
bool by_tap_sums([[maybe_unused]] const Geometry& whole, [[maybe_unused]] int threads) {
#if defined(OPSCOPE_TAP_SUMS)
  return !F::PAIRS && ((whole.group_filters() == 1 && whole.in_plane() >= W) || !TapProducts(whole).pays()) && TapSums::pays(whole, threads);
#else
  return false;
#endif
}

// Not where tiles of bf16 multiply, or where few filters meet the input as it lies.
template <class F>
bool by_few_outputs(const Geometry& whole, int threads) {
  if (F::TILES) return false;
  const FewOutputs few(whole);
  bool by_taps = false;
#if defined(OPSCOPE_FEW_ROWS)
  by_taps = few.of_few_filters() && TapProducts(whole).pays();
#endif
  return few.pays(threads) && !by_taps && !(few.of_few_filters() && whole.stride == 1 && whole.batch * few.outputs > W / 2 && by_tap_sums<F>(whole, threads));
}

#if defined(OPSCOPE_TILES)
// By tiles of what parts copy, but where images as columns, one vector or few outputs take less.
template <class F>
bool by_tile_parts(const Geometry& whole, int threads) {
  if (!F::TILES || !tiles_fill(whole) || by_vectors(whole, false) || TapProducts(whole).pays()) return false;
  const Geometry trimmed = whole.trimmed();
  return tiles_pay(trimmed) && TileParts(whole, threads).parts.fits() && (F::packs_windows(trimmed, threads) || !by_image_columns<AsStored<BF16>>(whole) || ImageColumns(trimmed).tiles_take_less());
}
#endif

// Where no pairs of bf16 multiply.
template <class F>
bool by_filter_columns([[maybe_unused]] const Geometry& whole) {
#if defined(OPSCOPE_FILTER_COLUMNS)
  if constexpr (!F::PAIRS && !__is_same(typename F::Element, BF16)) return FilterColumns(whole).pays();
#endif
  return false;
}

// Filters of single elements times planes of about a vector, product after product, of those that stay in the first two caches.
bool by_small_products([[maybe_unused]] const Geometry& whole, [[maybe_unused]] int threads) {
#if defined(OPSCOPE_SMALL_PRODUCTS)
  const Products p = whole.products();
  return whole.is_matrix() && p.m > 1 && p.n > W * 3 / 4 && p.n <= W && p.batch >= threads && is_small(p, false, false);
#else
  return false;
#endif
}

#if defined(OPSCOPE_SMALL_PRODUCTS)
void run_small_products(const Call& c, const Geometry& g) {
  const Products p = g.products();
  each_range_in(c, parts_of_work(c, p.multiplications()), p.batch, 1, [&](Range r) {
    for (int64_t i = r.begin; i < r.end; i++) {
      const float* const image = input(c, 0) + i * p.k * p.n;
      small_product(p.m, p.n, p.k, SmallLeft{input(c, 1) + i % g.groups * p.m * p.k, p.k, 1}, SmallColumns{image, p.n, output(c) + i * p.m * p.n, p.n, {}}, image + p.k * p.n, p.k * p.n);
    }
  });
}
#endif

template <class T>
void run_one_filter(const Call& c, const Geometry& g) {
  const int64_t k = g.group_channels(), n = g.out_plane(), products = g.batch * g.groups;
  const bool by_product = products >= c.threads;
  const Range mine = by_product ? part(products, 1, c.thread, c.threads) : Range{0, products}, r = by_product ? Range{0, n} : part(n, LINE, c.thread, c.threads);
  for (int64_t i = mine.begin; i < mine.end; i++) {
    const T *const filter = input<T>(c, 1) + i % g.groups * k, *const x = input<T>(c, 0) + i * k * n;
    T* const out = output<T>(c) + i * n;
    if (k == 1) map1<false>(x, out, r.begin, r.end, [factor = vset(to_float(*filter))](V v) { return vmul(v, factor); });
    else add_rows(filter, x, k, n, r, out);
  }
}

template <class T>
void run_zero(const Call& c, const Geometry& g) {
  const Range mine = part(g.batch * g.filters * g.out_plane(), LINE, c.thread, c.threads);
  map0<false>(output<T>(c), mine.begin, mine.end, [] { return vset(0); });
}

template <class T, class F>
void run(const Call& call) {
  const Geometry whole(call.dims);
  if (whole.meets_nothing()) return run_zero<T>(call, whole);
  if (whole.meets_images()) return run_images<T, F>(call, whole);
#if defined(OPSCOPE_JOINED_CHANNELS)
  if (JoinedChannels::pays(whole)) return run_joined_channels<T>(call, whole, F::output(output<T>(call)));
  if (PlaneTaps::pays(whole)) return run_plane_taps<T>(call, whole, F::output(output<T>(call)));
#endif
  if (by_direct_rows(whole, call.threads, sizeof(T))) return run_direct_rows<T>(call, whole, F::output(output<T>(call)));
  if (by_few_outputs<F>(whole, call.threads)) return run_few_outputs<typename F::Term>(call, whole);
#if defined(OPSCOPE_TAP_SUMS)
  if constexpr (!F::PAIRS)
    if (by_tap_sums<F>(whole, call.threads)) return run_tap_sums<T>(call, whole);
#endif
#if defined(OPSCOPE_TILES)
  if constexpr (F::TILES)
    if (by_tile_parts<F>(whole, call.threads)) return run_tile_parts(call, whole);
#endif
#if defined(OPSCOPE_FILTER_COLUMNS)
  if constexpr (!F::PAIRS && !__is_same(T, BF16))
    if (by_filter_columns<F>(whole)) return run_filter_columns<T>(call, whole);
#endif
  if (by_image_columns<F>(whole)) {
    if constexpr (F::PAIRS)
      if (pairs_images<F>(whole)) return run_image_columns<typename F::Rows::Unit, T>(call, whole);
    return run_image_columns<Floats, T>(call, whole);
  }
  if (by_vectors(whole, sizeof(T) == sizeof(float))) return run_one_filter<T>(call, whole);
#if defined(OPSCOPE_FEW_ROWS)
  if (TapProducts(whole).pays()) return run_tap_products<T>(call, whole);
#endif
  if (const Products p = whole.products(); whole.plain() && by_rows_of_results(p))
    return run_few_terms(call, p, [=, w = input<T>(call, 1)](int64_t i, int64_t row, int64_t term) { return w[(i % whole.groups * p.m + row) * p.k + term]; }, input<T>(call, 0), output<T>(call));
#if defined(OPSCOPE_SMALL_PRODUCTS)
  if constexpr (sizeof(T) == sizeof(float))
    if (by_small_products(whole, call.threads)) return run_small_products(call, whole);
#endif
#if defined(OPSCOPE_WINOGRAD)
  if constexpr (sizeof(T) == sizeof(float))
    if (Winograd::pays(whole) && run_winograd<T>(call, whole)) return;
#endif
#if defined(OPSCOPE_TILES)
  // Processors with tiles multiply pairs more slowly than floats, but copying what one filter or two meet in many channels takes longer than that.
  if constexpr (F::TILES)
    if (const Geometry trimmed = whole.trimmed(); is_sliced<F>(whole, call.threads) || (!trimmed.plain(true) && !F::packs_windows(trimmed, call.threads)))
      return whole.group_filters() <= 2 && whole.group_channels() >= 16 && !by_image_columns<AsStored<T>>(whole) ? run<T, InPairs>(call) : run<T>(call);
#endif
  if (!is_sliced<F>(whole, call.threads)) return run_slice<T, F>(call, whole);
  Call shared = call;
  shared.most_parts = 1;
  each_slice(whole, [&](const Geometry& slice) {
    run_slice<T, F>(shared, slice);
    call.barrier(call.team);  // before the next one's filters come to the same place
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

// Of units of so many bytes.
template <class F>
size_t scratch_of(const Geometry& whole, int threads, size_t bytes, bool rounded) {
  if (whole.meets_nothing()) return 0;
  if (whole.meets_images()) return F::products(images(whole)).scratch(threads, rounded);
#if defined(OPSCOPE_JOINED_CHANNELS)
  if (JoinedChannels::pays(whole)) return 0;
  if (PlaneTaps::pays(whole)) return PlaneTaps(whole).scratch(threads);
#endif
  if (by_direct_rows(whole, threads, rounded ? sizeof(BF16) : sizeof(float))) return 0;
  if (by_few_outputs<F>(whole, threads)) return FewOutputs(whole).scratch(bytes, threads);
#if defined(OPSCOPE_TAP_SUMS)
  if (by_tap_sums<F>(whole, threads)) return TapSums(whole).scratch(threads);
#endif
#if defined(OPSCOPE_TILES)
  if (by_tile_parts<F>(whole, threads)) return TileParts(whole, threads).scratch(threads);
#endif
#if defined(OPSCOPE_FILTER_COLUMNS)
  if (by_filter_columns<F>(whole)) return FilterColumns(whole).scratch(threads);
#endif
  if (by_image_columns<F>(whole)) return ImageColumns(whole).scratch(threads);
  if (by_vectors(whole, !rounded)) return 0;
#if defined(OPSCOPE_FEW_ROWS)
  if (const TapProducts taps(whole); taps.pays()) return taps.scratch(threads);
#endif
  size_t most = 0;
#if defined(OPSCOPE_WINOGRAD)
  if (!rounded && Winograd::pays(whole)) most = Winograd(whole, threads).scratch(threads);
#endif
  const auto add = [&](const Geometry& slice) {
    const Geometry trimmed = slice.trimmed(), g = F::units(trimmed.turned());
    const Parts parts(g, threads);
    const bool fits = !F::packs_windows(trimmed, threads) && !trimmed.plain(F::TILES) && parts.fits();
    const size_t own = static_cast<size_t>(filter_floats(slice, g, F::PAIRS && fits, bytes)) + (fits ? static_cast<size_t>(parts.floats * threads) : F::products(trimmed.products()).scratch(threads, rounded));
    if (own > most) most = own;
  };
  if (is_sliced<F>(whole, threads)) each_slice(whole, add);
  else add(whole);
  return most;
}

size_t scratch(const int64_t* d, int, int threads, size_t bytes) {
  const Geometry whole(d);
  const bool rounded = bytes < sizeof(float);
  size_t most = rounded ? scratch_of<AsStored<BF16>>(whole, threads, bytes, true) : scratch_of<AsStored<float>>(whole, threads, bytes, false);
  [[maybe_unused]] const auto also = [&](size_t other) { most = other > most ? other : most; };
#if defined(OPSCOPE_FILTER_COLUMNS)
  if (rounded) also(scratch_of<AsStored<F16>>(whole, threads, bytes, true));
#endif
#if defined(OPSCOPE_PAIRS)
  if (rounded) also(scratch_of<InPairs>(whole, threads, sizeof(float), true));
#endif
#if defined(OPSCOPE_TILES)
  if (rounded) also(scratch_of<InTiles>(whole, threads, sizeof(float), true));
#endif
  return most;
}

}  // namespace

OPSCOPE_KERNEL(conv1d, "tt>t", 18, 18, 0, shape, scratch, OPSCOPE_MULTIPLIED_RUNS(run, InPairs, InTiles))
OPSCOPE_KERNEL(conv2d, "tt>t", 18, 18, 0, shape, scratch, OPSCOPE_MULTIPLIED_RUNS(run, InPairs, InTiles))
OPSCOPE_KERNEL(conv3d, "tt>t", 18, 18, 0, shape, scratch, OPSCOPE_MULTIPLIED_RUNS(run, InPairs, InTiles))
