// Which kernels order rows. Pure; see test/order_test.cc for what holds over the range.
#pragma once
#include <algorithm>
#include <cstdint>

#include "../order_choose.h"
#include "../order_filter.h"

namespace opscope::cuda {

constexpr int64_t largest_tile = 8192; // keys that a block merges
constexpr int64_t most_selected = 1024;
constexpr int64_t keys_of_thread = 8;
constexpr int64_t radix_tile = 4096;  // keys of a block of a radix sort (order/radix.cuh)
constexpr int64_t radix_digits = 256;

enum class OrderKind {
  single,     // rows of one element: a copy
  rank,       // few rows: a thread for each element counts the smaller ones
  threads,    // few rows: a thread for each element, a bitonic sort
  network,    // registers of a warp or of a part of it
  best_warp,  // the first few out of the registers of a warp
  best,       // the first few out of the registers of blocks, one or several to a row
  best_tile,  // the same, and a block that sorts what the parts of a row leave
  block,      // digits in the shared memory of a block
  choose,     // a block for a row, which counts digits until few elements are left to sort; the row in its shared memory
  choose_far, // or not
  filter,     // by the k-th of the least words of parts of a row, one or several blocks to a row
  filter_more,  // the same by several blocks, and a launch that sorts
  select,     // the best of parts of a row, of what those leave, and so on
  radix,      // digits in memory
};

// Elements of a thread and threads of a row, or of a part of it.
struct OrderShape {
  OrderKind kind;
  int each = 0, threads = 0;
  int64_t part = 0, parts = 1;
};

// network: words of a lane and lanes of a row, a power of two. Few words where rows are short; 8 leave registers for many warps.
inline OrderShape network_shape(int64_t cols) {
  const int each = cols <= 16 ? 4 : cols <= 256 ? 8 : cols <= 512 ? 16 : 32;
  int lanes = 1;
  while (lanes * each < cols) lanes *= 2;
  return {OrderKind::network, each, lanes, cols};
}
inline int64_t network_columns(int64_t element_bytes) { return element_bytes == 2 ? 1024 : 512; }

// rank, threads: rows that all fit the GPU at once. Their code is short: most of the time of a network that runs once is the transfer of its instructions.
constexpr int64_t rank_columns = 256, threads_columns = 512, resident_threads = 2048;
inline OrderShape few_shape(int sm_count, int64_t rows, int64_t cols) {
  if (cols > threads_columns) return {OrderKind::network};
  const OrderKind kind = cols <= rank_columns ? OrderKind::rank : OrderKind::threads;
  int threads = 32;
  while (threads < cols) threads += kind == OrderKind::rank ? 32 : threads;
  if (rows * threads > sm_count * (kind == OrderKind::rank ? resident_threads / 4 : resident_threads)) return {OrderKind::network};
  return {kind, 1, threads, cols};
}

// best_warp, best: a row may start anywhere within 16 bytes.
constexpr int64_t best_threads = 256, best_joined = 2048;  // keys of all parts of a row
// For a larger k, each bit of the bound takes a pass over the elements.
constexpr int64_t best_kept = best_threads / 2;
inline int64_t best_capacity(int64_t threads, int each, int64_t element_bytes) { return threads * each - (16 / element_bytes - 1); }
inline int best_each(int64_t threads, int64_t n, int64_t element_bytes) {
  for (int each = 8; each < 32; each *= 2)
    if (n <= best_capacity(threads, each, element_bytes)) return each;
  return 32;
}
inline bool best_of_warp(int64_t cols, int64_t keep, int64_t element_bytes) { return cols > 64 && keep <= 24 && cols <= best_capacity(32, 32, element_bytes); }

// Parts as long as a block holds; shorter ones where rows are too few for every multiprocessor.
inline OrderShape best_shape(int sm_count, int64_t rows, int64_t cols, int64_t keep, int64_t element_bytes) {
  const int64_t most = best_capacity(best_threads, 32, element_bytes), shortest = best_capacity(best_threads, 8, element_bytes);
  const int64_t least_parts = (cols + most - 1) / most, wanted = std::min((2 * sm_count + rows - 1) / rows, cols / std::max(shortest, 8 * keep));
  const int64_t parts = std::max(least_parts, std::min(wanted, best_joined / keep)), part = (cols + parts - 1) / parts;
  const int64_t needed = (cols + part - 1) / part;
  return {needed * keep <= best_joined || needed == 1 ? OrderKind::best : OrderKind::best_tile, best_each(best_threads, part, element_bytes), static_cast<int>(best_threads), part, needed};
}

// block: a multiple of 32 threads. Bytes of shared memory: words, and counts of 256 digits for each warp and for all.
inline int64_t block_shared(int each, int threads, int64_t element_bytes) { return int64_t{each} * threads * 2 * element_bytes + (threads / 32 + 1) * 1024; }
inline int64_t block_shared(const OrderShape& s, int64_t element_bytes) { return block_shared(s.each, s.threads, element_bytes); }
// Elements of the longest row that a block holds: by 1024 threads.
inline int64_t block_columns(int64_t shared_bytes, int64_t element_bytes) {
  constexpr int threads = 1024;
  return (block_shared(16, threads, element_bytes) <= shared_bytes ? 16 : 8) * threads;
}
inline bool few_rows(int sm_count, int64_t rows) { return rows < int64_t{sm_count} * 2; }
inline OrderShape block_shape(int sm_count, int64_t rows, int64_t cols, int64_t element_bytes) {
  const auto padded = [&](int64_t each) { return (cols + 32 * each - 1) / (32 * each) * 32 * each; };
  // Few rows gain from more threads, many rows from more words of a thread where these are not padding.
  const bool many = !few_rows(sm_count, rows) && (element_bytes == 2 ? padded(16) == padded(8) : cols > 4096);
  const int each = cols <= 8192 && !many ? 8 : 16;
  return {OrderKind::block, each, static_cast<int>(padded(each) / each), cols};
}

// choose: bytes of a row in shared memory, wherever it starts within 16 bytes.
inline int64_t choose_most_shared(int64_t shared_bytes) { return shared_bytes - choose_own_shared; }
inline int64_t choose_shared(int64_t cols, int64_t element_bytes) { return (cols * element_bytes + 15) / 16 * 16 + 16; }
// More than best_kept of a row, from so many elements on (H200: f32 3733x19277, 413 1523 to 395 us, 1000x10001, 200 214 to 79, 264x5001, 1000 30.1 to 28.8; bf16 257x16385, 278 60.8 to 31.2; f16 4096x8192, 512
// 231 to 318). Of fewer: bf16 4096x4096, 64 120 to 205, f32 2048x32000, 50 305 to 360.
inline bool chosen(int sm_count, int64_t shared_bytes, int64_t rows, int64_t cols, int64_t keep, int64_t element_bytes) {
  constexpr int64_t least_f32 = 6144, most = 24576;  // longer ones are sooner filtered
  return keep > best_kept && cols <= most && keep <= most_chosen / 2 && keep * 2 <= cols && cols > (element_bytes == 4 ? least_f32 : block_columns(shared_bytes, element_bytes)) && (element_bytes == 4 || rows * 8 >= sm_count) && choose_shared(cols, element_bytes) <= choose_most_shared(shared_bytes);
}

// Of more than others select, where rows are not few, or in 16 bits much longer (H200: f16 256x262144, 3835 802 to 321 us, 100x20001, 1500 43.3 to 32.0, 17x33001, 1500 31.0 to 39.5, bf16 40x50001, 4000 44.4 to 66.0; f32 40x300001, 1025 384 to 153,
// 17x17001, 3000 47.7 to 44.8, 1000x20000, 3000 633 to 195; bf16 500x20001, 4000 162 to 119, f16 70x30001, 4000 46.0 to 50.4).
inline bool chosen_far(int sm_count, int64_t shared_bytes, int64_t rows, int64_t cols, int64_t keep, int64_t element_bytes) {
  const bool many = (element_bytes == 4 || cols >= int64_t{1} << 18 ? rows * 8 : cols >= keep * 8 ? rows * 2 : rows * 4 / 3) >= sm_count;
  return many && keep > most_selected && keep <= most_chosen_far && cols > block_columns(shared_bytes, element_bytes) && cols <= int64_t{1} << 30;
}

// filter: blocks of a row. One where every multiprocessor has a row, else as many as have a round of vectors each.
inline int64_t filter_parts(int sm_count, int64_t rows, int64_t cols, int64_t element_bytes) {
  constexpr int64_t round = filter_slots * choose_threads * 16;
  return rows >= sm_count ? 1 : std::clamp<int64_t>(cols * element_bytes / round, 1, std::min<int64_t>(most_filter_parts, (2 * sm_count + rows - 1) / rows));
}
// Rows that give each least word a vector (H200, before and now: bf16 1025x150907, 740 1614 to 367 us, 1000x40000, 300 169 to 148; f32 58x88175, 216 114 to 39.2, 5x30000, 200 32.0 to 25.1; those of up to 20,001 elements that are
// chosen: f16 2000x20000, 500 217 to 238, f32 100x16385, 200 24.7 to 30.6).
inline bool filtered(int64_t cols, int64_t keep, int64_t element_bytes) {
  constexpr int64_t least_bytes = filter_slots * choose_threads * 16, most_cols = int64_t{1} << 30;
  return keep <= most_selected && cols * element_bytes >= least_bytes && cols <= most_cols;
}

// The same for more, with a launch that sorts: blocks of a row, which leave at least 8192 least words; 0: others take the case.
constexpr int64_t filter_more_shared = (filter_more_keys + filter_more_keys / keys_of_thread) * 8;  // of a block that sorts, in bytes
// From 50 times as many elements on, in 16 bits where these are many (H200, before and now: f16 4x67108864, 3699 4877 to 422 us, 256x262144, 3835 320 to 268; f32 1x131075, 1100 48.4 to 35.1, 400x262145, 4000 623 to 464;
// f32 1x200001, 4096 53.6 to 55.6, 600x140001, 2000 357 to 387; bf16 5x163841, 2048 33.9 to 45.7, 16x150001, 2500 48.8 to 52.6, 132x80001, 1100 60.8 to 75.0).
inline int64_t filter_more_parts_of(int sm_count, int64_t shared_bytes, int64_t rows, int64_t cols, int64_t keep, int64_t element_bytes) {
  constexpr int64_t round = filter_slots * choose_threads * 16, most_cols = int64_t{1} << 30, times = 50, least_halves = int64_t{1} << 17, least_all_halves = int64_t{1} << 21, times_of_halves = 80, many_halves = int64_t{1} << 23, least_of_many = int64_t{1} << 18;
  const bool many = element_bytes == 2 ? cols >= least_halves && rows * cols >= least_all_halves && (cols >= keep * times_of_halves || rows * cols >= many_halves) : rows <= sm_count * 2 || cols >= least_of_many;
  if (!many || filter_more_shared > shared_bytes || keep <= most_selected || keep > most_chosen_far || cols > most_cols || cols * element_bytes < filter_more_parts * round || cols < keep * times) return 0;
  const int64_t parts = std::clamp<int64_t>((2 * sm_count + rows - 1) / rows, filter_more_parts, most_filter_parts);
  return std::min(parts, cols * element_bytes / round);
}

// Which kernels find the first `keep` of rows in order.
inline OrderShape order_shape(int sm_count, int64_t shared_bytes, int64_t rows, int64_t cols, int64_t keep, int64_t element_bytes) {
  const int64_t of_block = block_columns(shared_bytes, element_bytes);
  if (cols == 1) return {OrderKind::single, static_cast<int>(16 / element_bytes), 256, 1};
  if (const OrderShape few = few_shape(sm_count, rows, cols); few.threads > 0) return few;
  if (best_of_warp(cols, keep, element_bytes)) return {OrderKind::best_warp, best_each(32, cols, element_bytes), 32, cols};
  if (cols <= (few_rows(sm_count, rows) ? threads_columns : network_columns(element_bytes))) return network_shape(cols);
  const auto filter = [&] { return OrderShape{OrderKind::filter, 0, choose_threads, cols, filter_parts(sm_count, rows, cols, element_bytes)}; };
  if (chosen(sm_count, shared_bytes, rows, cols, keep, element_bytes)) return {OrderKind::choose};
  if (cols > of_block && keep > best_kept && filtered(cols, keep, element_bytes)) return filter();
  if (const int64_t parts = filter_more_parts_of(sm_count, shared_bytes, rows, cols, keep, element_bytes); cols > of_block && parts > 0) return {OrderKind::filter_more, 0, choose_threads, cols, parts};
  if (chosen_far(sm_count, shared_bytes, rows, cols, keep, element_bytes)) return {OrderKind::choose_far};
  if (keep <= best_kept && keep * 4 <= cols) {
    const OrderShape best = best_shape(sm_count, rows, cols, keep, element_bytes);
    if (best.parts * keep <= largest_tile) return best;
  }
  if (cols <= of_block) return block_shape(sm_count, rows, cols, element_bytes);
  if (filtered(cols, keep, element_bytes)) return filter();
  return {keep <= most_selected ? OrderKind::select : OrderKind::radix};
}

// Keys of a tile: a power of two, of a warp's keys at least.
inline int64_t tile_of_row(int64_t cols) {
  int64_t size = 32 * keys_of_thread;
  while (size < largest_tile && size < cols) size *= 2;
  return size;
}

// Passes of a radix sort of numbers up to `largest`.
inline int radix_passes(uint64_t largest) {
  int passes = 1;
  while (largest >>= 8) passes++;
  return passes;
}

// Parts of a row of which the best `keep` are found one by one: enough to fill the GPU, each of many times what it leaves.
struct SelectSplit {
  int64_t part, parts;
};
inline SelectSplit select_split(int sm_count, int64_t rows, int64_t cols, int64_t keep) {
  constexpr int64_t batch = 2048;
  const int64_t wanted = (int64_t{sm_count} * 4 + rows - 1) / rows, most = std::max<int64_t>(1, cols / std::max(largest_tile, 8 * keep));
  const int64_t parts = std::min(wanted, most), part = ((cols + parts - 1) / parts + batch - 1) / batch * batch;
  return {part, (cols + part - 1) / part};
}

}  // namespace opscope::cuda
