// What holds for the launches of transpose, scatter_add and poolings of little over their whole range; part of opscope_cuda_plan_test.
#include <set>

#include "kernels/pooling/shape.h"
#include "kernels/scatter_add/shape.h"
#include "kernels/test/expect.h"
#include "kernels/transpose/shape.h"

using namespace opscope::cuda;

namespace {

constexpr int64_t multiprocessors = 132, shared_bytes = 227 << 10, most_blocks = (int64_t{1} << 31) - 1, most_short_side = 65535, unasked = 48 << 10;

int64_t over(int64_t a, int64_t b) { return (a + b - 1) / b; }
// Parts cover it once, and none is empty.
bool covers(int64_t all, int64_t parts, int64_t part) { return part >= 1 && part * parts >= all && part * (parts - 1) < all; }

constexpr int64_t sides[] = {2, 3, 8, 12, 13, 32, 33, 64, 96, 97, 128, 257, 1000, 4096, 4098, 4099, 10'002, 65'536, 100'003, 2'097'152, 70'000'001, int64_t{1} << 31};

void transposes() {
  bool covered = true, fits = true, exact = true, whole = true, small = true;
  std::set<Transposition> kinds;
  for (const int64_t bytes : {2, 4})
    for (const int64_t rows : sides)
      for (const int64_t cols : sides) {
        if (rows * cols > int64_t{1} << 36) continue;
        const TransposePlan s = transpose_plan(multiprocessors, bytes, rows, cols);
        const int64_t narrow = std::min(rows, cols), length = std::max(rows, cols);
        kinds.insert(s.kind);
        if (s.kind == Transposition::each) {
          covered = covered && covers(rows * cols, s.blocks, 256);
          small = small && rows * cols <= (narrow <= most_line ? 4 : 2) * most_each;
        } else if (s.kind == Transposition::narrow || s.kind == Transposition::between) {
          covered = covered && covers(length, s.blocks, s.part) && s.tall == (cols < rows);
          // What lies in one piece starts on a vector, or on a word.
          whole = whole && (s.kind == Transposition::between ? s.part >= 64 && (s.part & (s.part - 1)) == 0 : s.part % 8 == 0);
          fits = fits && s.part * (s.kind == Transposition::between ? s.pitch : narrow) * bytes <= unasked;
          if (s.kind == Transposition::between) {
            whole = whole && s.pitch % 2 == 1 && s.pitch >= narrow;
            for (int64_t i = 0; i < s.part * narrow; i++) exact = exact && i / narrow == static_cast<int64_t>(static_cast<unsigned>(i) * s.places >> 22) && i * s.places < int64_t{1} << 32;
          }
        } else if (s.kind != Transposition::copy) {
          covered = covered && covers(rows, s.down, s.side) && covers(cols, s.across, s.side) && std::min(s.down, s.across) <= most_short_side && std::max(s.down, s.across) <= most_blocks;
          const int64_t vector = 16 / bytes;
          whole = whole && (s.kind != Transposition::vectors || (rows % vector == 0 && cols % vector == 0)) && (s.kind != Transposition::pairs || (rows % 2 == 0 && cols % 2 == 0 && bytes == 2));
        }
      }
  expect(covered, "tiles and parts of a transpose cover it once, in a grid that a launch takes");
  expect(whole && fits, "what kernels of a transpose move in vectors or words starts on them, and their parts fit into shared memory");
  expect(exact, "a place in a part of a transpose is found by a product without a remainder");
  expect(small && kinds.size() == 7, "each kernel of transpose is met but the copy of one row");
  expect(transpose_plan(multiprocessors, 4, 8193, 375).side == 64 && transpose_plan(multiprocessors, 2, 8193, 375).side == 64 && transpose_plan(multiprocessors, 2, 1001, 999).side == 32, "tiles are small where 16-bit elements are few");
  expect(transpose_plan(multiprocessors, 4, 1, 77).kind == Transposition::copy && transpose_plan(multiprocessors, 4, 43, 2'097'152).kind == Transposition::between && transpose_plan(multiprocessors, 4, 4096, 4096).kind == Transposition::vectors,
         "one row is copied, few rows of many columns go in parts, whole vectors both ways in tiles of them");
}

void scatters() {
  bool covered = true, aligned = true, listed = true, looked = true, ranged = true, fits = true;
  std::set<Scattering> kinds;
  for (const int64_t bytes : {2, 4})
    for (const int64_t rows : {1, 2, 33, 157, 1024, 5000, 100'000, 2'097'152, 70'000'001})
      for (const int64_t dim : {1, 3, 8, 27, 32, 33, 64, 257, 768, 14'590, 1'000'001})
        for (const int64_t n : {1, 3, 17, 300, 4096, 16'385, 95'401, 861'811, 20'000'000}) {
          if (rows * dim > int64_t{1} << 36 || n * dim > int64_t{1} << 36) continue;
          const ScatterShape s = {rows, dim, n, bytes};
          const Scattering kind = scattering(multiprocessors, shared_bytes, s);
          kinds.insert(kind);
          const int64_t lanes = scatter_lanes(s), vector = 16 / bytes;
          listed = listed && lanes >= 1 && lanes <= 32 && (lanes & (lanes - 1)) == 0;
          if (kind == Scattering::few) {
            const int64_t part = scatter_part(multiprocessors, s), cells = link_threads * (scatter_vectors(s) ? vector : 1);
            covered = covered && part >= cells && part <= long_row_columns(scatter_vectors(s)) && rows * over(dim, part) <= most_blocks;
            aligned = aligned && part % cells == 0;
          }
          if (kind == Scattering::look) {
            const int64_t threads = scatter_look_lanes(multiprocessors, s), columns = scatter_look_columns(s, threads);
            covered = covered && threads <= link_threads && (threads & (threads - 1)) == 0 && rows * over(dim, columns) <= most_blocks && columns * (over(dim, columns) - 1) < dim;
            looked = looked && n <= 65'536 && (rows * over(dim, columns) <= 4 * multiprocessors || rows * over(dim, columns) * n <= int64_t{1} << 25);
          }
          if (kind == Scattering::slots || kind == Scattering::chains || kind == Scattering::lists) {
            const bool lists = kind == Scattering::lists;
            const int64_t of_row = lists ? scatter_list_lanes(multiprocessors, s) : lanes, threads = lists ? scatter_list_threads(multiprocessors, s) : scatter_threads(multiprocessors, rows * lanes);
            listed = listed && n <= 8 * rows && threads % 32 == 0 && threads % of_row == 0 && threads <= link_threads && over(rows, threads / of_row) <= most_blocks && over(n, threads / of_row) <= most_blocks;
            // A thread of one of few lists goes along its row in as few steps as a block allows.
            listed = listed && (kind != Scattering::lists || n > 2000 || of_row == link_threads || of_row * scatter_cells(s) >= dim);
            fits = fits && (kind != Scattering::slots || (scatter_room(s) % 4 == 0 && rows * scatter_room(s) * 4 <= int64_t{1} << 30));
          }
          if (kind == Scattering::found || kind == Scattering::bins) {
            const ScatterRange r = scatter_range(multiprocessors, shared_bytes, s, kind == Scattering::bins);
            const int64_t ranges = over(rows, r.span);
            const int64_t of_row = kind == Scattering::found ? scatter_found_lanes(multiprocessors, s) : lanes;
            ranged = ranged && covers(rows, ranges, r.span) && ranges <= most_blocks && (r.span % 8 == 0 || (of_row > 32 && !scatter_single(s))) && (kind == Scattering::bins || r.span * of_row >= link_threads) && r.span <= most_span && n <= 32 * rows;
            listed = listed && of_row <= link_threads && (of_row & (of_row - 1)) == 0 && (of_row <= 32 || rows * of_row <= multiprocessors * 8 * link_threads);
            ranged = ranged && (kind == Scattering::found ? n <= 8192 : n >= 32768 && ranges <= most_bins && r.span == int64_t{1} << r.shift && ranges >= multiprocessors / 2);
            // Numbers in a list have 16 bits; a range has its share of the indices, and more.
            fits = fits && r.room < 1 << 16 && r.room % 4 == 0 && (r.room >= n || r.room * ranges > n) && r.shared == r.span * 4 + r.room * (scatter_single(s) ? 10 : 6) && r.shared <= shared_bytes - (4 << 10);
          }
          if (kind == Scattering::tiles || kind == Scattering::wide) {
            const ScatterTiles t = scatter_tiles(shared_bytes, s);
            const int64_t blocks = over(rows, t.span);
            ranged = ranged && t.span % 8 == 0 && t.span << t.tiles == int64_t{1} << t.shift && t.bins <= most_bins && covers(rows, t.bins, int64_t{1} << t.shift) && blocks <= most_blocks;
            fits = fits && t.room < 1 << 16 && t.room % 8 == 0 && (t.room >= n || t.room * blocks > n) && (t.room_of_bin >= n || t.room_of_bin * t.bins > n) && t.shared == t.span * (dim * bytes + 4) + t.room * 8 && t.shared <= shared_bytes - (4 << 10);
          }
          if (kind == Scattering::spans) {
            const ScatterSpans t = scatter_spans(multiprocessors, shared_bytes, s);
            ranged = ranged && t.span == int64_t{1} << t.shift && t.bins <= (t.packed ? t.pack.bins : most_bins) && covers(rows, t.bins, t.span) && n * dim < int64_t{1} << 31;
            // A packed word has 16 bits for a row of its bin.
            fits = fits && (!t.packed || (t.shift <= 16 && packed_word(dim * bytes) >= dim * bytes + 2)) && t.room % 8 == 0 && (t.room >= n || t.room * t.bins > n) && t.shared >= t.span * dim * 8 && t.shared <= shared_bytes - (2 << 10);
          }
          if (kind == Scattering::exact) {
            const ScatterExact t = scatter_exact(multiprocessors, shared_bytes, s);
            ranged = ranged && t.span == int64_t{1} << t.shift && t.bins <= most_bins && covers(rows, t.bins, t.span) && t.vector * t.lanes == dim * bytes && t.vector % bytes == 0 && exact_threads % t.sharers == 0 && t.sharers <= 32;
            fits = fits && t.room % 8 == 0 && (t.room >= n || t.room * t.bins > n) && t.shared == (t.span + t.room) * 4 && t.shared <= shared_bytes - (2 << 10);
          }
          if (kind == Scattering::touch) looked = looked && n <= touch_indices && (n == 1 || n * 4 <= rows) && over(rows * dim * bytes, 16 * touch_threads * touch_vectors) <= most_blocks;
          if (kind == Scattering::packed) {
            const ScatterPacked t = scatter_packed(multiprocessors, shared_bytes, s);
            const int64_t blocks = over(rows, t.span), word = packed_word(dim * bytes);
            ranged = ranged && t.span % 8 == 0 && t.span << t.tiles == int64_t{1} << t.shift && t.bins <= t.pack.bins && covers(rows, t.bins, int64_t{1} << t.shift) && blocks <= most_blocks;
            // A word has 16 bits for a row of its bin, and what follows in a list as many.
            fits = fits && t.shift <= 16 && word >= dim * bytes + 2 && t.room < 1 << 16 && t.room % 8 == 0 && (t.room >= n || t.room * blocks > n) && (t.room_of_bin >= n || t.room_of_bin * t.bins > n);
            fits = fits && t.shared == t.span * (dim * bytes + 4) + t.room * (word + 2) && t.shared <= shared_bytes - (6 << 10) && t.pack.shared <= shared_bytes - 256;
          }
          if (kind == Scattering::columns) {
            const ScatterColumns c = scatter_columns(multiprocessors, shared_bytes, s);
            fits = fits && c.width % 32 == 0 && c.splits >= 1 && c.width * c.groups <= column_threads && c.groups * rows * dim * 4 * 2 <= shared_bytes - (1 << 10);
          }
          if (kind == Scattering::fixed || kind == Scattering::fixed_table) {
            const int bits = scatter_bits(s);
            fits = fits && bits >= 24 && bits <= 62 && n <= int64_t{1} << (62 - bits) && n * dim < int64_t{1} << 31 && (kind == Scattering::fixed || rows * dim * 8 <= shared_bytes - (2 << 10));
          }
          if (kind == Scattering::table) fits = fits && scatter_table_warps(shared_bytes, s) * rows * lanes_of_row(dim) * 4 <= shared_bytes - (1 << 10);
        }
  expect(covered && aligned, "parts of rows of scatter_add cover them once, those of long rows start on a vector, and a launch takes their grid");
  expect(fits, "tables, ranges, bins and slots of scatter_add fit into memory");
  expect(ranged, "ranges of scatter_add cover the rows once, and start on a vector of rows of one element");
  expect(listed && looked && kinds.size() == 19, "rows that have lists have a few indices each, blocks that look have few looks, and each kernel of scatter_add is met");
  const auto of = [](int64_t rows, int64_t dim, int64_t n) { return scattering(multiprocessors, shared_bytes, {rows, dim, n, 4}); };
  expect(of(100, 8, 95'401) == Scattering::table && of(100, 128, 100'001) == Scattering::columns && of(4, 14'590, 5) == Scattering::few && of(2, 2, 17) == Scattering::look && of(512, 256, 30'000) == Scattering::look,
         "many indices of few rows take tables, long rows parts, and few looks are looked");
  expect(of(2, 8193, 64) == Scattering::look && of(9, 1030, 400) == Scattering::look && of(1024, 577, 853) == Scattering::look && of(1, 1 << 20, 40) == Scattering::few, "indices of few blocks are shared by groups, and looks of many short ones are at the same time");
  const auto look_lanes = [](int64_t rows, int64_t dim, int64_t n, int64_t bytes) { return scatter_look_lanes(multiprocessors, {rows, dim, n, bytes}); };
  expect(look_lanes(1, 89, 1104, 4) == 1 && look_lanes(1, 89, 16, 4) == 32 && look_lanes(512, 256, 30'000, 4) == 64 && look_lanes(2, 256, 32'768, 2) == 1, "blocks that look have more groups where few rows have many indices each");
  expect(of(1024, 256, 1024) == Scattering::found && of(100'000, 16, 300'000) == Scattering::bins && of(2'000'003, 2, 1'000'001) == Scattering::bins, "ranges of rows look through few indices, and read bins of many");
  const auto found_lanes = [](int64_t rows, int64_t dim) { return scatter_found_lanes(multiprocessors, {rows, dim, 1500, 4}); };
  expect(found_lanes(1024, 256) == 64 && found_lanes(800, 1000) == 256 && found_lanes(5000, 200) == 32 && found_lanes(1000, 9) == 4, "a row of a range has a thread for each of its vectors where all rows are met at once");
  const auto tile = [](int64_t rows, int64_t dim, int64_t n) { return scatter_packed(multiprocessors, shared_bytes, {rows, dim, n, 4 / dim}).span; };
  expect(tile(700'001, 1, 500'000) == 2048 && tile(1'000'000, 1, 500'002) == 4096 && tile(1'000'001, 2, 600'001) == 4096 && tile(620'001, 1, 200'001) == 4096, "tiles are half as large where rounds of multiprocessors are shorter so");
  expect(of(5'000'003, 1, 700'001) == Scattering::packed && of(33'554'432, 1, 2'000'000) == Scattering::packed && of(16'000'001, 4, 1'000'001) == Scattering::tiles && of(1'900'000, 1, 120'001) == Scattering::tiles && of(4'000'001, 1, 80'001) == Scattering::lists && of(1'000'000, 1, 500'000) == Scattering::packed && of(300'007, 1, 600'001) != Scattering::packed && of(33'554'433, 1, 20'000'001) == Scattering::packed,
         "tiles of narrow rows are added to where up to a quarter of them has an index, or rows are too many for ranges, and many indices are packed with their elements where there is room");
  expect(of(157, 8, 95'401) == Scattering::fixed_table && of(8192, 3, 33'554'432) == Scattering::fixed_table && of(215'261, 3, 4'227'109) == Scattering::fixed && of(4096, 4, 30'000) == Scattering::fixed && of(2000, 640, 200'000) == Scattering::sorted && of(1201, 51, 65'537) == Scattering::fixed && of(3000, 64, 200'001) == Scattering::fixed,
         "many indices of narrow rows are added up in integers, those of wide ones sorted");
  expect(of(154'463, 10, 10'785'847) == Scattering::exact && of(20'011, 10, 300'001) == Scattering::exact && of(12'423, 64, 1'932'601) == Scattering::exact && of(100'003, 6, 2'000'001) == Scattering::exact && of(100'003, 6, 5'000'001) == Scattering::fixed && of(100'000, 16, 1'600'000) == Scattering::bins && of(250'007, 5, 3'000'001) != Scattering::exact,
         "rows of many indices each are added up in registers, unless they are narrow or ranges of whole vectors are faster");
  expect(of(1'962'941, 27, 16'385) == Scattering::lists && of(40'000, 8193, 150) == Scattering::lists && of(20'011, 12, 131'075) == Scattering::slots && of(20'000, 768, 16'385) == Scattering::chains && of(300'000, 15, 120'000) == Scattering::lists && of(1'000'000, 7, 400'000) == Scattering::bins,
         "rows most of which have no index are copied first, others of several take slots, and of fewer lists");
  expect(of(19'453, 2351, 2179) == Scattering::lists && of(10'000, 1100, 2400) == Scattering::lists && of(2000, 8192, 200) == Scattering::few && of(8193, 2500, 200) == Scattering::few && of(4001, 20'001, 200) == Scattering::few, "so are long rows with more indices than each block is to look through");
  expect(of(25'319, 8192, 1) == Scattering::touch && of(1, 134'217'729, 1) == Scattering::touch && of(16'777'216, 4, 64) == Scattering::touch && of(9001, 8193, 129) != Scattering::touch && of(4, 5'000'001, 3) != Scattering::touch && of(900, 4097, 20) != Scattering::touch,
         "few indices of a large table are met as it is copied");
  expect(of(2'311'497, 75, 262'144) == Scattering::wide && of(9'000'001, 15, 3'000'001) == Scattering::wide && of(100'003, 13, 40'000) == Scattering::lists && of(2'000'001, 64, 100'001) == Scattering::lists, "wider rows lie in tiles where some have an index");
}

void small_poolings() {
  const auto threads = [](int64_t outputs, int64_t window) { return pool_threads_of(multiprocessors, 1 << 20, 1 << 10, 1 << 10, outputs, window); };
  expect(threads(1000, 2).group == 1 && threads(1000, 19).group == 8 && threads(int64_t{1} << 28, 19).group == 1 && threads(1000, 64).group == 32 && threads(1 << 16, 100).group == 8 && threads(1 << 16, 256).group == 32, "few outputs of larger windows have several threads each");
  expect(threads(1000, 2).small && !pool_threads_of(multiprocessors, int64_t{1} << 31, 1, 1, 1000, 2).small && !pool_threads_of(multiprocessors, 1, int64_t{1} << 31, 1, 1000, 2).small && !threads(int64_t{1} << 27, 256).small,
         "places of 32 bits where inputs, outputs by their threads, and what adaptive windows divide fit");
}

}  // namespace

void move_shapes() {
  transposes();
  scatters();
  small_poolings();
}
