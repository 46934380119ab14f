// Matrix products in f32, a register tile at a time; what a matrix is made of is up to its operand.
//
// The blocking of Goto & van de Geijn ("Anatomy of high-performance matrix multiplication", 2008): blocks of A and panels of B of up to
// KC * 3 / 2 terms. Operands are read as they lie where copies would not pay (simd/operand.h); the right one is else copied into panels of NR
// columns. Rows are shared out evenly over tiles of up to MR, and the last panel has one vector of columns where that is enough. While a
// tile is computed, what the next one meets is fetched (simd/tile.h), and a share of the next panel of B where B is large. Many small products: every thread takes whole ones. Else threads share
// the rows and pack each slab of B together into one of two buffers, so that one barrier per slab is enough, or (few rows) the columns.
#pragma once
#include "lower_tiles.h"
#include "product_blocks.h"

namespace {

// Where sums go: into the output itself..
struct Direct {
  float* out;
  int64_t stride;
  static constexpr bool WAITS = false, STREAMS = false;
  float* sums(int64_t j) const { return out + j; }
  int64_t sum_stride(int64_t) const { return stride; }
  void finish(const float*, Range, int64_t, Range, int64_t) const {}
};

// .. or once, rounded, where a slab has all terms and none of B stays where it lies ..
template <class O>
struct Once {
  O* out;
  int64_t stride;
  static constexpr bool WAITS = false, STREAMS = false;
  O* sums(int64_t j) const { return out + j; }
  int64_t sum_stride(int64_t) const { return stride; }
  void finish(const O*, Range, int64_t, Range, int64_t) const {}
};

template <class O>
inline Once<O> once(O* out, int64_t stride) {
  return {out, stride};
}

// .. or into buffers until they are complete (STREAMS: each panel of a block of rows until it is streamed, simd/streamed_products.h) ..
struct Buffered {
  float* buffer;
  static constexpr bool WAITS = true, STREAMS = false;
  float* sums(int64_t) const { return buffer; }
  int64_t sum_stride(int64_t nc) const { return nc; }
};

// .. then finished(i, j, sums, n) writes n columns of row i from j on ..
template <class F>
struct Finished : Buffered {
  F finished;
  // sums: of the first of these rows.
  void finish(const float* sums, Range rows, int64_t jc, Range cols, int64_t nc) const {
    for (int64_t i = rows.begin; i < rows.end; i++, sums += nc) finished(i, jc + cols.begin, sums + cols.begin, cols.end - cols.begin);
  }
};

// .. or they are rounded to a matrix of a storage type, rows that are shorter than a vector and follow one another together.
template <class T>
struct Rounded : Buffered {
  T* out;
  int64_t stride;
  void finish(const float* sums, Range rows, int64_t jc, Range cols, int64_t nc) const {
    const int64_t n = cols.end - cols.begin, together = n < W && n == nc && n == stride ? rows.end - rows.begin : 1;
    T* to = out + rows.begin * stride + jc + cols.begin;
    for (int64_t i = rows.begin; i < rows.end; i += together, sums += nc, to += stride) map1<false>(sums + cols.begin, to, 0, n * together, [](V v) { return v; });
  }
};

template <class A>
constexpr bool CAN_BE_GROUPED = requires(const A& a) { a.by_groups(0, 0, 0); };

// Whether the panels of B are read as they lie by so many rows of A.
template <class A, class B>
bool right_stays(const Call& call, const Products& s, const A& a, const B& b, int64_t rows) {
  if (!b.stays(rows, s.k, s.n)) return false;
  if constexpr (requires { b.collides(rows, s.k); })
    if (call.distant_cache && b.collides(rows, s.k)) return false;
  // Groups meet two panels at once: where rows of B start within lines, only packed ones.
  if constexpr (CAN_BE_GROUPED<A> && requires { b.stride; })
    if (call.distant_cache && b.stride % LINE != 0 && a.by_groups(rows, s.n, s.terms())) return false;
  return true;
}

// Rows of C against a slab of B (columns jc + cols of it). `packs`: the slab's panels are packed here, each before its first use, into the same
// place where one block of A meets all of them and none `keeps` them; else they lie in the slab, but for those that stay where they are. Where the slab has all terms, sums that wait
// are finished a block at a time, in the same place, while they are in the caches. `distant`: the last-level cache. Two panels are met at once, where they are packed and
// sums go to where they stay, or lie and (with a distant cache) rows of results start lines or sums are short (AVX-512); a left operand that is stored transposed may then be copied by groups of rows.
template <class A, class B, class Out>
void multiply(const A& a, const B& b, bool stays, bool packs, const Out& out, Range rows, int64_t jc, int64_t nc, Range cols, int64_t l, int64_t kc, int64_t all_terms, float* slab, float* block, bool distant = false, bool keeps = false) {
  constexpr int64_t WAITING = 1 << 16, STREAMED_ROWS = 4 * MR;
  constexpr int64_t FAR_FLOATS = 500000, FAR_OF_ONE_TILE = 2000000, FAR_OF_MANY = 1 << 17;  // of the right operand: then its panels are fetched ahead
  constexpr int64_t FAR_RESULTS = 12 << 20, PAGE = 4096, NEARLY = 8, ROWS_TOGETHER = 8, FAR_TERMS = W < 16 ? VECTOR_TERMS : PANEL_TERMS;  // bytes; rows; terms
  constexpr bool CAN_BE_LOWER = W == 16 && sizeof(*out.sums(0)) == sizeof(float) && requires { Right{b.place(0, 0)}; };
  constexpr int64_t LEAST_OF_LOWER = 4 * LOWER, TERMS_OF_FAR = 128, TERMS_OF_BESIDE = 64, LEAST_OF_FEW = 8, LEAST_OF_LYING = 4 * NR, NEAR_TERMS = 128;  // rows; terms of panels that lie in a slab beyond the second-level cache; terms of which a whole panel is fetched while the one before is met; columns; terms of two panels that stay in the first-level cache
  constexpr bool PAIRED = !Out::WAITS || Out::STREAMS;
  const bool reused = kc >= all_terms && Out::WAITS;
  const int64_t stride = out.sum_stride(nc), all = rows.end - rows.begin;
  auto* const c = out.sums(jc) + rows.begin * stride;
  // Several panels of few terms: rows that lie beyond the caches, or meet in the same sets of them, are written a few whole ones at a time.
  const int64_t row_bytes = stride * static_cast<int64_t>(sizeof(*c));
  const bool meet = W >= 16 && (row_bytes + NEARLY) % PAGE <= 2 * NEARLY && all > 2 * ROWS_TOGETHER;
  const bool apart = !Out::STREAMS && kc >= all_terms && kc <= (meet && row_bytes % PAGE == 0 ? most_few_terms(c) : FAR_TERMS) && (meet || all * row_bytes > FAR_RESULTS) && cols.end - cols.begin > NR;
  const int64_t most = Out::STREAMS ? STREAMED_ROWS : apart ? (rows_that_pay(kc) > ROWS_TOGETHER ? rows_that_pay(kc) : ROWS_TOGETHER) : reused ? least(a.block_rows(kc), WAITING / nc < 4 * MR ? 4 * MR : WAITING / nc) : a.block_rows(kc);
  const int64_t height = all <= least(MC * 2 / 3, most) ? all : apart ? most : CAN_BE_LOWER ? up(even_part(all, most), LOWER) : even_part(all, most);
  bool grouped = false;
  if constexpr (CAN_BE_LOWER && CAN_BE_GROUPED<A>) grouped = (distant || !stays || stride % LINE == 0) && PAIRED && a.by_groups(all, cols.end - cols.begin, kc);
  const bool once = packs && !keeps && height >= all, far = all_terms * (cols.end - cols.begin) > (packs && all > 8 * MR ? FAR_OF_MANY : all > MR ? FAR_FLOATS : FAR_OF_ONE_TILE);
  for (int64_t i = rows.begin; i < rows.end; i += height) {
    const int64_t count = least(height, rows.end - i);
    auto* const own = c + (reused ? 0 : (i - rows.begin) * stride);
    // Few rows, which meet too little of each panel to wait for it: two panels at once, and the next two fetched meanwhile.
    const bool beside = stays && kc < TERMS_OF_BESIDE, few = distant && beside && kc >= LEAST_OF_FEW && all > LOW && all <= 2 * MR && !(kc <= most_few_terms(c) && few_terms_pay(count, kc, stride));
    const bool pairs = CAN_BE_LOWER && (stays ? (!distant || stride % LINE == 0 || kc <= TERMS_OF_FAR) && (kc <= TERMS_OF_FAR || kc * nc <= FAR_FLOATS) : PAIRED) && (few || (count >= LEAST_OF_LOWER && kc > VECTOR_TERMS));
    const bool fetches = distant && kc > NEAR_TERMS;
    // Six rows a page apart do not take each other's places in the first-level cache.
    bool six = false;
    if constexpr (CAN_BE_LOWER && requires { a.lies(count); }) six = pairs && !a.lies(count) && cols.end - cols.begin >= LEAST_OF_LYING && a.source(i, l).stride != 0;
    const Left left = [&] {
      if constexpr (CAN_BE_LOWER && CAN_BE_GROUPED<A>)
        if (grouped) return a.template groups<LOWER>(i, count, l, kc, block);
      if (six) {
        const Left where = a.source(i, l);
        return Left{where.data, where.stride, false, true};
      }
      return a.block(i, count, l, kc, block);
    }();
    [[maybe_unused]] int64_t made = cols.begin;
    for (int64_t j = cols.begin; j < cols.end; j += NR) {
      if constexpr (Out::STREAMS)
        if (j > made) out.stream(own, i, count, jc, {made, j}, made == cols.begin, false), made = j;
      const int columns = static_cast<int>(least(NR, cols.end - j));
      const int64_t lying = stays ? b.lying(l, kc, columns) : 0;
      float* const panel = slab + (once ? 0 : j - cols.begin) * kc;
      auto* const at = [&] {
        if constexpr (Out::STREAMS) return own + Out::BEFORE;
        else return own + j;
      }();
      const bool low = count <= LOW && stays && !left.by_terms && !grouped && cols.end - j >= 2 * NR;
      const bool together = pairs && !left.by_terms && cols.end - j >= 2 * NR;
      if (packs && lying < kc && i == rows.begin) {
        b.pack(jc + j, columns, l + lying, kc - lying, panel);
        if (together) b.pack(jc + j + NR, NR, l, kc, panel + NR * kc);
      }
      const int64_t end = j + (low || together ? 2 * NR : NR);
      const bool last = end >= cols.end, ends = i + count >= rows.end;
      // The panel that follows where no block of A has met it, or the first one of the terms that follow.
      Lines follows;
      if (!last && i == rows.begin && far) {
        const int following = static_cast<int>(least(end - j, cols.end - end));
        follows = packs || stays ? b.source(jc + end, following, l, kc) : lines_of(slab + (end - cols.begin) * kc, NR, kc, NR);
      } else if (last && ends && far && (packs || stays) && l + kc < all_terms) {
        follows = b.source(jc + cols.begin, static_cast<int>(least(end - j, cols.end - cols.begin)), l + kc, least(kc, all_terms - l - kc));
      }
      // Else the rows of A that are copied next.
      if constexpr (requires { a.copied(i, count, l, kc); })
        if (last && follows.rows == 0) {
          if (!ends) follows = a.copied(i + count, least(height, rows.end - i - count), l, kc);
          else if (l + kc < all_terms) follows = a.copied(rows.begin, least(height, all), l + kc, least(kc, all_terms - l - kc));
        }
      if (low) {
        const auto lie = b.place(jc + j, l);
        if constexpr (sizeof(*at) == sizeof(float) && requires { RightBeside{lie}; }) {
          if (kc < 2 * ROWS_AHEAD || (beside && follows.rows == 0)) low_rows<LOW>(static_cast<int>(count), left, RightBeside{lie}, kc, at, stride, l == 0, Lines{});
          else low_rows<LOW>(static_cast<int>(count), left, lie, kc, at, stride, l == 0, follows);
        } else {
          low_rows<LOW>(static_cast<int>(count), left, lie, kc, at, stride, l == 0, follows);
        }
        j += NR;
        continue;
      }
      const Left next = last ? (ends ? a.source(rows.begin, l + kc) : a.source(i + count, l)) : left;
      const auto later = later_of(next, Out::STREAMS ? at : !last ? own + end : ends || reused ? c + cols.begin : own + count * stride + cols.begin, last && !left.lies, left.lies && j == cols.begin, follows);
      if constexpr (CAN_BE_LOWER)
        if (together) {
          if (few) multiply_two_panels(left, count, RightBeside{b.place(jc + j, l)}, kc, at, stride, l == 0, later, fetches);
          else if (stays) multiply_two_panels(left, count, b.place(jc + j, l), kc, at, stride, l == 0, later, fetches);
          else multiply_two_panels(left, count, RightPair{panel, NR * kc}, kc, at, stride, l == 0, later, fetches);
          j += NR;
          continue;
        }
      if constexpr (CAN_BE_LOWER)
        if (grouped) {
          if (lying > 0) multiply_by_groups(left, count, 0, b.place(jc + j, l), lying, at, stride, columns, l == 0, later);
          if (lying < kc) multiply_by_groups(left, count, lying, typename B::Panel{panel, NR}, kc - lying, at, stride, columns, l == 0 && lying == 0, later);
          continue;
        }
      const auto by_panel = [&](const Left& rows_of_a, const auto& panel_of_b, int64_t some, bool makes) {
        if constexpr (CAN_BE_LOWER)
          if (six) return multiply_panel<LOWER>(rows_of_a, count, panel_of_b, some, at, stride, columns, makes, later);
        multiply_panel(rows_of_a, count, panel_of_b, some, at, stride, columns, makes, later);
      };
      if (lying > 0) by_panel(left, b.place(jc + j, l), lying, l == 0);
      if (lying < kc) by_panel(left.from(lying), typename B::Panel{panel, NR}, kc - lying, l == 0 && lying == 0);
    }
    if constexpr (Out::STREAMS) out.stream(own, i, count, jc, {made, cols.end}, made == cols.begin, true);
    else if (reused) out.finish(c, {i, i + count}, jc, cols, nc);
  }
}

// One product by `threads` threads: those that share the rows pack two slabs of B together, others pack what they meet.
template <class A, class B, class Out>
void product(const Call& call, const Products& s, const A& a, const B& b, const Out& out, float* slabs, float* block, int thread, int threads, int& phase) {
  const bool by_rows = s.by_rows(threads), packs = threads == 1 || !by_rows;
  const bool stays = right_stays(call, s, a, b, s.m);
  const int64_t terms = s.terms();
  for (int64_t jc = 0; jc < s.n; jc += NC) {
    const int64_t nc = least(NC, s.n - jc);
    const Range rows = by_rows ? part(s.m, s.whole_rows, thread, threads) : Range{0, s.m}, mine = part(nc, NR, thread, threads), cols = by_rows ? Range{0, nc} : mine;
    for (int64_t l = 0; l < s.k; l += terms) {
      const int64_t kc = least(terms, s.k - l);
      // Threads that pack for themselves have places of their own, wherever the others are.
      float* const slab = slabs + (phase & (threads > 1)) * s.b_floats() + cols.begin * terms;
      phase++;
      for (int64_t j = mine.begin; !packs && j < mine.end; j += NR) {
        const int columns = static_cast<int>(least(NR, mine.end - j));
        if (const int64_t lying = stays ? b.lying(l, kc, columns) : 0; lying < kc) b.pack(jc + j, columns, l + lying, kc - lying, slab + j * kc);
      }
      if (threads > 1 && (!packs || s.n > NC)) call.barrier(call.team);
      multiply(a, b, stays, packs, out, rows, jc, nc, cols, l, kc, s.k, slab, block, call.distant_cache);
    }
    if (terms < s.k) out.finish(out.sums(jc) + rows.begin * out.sum_stride(nc), rows, jc, cols, nc);
  }
}

// One product by blocks of results, each by one thread. All threads pack B first, `panels`, or each packs what it meets, `slab`, and keeps it for the block below.
template <class A, class B, class Out>
void product_of_blocks(const Call& call, const Products& s, const Products::Blocks& blocks, const A& a, const B& b, const Out& out, float* panels, float* slab, float* block, int nth) {
  const bool copied = s.packs_together() && blocks.down > 1 && !right_stays(call, s, a, b, s.m), together = copied && blocks.together, keeps = !together && Products::Blocks::keeps(s, blocks.columns);
  const bool stays = !copied && right_stays(call, s, a, b, least(blocks.rows, s.m));
  const int64_t terms = s.terms(), count = blocks.count(), nc = least(NC, s.n), all_columns = up(s.n, NR);
  const auto parts_of = [&](int64_t some) { return static_cast<int>(least((some + call.threads - 1) / call.threads, of_blocks(call).most_parts)); };
  if (together) {
    const int64_t across = all_columns / NR, all = across * ((s.k + terms - 1) / terms);
    each_range_in(call, parts_of(all), all, 1, [&](Range r) {
      for (int64_t i = r.begin; i < r.end; i++) {
        const int64_t l = i / across * terms, j = i % across * NR, kc = least(terms, s.k - l);
        b.pack(j, static_cast<int>(least(NR, s.n - j)), l, kc, panels + l * all_columns + j * kc);
      }
    }, 2 * nth);
    call.barrier(call.team);
  }
  int64_t kept = -1;  // the column whose panels lie in the slab
  const auto compute = [&](int64_t i) {
    const int64_t nth_column = i / blocks.down, row = i % blocks.down * blocks.rows, column = nth_column * blocks.columns;
    const Range rows{row, least(row + blocks.rows, s.m)}, cols{column, least(column + blocks.columns, s.n)};
    const bool packs = !together && kept != nth_column;
    for (int64_t l = 0; l < s.k; l += terms) {
      const int64_t kc = least(terms, s.k - l);
      float* const own = together ? panels + l * all_columns + column * kc : keeps ? slab + l * blocks.columns : slab;
      multiply(a, b, stays, packs, out, rows, 0, nc, cols, l, kc, s.k, own, block, call.distant_cache, keeps);
    }
    if (keeps) kept = nth_column;
    if (terms < s.k) out.finish(out.sums(0) + rows.begin * out.sum_stride(nc), rows, 0, cols, nc);
  };
  each_range_in(call, parts_of(count), count, 1, [&](Range r) {
    for (int64_t i = r.begin; i < r.end; i++) compute(i);
  }, s.packs_together() ? 2 * nth + 1 : nth);
}

// All products. one(i, sums, multiply): calls multiply(left, right, out) for product i; `sums` is the buffer for an out that waits.
template <class F>
void run_products(const Call& c, const Products& s, bool rounded, F one) {
  const int64_t bf = s.b_floats(), af = s.a_floats(), sums = rounded ? s.sum_floats() : 0;
  int phase = 0;
  if (s.whole(c.threads)) {
    float* own = c.scratch + c.thread * (bf + af + sums);
    each_range_in(c, parts_of_work(c, s.multiplications()), s.batch, 1, [&](Range r) {
      for (int64_t i = r.begin; i < r.end; i++)
        one(i, own + bf + af, [&](const auto& a, const auto& b, const auto& out) { product(c, s, a, b, out, own, own + bf, 0, 1, phase); });
    });
    return;
  }
  if (c.most_parts > 1 && s.batch <= MOST_SHARED_LOOPS && (!rounded || s.n <= NC))
    if (const Products::Blocks blocks(s, c); blocks.pay(c.threads)) {
      float *const slab = c.scratch + c.thread * Products::Blocks::b_floats(s), *const blocks_of_a = c.scratch + s.floats_of_blocks(c.threads), *const shared = blocks_of_a + c.threads * af;
      for (int64_t i = 0; i < s.batch; i++) {
        if (rounded && i > 0) c.barrier(c.team);
        one(i, shared, [&](const auto& a, const auto& b, const auto& out) { product_of_blocks(c, s, blocks, a, b, out, c.scratch + i % 2 * s.panel_floats(), slab, blocks_of_a + c.thread * af, static_cast<int>(i)); });
      }
      return;
    }
  float* block = c.scratch + 2 * bf + c.thread * af;
  float* shared = c.scratch + 2 * bf + c.threads * af;
  for (int64_t i = 0; i < s.batch; i++)
    one(i, shared, [&](const auto& a, const auto& b, const auto& out) { product(c, s, a, b, out, c.scratch, block, c.thread, c.threads, phase); });
}

// The same into a matrix of a storage type: f32 directly, others rounded. `out`: of product i, rows `stride` apart.
template <class A, class B, class M>
inline void multiply_into(float* out, int64_t stride, float*, const A& a, const B& b, const M& multiply_by) {
  multiply_by(a, b, Direct{out, stride});
}
template <class T, class A, class B, class M>
inline void multiply_into(T* out, int64_t stride, float* sums, const A& a, const B& b, const M& multiply_by) {
  multiply_by(a, b, Rounded<T>{{sums}, out, stride});
}

}  // namespace
