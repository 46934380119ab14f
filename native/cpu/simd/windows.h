// A convolution's windows as the right operand of a product.
#pragma once
#include "geometry.h"

namespace {

#if defined(OPSCOPE_JOINED)
// Every second element of the two vectors from p on, of some of their elements, and zero in the other lanes.
inline V vload_even_masked(const float* p, VLanes low, VLanes high) {
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  return _mm512_permutex2var_ps(_mm512_maskz_loadu_ps(low, p), even, _mm512_maskz_loadu_ps(high, p + W));
}
#endif

// The windows of a group of an image as the right operand.
template <class T>
struct Windows {
  using Panel = Right;
  const T* x;  // the group's first channel
  const Geometry& g;

  bool stays(int64_t, int64_t, int64_t) const { return false; }
  Right place(int64_t, int64_t) const { return {}; }
  int64_t lying(int64_t, int64_t, int) const { return 0; }
  Lines source(int64_t, int, int64_t, int64_t) const { return {}; }

  // Outputs of one row in a panel, from column `at` on; at one place of the kernel, output q of them meets from[q * stride] where q is
  // in begin .. end, and padding elsewhere.
  struct Run {
    int64_t d, h, from;
    int at, count;
  };
  struct Piece {
    int64_t from;  // in a channel
    int begin, end;
  };

  void pack(int64_t j, int columns, int64_t l, int64_t kc, float* to) const {
#if defined(OPSCOPE_JOINED)
    if constexpr (sizeof(T) == sizeof(float))
      if (g.meets_even()) return pack_even(j, columns, l, kc, to);
#endif
    Run runs[NR];
    int run_count = 0;
    for (int q = 0; q < columns;) {
      const int64_t row = (j + q) / g.width.output, at = (j + q) - row * g.width.output, d = row / g.height.output;
      const int count = static_cast<int>(least(g.width.output - at, columns - q));
      runs[run_count++] = {d, row - d * g.height.output, at, q, count};
      q += count;
    }
    // The same for every channel.
    constexpr int64_t KEPT = 512;
    Piece kept[KEPT];
    const int64_t volume = g.volume();
    const bool keeps = volume * run_count <= KEPT && kc >= 2 * volume;
    for (int64_t v = 0; keeps && v < volume; v++)
      for (int i = 0; i < run_count; i++) kept[v * run_count + i] = piece(runs[i], v);
    int64_t channel = l / volume, v = l - channel * volume;
    for (int64_t p = 0; p < kc; p++, to += NR) {
      const T* const plane = x + channel * g.in_plane();
      for (int i = 0; i < run_count; i++) copy(plane, keeps ? kept[v * run_count + i] : piece(runs[i], v), runs[i], to);
      for (int q = columns; q < NR; q++) to[q] = 0;
      if (++v == volume) v = 0, channel++;
    }
  }

 private:
  Piece piece(const Run& run, int64_t v) const {
    const int64_t kw = v % g.width.kernel, rows = v / g.width.kernel, kh = rows % g.height.kernel, kd = rows / g.height.kernel;
    const int64_t row = g.row(run.d, run.h, kd, kh);
    if (row < 0) return {0, 0, 0};
    const Range valid = g.inside(kw, run.from, run.from + run.count);
    return {row * g.width.input + kw * g.dilation - g.width.padding + run.from * g.stride, static_cast<int>(valid.begin - run.from), static_cast<int>(valid.end - run.from)};
  }

#if defined(OPSCOPE_JOINED)
  // Outputs of one row in a vector: their lanes and their row, where lane 0 would meet the first element of a row of the kernel, and which of the elements of
  // three vectors from there on they meet; or for each element of a short row of the kernel which of two vectors, every second one of which is a lane.
  static constexpr int MOST_RUNS = 4, MET = 3, SHORT_KERNEL = 3;
  struct EvenRun {
    int64_t d, h, at;
    VLanes lanes, inside[MET], low[SHORT_KERNEL], high[SHORT_KERNEL];
  };
  static VLanes every_second(uint32_t lanes) {
    lanes = (lanes | lanes << 4) & 0x0f0f;
    lanes = (lanes | lanes << 2) & 0x3333;
    return static_cast<VLanes>((lanes | lanes << 1) & 0x5555);
  }
  // What those elements are, the even ones and the odd ones by themselves.
  struct EvenAndOdd {
    V even[2], odd[2];
    OPSCOPE_INLINE EvenAndOdd(const float* p, const VLanes* inside) {
      const __m512i evens = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30), odds = _mm512_add_epi32(evens, _mm512_set1_epi32(1));
      const V first = _mm512_maskz_loadu_ps(inside[0], p), second = _mm512_maskz_loadu_ps(inside[1], p + W), third = _mm512_maskz_loadu_ps(inside[2], p + 2 * W);
      even[0] = _mm512_permutex2var_ps(first, evens, second), even[1] = _mm512_permutexvar_ps(evens, third);
      odd[0] = _mm512_permutex2var_ps(first, odds, second), odd[1] = _mm512_permutexvar_ps(odds, third);
    }
    // use(v): every second one from element kw * dilation on, for each kw of some.
    template <class F>
    OPSCOPE_INLINE void each(Range kernel, int64_t dilation, const F& use) const {
      const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
      const auto evens = [&](__m512i lanes) { return _mm512_permutex2var_ps(even[0], lanes, even[1]); };
      const auto odds = [&](__m512i lanes) { return _mm512_permutex2var_ps(odd[0], lanes, odd[1]); };
      if (dilation == 1 && kernel.begin % 2 == 0) {
        __m512i lanes = _mm512_add_epi32(first, _mm512_set1_epi32(static_cast<int>(kernel.begin / 2)));
        for (int64_t kw = kernel.begin; kw < kernel.end; kw += 2, lanes = _mm512_add_epi32(lanes, _mm512_set1_epi32(1))) {
          use(evens(lanes));
          if (kw + 1 < kernel.end) use(odds(lanes));
        }
        return;
      }
      for (int64_t kw = kernel.begin; kw < kernel.end; kw++) {
        const int64_t offset = kw * dilation;
        const __m512i lanes = _mm512_add_epi32(first, _mm512_set1_epi32(static_cast<int>(offset / 2)));
        use(offset % 2 == 0 ? evens(lanes) : odds(lanes));
      }
    }
  };
  // A vector of outputs of all terms after the other one.
  void pack_even(int64_t j, int columns, int64_t l, int64_t kc, float* to) const {
    for (int v = 0; v < NV; v++, to += W) {
      EvenRun runs[MOST_RUNS];
      const int64_t lanes = columns - v * W < W ? columns - v * W : W;
      int count = 0;
      for (int64_t q = 0; q < lanes; count++) {
        const int64_t row = (j + v * W + q) / g.width.output, column = j + v * W + q - row * g.width.output, past = least(q + g.width.output - column, lanes), depth = row / g.height.output;
        EvenRun& run = runs[count];
        run.d = depth, run.h = row - depth * g.height.output, run.at = 2 * (column - q) - g.width.padding;
        run.lanes = vmask_between(static_cast<int>(q), static_cast<int>(past));
        for (int64_t i = 0; i < MET; i++) {
          const auto limited = [&](int64_t place) { return static_cast<int>(place < 0 ? 0 : least(place, W)); };
          // Of the lanes of the run, as others are not its own.
          const int64_t first = run.at + i * W, begin = limited(2 * q - i * W), end = limited(2 * (past - 1) + (g.width.kernel - 1) * g.dilation + 1 - i * W);
          run.inside[i] = static_cast<VLanes>(vmask_between(limited(-first), limited(g.width.input - first)) & vmask_between(static_cast<int>(begin), static_cast<int>(end)));
        }
        for (int64_t k = 0; k < least(g.width.kernel, SHORT_KERNEL); k++) {
          const int64_t first = run.at + k * g.dilation, begin = first < 0 && (1 - first) / 2 > q ? (1 - first) / 2 : q, end = least(past, (g.width.input - first + 1) / 2);
          const uint32_t met = begin < end ? (1u << end) - (1u << begin) : 0;
          run.low[k] = every_second(met & 0xff), run.high[k] = every_second(met >> 8);
        }
        q = past;
      }
      if (count == 4) pack_runs<4>(runs, l, kc, to);
      else if (count == 3) pack_runs<3>(runs, l, kc, to);
      else if (count == 2) pack_runs<2>(runs, l, kc, to);
      else if (count == 1) pack_runs<1>(runs, l, kc, to);
      else for (int64_t p = 0; p < kc; p++) vstore(to + p * NR, vset(0));
    }
  }
  template <int RUNS>
  void pack_runs(const EvenRun* runs, int64_t l, int64_t kc, float* to) const {
    if (g.width.kernel <= SHORT_KERNEL) pack_elements<RUNS>(runs, l, kc, to);
    else pack_rows<RUNS>(runs, l, kc, to);
  }
  // An element of the kernel of some channels after the other, which all meet the same lanes.
  template <int RUNS>
  OPSCOPE_APART void pack_elements(const EvenRun* runs, int64_t l, int64_t kc, float* to) const {
    constexpr int64_t CHANNELS = 16;  // whose rows stay in the first-level cache
    const int64_t volume = g.volume(), plane = g.in_plane(), past = (l + kc - 1) / volume + 1;
    for (int64_t c = l / volume; c < past; c += CHANNELS)
      for (int64_t kd = 0, element = 0; kd < g.depth.kernel; kd++)
        for (int64_t kh = 0; kh < g.height.kernel; kh++) {
          int64_t rows[RUNS];
          for (int i = 0; i < RUNS; i++) rows[i] = g.row(runs[i].d, runs[i].h, kd, kh);
          for (int64_t kw = 0; kw < g.width.kernel; kw++, element++) {
            const int64_t begin = c * volume + element < l ? c + 1 : c, most = least(c + CHANNELS, past), end = (most - 1) * volume + element < l + kc ? most : most - 1;
            const float* from[RUNS];
            VLanes low[RUNS], high[RUNS];
            for (int i = 0; i < RUNS; i++) {
              from[i] = x + begin * plane + rows[i] * g.width.input + runs[i].at + kw * g.dilation;
              low[i] = rows[i] < 0 ? VLanes{} : runs[i].low[kw], high[i] = rows[i] < 0 ? VLanes{} : runs[i].high[kw];
            }
            float* at = to + (begin * volume + element - l) * NR;
            for (int64_t n = begin; n < end; n++, at += volume * NR) {
              V all = vload_even_masked(from[0], low[0], high[0]);
#pragma GCC unroll 4
              for (int i = 1; i < RUNS; i++) all = _mm512_or_ps(all, vload_even_masked(from[i], low[i], high[i]));
              vstore(at, all);
#pragma GCC unroll 4
              for (int i = 0; i < RUNS; i++) from[i] += plane;
            }
          }
        }
  }
  // Terms in their order: a row of the kernel after the other, of which each row of the input is read once.
  template <int RUNS>
  OPSCOPE_APART void pack_rows(const EvenRun* runs, int64_t l, int64_t kc, float* to) const {
    const int64_t across = g.width.kernel, rows = g.depth.kernel * g.height.kernel, volume = rows * across;
    int64_t places[MOST_KERNEL_ROWS][RUNS];  // of the rows in a channel; negative: padding
    for (int64_t r = 0; r < rows; r++)
      for (int i = 0; i < RUNS; i++) places[r][i] = g.row(runs[i].d, runs[i].h, r / g.height.kernel, r % g.height.kernel) * g.width.input;
    const float* channel = x + l / volume * g.in_plane();
    for (int64_t element = l % volume; kc > 0; channel += g.in_plane(), element = 0)
      for (int64_t r = element / across; r < rows && kc > 0; r++) {
        const int64_t first = element > r * across ? element - r * across : 0, past = least(across, first + kc);
        kc -= past - first;
        for (int i = 0; i < RUNS; i++) {
          const bool padding = places[r][i] < 0;
          float* at = to;
          EvenAndOdd(channel + (padding ? 0 : places[r][i] + runs[i].at), padding ? NOTHING : runs[i].inside).each({first, past}, g.dilation, [&, i](V v) __attribute__((always_inline)) {
            if (i == 0) vstore(at, v);
            else _mm512_mask_storeu_ps(at, runs[i].lanes, v);
            at += NR;
          });
        }
        to += (past - first) * NR;
      }
  }
  static constexpr VLanes NOTHING[MET] = {};
#endif

  // Whole vectors may reach into the runs behind, which follow, but not out of the row.
  OPSCOPE_INLINE void copy(const T* plane, const Piece& piece, const Run& run, float* row) const {
    const T* const from = plane + piece.from;
    float* const to = row + run.at;
    if (g.stride <= 2) {
      for (int q = 0; q < run.count; q += W) {
        const int begin = piece.begin > q ? piece.begin - q : 0, end = piece.end - q < W ? piece.end - q : W;
        V v = vset(0);
        if (begin == 0 && end == W) v = g.stride == 1 ? vload(from + q) : vload_even(from + 2 * q);
        else if (g.stride == 1 && begin < end) v = vload_between(from + q, begin, end, 0);
        else if (begin < end) v = vload_even_between(from + 2 * q, begin, end, 0);
        if (run.at + q + W <= NR) vstore(to + q, v);
        else vstore_n(to + q, v, NR - run.at - q);
      }
      return;
    }
    for (int q = 0; q < run.count; q++) to[q] = q >= piece.begin && q < piece.end ? to_float(from[q * g.stride]) : 0;
  }
};

}  // namespace
