// The operands of matrix products, as blocks and panels that tiles read (simd/tile.h), and how large these are.
#pragma once
#include "map.h"
#include "transpose.h"

namespace {

#if defined(OPSCOPE_ISA_avx512)
constexpr int MR = 14, NV = 2;
#elif defined(OPSCOPE_ISA_avx2)
constexpr int MR = 6, NV = 2;
#elif defined(OPSCOPE_ISA_neon)
constexpr int MR = 8, NV = 3;
#else
constexpr int MR = 4, NV = 2;
#endif
constexpr int NR = NV * W;
constexpr int LOW = W < 16 ? 2 : 6;  // of rows: then tiles are two panels wide, for the multiplications of one would wait for each other
constexpr int64_t KC = 384;
constexpr int64_t MC = 168;  // rows of A at a time: with KC terms each they stay in the second-level cache
constexpr int64_t NC = 4096 / NR * NR;
constexpr int64_t LYING_FLOATS = 56000;  // of A at a time where it is read as it lies

constexpr int64_t up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
// The largest part where `n` is cut into equal parts of about `most`, of at most one and a half times that.
inline int64_t even_part(int64_t n, int64_t most) {
  const int64_t parts = (n + most / 2) / most;
  return parts <= 1 ? n : (n + parts - 1) / parts;
}

// Where tile t of `tiles` of `rows` rows begins: the first ones have a row more than the others.
inline int64_t tile_begin(int64_t rows, int64_t tiles, int64_t t) { return t * (rows / tiles) + least(t, rows % tiles); }

template <class T>
inline void copy_row(const T* from, float* to, int64_t n) {
  if constexpr (sizeof(T) > 1) map1<false>(from, to, 0, n, [](V v) { return v; });
  else
    for (int64_t i = 0; i < n; i++) to[i] = to_float(from[i]);
}

// A block of the left operand as tiles read it: the term p of row i lies at data[i * stride + p], or where by_terms at data[p * stride + i]. `grouped`: by
// groups of rows, one for each tile: that of row i of a group of `height` rows from row g on lies at data[g * stride + p * height + i - g].
struct Left {
  const float* data;
  int64_t stride;
  bool by_terms, lies = false, grouped = false;
  Left from(int64_t term) const { return {data + (by_terms ? term * stride : term), stride, by_terms, lies}; }
  const float* row(int64_t i) const { return data + (by_terms ? i : i * stride); }
};

// Memory that will be met: `rows` rows of `bytes` bytes, `stride` bytes apart.
struct Lines {
  uintptr_t start = 0;
  int64_t stride = 0, rows = 0, bytes = 0;
  Lines part(int64_t nth, int64_t count) const { return {start + rows * nth / count * stride, stride, rows * (nth + 1) / count - rows * nth / count, bytes}; }
};
template <class T>
inline Lines lines_of(const T* data, int64_t stride, int64_t rows, int64_t columns) {
  constexpr int64_t BYTES = sizeof(T);
  return {reinterpret_cast<uintptr_t>(data), stride * BYTES, rows, columns * BYTES};
}

constexpr int64_t block_stride(int64_t terms) { return (terms + LINE - 1) / LINE * LINE + LINE; }  // rows start in different sets of the first cache

constexpr int64_t ROWS_COPIED_AHEAD = 3;
constexpr int64_t NARROW_STRIDE = 4 * LINE;  // terms so close to one another are read as they lie

// A row-major matrix as the left operand.
template <class T>
struct LeftMatrix {
  const T* a;
  int64_t stride;  // between rows as stored
  bool transposed;
  // Rows about a page apart meet in the same sets of the first cache.
  bool lies(int64_t rows) const {
    constexpr int64_t PAGE = 1024;  // of floats
    const int64_t past = stride % PAGE;
    return sizeof(T) == sizeof(float) && !transposed && ((past > 2 && past < PAGE - 2) || rows < 8 || stride <= 2);
  }
  int64_t block_rows(int64_t kc) const { return lies(MC) && LYING_FLOATS / kc > MC * 2 / 3 ? LYING_FLOATS / kc : MC * 2 / 3; }
  // Where row i lies from term l on, for what fetches it ahead; where that is no matrix of this kind, somewhere.
  Left source(int64_t i, int64_t l) const {
    if constexpr (sizeof(T) == sizeof(float))
      if (!transposed) return {a + i * stride + l, stride, false};
    return {reinterpret_cast<const float*>(a), 0, false};
  }
  // What block() reads where it copies a row for each term.
  Lines copied(int64_t i, int64_t rows, int64_t l, int64_t kc) const { return transposed && stride > NARROW_STRIDE ? lines_of(a + l * stride + i, stride, kc, rows) : Lines{}; }
  // Rows i .. i + rows and terms l .. l + kc, copied to `to` where tiles could not read them well as they lie.
  Left block(int64_t i, int64_t rows, int64_t l, int64_t kc, float* to) const {
    if constexpr (sizeof(T) == sizeof(float))
      if (lies(rows)) return {a + i * stride + l, stride, false, true};
    if constexpr (sizeof(T) == sizeof(float))
      if (transposed && stride <= NARROW_STRIDE && rows > LOW) return {a + l * stride + i, stride, true};
    if (transposed && rows < 8) {
      for (int64_t p = 0; p < kc; p++)
        for (int64_t r = 0; r < rows; r++) to[r * block_stride(kc) + p] = to_float(a[(l + p) * stride + i + r]);
      return {to, block_stride(kc), false};
    }
    if (transposed) {
      for (int64_t p = 0; p < kc; p++) copy_row(a + (l + p) * stride + i, to + p * MC, rows);
      return {to, MC, true};
    }
    if constexpr (sizeof(T) > 1)
      if (kc == stride && kc <= W) {
        // Short rows that follow one another.
        map1<false>(a + i * stride, to, 0, rows * stride, [](V v) { return v; });
        return {to, stride, false};
      }
    for (int64_t r = 0; r < rows; r++) {
      const T* const from = a + (i + r) * stride + l;
      for (int64_t p = 0; p < kc; p += LINE) vprefetch(from + ROWS_COPIED_AHEAD * stride + p);
      copy_row(from, to + r * block_stride(kc), kc);
    }
    return {to, block_stride(kc), false};
  }
#if defined(OPSCOPE_ISA_avx512)
  // Whether copying what is stored transposed by groups() pays, instead of a row for each term.
  bool by_groups(int64_t rows, int64_t columns, int64_t terms) const requires(sizeof(T) == sizeof(float)) {
    constexpr int64_t LEAST_ROWS = 24, LEAST_COLUMNS = 4 * NR, LEAST_TERMS = 32;
    return transposed && rows >= LEAST_ROWS && columns >= LEAST_COLUMNS && terms >= LEAST_TERMS;
  }
  // The same as block() of what is stored transposed, by groups of up to HEIGHT rows.
  template <int HEIGHT>
  Left groups(int64_t i, int64_t rows, int64_t l, int64_t kc, float* to) const requires(sizeof(T) == sizeof(float)) {
    constexpr int64_t TOGETHER = 8;  // terms, of which a line each is read by several groups
    const int64_t count = (rows + HEIGHT - 1) / HEIGHT, between = block_stride(kc);
    for (int64_t p = 0; p < kc; p += TOGETHER)
      for (int64_t g = 0, first = 0; g < count; g++) {
        const int64_t height = tile_begin(rows, count, g + 1) - first;
        const VHalfLanes lanes = vhalf_lanes(static_cast<int>(height));
        const float* from = a + (l + p) * stride + i + first;
        float* there = to + first * between + p * height;
        if (p + TOGETHER <= kc) {
#pragma GCC unroll 8
          for (int64_t q = 0; q < TOGETHER; q++, from += stride, there += height) vcopy_half(from, there, lanes);
        } else {
          for (int64_t q = p; q < kc; q++, from += stride, there += height) vcopy_half(from, there, lanes);
        }
        first += height;
      }
    return {to, between, false, false, true};
  }
#endif
};

constexpr int64_t ROWS_AHEAD = 16;  // of the right operand, fetched before they are met

// What operands are made of, and how two of them are multiplied and added.
struct Floats {
  static inline V fma(V x, V y, V sum) { return vfma(x, y, sum); }
};

// A panel of the right operand, row by row: `stride` apart..
template <class U>
struct PanelOf {
  const float* data;
  int64_t stride;
  using Unit = U;
  static constexpr bool FETCHED = true, LISTED = false;
  const float* row() const { return data; }
  const float* row_ahead() const { return data + ROWS_AHEAD * stride; }
  void step() { data += stride; }
  PanelOf from(int64_t column) const { return {data + column, stride}; }
};

using Right = PanelOf<Floats>;

// .. the same for few rows that meet a panel of few terms: what is fetched are the rows of the next two panels ..
struct RightBeside : Right {
  const float* row_ahead() const { return data + 2 * NR; }
};

// .. the same where other rows have met the panel: nothing is fetched ..
struct RightMet : Right {
  static constexpr bool FETCHED = false;
  static constexpr int TOGETHER = 4;
};

// .. two packed panels side by side, `gap` floats apart ..
struct RightPair {
  const float* data;
  int64_t gap;
  using Unit = Floats;
  static constexpr bool FETCHED = false, LISTED = false;
  static constexpr int TOGETHER = 4;
  V vector(int v) const { return vload(data + (v < NV ? 0 : gap) + v % NV * W); }
  void step() { data += NR; }
};

// .. or wherever they lie ..
template <class U>
struct ScatteredOf {
  const float* data;
  const int32_t* offsets;
  using Unit = U;
  static constexpr bool FETCHED = false, LISTED = false;
  const float* row() const { return data + *offsets; }
  void step() { offsets++; }
  ScatteredOf from(int64_t column) const { return {data + column, offsets}; }
};

// .. each vector by itself ..
template <class U>
struct ApartOf {
  const float* at[NV];
  const int32_t* offsets;
  using Unit = U;
  static constexpr bool FETCHED = false, LISTED = false;
  V vector(int v) const { return vload(at[v] + *offsets); }
  void step() { offsets++; }
  ApartOf from(int64_t column) const {
    ApartOf last = *this;
    for (int64_t v = column / W, to = 0; v < NV; v++, to++) last.at[to] = at[v];
    return last;
  }
};

#if defined(OPSCOPE_ISA_avx512)
#define OPSCOPE_JOINED 1
// .. its last lanes `gap` floats further on than they would follow the others.
template <class U>
struct JoinedOf {
  const float* at[NV];
  const int32_t* offsets;
  int64_t gap;
  VLanes behind[NV];
  using Unit = U;
  static constexpr bool FETCHED = false, LISTED = false;
  V vector(int v) const {
    const float* const p = at[v] + *offsets;
    return vload_joined(p, p + gap, behind[v]);
  }
  void step() { offsets++; }
  JoinedOf from(int64_t column) const {
    JoinedOf last = *this;
    for (int64_t v = column / W, to = 0; v < NV; v++, to++) last.at[to] = at[v], last.behind[to] = behind[v];
    return last;
  }
};
#endif

// Vector v of the VECTORS that are met of the row of a panel that comes next.
template <int VECTORS, class B>
OPSCOPE_INLINE V vector_of(const B& b, int v) {
  if constexpr (requires { b.template vector<VECTORS>(v); }) return b.template vector<VECTORS>(v);
  else if constexpr (requires { b.vector(v); }) return b.vector(v);
  else return vload(b.row() + v * W);
}

// Of the left operand, and of the right one (about half of a second-level cache of 1 MiB).
constexpr int64_t FEW_ROWS = W < 16 ? 130 : 420, FEW_FLOATS = W < 16 ? 150000 : 300000;
constexpr int64_t MANY_ROWS = 12 * MR, FEW_TERMS = 64;  // of a narrow panel: then it is copied whole

// As the right operand, of `terms` terms. pack(): columns j .. j + columns (<= NR) and rows l .. l + kc as kc groups of NR, missing columns as zero.
template <class T>
struct RightMatrix {
  using Panel = Right;
  const T* b;
  int64_t stride;
  bool transposed;
  int64_t terms;
  // Whether panels are read as they lie: what copying costs is then not won back. Not one narrow panel that many rows meet, whose last terms are copied anyway.
  bool stays(int64_t rows, int64_t terms, int64_t columns) const { return sizeof(T) == sizeof(float) && !transposed && (W == 16 || stride % 512 != 0 || rows <= MR) && (rows <= FEW_ROWS || terms * columns <= FEW_FLOATS) && !(columns < NR && columns != W && terms >= FEW_TERMS && rows > MANY_ROWS); }
  // Whether the rows of a panel take the places of others in the second-level cache before the last tile has met them. Or start within lines (AVX-512, `terms`
  // in all): many rows of the left one repay packed panels, which two at a time meet, fewer where the right one is larger than that cache or its rows lie about a page apart.
  bool collides(int64_t rows, int64_t terms) const {
    constexpr int64_t APART = 512, FEW_TILES = 2 * MR, SETS_FILLED = 128;
    constexpr int64_t MORE_ROWS = 4 * MR, TERMS_WITHIN_LINES = 128, TERMS_OF_PAGES = 192, FAR = 1 << 19, PAGE = 1024, NEARLY = 2;
    if (W == 16 && sizeof(T) == sizeof(float) && stride % LINE != 0 && terms > TERMS_WITHIN_LINES) {
      const bool pages = (stride + NEARLY) % PAGE <= 2 * NEARLY && terms >= TERMS_OF_PAGES;
      if (rows > MANY_ROWS || (rows > MORE_ROWS && pages) || (rows > FEW_TILES && times(terms, stride) >= FAR)) return true;
    }
    return stride % APART == 0 && rows > FEW_TILES && terms >= SETS_FILLED;
  }
  // How many of kc terms from l on are: not the last ones of a narrow panel, whose vectors would reach behind the matrix. One of a whole vector is met by that alone.
  int64_t lying(int64_t l, int64_t kc, int columns) const {
    if (columns == NR || columns == W) return kc;
    const int64_t left = terms - l - (NR + stride - 1) / stride;
    return kc < FEW_TERMS || left < 0 ? 0 : least(kc, left);
  }
  Right place(int64_t j, int64_t l) const { return {reinterpret_cast<const float*>(b + l * stride + j), stride}; }
  // What pack() reads.
  Lines source(int64_t j, int columns, int64_t l, int64_t kc) const { return transposed ? lines_of(b + j * stride + l, stride, columns, kc) : lines_of(b + l * stride + j, stride, kc, columns); }

  void pack(int64_t j, int columns, int64_t l, int64_t kc, float* to) const {
    if (transposed) return pack_transposed(j, columns, l, kc, to, NR);
    for (int64_t p = 0; p < kc; p++) {
      const T* from = b + (l + p) * stride + j;
      if constexpr (sizeof(T) > 1) {
        if (columns == NR) {
          for (int v = 0; v < NV; v++) {
            if (v * W % LINE == 0) vprefetch(from + ROWS_AHEAD * stride + v * W);
            vstore(to + p * NR + v * W, vload(from + v * W));
          }
        } else {
          for (int v = 0; v < NV; v++) {
            const int left = columns - v * W;
            vstore(to + p * NR + v * W, left >= W ? vload(from + v * W) : left > 0 ? vload_n(from + v * W, left, 0) : vset(0));
          }
        }
      } else {
        for (int q = 0; q < NR; q++) to[p * NR + q] = q < columns ? to_float(from[q]) : 0;
      }
    }
  }

  // The same where the operand is stored transposed; missing columns as zero up to `met`.
  void pack_transposed(int64_t j, int columns, int64_t l, int64_t kc, float* to, int met) const {
    const T* const from = b + j * stride + l;
    int q = 0;
#if defined(OPSCOPE_TRANSPOSE_TILE)
    constexpr int SIDE = TILE<uint32_t>;
    for (; q < columns; q += SIDE) {
      const int some = columns - q < SIDE ? columns - q : SIDE;
      int64_t p = 0;
      for (; p + SIDE <= kc; p += SIDE) {
        auto* const there = reinterpret_cast<uint32_t*>(to + p * NR + q);
        if (sizeof(T) == sizeof(float) && some == SIDE) {
          transpose_tile(reinterpret_cast<const uint32_t*>(from + q * stride + p), stride, there, NR);
#if defined(OPSCOPE_TRANSPOSE_ROWS)
        } else if (sizeof(T) == 2 && some == SIDE) {
          if constexpr (sizeof(T) == 2) transpose_rows([&](int row, int half) { return four_floats(from + (q + row) * stride + p + 4 * half); }, there, NR);
#endif
        } else {
          float rows[SIDE * SIDE] = {};
          for (int r = 0; r < some; r++) {
            if constexpr (sizeof(T) == sizeof(float)) __builtin_memcpy(rows + r * SIDE, from + (q + r) * stride + p, SIDE * sizeof(float));
            else copy_row(from + (q + r) * stride + p, rows + r * SIDE, SIDE);
          }
          transpose_tile(reinterpret_cast<const uint32_t*>(rows), SIDE, there, NR);
        }
      }
      for (; p < kc; p++)
        for (int r = 0; r < SIDE; r++) to[p * NR + q + r] = r < some ? to_float(from[(q + r) * stride + p]) : 0;
    }
    if (q < met)
      for (int64_t p = 0; p < kc; p++)
        for (int r = q; r < met; r++) to[p * NR + r] = 0;
#else
    for (; q < met; q++)
      for (int64_t p = 0; p < kc; p++) to[p * NR + q] = q < columns ? to_float(from[q * stride + p]) : 0;
#endif
  }
};

}  // namespace
