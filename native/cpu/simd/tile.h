// Register tiles of matrix products in f32.
#pragma once
#include "in_register.h"
#include "operand.h"

namespace {

constexpr int64_t SHORT = W < 8 ? INT64_MAX : W < 16 ? 128 : 56;  // of terms: what comes next is not fetched

// Rows of the left operand that share a pointer; the others are reached from it by once and twice the stride.
constexpr int SHARED_POINTER = 3;

// What the next tile meets, fetched while this one is computed: its rows of A (unless by terms) and of C. b: a share of the panel of B that follows.
template <class O>
struct Ahead {
  const float* a;
  int64_t a_stride;
  const O* c;
  Lines b = {};
};

// How a tile meets the left operand: by rows, by rows with the next tile's fetched meanwhile, by terms, or by a group of its rows (Left) with the next one fetched.
enum class Walk { rows, rows_ahead, terms, groups };

// The last element of each of the (one or two) lines of a row of VECTORS vectors: where rows start within lines, the first line came with the
// panel before. A macro, for compilers leave out calls of functions that do nothing but prefetch.
#define OPSCOPE_PREFETCH_ROW(row)                                                  \
  do {                                                                             \
    if constexpr (VECTORS * W > LINE) vprefetch((row) + VECTORS * W - 1 - LINE);   \
    if constexpr (VECTORS * W > 2 * LINE) vprefetch((row) + LINE - 1), vprefetch((row) + 2 * LINE - 1);   \
    vprefetch((row) + VECTORS * W - 1);                                            \
  } while (false)

// The rows of part `nth` of `count` parts of these lines, into the second-level cache.
#define OPSCOPE_PREFETCH_LINES(lines, nth, count)                                                                        \
  for (int64_t line_row = (lines).rows * (nth) / (count); line_row < (lines).rows * ((nth) + 1) / (count); line_row++) { \
    const uintptr_t row_start = (lines).start + line_row * (lines).stride, row_end = row_start + (lines).bytes;          \
    for (uintptr_t line = row_start & ~uintptr_t{63}; line < row_end; line += 64) vprefetch_far(reinterpret_cast<const void*>(line)); \
  }

// A pointer that compilers do not replace by one to each row, which would be more than there are registers.
template <class T>
OPSCOPE_INLINE T* as_computed(T* p) {
#if defined(__GNUC__)
  __asm__("" : "+r"(p));
#endif
  return p;
}

// How many terms a turn of a tile's loop meets.
template <class B>
constexpr int terms_together() {
  if constexpr (requires { B::TOGETHER; }) return B::TOGETHER;
  return 1;
}

// c[ROWS x columns] = (`first`, always where c is no f32) or += rows of A times a panel of B of VECTORS vectors. The tile lives in registers.
template <int ROWS, int VECTORS, Walk WALK, class B, class O>
OPSCOPE_APART void tile_of(const float* a, int64_t a_stride, B b, int64_t kc, O* c, int64_t c_stride, int columns, [[maybe_unused]] bool first, const Ahead<O>& next) {
  constexpr bool GROUPED = WALK == Walk::groups, BY_TERMS = WALK == Walk::terms || GROUPED, AHEAD = WALK == Walk::rows_ahead || GROUPED, IN_PARTS = WALK != Walk::rows;
  constexpr int POINTERS = BY_TERMS ? 1 : (ROWS + SHARED_POINTER - 1) / SHARED_POINTER, TOGETHER = terms_together<B>();
  const float* at[POINTERS];
#pragma GCC unroll 16
  for (int r = 0; r < POINTERS; r++) at[r] = a + r * SHARED_POINTER * a_stride;
  V sum[ROWS][VECTORS];
#pragma GCC unroll 16
  for (int i = 0; i < ROWS; i++) {
    if (!AHEAD) OPSCOPE_PREFETCH_ROW(c + i * c_stride);
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) sum[i][v] = vset(0);
  }
  // The terms in as many parts as there are rows, and with each part a row of the next tile, ROWS terms of it with each term.
  int64_t p = 0;
  const float* next_a = next.a;
  const O* next_c = next.c;
  for (int part = IN_PARTS ? 0 : ROWS - 1; part < ROWS; part++) {
    if constexpr (AHEAD) {
      OPSCOPE_PREFETCH_ROW(next_c);
      next_c += c_stride;
    }
    if (IN_PARTS && next.b.rows > 0) OPSCOPE_PREFETCH_LINES(next.b, part, ROWS);
    const float* row_ahead = next_a;
    next_a += next.a_stride;
    if constexpr (TOGETHER > 1) {
      for (const int64_t turns_end = IN_PARTS && part + 1 < ROWS ? kc * (part + 1) / ROWS : kc; p + TOGETHER <= turns_end; p += TOGETHER) {
        if constexpr (AHEAD && !GROUPED) {
          vprefetch(row_ahead);
          vprefetch(row_ahead + TOGETHER * ROWS / 2);
          row_ahead += TOGETHER * ROWS;
        }
        if constexpr (GROUPED) {
          vprefetch(at[0] + ROWS * a_stride);
          vprefetch(at[0] + ROWS * a_stride + TOGETHER * ROWS / 2);
        }
#pragma GCC unroll 4
        for (int term = 0; term < TOGETHER; term++, b.step()) {
          V row[VECTORS];
#pragma GCC unroll 4
          for (int v = 0; v < VECTORS; v++) row[v] = vector_of<VECTORS>(b, v);
#pragma GCC unroll 16
          for (int i = 0; i < ROWS; i++) {
            const V x = vset(GROUPED ? at[0][term * ROWS + i] : at[i / SHARED_POINTER][i % SHARED_POINTER * a_stride + term]);
#pragma GCC unroll 4
            for (int v = 0; v < VECTORS; v++) sum[i][v] = B::Unit::fma(x, row[v], sum[i][v]);
          }
          in_order();
        }
#pragma GCC unroll 16
        for (int r = 0; r < POINTERS; r++) at[r] = as_computed(at[r] + TOGETHER * (GROUPED ? ROWS : 1));
      }
      if (part + 1 < ROWS) continue;
    }
    for (const int64_t end = IN_PARTS && TOGETHER == 1 ? p + kc / ROWS + (part < kc % ROWS) : kc; p < end; p++) {
      V row[VECTORS];
#pragma GCC unroll 4
      for (int v = 0; v < VECTORS; v++) row[v] = is_loaded_again(ROWS) ? in_register(vector_of<VECTORS>(b, v)) : vector_of<VECTORS>(b, v);
      if constexpr (B::FETCHED) OPSCOPE_PREFETCH_ROW(b.row_ahead());
      if constexpr (requires { b.odd_row_ahead(); }) OPSCOPE_PREFETCH_ROW(b.odd_row_ahead());
      if constexpr (AHEAD && !GROUPED) {
        vprefetch(row_ahead);
        row_ahead += ROWS;
      }
#pragma GCC unroll 16
      for (int i = 0; i < ROWS; i++) {
        const V x = vset(BY_TERMS ? at[0][i] : at[i / SHARED_POINTER][i % SHARED_POINTER * a_stride]);
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; v++) sum[i][v] = B::Unit::fma(x, row[v], sum[i][v]);
      }
      int64_t left_step = GROUPED ? ROWS : BY_TERMS ? a_stride : 1;
      if constexpr (B::LISTED) left_step = b.left_step();
      b.step();
#pragma GCC unroll 16
      for (int r = 0; r < POINTERS; r++) at[r] = as_computed(at[r] + left_step);
    }
  }
  if constexpr (requires { B::put_in_order(sum[0]); }) {
#pragma GCC unroll 16
    for (int i = 0; i < ROWS; i++) B::put_in_order(sum[i]);
  }
  if constexpr (sizeof(O) < sizeof(float) && VECTORS % 2 == 0)
    if (columns >= VECTORS * W) {
#pragma GCC unroll 16
      for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; v += 2) vstore_two(c + i * c_stride + v * W, sum[i][v], sum[i][v + 1]);
      return;
    }
  // Without a branch for each vector, for the processor then starts the next tile while this one is written.
  if constexpr (sizeof(O) == sizeof(float))
    if (columns >= VECTORS * W) {
      if (first) {
#pragma GCC unroll 16
        for (int i = 0; i < ROWS; i++, c = as_computed(c + c_stride))
#pragma GCC unroll 4
          for (int v = 0; v < VECTORS; v++) vstore(c + v * W, sum[i][v]);
      } else {
#pragma GCC unroll 16
        for (int i = 0; i < ROWS; i++, c = as_computed(c + c_stride))
#pragma GCC unroll 4
          for (int v = 0; v < VECTORS; v++) vstore(c + v * W, vadd(vload(c + v * W), sum[i][v]));
      }
      return;
    }
#pragma GCC unroll 4
  for (int v = 0; v < VECTORS; v++) {
    O* const to = c + v * W;
    const int left = columns - v * W;
    if constexpr (sizeof(O) == sizeof(float)) {
      if (left >= W) {
#pragma GCC unroll 16
        for (int i = 0; i < ROWS; i++) vstore(to + i * c_stride, first ? sum[i][v] : vadd(vload(to + i * c_stride), sum[i][v]));
      } else if (left > 0) {
#pragma GCC unroll 16
        for (int i = 0; i < ROWS; i++) vstore_n(to + i * c_stride, first ? sum[i][v] : vadd(vload_n(to + i * c_stride, left, 0), sum[i][v]), left);
      }
    } else if (left >= W) {
#pragma GCC unroll 16
      for (int i = 0; i < ROWS; i++) vstore(to + i * c_stride, sum[i][v]);
    } else if (left > 0) {
#pragma GCC unroll 16
      for (int i = 0; i < ROWS; i++) vstore_n(to + i * c_stride, sum[i][v], left);
    }
  }
}

template <int ROWS, int VECTORS, Walk WALK, class B, class O>
inline void tile_rows(int rows, const float* a, int64_t a_stride, const B& b, int64_t kc, O* c, int64_t c_stride, int columns, bool first, const Ahead<O>& next) {
  if constexpr (ROWS > 1)
    if (rows < ROWS) return tile_rows<ROWS - 1, VECTORS, WALK>(rows, a, a_stride, b, kc, c, c_stride, columns, first, next);
  tile_of<ROWS, VECTORS, WALK>(a, a_stride, b, kc, c, c_stride, columns, first, next);
}

template <int MOST, Walk WALK, class B, class O>
inline void tile(int rows, const float* a, int64_t a_stride, const B& b, int64_t kc, O* c, int64_t c_stride, int columns, bool first, const Ahead<O>& next) {
  if (columns > W) tile_rows<MOST, NV, WALK>(rows, a, a_stride, b, kc, c, c_stride, columns, first, next);
  else tile_rows<MOST, 1, WALK>(rows, a, a_stride, b, kc, c, c_stride, columns, first, next);
}

template <int ROWS, class B, class O>
inline void low_rows(int rows, const Left& a, const B& b, int64_t kc, O* c, int64_t c_stride, bool first, const Lines& lines) {
  if constexpr (ROWS > 1)
    if (rows < ROWS) return low_rows<ROWS - 1>(rows, a, b, kc, c, c_stride, first, lines);
  if (lines.rows > 0) tile_of<ROWS, 2 * NV, Walk::rows_ahead>(a.data, a.stride, b, kc, c, c_stride, 2 * NR, first, Ahead<O>{a.data, a.stride, c + 2 * NR, lines});
  else tile_of<ROWS, 2 * NV, Walk::rows>(a.data, a.stride, b, kc, c, c_stride, 2 * NR, first, Ahead<O>{});
}

// Few terms: the vectors of a panel stay in registers while all rows of A meet them, for tiles would take longer to start and end than to multiply.
// Panels of more terms are met a vector at a time, and the sum of each row is made of two.
constexpr int REGISTERS = W >= 16 || NV > 2 ? 32 : 16, PANEL_TERMS = W >= 16 ? 10 : (REGISTERS - NV - 2) / NV, VECTOR_TERMS = W >= 16 ? 28 : W >= 8 ? 12 : PANEL_TERMS;
constexpr int64_t STORED_AHEAD = 4;  // rows of C, fetched before they are written

template <bool FLAG>
struct Flag {
  static constexpr bool VALUE = FLAG;
};

template <int TERMS, int VECTORS, bool BY_TERMS, class B, class O>
OPSCOPE_APART void rows_of(const float* a, int64_t a_stride, int64_t rows, B b, O* c, int64_t c_stride, int columns) {
  constexpr int SUMS = TERMS > PANEL_TERMS ? 2 : 1;
  V panel[TERMS][VECTORS];
#pragma GCC unroll 32
  for (int p = 0; p < TERMS; p++) {
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) panel[p][v] = vector_of<VECTORS>(b, v);
    b.step();
  }
  for (int64_t i = 0; i < rows; i++, c += c_stride, a += BY_TERMS ? 1 : a_stride) {
    OPSCOPE_PREFETCH_ROW(c + STORED_AHEAD * c_stride);
    V sum[SUMS][VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < SUMS * VECTORS; v++) sum[v / VECTORS][v % VECTORS] = vset(0);
#pragma GCC unroll 32
    for (int p = 0; p < TERMS; p++) {
      const V x = vset(a[BY_TERMS ? p * a_stride : p]);
#pragma GCC unroll 4
      for (int v = 0; v < VECTORS; v++) sum[p % SUMS][v] = B::Unit::fma(x, panel[p][v], sum[p % SUMS][v]);
    }
    if constexpr (SUMS == 2) sum[0][0] = vadd(sum[0][0], sum[1][0]);
    if constexpr (sizeof(O) < sizeof(float) && VECTORS == 2)
      if (columns >= VECTORS * W) {
        vstore_two(c, sum[0][0], sum[0][1]);
        continue;
      }
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) {
      const int left = columns - v * W;
      if (left >= W) vstore(c + v * W, sum[0][v]);
      else if (left > 0) vstore_n(c + v * W, sum[0][v], left);
    }
  }
}

template <class O>
constexpr int MOST_FEW_TERMS = sizeof(O) < sizeof(float) ? PANEL_TERMS : VECTOR_TERMS;  // 16-bit results are written two vectors at a time
template <class O>
constexpr int64_t most_few_terms(const O*) {
  return MOST_FEW_TERMS<O>;
}
constexpr int64_t rows_that_pay(int64_t terms) { return terms > PANEL_TERMS ? 2 * terms : terms; }
// Where vectors are half a line, the other half would come after rows half a page apart have taken the line's place in the cache.
inline bool few_terms_pay(int64_t rows, int64_t terms, int64_t c_stride) {
  constexpr int64_t HALF_PAGE = 512;
  return rows >= rows_that_pay(terms) && (W >= 16 || terms <= PANEL_TERMS || (c_stride + LINE) % HALF_PAGE > 2 * LINE);
}

// Filters, which meet scattered panels, lie by rows: no tiles are made for others.
template <class B>
OPSCOPE_INLINE bool is_by_terms(const Left& a) { return B::FETCHED && a.by_terms; }

template <int TERMS, class B, class O>
inline void few_terms_of(const Left& a, int64_t rows, const B& b, int64_t kc, O* c, int64_t c_stride, int columns) {
  if constexpr (TERMS > PANEL_TERMS)
    if (kc <= PANEL_TERMS) return few_terms_of<PANEL_TERMS>(a, rows, b, kc, c, c_stride, columns);
  if constexpr (TERMS > 1)
    if (kc < TERMS) return few_terms_of<TERMS - 1>(a, rows, b, kc, c, c_stride, columns);
  constexpr int VECTORS = TERMS > PANEL_TERMS ? 1 : NV;
  for (int j = 0; j < columns; j += VECTORS * W) {
    const auto meets = [&](auto by_terms) {
      if (columns - j > W) rows_of<TERMS, VECTORS, by_terms.VALUE>(a.data, a.stride, rows, b.from(j), c + j, c_stride, columns - j);
      else rows_of<TERMS, 1, by_terms.VALUE>(a.data, a.stride, rows, b.from(j), c + j, c_stride, columns - j);
    };
    is_by_terms<B>(a) ? meets(Flag<true>{}) : meets(Flag<false>{});
  }
}

// What follows a panel: where its columns of C start, and the rows of A that its tiles or (`instead` of those of this panel) the next block meet.
// `unmet`: no panel has met the rows of this block yet.
template <class O>
struct Later {
  Left a;
  const O* c;
  bool instead, unmet;
  Lines b = {};
};
template <class O>
inline Later<O> later_of(const Left& a, const O* c, bool instead, bool unmet, const Lines& b) {
  return {a, c, instead, unmet, b};
}

// What tile t of `tiles` fetches.
template <class O>
inline Ahead<O> ahead_of(const Left& a, int64_t rows, int64_t tiles, int64_t t, O* c, int64_t c_stride, const Later<O>& later) {
  const int64_t end = tile_begin(rows, tiles, t + 1);
  const bool inside = end < rows;
  return {later.instead ? later.a.row(tile_begin(rows, tiles, t)) : inside ? a.row(end) : later.a.data, later.instead || !inside ? later.a.stride : a.stride, inside ? c + end * c_stride : later.c, later.b.rows > 0 ? later.b.part(t, tiles) : Lines{}};
}
// Calls compute(i, height, c of row i, what comes next) for the tiles of up to ROWS rows.
template <int ROWS, class O, class F>
OPSCOPE_INLINE void each_tile(const Left& a, int64_t rows, O* c, int64_t c_stride, const Later<O>& later, F compute) {
  const int64_t tiles = (rows + ROWS - 1) / ROWS;
  for (int64_t t = 0; t < tiles; t++) {
    const int64_t i = tile_begin(rows, tiles, t);
    compute(i, static_cast<int>(tile_begin(rows, tiles, t + 1) - i), c + i * c_stride, ahead_of(a, rows, tiles, t, c, c_stride, later));
  }
}

// c[rows x columns (<= NR)] = (`first`) or += kc terms of `rows` rows of A times a panel of B, by tiles of up to MOST rows.
template <int MOST = MR, class B, class O>
inline void multiply_panel(const Left& a, int64_t rows, const B& b, int64_t kc, O* c, int64_t c_stride, int columns, bool first, const Later<O>& later) {
  if constexpr (requires { b.from(0); })
    if (first && kc <= MOST_FEW_TERMS<O> && few_terms_pay(rows, kc, c_stride)) return few_terms_of<MOST_FEW_TERMS<O>>(a, rows, b, kc, c, c_stride, columns);
  const bool ahead = kc >= SHORT && (W >= 16 || later.instead || later.unmet || later.b.rows > 0);
  each_tile<MOST>(a, rows, c, c_stride, later, [&](int64_t i, int height, O* to, const Ahead<O>& next) {
    if (is_by_terms<B>(a)) tile<MOST, Walk::terms>(height, a.row(i), a.stride, b, kc, to, c_stride, columns, first, next);
    else if (!ahead || (height < MOST / 2 && next.b.rows == 0)) tile<MOST, Walk::rows>(height, a.row(i), a.stride, b, kc, to, c_stride, columns, first, next);
    else tile<MOST, Walk::rows_ahead>(height, a.row(i), a.stride, b, kc, to, c_stride, columns, first, next);
  });
}
// The same where the next panel is the one to the right.
template <class B>
inline void multiply_panel(const Left& a, int64_t rows, const B& b, int64_t kc, float* c, int64_t c_stride, int columns, bool first) {
  multiply_panel(a, rows, b, kc, c, c_stride, columns, first, Later<float>{a, c + NR, false, false});
}

}  // namespace
