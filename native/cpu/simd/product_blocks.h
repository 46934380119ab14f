// The extents of matrix products, and the blocks of results that threads take (simd/gemm.h).
#pragma once
#include "lower_tiles.h"

namespace {

// The call as blocks of results see it: many threads take twice as many parts, of which the last ones leave less to wait for.
inline Call of_blocks(const Call& c) {
  constexpr int MANY_THREADS = 8;
  Call made = c;
  if (c.threads >= MANY_THREADS && c.most_parts > 1) made.most_parts = static_cast<uint8_t>(2 * c.most_parts);
  return made;
}

constexpr int64_t MOST_PANEL_FLOATS = 1 << 24;  // of panels of B that threads pack together, beside what they meet of them
inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

// Products of the same extents.
struct Products {
  int64_t batch, m, n, k;
  int64_t most_terms = KC, whole_terms = 1, whole_rows = 1;  // of a slab; terms and a thread's rows come in multiples of the last two

  int64_t terms() const { return up(even_part(k, most_terms), whole_terms); }
  // Floats of the buffers for one slab of B and one block of A, in whole cache lines, and of sums that wait to be rounded.
  int64_t b_floats() const { return up(terms() * up(least(n, NC), NR), LINE); }
  int64_t a_floats() const { return block_stride(terms()) * MC; }
  int64_t sum_floats() const { return up(m * least(n, NC), LINE); }
  int64_t multiplications() const { return batch * m * n * k; }
  bool whole(int threads) const { return threads == 1 || batch >= threads; }
  // Whether threads that share one product share its rows; else its columns.
  bool by_rows(int threads) const { return m >= 2 * (whole_rows > MR ? whole_rows : MR) * threads || m > n; }
  // Of all panels of B, which threads that take blocks of results pack together; of several products, those of one after the other in two buffers.
  int64_t panel_floats() const { return up(times(k, up(n, NR)), LINE); }
  bool packs_together() const { return panel_floats() <= MOST_PANEL_FLOATS && batch <= MOST_SHARED_LOOPS / 2; }
  // Of the panels that blocks meet.
  int64_t floats_of_blocks(int threads) const { return larger(threads * Blocks::b_floats(*this), packs_together() ? (batch > 1 ? 2 : 1) * panel_floats() : 0); }
  // `rounded`: the output is no f32, or is not the sum itself.
  size_t scratch(int threads, bool rounded) const {
    const int64_t sums = rounded ? sum_floats() : 0;
    return static_cast<size_t>(whole(threads) ? threads * (b_floats() + a_floats() + sums) : larger(floats_of_blocks(threads), 2 * b_floats()) + threads * a_floats() + sums);
  }

  // Blocks of results that threads compute by themselves, taken as they get to them, one below the other: those that end first, a thread that begins its last block
  // late included.
  struct Blocks {
    int64_t rows, columns, down, across;
    bool together;  // all threads pack B first; else each packs what it meets
    bool one_each = false;
    static constexpr int64_t MOST_COLUMNS = 512, MOST_KEPT = 1 << 19;
    Blocks(const Products& p, const Call& c) {
      constexpr int64_t LEAST_ROWS = 28, LEAST_COLUMNS = 4 * NR;
      // In multiplications of an element: a copy of one of A, of one of B and of one that others read, and what a block takes for each column besides (NOTES.md).
      constexpr int64_t COPY_OF_LEFT = 16, COPY_OF_RIGHT = 24, SHARED_COPY = 8, COLUMN_OF_BLOCK = 5;
      const int64_t most = parts_of_work(of_blocks(c), p.m * p.n * p.k / 4), unit = p.whole_rows > 1 ? 2 * p.whole_rows : W == 16 ? LOWER : MR;
      const int64_t most_down = larger(p.m / LEAST_ROWS, 1), least_across = (p.n + MOST_COLUMNS - 1) / MOST_COLUMNS, most_across = larger(least_across, least(p.n / LEAST_COLUMNS, 4 * least_across));
      const int64_t packing_together = p.packs_together() ? p.n * (COPY_OF_RIGHT + SHARED_COPY * c.threads) / c.threads : INT64_MAX / 4;
      int64_t soonest = INT64_MAX;
      for (int64_t cut = least_across; cut <= most_across; cut += least_across)
        for (int64_t parts = most; parts > most / 2; parts--) {
          const int64_t height = up((p.m - 1) / least(most_down, larger(parts * c.threads / cut, 1)) + 1, unit), width = up((p.n - 1) / cut + 1, NR);
          const int64_t high = (p.m - 1) / height + 1, wide = (p.n - 1) / width + 1, each = (high * wide - 1) / c.threads + 1;
          const int64_t packing_alone = COPY_OF_RIGHT * width * (keeps(p, width) ? (each - 1) / high + 1 + (each < high && high % each != 0) : each);
          const int64_t end = (2 * each + 1) * (height * width + COPY_OF_LEFT * height + COLUMN_OF_BLOCK * width) + 2 * least(packing_alone, packing_together);
          if (end < soonest) soonest = end, rows = height, columns = width, down = high, across = wide, together = packing_together < packing_alone;
        }
      if (count() < 2 * c.threads && !p.by_rows(c.threads)) cut_for_one_each(p, c.threads);
    }
    // Whether they take less time than equal shares of all rows or columns.
    bool pay(int threads) const { return one_each || count() >= 2 * threads; }
    int64_t count() const { return down * across; }
    // Whether what a thread packs of a column of blocks stays for its next block.
    static bool keeps(const Products& p, int64_t columns) { return times(p.k, columns) <= MOST_KEPT; }
    static int64_t b_floats(const Products& p) {
      const int64_t columns = up(least(p.n, MOST_COLUMNS), NR);
      return up(larger(p.terms() * columns, least(times(p.k, columns), MOST_KEPT)), LINE);
    }

   private:
    // One for each thread, where sharing columns leaves threads without any, or one with many more than the others.
    void cut_for_one_each(const Products& p, int64_t threads) {
      constexpr int64_t ROW_OF_BLOCK = 4, COLUMN_OF_BLOCK = 36;  // what a block takes besides, in multiplications of an element for each term
      const int64_t panels = (p.n - 1) / NR + 1, unit = p.whole_rows > 1 ? 2 * p.whole_rows : 1;
      int64_t least_work = p.m * ((panels - 1) / threads + 1) * NR * 3 / 4;
      for (int64_t cut = (p.n + MOST_COLUMNS - 1) / MOST_COLUMNS; cut <= least(panels, threads); cut++) {
        const int64_t width = ((panels - 1) / cut + 1) * NR, wide = (p.n - 1) / width + 1, height = up((p.m - 1) / (threads / wide) + 1, unit);
        const int64_t work = height * width + ROW_OF_BLOCK * height + COLUMN_OF_BLOCK * width;
        if (height < MR || work >= least_work) continue;
        least_work = work, rows = height, columns = width, down = (p.m - 1) / height + 1, across = wide, together = false, one_each = true;
      }
    }
  };
};

}  // namespace
