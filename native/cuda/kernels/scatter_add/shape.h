// Which kernels of scatter_add.cu, scatter_exact.cu, scatter_fixed.cu, scatter_look.cu, scatter_packed.cu, scatter_range.cu, scatter_rows.cu, scatter_spans.cu, scatter_tile.cu, scatter_touch.cu and scatter_wide.cu take a shape. Pure; see planes.h of the tests for what holds over the range.
#pragma once
#include "../scatter_add.h"
#include "../scatter_fixed.h"
#include "../scatter_packed.h"
#include "../scatter_range.h"
#include "../scatter_rows.h"
#include "../scatter_spans.h"
#include "../scatter_touch.h"
#include "../scatter_wide.h"
#include "exact.h"

namespace opscope::cuda {

// Where they run: see the head of either file. sorted: everything else.
enum class Scattering { scan, table, columns, few, look, found, bins, tiles, wide, slots, chains, lists, fixed_table, fixed, spans, exact, touch, packed, sorted };

// Many indices of narrow rows that fit shared memory several times. Fewer rows than indices that a warp takes at a time would wait for each other.
inline int64_t scatter_table_warps(int64_t shared_bytes, const ScatterShape& s) {
  constexpr int64_t most_warps = 16, least_warps = 4, scratch = 1 << 10;
  if (s.dim > 32 || s.rows > 1 << 16) return 0;
  const int64_t lanes = lanes_of_row(s.dim), warps = std::min(most_warps, (shared_bytes - scratch) / (s.rows * lanes * 4));
  return warps >= least_warps && s.rows >= 32 / lanes && s.indices >= s.rows * 8 ? warps : 0;
}

// The same for longer rows (scatter_columns): threads of a group that shares the columns of a table, groups of a block, and blocks; 0: others take the case. Fewer groups would not hide what each waits for.
struct ScatterColumns {
  int64_t width = 0, groups = 0, splits = 0;
};
inline ScatterColumns scatter_columns(int64_t sm_count, int64_t shared_bytes, const ScatterShape& s) {
  constexpr int64_t least_groups = 2, scratch = 1 << 10, least_indices = 65536, least_share = 256;
  if (s.dim <= 32 || s.dim > 1 << 20 || s.rows > 1 << 16 || s.indices < least_indices || s.indices < s.rows * least_share) return {};
  // Two blocks on a multiprocessor.
  const int64_t width = std::min<int64_t>(column_threads / 2, (s.dim + 31) / 32 * 32), groups = std::min(column_threads / width, (shared_bytes / 2 - scratch) / (s.rows * s.dim * 4));
  // What blocks write of their tables, and read again, is a part of what they read of src.
  return groups >= least_groups ? ScatterColumns{width, groups, std::min(sm_count * 2, s.indices * s.bytes / (8 * s.rows))} : ScatterColumns{};
}

// Threads of a row of a range whose indices are looked for: as many as it has columns for where all blocks run at once, so that few wait for memory twice (H200: f32 1024x256, 1024 10.0 to 8.7 us, 800x1000, 1500 19.5 to 12.2,
// bf16 2049x1023, 1031 21.3 to 13.2, 731x9660, 4297 392 to 95.8; with four blocks of a multiprocessor instead of eight 14.9 and 116).
inline int scatter_found_lanes(int64_t sm_count, const ScatterShape& s) {
  constexpr int64_t resident = 8;
  int lanes = lanes_of_row(std::min<int64_t>(link_threads, (s.dim + scatter_cells(s) - 1) / scatter_cells(s)));
  while (lanes > 32 && s.rows * lanes > sm_count * resident * link_threads) lanes /= 2;
  return lanes;
}
// Slots of a row: of indices that are drawn alike for all rows, one row of many millions has more.
inline int scatter_room(const ScatterShape& s) { return s.indices <= s.rows * 2 ? 16 : 32; }
// Threads of a block, as many as that leave every multiprocessor a block.
inline int64_t scatter_threads(int64_t sm_count, int64_t threads) { return std::clamp<int64_t>(threads / sm_count / 32 * 32, 64, link_threads); }
// The same of lists: where these do not fill the GPU, a row has as many threads as it has columns for, up to a block, because a thread waits for memory at each step along its row (H200: f16 25319x8192, one index 220 to 200 us,
// 50001x4097, 100 234 to 199; f32 100001x1024, 3000 206 and 210).
inline int scatter_list_lanes(int64_t sm_count, const ScatterShape& s) {
  return s.indices * 32 >= sm_count * 512 ? scatter_lanes(s) : lanes_of_row(std::min<int64_t>(link_threads, (s.dim + scatter_cells(s) - 1) / scatter_cells(s)));
}
inline int64_t scatter_list_threads(int64_t sm_count, const ScatterShape& s) { return std::max<int64_t>(scatter_list_lanes(sm_count, s), scatter_threads(sm_count, s.indices * scatter_list_lanes(sm_count, s))); }
// Threads that share the columns of a part of a row (scatter_look): as many as it has columns for, or fewer where that leaves multiprocessors without a block.
inline int64_t scatter_look_columns(const ScatterShape& s, int64_t lanes) { return lanes * scatter_cells(s); }
inline int scatter_look_lanes(int64_t sm_count, const ScatterShape& s) {
  const int64_t least = scatter_vector(s) > 0 ? 8 : 32;
  int64_t lanes = lanes_of_row(std::min<int64_t>(link_threads, (s.dim + scatter_cells(s) - 1) / scatter_cells(s)));
  const auto blocks = [&](int64_t of) { return s.rows * ((s.dim + scatter_look_columns(s, of) - 1) / scatter_look_columns(s, of)); };
  while (lanes > least && blocks(lanes) < sm_count * 2) lanes /= 2;
  // Many indices of few rows: more groups, which each wait for memory about twice.
  constexpr int64_t most_of_group = 8;
  while (lanes > 1 && s.indices / s.rows * lanes > link_threads * most_of_group && blocks(lanes / 2) <= sm_count * 2) lanes /= 2;
  return static_cast<int>(lanes);
}
// Columns of a part of a long row (scatter_few): fewer where there are few, so that multiprocessors have work.
inline int64_t scatter_part(int64_t sm_count, const ScatterShape& s) {
  const int64_t cells = link_threads * (scatter_vectors(s) ? 16 / s.bytes : 1), wanted = s.rows * s.dim / (sm_count * 2);
  return std::clamp<int64_t>(wanted / cells * cells, cells, long_row_columns(scatter_vectors(s)));
}

// Rows of one element with few indices each: a vector of them for a thread.
inline bool scatter_single(const ScatterShape& s) { return s.dim == 1 && s.indices <= s.rows; }
// Rows of a block that has lists of their indices in shared memory (scatter_range.cu), and the indices that it has room for. span 0: others take the case.
struct ScatterRange {
  int64_t span = 0, room = 0, shared = 0;
  int shift = 0;  // of bins: span is 2 to the power of it
};
inline ScatterRange scatter_range(int64_t sm_count, int64_t shared_bytes, const ScatterShape& s, bool bins) {
  constexpr int64_t limit = int64_t{1} << 30, most_room = 8192, least_span = 8, own = 3 << 10;  // own: bytes that the kernels have beside the lists
  if (s.rows > limit || s.indices > limit || s.dim > limit) return {};
  const auto up = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const auto filled = [&](int64_t span, int shift) -> ScatterRange {
    const int64_t room = scatter_room_of(s, span);
    return {span, room, span * 4 + room * (scatter_single(s) ? 10 : 6), shift};
  };
  const auto fits = [&](const ScatterRange& r) { return r.room <= most_room && r.shared + own <= shared_bytes; };
  if (!bins) {
    const int64_t lanes = scatter_found_lanes(sm_count, s), least = std::min(least_span, link_threads / lanes);
    const ScatterRange r = filled(up(std::max(up(s.rows, sm_count * 4), link_threads / lanes), least) * least, 0);
    return r.span <= most_span && fits(r) ? r : ScatterRange{};
  }
  // Four blocks on a multiprocessor, because rows of a block wait for memory one after another, as long as bins are not too many (H200: f32 9000001x15, 3000001 945 to 699 us, 12000001x5, 4000001 542 to 408, 7000001x9, 2000001 580 to
  // 386); rows of several indices were not timed so.
  constexpr int64_t resident = 4;
  const int64_t most = scatter_most_bins(shared_bytes);
  const auto room_for_all = [&](int shift) { return s.indices > s.rows || up(s.rows, int64_t{1} << (shift - 1)) > most || filled(int64_t{1} << shift, 0).shared * resident <= shared_bytes; };
  int shift = 3;
  while (s.rows >> (shift + 1) >= sm_count * 3 && int64_t{2} << shift <= most_span && fits(filled(int64_t{2} << shift, 0)) && room_for_all(shift + 1)) shift++;
  const ScatterRange r = filled(int64_t{1} << shift, shift);
  return up(s.rows, r.span) <= most && fits(r) ? r : ScatterRange{};
}

constexpr int64_t narrow_row = 16, wide_row = 640;  // bytes
// Tiles of narrow rows (scatter_tile.cu) or of wider ones (scatter_wide.cu), of which some share a bin. span 0: others take the case.
struct ScatterTiles {
  int64_t span = 0, room = 0, room_of_bin = 0, bins = 0, shared = 0;
  int shift = 0, tiles = 0;  // a bin has 1 << shift rows, and 1 << tiles tiles of `span` rows
};
inline ScatterTiles scatter_tiles(int64_t shared_bytes, const ScatterShape& s) {
  constexpr int64_t limit = int64_t{1} << 30, most_tile_rows = 4096, most_room = 8192, own = 4 << 10;  // own: bytes that the kernel has beside its tile and its lists
  const int64_t row_bytes = s.dim * s.bytes, tile_bytes = (row_bytes <= narrow_row ? 16 : 32) << 10;
  if (s.rows > limit || s.indices > limit || row_bytes > wide_row) return {};
  ScatterTiles t;
  t.shift = 3;
  while (int64_t{2} << t.shift <= most_tile_rows && (row_bytes << (t.shift + 1)) <= tile_bytes) t.shift++;
  t.span = int64_t{1} << t.shift;
  t.room = scatter_room_of(s, t.span);
  if (t.room > most_room || t.span * (row_bytes + 4) + t.room * 8 + own > shared_bytes) return {};
  // More bins where each has some hundred indices (H200: bf16 54245993x2, 2104438 230 to 201 us, 20000003x2, 3000003 153 to 141; 16000001x4, 1000001 115 to 119, f16 8000003x3, 200003 46.4 to 50.6).
  constexpr int64_t least_of_bin = 384;
  const int64_t most = s.indices >= most_bins * least_of_bin ? scatter_most_bins(shared_bytes) : few_bins;
  while (((s.rows - 1) >> t.shift) + 1 > most) t.shift++, t.tiles++;
  t.shared = t.span * (row_bytes + 4) + t.room * 8;
  t.bins = ((s.rows - 1) >> t.shift) + 1;
  t.room_of_bin = scatter_room_of(s, int64_t{1} << t.shift);
  return t;
}

// Tiles of rows of up to 6 bytes whose indices go to bins with their elements (scatter_packed.cu). span 0: others take the case.
struct ScatterPacked {
  int64_t span = 0, room = 0, room_of_bin = 0, bins = 0, shared = 0;
  int shift = 0, tiles = 0;  // a bin has 1 << shift rows, and 1 << tiles tiles of `span` rows
  PackBlock pack = {};       // fills bins
};
inline ScatterPacked scatter_packed(int64_t sm_count, int64_t shared_bytes, const ScatterShape& s) {
  // Two blocks on a multiprocessor (H200: bf16 20000001x1, 19000001 326 us, by tiles half as large 342; f32 490, by tiles twice as large 552). own: bytes that the kernel has beside its tile and its lists.
  constexpr int64_t limit = int64_t{1} << 30, most_room = 1 << 15, own = 6 << 10, wanted = 104 << 10;
  constexpr int least_tile = 8, most_tile = 13, most_shift = 16;
  const int64_t row_bytes = s.dim * s.bytes, word = packed_word(row_bytes);
  if (row_bytes > packed_row_bytes || s.indices > limit) return {};
  const auto shared = [&](int shift) { return ((row_bytes + 4) << shift) + scatter_room_of(s, int64_t{1} << shift) * (word + 2); };
  ScatterPacked t;
  t.shift = least_tile;
  // A tile for each multiprocessor, where there are so many rows.
  while (t.shift < most_tile && shared(t.shift + 1) <= std::min(wanted, shared_bytes - own) && s.rows >> (t.shift + 1) >= sm_count) t.shift++;
  // Half as large ones where most multiprocessors would wait for few that have one tile more, rows have an index nearly each, and a block that fills bins still has several words for each (H200: f32 700001x1, 500000 22.1 to 18.8 us,
  // bf16 600001x2, 500000 30.2 to 24.2, 1300001x1, 1000000 27.9 to 25.2; f32 620001x1, 200001 14.0 to 14.4; where rounds are equally long slower, 1000000x1, 500002 19.2 to 20.2).
  constexpr int64_t least_piece = 8;
  constexpr PackBlock few = pack_block(few_bins, packed_row_bytes);
  const auto rounds = [&](int shift) { return ((((s.rows - 1) >> shift) + sm_count) / sm_count) << shift; };
  if (s.indices * 2 > s.rows && t.shift > least_tile && rounds(t.shift - 1) * 5 <= rounds(t.shift) * 4 && (((s.rows - 1) >> (t.shift - 1)) + 1) * least_piece <= few.threads * few.each) t.shift--;
  t.span = int64_t{1} << t.shift, t.room = scatter_room_of(s, t.span), t.shared = shared(t.shift);
  // Many indices: more bins, by larger blocks, so that as many words are written together (bf16 20000001x1, 19000001 353 to 326 us; f16 5000003x1, 1000001 25.2 to 27.4).
  constexpr int64_t many = int64_t{1} << 22;
  const int64_t most = s.indices >= many ? most_bins : middle_bins;
  while (((s.rows - 1) >> t.shift) + 1 > most && t.shift < most_shift) t.shift++, t.tiles++;
  t.bins = ((s.rows - 1) >> t.shift) + 1;
  t.pack = pack_block(s.indices >= many ? most_bins : t.bins, row_bytes);
  t.room_of_bin = scatter_room_of(s, int64_t{1} << t.shift);
  return t.bins <= most && t.room <= most_room && t.shared + own <= shared_bytes && t.pack.shared + 256 <= shared_bytes ? t : ScatterPacked{};
}

// Bits of an element that is added in units, such that sums of as many elements as there are indices fit in 64 bits.
inline int scatter_bits(const ScatterShape& s) {
  int bits = 62;
  for (int64_t n = 1; n < s.indices; n *= 2) bits--;
  return bits;
}
// Whether sums in units, with words for what is no multiple, take the shape.
inline bool scatter_fits64(const ScatterShape& s) { return s.rows * s.dim <= int64_t{1} << 23 && s.indices * s.dim < int64_t{1} << 31 && s.indices <= int64_t{1} << 28; }
// Few cells of many elements each: their sums in shared memory (H200: f32 8192x3, 33554435 2572 to 338 us, 512x4, 2586139 75.2 to 41.3, f16 100x13, 300003 38.2 to 21.8).
inline bool scatter_table64(int64_t shared_bytes, const ScatterShape& s) {
  constexpr int64_t least_cells = 1024, most_dim = 32, least_each = 64, least_indices = 32768, scratch = 2 << 10;
  const int64_t cells = s.rows * s.dim;
  return scatter_fits64(s) && s.dim <= most_dim && cells >= least_cells && cells * 8 <= shared_bytes - scratch && s.indices >= least_indices && s.indices * s.dim >= cells * least_each;
}
// Others in memory, where that is sooner done than what else takes the shape; `bins`: whether ranges with bins do. In picoseconds, as measured on an H200: additions and what is read of a cell; a launch that looks for
// indices, slots or lists, bins, and a sort.
inline bool scatter_cells64(const ScatterShape& s, bool bins) {
  constexpr int64_t least_cells = 1024, least_indices = 1000, most_found = 8192;
  const int64_t cells = s.rows * s.dim, cost = s.indices * s.dim * 9 + cells * 10;
  if (!scatter_fits64(s) || cells < least_cells || s.indices < least_indices) return false;
  if (s.indices <= most_found) return cost <= 1'000'000;
  if (s.indices > 32 * s.rows) return cost <= s.indices * 85 + 25'000'000;
  if (bins) return cost <= s.indices * (s.indices > 12 * s.rows ? 32 : 18) + 8'500'000;
  return cost <= s.indices * 40 + (s.indices > 4 * s.rows ? 8'500'000 : s.indices > s.rows ? 5'000'000 : 2'000'000);
}

// Spans of rows with a table of sums in integers each (scatter_spans.cu). span 0: others take the case.
struct ScatterSpans {
  int64_t span = 0, room = 0, bins = 0, shared = 0;
  int shift = 0;
  bool packed = false;  // bins have the elements of their indices
  PackBlock pack = {};  // fills them
};
inline ScatterSpans scatter_spans(int64_t sm_count, int64_t shared_bytes, const ScatterShape& s) {
  constexpr int64_t most_dim = 32, least_indices = int64_t{1} << 18, own = 2 << 10;  // own: bytes that the kernels have beside what they ask for
  const int64_t row_bytes = s.dim * s.bytes;
  if (!scatter_fits64(s) || s.dim > most_dim || s.indices < least_indices) return {};
  ScatterSpans t;
  t.packed = row_bytes <= packed_row_bytes;
  const auto shared = [&](int shift) { return span_table(s.dim << shift) + (t.packed ? 0 : 2 * span_staged * 8); };
  const auto bins = [&](int shift) { return ((s.rows - 1) >> shift) + 1; };
  // All blocks at once, and more of them where a multiprocessor has not the memory for so many.
  while (bins(t.shift) > sm_count * span_blocks) t.shift++;
  while (t.shift > 0 && (shared(t.shift) + own) * span_blocks > shared_bytes && bins(t.shift - 1) <= most_bins) t.shift--;
  t.bins = bins(t.shift), t.span = int64_t{1} << t.shift, t.shared = shared(t.shift);
  t.room = scatter_room_of(s, t.span);
  if (t.packed) t.pack = pack_block(t.bins, row_bytes);
  return t.shift <= 16 && t.shared + own <= shared_bytes && (!t.packed || t.pack.shared + 256 <= shared_bytes) ? t : ScatterSpans{};
}

// Wide rows in memory, where that is sooner done than a sort: as above.
inline bool scatter_wide64(const ScatterShape& s) {
  constexpr int64_t least_dim = 32;
  const int64_t elements = s.indices * s.dim;
  return s.dim >= least_dim && scatter_fits64(s) && elements * 4 + s.rows * s.dim * 10 <= s.indices * 85 + elements * 3 / 2 + 25'000'000;
}

inline Scattering scattering(int64_t sm_count, int64_t shared_bytes, const ScatterShape& s) {
  const int64_t cells = s.rows * ((s.dim + 31) / 32), row_bytes = s.dim * s.bytes;
  constexpr int64_t limit = int64_t{1} << 31;
  // What a block of a long row looks through is no more than what it moves, and what it adds up one after the other is not much.
  // Rows of 16 bits off 8 bytes would be looked for element by element (H200: f16 513x1270, 3260 58.0 to 22.7 us, bf16 800x1501, 300 17.5 to 9.1; f32 2000x700, 3000 22.9 to 29.1).
  const int64_t long_row = s.bytes == 2 && scatter_vector(s) == 0 ? 2048 : 4096;
  constexpr int64_t most_few = 4096, most_of_row = 64;
  // Columns of rows that blocks of several share each look for, and how many looks that is; and indices from which on tables are worth their second launch.
  constexpr int64_t most_cells = 4096, most_scanned = int64_t{1} << 24, least_tabled = 32768;
  // Blocks that look at the same time, most looks of more of them, where slots would be many; and most indices of each.
  const int64_t look_blocks = sm_count * 4;
  constexpr int64_t most_looks = int64_t{1} << 25, most_looked = 65536, most_slotted = 8;
  // Indices that each block of a range looks through, and that are worth the launch which puts them into bins; of a row with a list in shared memory, on average.
  constexpr int64_t most_found = 8192, least_binned = 32768, most_binned = 32, few_slotted = 262144, slotted_row = 64;
  // Threads of rows that are more than a copy of them costs, unless rows are long: then a row is not written twice. And rows for each index from which on that is so.
  // Rows of 64 to 640 bytes are sooner copied where half of them have an index (H200: f16 32768x71, 10992 23.2 to 14.7 us, bf16 300000x100, 110000 109 to 87, f32 100000x16, 34000 16.9 to 13.0; 30000x300, 12000 35.9 to 38.1).
  constexpr int64_t many_lanes = 400'000, long_vectors = 2048, rare_rows = 16, least_copied = 64, most_copied = 640;
  // Shorter ones, too, that ranges would meet element by element, as long as their lists are few (H200: f32 100003x13, 40000 18.5 to 15.2, 300000x15, 120000 35.2 to 31.0, 300000x5, 100000 21.4 to 19.4, bf16 200001x21, 80000 29.8 to
  // 24.7; f32 500001x11, 200001 37.2 to 42.7, 1000000x9, 400000 61.6 to 83.9, bf16 1000001x30, 400001 108 to 129).
  constexpr int64_t least_copied_few = 20, few_copied = int64_t{1} << 17;
  const int64_t least_idle = row_bytes >= (scatter_vector(s) == 0 && s.indices <= few_copied ? least_copied_few : least_copied) && row_bytes <= most_copied ? 2 : 4;
  // Bytes of slots.
  constexpr int64_t most_slots = 1 << 30;
  const bool many = s.rows * scatter_lanes(s) >= many_lanes, rare = many && s.indices * rare_rows <= s.rows;
  const bool idle = many && s.indices * least_idle <= s.rows && (rare || !(scatter_vectors(s) && row_bytes >= long_vectors));
  const int64_t part = scatter_part(sm_count, s), looked = scatter_look_columns(s, scatter_look_lanes(sm_count, s)), blocks = s.rows * ((s.dim + looked - 1) / looked);
  // Few blocks that add up many indices of a row one after the other wait for memory each time: groups of threads share them instead (H200: f16 2x8193, 64 21.3 to 8.0 us, f32 9x1030, 400 29.4 to 8.1, bf16 40x4096, 1000 25.3 to 10.1).
  constexpr int64_t most_waits = 4;
  const bool waits = s.indices > most_waits * s.rows && s.rows * ((s.dim + part - 1) / part) < sm_count * 2 && blocks <= look_blocks;
  // Blocks that each look through many indices take longer than a copy and lists of the rows that have one, of which a quarter at most is written twice; in nanoseconds. Longer rows hide looks (H200: f32
  // 19453x2351, 2179 181 to 116 us, bf16 30000x2049, 4000 317 to 87, f16 8193x2500, 600 36.7 to 29.2; 8000x6001, 700 59.5 to 65.6).
  constexpr int64_t resident_few = 8, ns_of_look = 260, ns_of_lists = 5000, bytes_of_ns = 4200, most_listed_row = 10 << 10;
  if (const int64_t of_few = s.rows * ((s.dim + part - 1) / part); row_bytes >= long_row && row_bytes <= most_listed_row && of_few < limit && s.dim < limit && s.indices > link_threads && s.indices <= most_few && s.indices * 4 <= s.rows) {
    const int64_t looks = (s.indices + link_threads - 1) / link_threads * of_few;
    if (looks * ns_of_look / (sm_count * resident_few) > ns_of_lists + s.indices * row_bytes * 2 / bytes_of_ns) return Scattering::lists;
  }
  // Rows off 16 bytes (H200: bf16 8193x8193, 1 75.0 to 73.2 us, f32 9001x8193, 20 152 to 149; bf16 4001x20001, 20 87.6 to 96.0).
  constexpr int64_t least_listed = int64_t{1} << 27, rare_listed = 256;
  constexpr int64_t least_touched = int64_t{1} << 25;
  if (s.indices <= touch_indices && (s.indices == 1 || s.indices * 4 <= s.rows) && s.rows * row_bytes >= least_touched) return Scattering::touch;
  if (row_bytes >= long_row && !scatter_vectors(s) && s.rows * row_bytes >= least_listed && s.indices * rare_listed <= s.rows && s.dim < limit && s.rows < limit) return Scattering::lists;
  if (row_bytes >= long_row && !rare && !waits && s.indices <= most_few && s.indices <= most_of_row * s.rows && s.rows * ((s.dim + part - 1) / part) < limit) return Scattering::few;
  if (scatter_table64(shared_bytes, s)) return Scattering::fixed_table;
  // Elements of 16 bits (H200: f16 400009x3, 9000001 190 to 142 us, bf16 65536x16, 2500000 243 to 178, 100003x1, 1500007 25.4 to 23.0; f16 30011x30, 1200001 157 to 166).
  constexpr int64_t least_of_span = 8, most_span_bytes = 32;
  if (s.bytes == 2 && s.indices > s.rows * least_of_span && row_bytes <= most_span_bytes && scatter_spans(sm_count, shared_bytes, s).span > 0) return Scattering::spans;
  if (scatter_takes_exact(s) && row_bytes <= wide_row && scatter_exact(sm_count, shared_bytes, s).span > 0) return Scattering::exact;
  // Wider rows in tiles that come by one copy (H200: f32 9000001x15, 3000001 695 to 472 us, 2000001x7, 600001 82.7 to 63.8, 300007x129, 100003 164 to 110, f16 1962941x27, 500000 182 to 109, bf16 300000x100, 110000 86 to 67; f32
  // 2000001x64, 100001 278 to 286).
  constexpr int64_t least_wide = 65536, least_wide_table = int64_t{1} << 25, rare_wide = 64;
  const int64_t rarest = scatter_vector(s) == 0 ? rare_wide : rare_rows;
  if (row_bytes > narrow_row && s.indices * 2 <= s.rows && s.indices * rarest >= s.rows && s.indices >= least_wide && s.rows * row_bytes >= least_wide_table && scatter_tiles(shared_bytes, s).span > 0) return Scattering::wide;
  const bool binned = s.indices >= least_binned && s.indices <= most_binned * s.rows && s.rows >= sm_count * 8 && !idle && scatter_range(sm_count, shared_bytes, s, true).span > 0;
  // Narrow rows of which up to a quarter have an index, unless these are few or rare (H200: bf16 54245993x2, 2104438 360 to 230 us, f16 8000003x3, 1500001 168 to 82, 1326253x3, 143509 23.8 to 18.1; f32 1000000x1, 500000 24.6 to
  // 29.1, 300001x1, 33001 10.8 to 11.5, bf16 1000001x5, 60001 16.7 to 18.1).
  constexpr int64_t least_tiled = 40'000, many_tiled = int64_t{1} << 17, least_table = int64_t{1} << 20;
  // Rows of 8 to 16 bytes are sooner copied where hardly any has an index (H200: f32 16000001x4, 140001 172 to 151 us; rows of 6 bytes f16 8000003x3, 200003 37.5 to 68.3).
  constexpr int64_t rare_tiled = 64;
  const bool rarely = row_bytes > packed_row_bytes && row_bytes % 4 == 0 && s.indices * rare_tiled <= s.rows;
  const bool unranged = s.indices <= s.rows && scatter_range(sm_count, shared_bytes, s, true).span == 0;
  const bool tiled = !rarely && row_bytes <= narrow_row && (unranged || s.indices * 4 <= s.rows) && s.indices >= least_tiled && (s.indices >= many_tiled || s.indices * rare_rows >= s.rows) && s.rows * row_bytes >= least_table && scatter_tiles(shared_bytes, s).span > 0;
  // With their elements where rows are narrower still, up to an index of each row on average where these have 4 bytes at most (H200: f16 5000003x1, 1000001 35.4 to 25.0 us, 8000003x3, 1500001 80.1 to 58.9; f32 1000000x1, 500000 24.6 to
  // 19.4, bf16 1000001x2, 600001 31.3 to 25.7, f16 3000001x1, 2500001 75.0 to 48.3; f32 300007x1, 600001 22.6 to 43.6, f16 2495887x4, 2721557 120 to 162).
  constexpr int64_t least_packed = int64_t{1} << 17, packed_cells = int64_t{1} << 19, packed_each = 4;
  const bool together = row_bytes <= packed_each && s.indices <= s.rows && s.rows * s.dim >= packed_cells;
  if ((tiled || together) && s.indices >= least_packed && scatter_packed(sm_count, shared_bytes, s).span > 0) return Scattering::packed;
  if (tiled) return Scattering::tiles;
  if (!idle && scatter_cells64(s, binned)) return Scattering::fixed;
  if (s.indices >= least_tabled && scatter_table_warps(shared_bytes, s) > 0) return Scattering::table;
  if (scatter_columns(sm_count, shared_bytes, s).groups > 0) return Scattering::columns;
  // Rows that a few threads would go along in several steps, where all blocks look at once (H200: f32 1024x577, 853 15.6 to 10.9 us, 1000x1000, 700 13.2 to 10.4).
  constexpr int64_t most_short = 1024, several = 2048, resident = 8;
  if (s.indices <= most_short && row_bytes >= several && !idle && blocks <= sm_count * resident) return Scattering::look;
  if (s.indices <= most_looked && s.dim < limit && (blocks <= look_blocks || (blocks * s.indices <= most_looks && s.indices > most_slotted * s.rows))) return Scattering::look;
  if (s.indices <= most_found && s.indices <= most_slotted * s.rows && !idle && scatter_range(sm_count, shared_bytes, s, false).span > 0) return Scattering::found;
  // Slots of several indices for narrow rows take one wait less than bins.
  const bool slotted = s.indices > s.rows && s.indices <= most_slotted * s.rows && row_bytes < slotted_row && s.indices <= few_slotted;
  if (binned && !slotted) return Scattering::bins;
  if (cells <= most_cells && cells * s.indices <= most_scanned) return Scattering::scan;
  if (scatter_table_warps(shared_bytes, s) > 0) return Scattering::table;
  if (s.indices <= most_slotted * s.rows && s.rows < limit && s.indices < limit && s.dim < limit) {
    if (idle) return Scattering::lists;
    return s.indices <= s.rows || s.rows * scatter_room(s) * 4 > most_slots ? Scattering::chains : Scattering::slots;
  }
  return scatter_wide64(s) ? Scattering::fixed : Scattering::sorted;
}

}  // namespace opscope::cuda
