// Products of bf16 by tiles of 16 rows of 64 bytes (AMX): one instruction multiplies 16 x 32 elements by 32 x 16 of them.
//
// The right operand lies in the panels of simd/pairs.h. The left one is copied to where its tiles lie one behind another, or read as it lies
// where few panels meet it. Results of 32 x 32 leave the tiles through 4 KiB of the stack. Tiles hold whole numbers of terms and rows: terms
// behind the last are zero in both operands, rows behind the last are whatever the buffer holds, and their results are dropped.
#pragma once
#include "pairs.h"

namespace {

// What a thread has while it multiplies operands of a kind: nothing, or Tiles.
struct NoState {};

}  // namespace

#if defined(OPSCOPE_PAIRS) && defined(__GNUC__) && defined(__linux__)
#define OPSCOPE_TILES 1

namespace {

constexpr int TILE_ROWS = 16;
constexpr int64_t TILE_UNITS = 16, TILE_FLOATS = TILE_ROWS * TILE_UNITS;  // units are pairs of terms
constexpr int64_t TILE_KC = 512;                // units of a slab
constexpr int64_t GROUP_FLOATS = 1 << 17;       // of panels that the rows of a block meet one after the other: a quarter of a second-level cache of 2 MiB
constexpr int64_t PACKED_TOGETHER = 4;          // panels: rows of one alone are a line, often in a page of its own
constexpr int64_t PAIR_ROWS = 2 * TILE_ROWS;  // two groups of rows are multiplied at once
constexpr int64_t BLOCK_ROWS = MC / PAIR_ROWS * PAIR_ROWS;
constexpr int64_t LYING_PANELS = 2;  // fewer than three of them do not repay a copy of the left operand

// Not by intrinsics, as Pairs::fma. Tiles keep their contents between the statements: nothing else uses them.
#define OPSCOPE_TILE_LOAD(tile, data, stride) __asm__ volatile("tileloadd (%0,%1), %%tmm" #tile : : "r"(data), "r"(stride) : "memory")
#define OPSCOPE_TILE_STORE(tile, data, stride) __asm__ volatile("tilestored %%tmm" #tile ", (%0,%1)" : : "r"(data), "r"(stride) : "memory")
#define OPSCOPE_TILE_ZERO(tile) __asm__ volatile("tilezero %%tmm" #tile : : : "memory")
#define OPSCOPE_TILE_MULTIPLY(sum, a, b) __asm__ volatile("tdpbf16ps %%tmm" #b ", %%tmm" #a ", %%tmm" #sum : : : "memory")

// Rows of a tile, and bytes of a row.
struct TileShape {
  int64_t rows, bytes;
};

// While this exists, the thread has eight tiles: shape_of(i) is the TileShape of each.
class ShapedTiles {
 public:
  template <class F>
  explicit ShapedTiles(const F& shape_of) {
    struct alignas(64) {
      uint8_t palette = 1, start_row = 0, reserved[14] = {};
      uint16_t row_bytes[16] = {};
      uint8_t rows[16] = {};
    } shapes;
    for (int i = 0; i < 8; i++) {
      const TileShape shape = shape_of(i);
      shapes.row_bytes[i] = static_cast<uint16_t>(shape.bytes);
      shapes.rows[i] = static_cast<uint8_t>(shape.rows);
    }
    __asm__ volatile("ldtilecfg %0" : : "m"(shapes) : "memory");
  }
  ~ShapedTiles() { __asm__ volatile("tilerelease" : : : "memory"); }
  ShapedTiles(const ShapedTiles&) = delete;
  ShapedTiles& operator=(const ShapedTiles&) = delete;
};

// Sums and tiles of the left operand of up to 16 rows, those of the right one of 16.
struct Tiles : ShapedTiles {
  explicit Tiles(int64_t rows = TILE_ROWS, int64_t units = TILE_UNITS)
      : ShapedTiles([rows, units](int i) { return TileShape{i < 6 ? rows : units, i == 4 || i == 5 ? 4 * units : 64}; }) {}
};

// Tiles of the left operand: rows `stride` bytes apart, the tile of the next terms `step` bytes on.
struct LeftTiles {
  const char* data;
  int64_t stride, step;
};

// tmm0 .. tmm3 += a tile of up to two groups of 16 rows (tmm4, tmm5) times the two that follow one another at `b` (tmm6, tmm7), whose rows are `apart` bytes
// apart. A group: where its tile lies, and how far its rows are apart.
struct TileRows {
  const char* data;
  int64_t stride;
};
template <int GROUPS, int COLUMNS>
OPSCOPE_INLINE void multiply_tile(const TileRows& first, const TileRows& second, const char* b, int64_t apart) {
  constexpr int64_t BESIDE = W * sizeof(float);
  OPSCOPE_TILE_LOAD(4, first.data, first.stride);
  OPSCOPE_TILE_LOAD(6, b, apart);
  OPSCOPE_TILE_MULTIPLY(0, 4, 6);
  if constexpr (COLUMNS > 1) {
    OPSCOPE_TILE_LOAD(7, b + BESIDE, apart);
    OPSCOPE_TILE_MULTIPLY(1, 4, 7);
  }
  if constexpr (GROUPS > 1) {
    OPSCOPE_TILE_LOAD(5, second.data, second.stride);
    OPSCOPE_TILE_MULTIPLY(2, 5, 6);
    if constexpr (COLUMNS > 1) OPSCOPE_TILE_MULTIPLY(3, 5, 7);
  }
}
// The same of `steps` tiles of each group, and those of a panel.
template <int GROUPS, int COLUMNS>
inline void multiply_tiles(const LeftTiles& first, const LeftTiles& second, const float* panel, int64_t steps) {
  const char *a = first.data, *below = second.data, *b = reinterpret_cast<const char*>(panel);
  constexpr int64_t B_STRIDE = NR * sizeof(float);
  for (int64_t i = 0; i < steps; i++) {
    multiply_tile<GROUPS, COLUMNS>({a, first.stride}, {below, second.stride}, b, B_STRIDE);
    a += first.step;
    below += second.step;
    b += TILE_UNITS * B_STRIDE;
  }
}

inline Products in_tiles(const Products& p) { return {p.batch, p.m, p.n, up(pairs(p.k), TILE_UNITS), TILE_KC, TILE_UNITS, TILE_ROWS}; }

// As LeftPairs and RightPairs, but the terms of a slab are a whole number of tiles.
struct LeftOfTiles {
  const BF16* a;
  int64_t stride;  // between rows as stored
  bool transposed;
  int64_t terms;

  // How many of the tiles of kc units from l on could be read as they lie, where `rows` rows fill their groups.
  int64_t lying(int64_t rows, int64_t l, int64_t kc) const {
    const int64_t whole = (terms - 2 * l) / (2 * TILE_UNITS);
    return transposed || rows % TILE_ROWS != 0 ? 0 : least(whole, kc / TILE_UNITS);
  }
  LeftTiles place(int64_t i, int64_t l) const {
    constexpr int64_t BYTES = sizeof(BF16);
    return {reinterpret_cast<const char*>(a + i * stride + 2 * l), stride * BYTES, 2 * TILE_UNITS * BYTES};
  }
  // Up to 16 rows from i on, and kc units from l on.
  void pack(int64_t i, int rows, int64_t l, int64_t kc, float* to) const {
    if (transposed) return pack_transposed(i, rows, l, kc, to);
    for (int r = 0; r < rows; r++) {
      const BF16* const from = a + (i + r) * stride + 2 * l;
      int64_t left = terms - 2 * l;
      float* at = to + r * TILE_UNITS;
      for (int64_t p = 0; p < kc; p += TILE_UNITS, left -= 2 * TILE_UNITS, at += TILE_FLOATS) copy_pairs(from + 2 * p, TILE_UNITS, left, at);
    }
  }

 private:
  void pack_transposed(int64_t i, int rows, int64_t l, int64_t kc, float* to) const {
    constexpr int64_t SIDE = TILE<uint32_t>;
    alignas(64) float turned[TILE_FLOATS];
    for (int64_t p = 0; p < kc; p += TILE_UNITS, to += TILE_FLOATS) {
      for (int64_t q = 0; q < TILE_UNITS; q++) {
        const int64_t term = 2 * (l + p + q);
        const BF16* const even = a + term * stride + i;
        vstore(turned + q * TILE_ROWS, term < terms ? vpairs(even, term + 1 < terms ? even + stride : nullptr, rows) : vset(0));
      }
      for (int64_t q = 0; q < TILE_UNITS; q += SIDE)
        for (int64_t r = 0; r < TILE_ROWS; r += SIDE)
          transpose_tile(reinterpret_cast<const uint32_t*>(turned + q * TILE_ROWS + r), TILE_ROWS, reinterpret_cast<uint32_t*>(to + r * TILE_UNITS + q), TILE_UNITS);
    }
  }
};

struct RightOfTiles {
  RightPairs pairs_of;

  bool stays(int64_t, int64_t, int64_t) const { return false; }
  int64_t lying(int64_t, int64_t, int) const { return 0; }
  // Any number of columns, in panels one behind another.
  void pack(int64_t j, int64_t columns, int64_t l, int64_t kc, float* to) const {
    const int64_t met = least(kc, pairs(pairs_of.terms) - l);
    for (int64_t at = 0; at < columns; at += PACKED_TOGETHER * NR) {
      const int64_t some = least(PACKED_TOGETHER * NR, columns - at);
      float* const panels = to + at * kc;
      if (!pairs_of.transposed) pack_rows(j + at, some, l, met, kc, panels);
      for (int64_t q = 0; q < some; q += NR) {
        float* const panel = panels + q * kc;
        if (pairs_of.transposed) pairs_of.pack(j + at + q, static_cast<int>(least(NR, some - q)), l, met, panel);
        for (int64_t rest = met * NR; rest < kc * NR; rest += W) vstore(panel + rest, vset(0));
      }
    }
  }

 private:
  void pack_rows(int64_t j, int64_t columns, int64_t l, int64_t met, int64_t kc, float* to) const {
    const __m512i halves = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);  // those that interleaving keeps in order
    const int64_t stride = pairs_of.stride;
    for (int64_t p = 0; p < met; p++, to += NR) {
      const int64_t term = 2 * (l + p);
      const BF16 *const even = pairs_of.b + term * stride + j, *const odd = term + 1 < pairs_of.terms ? even + stride : nullptr;
      for (int64_t q = 0; q < columns; q += NR) {
        float* const row = to + q * kc;
        vprefetch(even + ROWS_AHEAD * stride + q);
        vprefetch(even + (ROWS_AHEAD + 1) * stride + q);
        if (columns - q >= NR && odd) {
          const __m512i x = _mm512_permutexvar_epi64(halves, _mm512_loadu_si512(even + q)), y = _mm512_permutexvar_epi64(halves, _mm512_loadu_si512(odd + q));
          vstore(row, _mm512_castsi512_ps(_mm512_unpacklo_epi16(x, y)));
          vstore(row + W, _mm512_castsi512_ps(_mm512_unpackhi_epi16(x, y)));
          continue;
        }
        for (int v = 0; v < NR; v += W) {
          const int left = static_cast<int>(least(W, columns - q - v));
          vstore(row + v, left > 0 ? vpairs(even + q + v, odd ? odd + q + v : nullptr, left) : vset(0));
        }
      }
    }
  }
};

// sums[rows x columns] = (`first`) or += what left the tiles, 32 floats to a row.
inline void add_tiles(const float* from, int64_t rows, int columns, bool first, float* sums, int64_t stride) {
  for (int64_t r = 0; r < rows; r++)
    for (int v = 0; v < columns; v += W) {
      float* const to = sums + r * stride + v;
      const V sum = vload(from + r * NR + v);
      if (const int left = columns - v; left < W) vstore_n(to, first ? sum : vadd(vload_n(to, left, 0), sum), left);
      else vstore(to, first ? sum : vadd(vload(to), sum));
    }
}

// Two groups of rows times a panel, to `results`: `lying` tiles of terms as they lie, then those that were packed.
struct LeftPair {
  LeftTiles first, second;
};
template <int GROUPS, int COLUMNS>
inline void results_of(const LeftPair& lies, int64_t lying, const LeftPair& packed, int64_t steps, const float* panel, float* results) {
  constexpr int64_t STRIDE = NR * sizeof(float);
  OPSCOPE_TILE_ZERO(0);
  if constexpr (COLUMNS > 1) OPSCOPE_TILE_ZERO(1);
  if constexpr (GROUPS > 1) OPSCOPE_TILE_ZERO(2);
  if constexpr (GROUPS > 1 && COLUMNS > 1) OPSCOPE_TILE_ZERO(3);
  multiply_tiles<GROUPS, COLUMNS>(lies.first, lies.second, panel, lying);
  multiply_tiles<GROUPS, COLUMNS>(packed.first, packed.second, panel + lying * TILE_UNITS * NR, steps - lying);
  OPSCOPE_TILE_STORE(0, results, STRIDE);
  if constexpr (COLUMNS > 1) OPSCOPE_TILE_STORE(1, results + W, STRIDE);
  if constexpr (GROUPS > 1) OPSCOPE_TILE_STORE(2, results + TILE_ROWS * NR, STRIDE);
  if constexpr (GROUPS > 1 && COLUMNS > 1) OPSCOPE_TILE_STORE(3, results + TILE_ROWS * NR + W, STRIDE);
}
inline void multiply_pair(int64_t rows, int columns, const LeftPair& lies, int64_t lying, const float* block, int64_t kc, const float* panel, float* results) {
  const auto group = [](const float* from) { return LeftTiles{reinterpret_cast<const char*>(from), TILE_UNITS * 4, TILE_FLOATS * 4}; };
  const LeftPair packed{group(block), group(block + TILE_ROWS * kc)};
  const int64_t steps = kc / TILE_UNITS;
  if (rows > TILE_ROWS) {
    if (columns > W) results_of<2, 2>(lies, lying, packed, steps, panel, results);
    else results_of<2, 1>(lies, lying, packed, steps, panel, results);
  } else {
    if (columns > W) results_of<1, 2>(lies, lying, packed, steps, panel, results);
    else results_of<1, 1>(lies, lying, packed, steps, panel, results);
  }
}

// As multiply() of simd/gemm.h. B: RightOfTiles, or what packs panels as it does.
template <class B, class Out>
void multiply(const LeftOfTiles& a, const B& b, bool, bool packs, const Out& out, Range rows, int64_t jc, int64_t nc, Range cols, int64_t l, int64_t kc, int64_t all_terms, float* slab, float* block, bool = false, bool keeps = false) {
  static_assert(Out::WAITS);
  alignas(64) float results[PAIR_ROWS * NR];
  const bool whole = kc >= all_terms, in_place = cols.end - cols.begin <= LYING_PANELS * NR;
  const int64_t stride = out.sum_stride(nc), all = rows.end - rows.begin, height = up(even_part(all, BLOCK_ROWS * 2 / 3), PAIR_ROWS);
  const int64_t group = up(least(cols.end - cols.begin, GROUP_FLOATS / kc), PACKED_TOGETHER * NR);
  const bool once = packs && !keeps && height >= all;
  for (int64_t i = rows.begin; i < rows.end; i += height) {
    const int64_t end = least(i + height, rows.end);
    const auto lying_of = [&](int64_t r) { return in_place ? a.lying(least(PAIR_ROWS, end - r), l, kc) : 0; };
    const auto at_row = [&](int64_t r) { return block + (r - i) * kc + lying_of((r - i) / PAIR_ROWS * PAIR_ROWS + i) * TILE_FLOATS; };
    for (int64_t r = i; r < end; r += TILE_ROWS) {
      const int64_t lying = lying_of((r - i) / PAIR_ROWS * PAIR_ROWS + i) * TILE_UNITS;
      if (lying < kc) a.pack(r, static_cast<int>(least(TILE_ROWS, end - r)), l + lying, kc - lying, at_row(r));
    }
    for (int64_t from = cols.begin; from < cols.end; from += group) {
      const int64_t to = least(from + group, cols.end);
      float* const panels = slab + (once ? 0 : from - cols.begin) * kc;
      if (packs && i == rows.begin) b.pack(jc + from, to - from, l, kc, panels);
      for (int64_t r = i; r < end; r += PAIR_ROWS) {
        const int64_t count = least(PAIR_ROWS, end - r);
        for (int64_t j = from; j < to; j += NR) {
          const int columns = static_cast<int>(least(NR, to - j));
          multiply_pair(count, columns, {a.place(r, l), a.place(r + TILE_ROWS, l)}, lying_of(r), at_row(r), kc, panels + (j - from) * kc, results);
          if (whole) out.finish(results, {r, r + count}, jc + j, {0, columns}, NR);
          else add_tiles(results, count, columns, l == 0, out.sums(jc) + r * stride + j, stride);
        }
      }
    }
  }
}

}  // namespace
#endif

// The kernels of an op that multiplies: run<T> of each float type, and run<BF16, ..> of pairs and of tiles where this instruction set has them.
#if defined(OPSCOPE_TILES)
#define OPSCOPE_MULTIPLIED_RUNS(run, in_pairs, in_tiles) {run<float>, run<F16>, run<BF16>, nullptr, nullptr, run<BF16, in_pairs>, run<BF16, in_tiles>}
#elif defined(OPSCOPE_PAIRS)
#define OPSCOPE_MULTIPLIED_RUNS(run, in_pairs, in_tiles) {run<float>, run<F16>, run<BF16>, nullptr, nullptr, run<BF16, in_pairs>}
#else
#define OPSCOPE_MULTIPLIED_RUNS(run, in_pairs, in_tiles) {run<float>, run<F16>, run<BF16>}
#endif
