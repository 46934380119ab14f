// Products of bf16 of few terms and columns by tiles (AMX): the right operand stays in tiles while all rows of the left one, which are read as they lie,
// meet it. Rows of results follow one another in memory: they are rounded to a buffer, whose whole lines are written, or streamed beyond the caches.
#pragma once
#include "bf16_operands.h"
#include "few_terms.h"
#include "vector_products.h"

namespace {

#if defined(OPSCOPE_TILES)
constexpr int64_t NARROW_TILES = 4;  // of the right operand: tmm1 .. tmm4; rows of the left one: tmm0; sums: tmm5 .. tmm7 by turns

// Those tiles, of `units` pairs of terms.
struct NarrowTiles : ShapedTiles {
  explicit NarrowTiles(int64_t units)
      : ShapedTiles([units](int i) { return TileShape{i > 0 && i <= NARROW_TILES ? units : TILE_ROWS, i == 0 ? 4 * units : 64}; }) {}
};

// Of fewer rows or terms, products by other tiles or by panels of floats take less, which one tile of columns repays later. Of an odd number of terms rows would be copied.
inline bool by_narrow_tiles(const Size& s) {
  constexpr int64_t LEAST_TERMS = 8, LEAST_OF_ONE = 10, MOST_TERMS = 2 * TILE_UNITS, LEAST_COLUMNS = 9, MOST_COLUMNS = NARROW_TILES * W, LEAST_ROWS = 256;
  return !s.trans_a && s.p.k % 2 == 0 && s.p.k >= (s.p.n <= W ? LEAST_OF_ONE : LEAST_TERMS) && s.p.k <= MOST_TERMS && s.p.n >= LEAST_COLUMNS && s.p.n <= MOST_COLUMNS && s.p.m >= LEAST_ROWS;
}

// Results that are rounded, in the order of memory, until whole lines of them are written.
template <bool STREAM>
class RoundedLines {
 public:
  explicit RoundedLines(BF16* out) : line_(reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(out) & ~uintptr_t{63})), skip_(reinterpret_cast<char*>(out) - line_), held_(skip_) {}
  // Room for what comes next.
  RoundedBF16* next() { return reinterpret_cast<RoundedBF16*>(buffer_ + held_); }
  void wrote(int64_t elements) { held_ += elements * static_cast<int64_t>(sizeof(BF16)); }
  void flush() {
    int64_t at = 0;
    if (skip_ > 0 && held_ >= LINE_BYTES) {
      __builtin_memcpy(line_ + skip_, buffer_ + skip_, LINE_BYTES - skip_);
      skip_ = 0, at = LINE_BYTES;
    }
    for (; at + LINE_BYTES <= held_; at += LINE_BYTES) put<STREAM>(reinterpret_cast<float*>(line_ + at), vload(reinterpret_cast<const float*>(buffer_ + at)));
    line_ += at, held_ -= at;
    if (at > 0) vstore(reinterpret_cast<float*>(buffer_), vload(reinterpret_cast<const float*>(buffer_ + at)));
  }
  // What is no whole line.
  void end() {
    if (held_ > skip_) __builtin_memcpy(line_ + skip_, buffer_ + skip_, held_ - skip_);
  }

 private:
  static constexpr int64_t LINE_BYTES = 64;
  char* line_;          // where the buffer begins in memory
  int64_t skip_, held_;  // bytes in front of the first result; of the buffer
  alignas(64) char buffer_[LINE_BYTES + TILE_ROWS * NARROW_TILES * W * sizeof(BF16) + 2 * LINE_BYTES];
};

// Sums of 16 rows and 16 columns to `results`, of tile COLUMN of the right operand.
template <int COLUMN>
OPSCOPE_INLINE void narrow_sums(float* results) {
  constexpr int64_t STRIDE = NARROW_TILES * W * sizeof(float);
  float* const to = results + COLUMN * W;
  if constexpr (COLUMN == 0) {
    OPSCOPE_TILE_ZERO(5);
    OPSCOPE_TILE_MULTIPLY(5, 0, 1);
    OPSCOPE_TILE_STORE(5, to, STRIDE);
  } else if constexpr (COLUMN == 1) {
    OPSCOPE_TILE_ZERO(6);
    OPSCOPE_TILE_MULTIPLY(6, 0, 2);
    OPSCOPE_TILE_STORE(6, to, STRIDE);
  } else if constexpr (COLUMN == 2) {
    OPSCOPE_TILE_ZERO(7);
    OPSCOPE_TILE_MULTIPLY(7, 0, 3);
    OPSCOPE_TILE_STORE(7, to, STRIDE);
  } else {
    OPSCOPE_TILE_ZERO(5);
    OPSCOPE_TILE_MULTIPLY(5, 0, 4);
    OPSCOPE_TILE_STORE(5, to, STRIDE);
  }
}

// Rows `r` of m rows of a product of k terms and n columns in TILES tiles.
template <int TILES, bool STREAM>
OPSCOPE_APART void narrow_rows_by_tiles(const BF16* a, int64_t m, int64_t k, int64_t n, Range r, BF16* out) {
  constexpr int64_t AHEAD = 2048;  // elements
  alignas(64) float results[2][TILE_ROWS * NARROW_TILES * W];
  RoundedLines<STREAM> lines(out + r.begin * n);
  const int64_t row_bytes = k * static_cast<int64_t>(sizeof(BF16));
  const auto round = [&](const float* sums, int64_t count) {
    RoundedBF16* to = lines.next();
    for (int64_t i = 0; i < count; i++, sums += NARROW_TILES * W, to += n) {
      vstore_two(to, vload(sums), vload(sums + W));
      if constexpr (TILES > 2) vstore_two(to + 2 * W, vload(sums + 2 * W), vload(sums + 3 * W));
    }
    lines.wrote(count * n);
    lines.flush();
  };
  // The sums of 16 rows are rounded while the next ones are made. The last rows, fewer than 16, are met with those before.
  for (int64_t i = r.begin, turn = 0; i < r.end; i += TILE_ROWS, turn ^= 1) {
    const int64_t first = least(i, m - TILE_ROWS);
    const BF16* const from = a + first * k;
    OPSCOPE_TILE_LOAD(0, from, row_bytes);
    for (int64_t line = 0; line < TILE_ROWS * k; line += 2 * LINE) vprefetch(from + AHEAD + line);
    float* const to = results[turn];
    narrow_sums<0>(to);
    if constexpr (TILES > 1) narrow_sums<1>(to);
    if constexpr (TILES > 2) narrow_sums<2>(to);
    if constexpr (TILES > 3) narrow_sums<3>(to);
    if (i > r.begin) round(results[turn ^ 1], TILE_ROWS);
    if (i + TILE_ROWS >= r.end) round(to + (i - first) * NARROW_TILES * W, r.end - i);
  }
  lines.end();
}

// The right operand as tiles of pairs, behind its last columns zero.
inline void narrow_right(const BF16* b, int64_t n, int64_t k, bool transposed, float* tiles) {
  const int64_t units = k / 2;
  for (int64_t j = 0; j < NARROW_TILES * W; j++)
    for (int64_t p = 0; p < units; p++) {
      const auto at = [=](int64_t term) { return b[transposed ? j * k + term : term * n + j]; };
      tiles[(j / W * TILE_UNITS + p) * W + j % W] = j < n ? pair_of(at(2 * p), at(2 * p + 1)) : 0;
    }
}

OPSCOPE_APART void run_narrow_tiles(const Call& c, const Size& s) {
  const int64_t m = s.p.m, n = s.p.n, k = s.p.k;
  const bool by_product = s.p.batch >= c.threads;
  const Range products = by_product ? part(s.p.batch, 1, c.thread, c.threads) : Range{0, s.p.batch}, r = by_product ? Range{0, m} : part(m, LINE, c.thread, c.threads);
  if (r.end == r.begin) return;
  const NarrowTiles state(k / 2);
  alignas(64) float tiles[NARROW_TILES * TILE_UNITS * W];
  for (int64_t i = products.begin; i < products.end; i++) {
    narrow_right(input<BF16>(c, 1) + i * n * k, n, k, s.trans_b, tiles);
    constexpr int64_t ROW_BYTES = W * sizeof(float);
    OPSCOPE_TILE_LOAD(1, tiles, ROW_BYTES);
    OPSCOPE_TILE_LOAD(2, tiles + TILE_UNITS * W, ROW_BYTES);
    OPSCOPE_TILE_LOAD(3, tiles + 2 * TILE_UNITS * W, ROW_BYTES);
    OPSCOPE_TILE_LOAD(4, tiles + 3 * TILE_UNITS * W, ROW_BYTES);
    const BF16* const a = input<BF16>(c, 0) + i * m * k;
    BF16* const out = output<BF16>(c) + i * m * n;
    const auto meet = [&](auto tiles_of) {
      c.stream ? narrow_rows_by_tiles<tiles_of.VALUE, true>(a, m, k, n, r, out) : narrow_rows_by_tiles<tiles_of.VALUE, false>(a, m, k, n, r, out);
    };
    if (n <= W) meet(Count<1>{});
    else if (n <= 2 * W) meet(Count<2>{});
    else if (n <= 3 * W) meet(Count<3>{});
    else meet(Count<4>{});
  }
  if (c.stream) vfence();
}
#endif

}  // namespace
