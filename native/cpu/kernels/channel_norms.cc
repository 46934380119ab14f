// Norms of images [batch, channels, plane] by channel: group_norm over groups of channels of one image (rows, simd/rows.h) and
// batch_norm over a channel of all images.
//
// Planes shorter than NARROW are not worked on one by one: what belongs to a channel is spread over its plane first, so that rows of
// many channels are written with whole vectors.
#include "simd/rows.h"

namespace {

constexpr int64_t NARROW = 64;

// to[channel * plane + i] = from[channel], shared by the team.
template <class T>
void spread(const Call& c, const T* from, int64_t channels, int64_t plane, float* to) {
  const Range r = part(channels, LINE, c.thread, c.threads);
  for (int64_t channel = r.begin; channel < r.end; channel++)
    for (int64_t i = 0; i < plane; i++) to[channel * plane + i] = to_float(from[channel]);
}

// ---- group_norm: dims [batch, channels, plane, groups], scalars [eps] ----

template <class T>
struct GroupNorm {
  using Stats = Moments;
  int64_t rows, cols, plane, groups;
  double eps;
  const T *x, *weight, *bias;
  T* out;
  const float *weights, *biases;  // spread, where planes are narrow
  GroupNorm(const Call& c, const float* spread_weights, const float* spread_biases)
      : rows(c.dims[0] * c.dims[3]), cols(c.dims[1] / c.dims[3] * c.dims[2]), plane(c.dims[2]), groups(c.dims[3]), eps(c.scalars[0]), x(input<T>(c, 0)), weight(input<T>(c, 1)),
        bias(input<T>(c, 2)), out(output<T>(c)), weights(spread_weights), biases(spread_biases) {}
  Moments of(int64_t row, int64_t from, int64_t to) const { return moments_of(x + row * cols + from, to - from); }
  static Moments join(Moments a, Moments b) { return joined_moments(a, b); }
  template <bool STREAM>
  void write(int64_t row, int64_t from, int64_t to, const Moments& s) const {
    const float rstd = rstd_of(s, eps);
    const V mean = vset(s.mean);
    const int64_t first = row % groups * cols;  // of the image's elements
    if (plane < NARROW) {
      const float *w = weights + first + from, *b = biases + first + from;
      const T* const v = x + row * cols + from;
      const V factor = vset(rstd);
      const auto normed = [=](int64_t i, int n) { return vfma(vmul(vsub(take(v + i, n), mean), factor), take(w + i, n), take(b + i, n)); };
      return write_row<STREAM>(out + row * cols + from, to - from, normed, [next = v + cols](int64_t i) { if constexpr (STREAM) fetch_line(next + i, Near{}); });
    }
    for (int64_t i = from; i < to;) {
      const int64_t channel = (first + i) / plane, end = least(to, (channel + 1) * plane - first);
      const V factor = vset(rstd * to_float(weight[channel])), shift = vset(to_float(bias[channel]));
      const T* const v = x + row * cols + i;
      const auto normed = [=](int64_t k, int n) { return vfma(vsub(take(v + k, n), mean), factor, shift); };
      if (STREAM && plane % LINE == 0) write_row<true>(out + row * cols + i, end - i, normed, [next = v + cols](int64_t k) { fetch_line(next + k, Far{}); });
      else write_row<false>(out + row * cols + i, end - i, normed);
      i = end;
    }
  }
};

template <class T>
void run_group_norm(const Call& c) {
  const int64_t channels = c.dims[1], plane = c.dims[2];
  float* const weights = c.scratch + rows_scratch(c.dims[0] * c.dims[3], channels / c.dims[3] * plane, c.threads);
  float* const biases = weights + channels * plane;
  if (plane < NARROW) {
    spread(c, input<T>(c, 1), channels, plane, weights);
    spread(c, input<T>(c, 2), channels, plane, biases);
    c.barrier(c.team);
  }
  GroupNorm<T> p(c, weights, biases);
  run_rows(c, p);
}

bool group_norm_shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[3] = times(times(d[0], d[1]), d[2]);
  sizes[1] = sizes[2] = d[1];
  return d[3] > 0 && d[1] % d[3] == 0;
}

size_t group_norm_scratch(const int64_t* d, int, int threads, size_t) {
  return rows_scratch(d[0] * d[3], d[1] / d[3] * d[2], threads) + (d[2] < NARROW ? static_cast<size_t>(2 * d[1] * d[2]) : 0);
}

// ---- batch_norm: dims [batch, channels, plane, training], scalars [eps] ----
//
// Training: the statistics of every channel, then the output as in inference. Scratch: of every channel mean, rstd * weight and bias,
// spread where planes are narrow; then the threads' partial sums.

struct Images {
  int64_t batch, channels, plane, row;  // row: elements of an image
  bool narrow;
  explicit Images(const int64_t* d) : batch(d[0]), channels(d[1]), plane(d[2]), row(d[1] * d[2]), narrow(d[2] < NARROW) {}
  int64_t per_channel() const { return narrow ? row : channels; }
  int64_t partials(int threads) const { return narrow ? (row + LINE - 1) / LINE * LINE * threads : LINE * threads; }
};

// Moments of the channel over elements `r` of its batch * plane.
template <class T>
Moments channel_moments(const T* x, const Images& s, int64_t channel, Range r) {
  Moments all{0, 0, 0};
  for (int64_t i = r.begin; i < r.end;) {
    const int64_t image = i / s.plane, end = least(r.end, (image + 1) * s.plane);
    const Moments one = moments_of(x + image * s.row + channel * s.plane + (i - image * s.plane), end - i);
    all = all.count == 0 ? one : joined_moments(all, one);
    i = end;
  }
  return all;
}

template <class T>
void wide_statistics(const Call& c, const Images& s, float* partials, float* means, float* rstds) {
  const T* x = input<T>(c, 0);
  const int64_t all = s.batch * s.plane;
  if (s.channels >= c.threads) {
    const Range r = part(s.channels, 1, c.thread, c.threads);
    for (int64_t channel = r.begin; channel < r.end; channel++) {
      const Moments m = channel_moments(x, s, channel, {0, all});
      means[channel] = m.mean;
      rstds[channel] = rstd_of(m, c.scalars[0]);
    }
    c.barrier(c.team);
    return;
  }
  for (int64_t channel = 0; channel < s.channels; channel++) {
    const auto at = [partials](int t) { return reinterpret_cast<Moments*>(partials + t * LINE); };
    *at(c.thread) = channel_moments(x, s, channel, part(all, LINE, c.thread, c.threads));
    c.barrier(c.team);
    if (c.thread == 0) {
      Moments whole{0, 0, 0};
      for (int t = 0; t < c.threads; t++)
        if (at(t)->count > 0) whole = whole.count == 0 ? *at(t) : joined_moments(whole, *at(t));
      means[channel] = whole.mean;
      rstds[channel] = rstd_of(whole, c.scalars[0]);
    }
    c.barrier(c.team);
  }
}

// Adds f(x, place in the image) over all images, then over the plane of each channel and over threads; done(channel, sum) for each.
template <class T, class F, class Done>
void narrow_sums(const Call& c, const Images& s, float* partials, F f, Done done) {
  const int64_t stride = (s.row + LINE - 1) / LINE * LINE;
  float* const mine = partials + c.thread * stride;
  const Range r = part(s.batch, 1, c.thread, c.threads);
  for (int64_t i = 0; i < s.row; i++) mine[i] = 0;
  for (int64_t image = r.begin; image < r.end; image++)
    write_row<false>(mine, s.row, [=, x = input<T>(c, 0) + image * s.row](int64_t i, int n) { return vadd(take(mine + i, n), f(take(x + i, n), i, n)); });
  c.barrier(c.team);
  const Range own = part(s.channels, LINE, c.thread, c.threads);
  for (int64_t channel = own.begin; channel < own.end; channel++) {
    double sum = 0;
    for (int t = 0; t < c.threads; t++)
      for (int64_t i = channel * s.plane; i < (channel + 1) * s.plane; i++) sum += static_cast<double>(partials[t * stride + i]);
    done(channel, static_cast<float>(sum));
  }
  c.barrier(c.team);
}

template <class T>
void run_batch_norm(const Call& c) {
  const Images s(c.dims);
  const bool training = c.dims[3] != 0;
  const T* x = input<T>(c, 0);
  T* out = output<T>(c);
  const float *weight = input(c, 1), *bias = input(c, 2);
  float* const means = c.scratch;
  float* const factors = means + s.per_channel();
  float* const shifts = factors + s.per_channel();
  float* const partials = c.scratch + (3 * s.per_channel() + LINE - 1) / LINE * LINE;
  const float* mean = training ? output(c, 1) : input(c, 3);
  if (training) {
    float *mean_out = output(c, 1), *rstd_out = output(c, 2);
    const float n = static_cast<float>(s.batch * s.plane);
    if (s.narrow) {
      narrow_sums<T>(c, s, partials, [](V v, int64_t, int) { return v; }, [=](int64_t channel, float sum) { mean_out[channel] = sum / n; });
      spread(c, mean_out, s.channels, s.plane, means);
      c.barrier(c.team);
      const auto squared = [=](V v, int64_t i, int count) {
        const V away = vsub(v, take(means + i, count));
        return vmul(away, away);
      };
      narrow_sums<T>(c, s, partials, squared, [&](int64_t channel, float sum) { rstd_out[channel] = rstd_of({n, 0, sum}, c.scalars[0]); });
    } else {
      wide_statistics<T>(c, s, partials, mean_out, rstd_out);
    }
  }
  const auto factor = [&](int64_t channel) { return weight[channel] * (training ? output(c, 2)[channel] : 1 / __builtin_sqrtf(input(c, 4)[channel] + static_cast<float>(c.scalars[0]))); };
  // Of every channel, or of every element of an image.
  const int64_t spread_over = s.narrow ? s.plane : 1;
  const Range r = part(s.channels, LINE, c.thread, c.threads);
  for (int64_t channel = r.begin; channel < r.end; channel++) {
    const float f = factor(channel);
    for (int64_t i = channel * spread_over; i < (channel + 1) * spread_over; i++) {
      means[i] = mean[channel];
      factors[i] = f;
      shifts[i] = bias[channel];
    }
  }
  c.barrier(c.team);
  const Range mine = part(s.batch * s.row, LINE, c.thread, c.threads);
  const int64_t length = s.narrow ? s.row : s.plane;
  const bool stream = c.stream && length % LINE == 0;
  const auto normed = [&](int64_t from, int64_t to, auto f) {
    if (stream) write_row<true>(out + from, to - from, f);
    else write_row<false>(out + from, to - from, f);
  };
  for (int64_t i = mine.begin; i < mine.end;) {
    const int64_t run = i / length, first = run * length, end = least(mine.end, first + length);
    if (s.narrow) {
      const float *m = means + (i - first), *f = factors + (i - first), *b = shifts + (i - first);
      normed(i, end, [=, x = x + i](int64_t k, int n) { return vfma(vsub(take(x + k, n), take(m + k, n)), take(f + k, n), take(b + k, n)); });
    } else {
      const int64_t channel = run % s.channels;
      const V m = vset(means[channel]), f = vset(factors[channel]), b = vset(shifts[channel]);
      normed(i, end, [=, x = x + i](int64_t k, int n) { return vfma(vsub(take(x + k, n), m), f, b); });
    }
    i = end;
  }
  vfence();
}

// The list for inference, then that for training.
constexpr const char* BATCH_NORM = "tffff>t|tff>t>f>f";
int batch_norm_list(const int64_t* d) { return d[3] != 0; }

bool batch_norm_shape(const int64_t* d, int, int64_t* sizes) {
  const int out = d[3] != 0 ? 3 : 5;
  for (int i = 1; i < 6; i++) sizes[i] = d[1];
  sizes[0] = sizes[out] = times(times(d[0], d[1]), d[2]);
  return true;
}

size_t batch_norm_scratch(const int64_t* d, int, int threads, size_t) {
  const Images s(d);
  return static_cast<size_t>((3 * s.per_channel() + LINE - 1) / LINE * LINE + (d[3] != 0 ? s.partials(threads) : 0));
}

}  // namespace

OPSCOPE_ROUNDED(group_norm, run_group_norm, "ttt>t", 4, 4, 1, group_norm_shape, group_norm_scratch)
OPSCOPE_KERNEL(batch_norm, BATCH_NORM, 4, 4, 1, batch_norm_shape, batch_norm_scratch, OPSCOPE_ROUNDED_RUNS(run_batch_norm), batch_norm_list)
