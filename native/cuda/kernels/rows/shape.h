// How row operations are spread over the GPU (rows/kernel.cuh); see plan_test.cc for what holds over the whole range. Pure.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "../norm_backward.h"
#include "ragged.h"

namespace opscope::cuda {

struct RowsSplit {
  int group;          // threads of a row: a power of two up to 32, or the block
  unsigned threads;   // of a block
  int64_t blocks;
  int parts = 1;      // of a row, each a block
  int64_t part = 0;   // elements of one, a multiple of 16 bytes; with `tiled`, rows of a block, a multiple of 8
  bool tiled = false; // through shared memory
  bool cluster = false;  // the parts of a row are a cluster
  int held = 0;       // vectors of a row that each thread of its group keeps in registers; 0: none
};

// Blocks of a cluster that every GPU with clusters takes, and vectors of a block of one: at least and at most. Beyond, more blocks by two launches are sooner
// done (cumsum of one row of 250,007 f32 on an H200: 27 us, by a cluster 39; of three rows of 65,536: 26, by a cluster 15).
constexpr int64_t most_in_cluster = 8, least_in_block = 512, most_in_block = 4096;

// Rows of up to so many vectors of 16 bytes take a warp or less.
constexpr int64_t warp_vectors = 128;
// Rows of fewer elements share a tile. Longer ones on an H200: 5.3 us by a warp each, 7.8 us through a tile (3 rows of 129 f32).
constexpr int64_t tile_columns = 64;
// Shared memory of a tile, per input.
constexpr int64_t tile_bytes = 16 << 10;

// Threads of a block that keeps a row in registers, at most.
constexpr int64_t held_threads = 512;

// Tiles of short rows: as many rows as fit, fewer where there would not be enough blocks to fill the GPU.
inline RowsSplit rows_tiles(int sm_count, int64_t lanes, int64_t rows, int64_t cols) {
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t most = std::max<int64_t>(8, tile_bytes / 16 * lanes / cols / 8 * 8), wanted = over(over(rows, int64_t{sm_count} * 2), 8) * 8;
  const int64_t part = std::min(most, wanted);
  // Where rows are few, four elements per thread of a row; else a thread for each row, which has no partial results to join.
  int group = 1;
  while (rows < int64_t{sm_count} * 512 && group < 32 && group * 4 < cols) group *= 2;
  return {group, part * group >= 256 ? 256u : part * group >= 128 ? 128u : 64u, over(rows, part), 1, part, true};
}

// `lanes`: elements of 16 bytes. `clusters`: whether the GPU has them. `inputs`: how many tensors have rows that are read. `holds`: whether there are kernels
// that keep rows in registers; `ragged`: those that do not start on 16 bytes, too.
inline RowsSplit rows_split(int sm_count, int64_t lanes, int64_t rows, int64_t cols, bool clusters = false, int inputs = 1, bool holds = false, bool ragged = false) {
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t vectors = over(cols, lanes);
  const bool off = cols % lanes != 0, held_by_block = holds && (!off || ragged);
  holds = holds && !off;
  if (cols < tile_columns && cols % lanes != 0) return rows_tiles(sm_count, lanes, rows, cols);
  // Two vectors of a thread and two to four warps of a row, where others would have four (rms_norm on an H100: bf16 2048x1024 7.6 us, by a warp each 10.0; f32 1024x1024 7.7, by
  // two warps 8.4).
  // One of a thread where rows are neither few nor many (H200: rms_norm f32 5000x256 10.7 to 8.2 us, bf16 2000x400 7.8 to 6.9; bf16 20000x512 15.6 to 17.5, 512x512 5.7 to 5.8).
  if (holds && inputs == 1 && vectors > 32 && vectors <= 64 && rows > int64_t{sm_count} * 8 && rows <= int64_t{sm_count} * 40) return {64, 64, rows, 1, 0, false, false, 1};
  if (holds && inputs == 1 && vectors > 64 && (vectors <= warp_vectors || (vectors <= 256 && rows <= int64_t{sm_count} * 16))) {
    const int64_t threads = over(over(vectors, 2), 32) * 32;
    return {static_cast<int>(threads), static_cast<unsigned>(threads), rows, 1, 0, false, false, 2};
  }
  if (vectors <= warp_vectors) {
    int group = 1;
    while (group < 32 && group * 2 <= vectors) group *= 2;
    // Few rows: small blocks, so that more multiprocessors have one.
    const unsigned threads = rows * group >= int64_t{sm_count} * 1024 ? 256 : rows * group >= int64_t{sm_count} * 128 ? 128 : 64;
    const int64_t each = over(vectors, group);
    return {group, threads, over(rows, threads / static_cast<unsigned>(group)), 1, 0, false, false, !holds ? 0 : each > 2 ? 4 : static_cast<int>(each)};
  }
  constexpr int64_t least_part = 4096;  // vectors
  // Up to four vectors of a thread are sooner there than the blocks of a cluster have met (H200: softmax_backward f32 7x8192 7.7 to 6.5 us, rms_norm 95x6852 9.3 to 7.2).
  const bool held_first = held_by_block && vectors <= held_threads * 4;
  if (!held_first && clusters && vectors <= most_in_cluster * most_in_block) {
    int64_t blocks = 1;
    while (blocks < most_in_cluster && rows * blocks < int64_t{sm_count} * 2 && vectors >= blocks * 2 * least_in_block) blocks *= 2;
    const int64_t part = over(vectors, blocks);
    if (blocks > 1 && over(vectors, part) == blocks) return {256, 256, rows * blocks, static_cast<int>(blocks), part * lanes, false, true};
  }
  const int64_t wanted = over(int64_t{sm_count} * 4, rows), parts = std::min(wanted, over(vectors, least_part));
  // The statistics of all parts are read by each block of a row.
  if (parts > 1) {
    const int64_t part = over(vectors, std::min<int64_t>(parts, 1024));
    return {256, 256, rows * over(vectors, part), static_cast<int>(over(vectors, part)), part * lanes};
  }
  if (held_by_block && vectors <= held_threads * (inputs > 1 ? 4 : 8)) {
    // Few rows: more threads for each.
    const int each = !off && rows <= int64_t{sm_count} * 2 && vectors <= held_threads ? 1 : rows <= int64_t{sm_count} * 2 && vectors <= held_threads * 2 ? 2 : vectors <= held_threads * 4 ? 4 : 8;
    const int64_t threads = over(over(vectors, each), 32) * 32;
    return {static_cast<int>(threads), static_cast<unsigned>(threads), rows, 1, 0, false, false, each};
  }
  // Many rows: several blocks on a multiprocessor, of which some read while others write (8192x8192 f32 on an H200: cross_entropy 142 to 103 us, rms_norm 186 to 162).
  // Where two inputs are read twice, or rows are long, fewer rows at a time stay in the cache (softmax_backward 216 us, with small blocks 300); two blocks of 512
  // threads fit on a multiprocessor.
  const unsigned most_threads = inputs > 1 ? 512 : vectors > 4096 ? 1024 : rows >= int64_t{sm_count} * 4 ? 256 : rows >= int64_t{sm_count} * 2 ? 512 : 1024;
  unsigned threads = 64;
  while (threads < most_threads && threads * 4 < vectors) threads *= 2;
  return {static_cast<int>(threads), threads, rows};
}

// The losses of rows by a block each (cross_entropy.cu).
struct LossShape {
  int vectors = 0;  // of a thread, on their way at a time; 0: other kernels take the case
  unsigned threads = 0;
};

inline LossShape loss_shape(int sm_count, int64_t lanes, int64_t rows, int64_t cols, bool clusters) {
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t vectors = cols / lanes;
  if (cols % lanes != 0 || vectors <= warp_vectors || vectors >= int64_t{1} << 28 || rows_split(sm_count, lanes, rows, cols, clusters).parts > 1) return {};
  // Few rows: more threads for each.
  const bool few = rows <= int64_t{sm_count} * 2;
  // Rows of 16 bits that are four of each thread have nothing to find out before they are on their way (H200: bf16 8192x8192 37.3 to 35.8 us, 4096x4096 15.5 to 14.1, f16 20000x2048 33.5 to 33.0).
  if (lanes > 4 && !few && vectors % 128 == 0 && vectors <= 2048) return {4, static_cast<unsigned>(vectors / 4)};
  // Many rows: eight of a thread, and smaller blocks (H200: f16 100000x1040 97.3 to 73.3 us, f32 30000x520 34.1 to 29.7, bf16 20000x2048 32.3 to 30.5; f16 1000x1032 11.6 to 15.6, f32 3000x2048 13.8 to 14.2).
  constexpr int64_t many_each = 24, most_of_many = 512;
  // Rows of more vectors: eight (H200: f16 4000x5008 21.0 to 18.2 us, f32 4096x4096 23.8 to 22.9, 1500x4096 14.1 to 13.6).
  const bool four = vectors <= most_of_many && rows < sm_count * many_each;
  const int64_t each = few ? 2 : four ? 4 : 8, most = few ? 512 : four ? 128 : 256;
  return {each == 8 ? 8 : 4, static_cast<unsigned>(std::min(most, over(over(vectors, each), 32) * 32))};
}

// Rows whose losses lie in slots, which the launch that takes their mean reads while blocks still write them, instead of a counter that each block waits for, or of the end of all blocks (H200, cold: bf16 1000x2048 12.5 to 9.1 us,
// f32 300x1028 9.0 to 8.0, 3000x2048 14.6 to 13.7; 20x4096 7.8 to 7.9; in graphs f32 1024x1024 8.3 to 4.3). Many rows only where they are long (f32 4096x4096 21.8 to 21.2, 16000x2048 36.5 to 35.5, f16 3500x2048 12.4 to 11.2, 16384x4096
// 39.4 to 38.4; bf16 8192x1040 15.5 to 15.9, 12000x1032 20.8 and 20.8).
constexpr int64_t loss_slots_few = 3072, loss_slots_most = 16384, loss_slots_row = 4096;
// Slots from which on a block of 1,024 threads reads them, not 512.
constexpr int64_t many_loss_slots = 3072;
inline bool loss_slots(int sm_count, int64_t lanes, int64_t rows, int64_t cols) {
  return rows > int64_t{sm_count} * 2 && (rows <= loss_slots_few || (rows <= loss_slots_most && cols / lanes * 16 >= loss_slots_row));
}

// ---- many rows that do not start on 16 bytes, by lanes of a warp that stay (rows_ragged.cu) ----

// An operation: tensors with rows that it reads, and with one row that all of these share; elements in all from which on it is faster than the kernels for any row, and, for rows of up to `short_elements`, than
// lanes with single elements (softmax/shape.h), where there are such kernels. `half`: elements of 16 bits alone.
struct RaggedOp {
  int inputs, weights;
  int64_t least = 0, least_short = 0;
  bool half = false;
};

// H200: layer_norm bf16 193x108807 41.7 to 32.8 us, 199x41132 19.3 to 18.4, 113x32757 13.1 to 12.6, f16 173x1917 6.1 to 8.8; softmax_backward f16 485x2049 7.7 to 7.0, 183x43694 16.6 to 17.1; softmax bf16 1079x1951 9.5 to 8.1,
// log_softmax bf16 1354x1123 7.7 to 8.0, f32 313x65537 42.2 to 45.4.
constexpr int64_t ragged_never = std::numeric_limits<int64_t>::max();
constexpr RaggedOp ragged_any = {1, 0}, ragged_rms_norm = {1, 1}, ragged_layer_norm = {1, 2, 0, int64_t{7} << 19}, ragged_softmax_backward = {2, 0, int64_t{1} << 19, ragged_never},
                   ragged_softmax = {1, 0, int64_t{1} << 21, ragged_never, true};

struct RaggedShape {
  int vectors = 0;  // of a lane; 0: other kernels take the case
  int log2 = 0;     // 1 << log2 lanes of a warp have a row
  int64_t blocks = 0;
};

// Elements of a row at least; rows for each multiprocessor, of which fewer are left to kernels with a block or a warp of each.
constexpr int64_t ragged_least = 64, ragged_each = 8;
// Lanes of a row at least, and vectors of a lane at least and at most, at most where others of its warp have other rows.
constexpr int ragged_log2 = 3, ragged_few = 2, ragged_most = 8, ragged_most_of_part = 5;

// `lanes`: elements of 16 bytes; `short_elements`: of a row, up to which there are kernels with single elements of a lane, if there are any.
inline RaggedShape ragged_shape(int sm_count, int lanes, int64_t rows, int64_t cols, const RaggedOp& op, int64_t short_elements) {
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  // A row that starts off a boundary can touch one vector more.
  const int64_t vectors = over(cols + lanes - 1, lanes);
  if (cols % lanes == 0 || cols < ragged_least || vectors > 32 * ragged_most || rows < sm_count * ragged_each || (op.half && lanes < 8)) return {};
  if (rows * cols < (cols <= short_elements ? op.least_short : op.least)) return {};
  // As few lanes as have registers for it, of two blocks on a multiprocessor.
  int log2 = ragged_log2;
  const auto each = [&] { return static_cast<int>(over(vectors, int64_t{1} << log2)); };
  while (log2 < 5 && (each() > ragged_most_of_part || ragged_registers(lanes, each(), op.inputs, op.weights) > 128)) log2++;
  const int own = each() < ragged_few ? ragged_few : each();
  // Blocks that stay have equally many rounds, as near as can be.
  const int64_t all = over(rows << log2, ragged_threads), fit = int64_t{sm_count} * ragged_blocks(lanes, own, op.inputs, op.weights);
  return {own, log2, over(all, over(all, fit))};
}

// How the gradients of a norm are computed with each tensor read once.
struct NormShape {
  int vectors = 0;      // of a thread; 0: other kernels take the case
  unsigned threads = 0, groups = 0;  // of a row, and rows of a block at a time
  int64_t blocks = 0, shared = 0;
};

// `lanes`: elements of 16 bytes. `centered`: layer_norm, which has sums for a bias too.
inline NormShape norm_shape(int sm_count, int64_t most_shared, int64_t lanes, int64_t tokens, int64_t dim, bool centered) {
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  // A row that starts off a boundary of 16 bytes can touch one vector more.
  const int64_t vectors = dim % lanes == 0 ? dim / lanes : over(dim + lanes - 1, lanes);
  // With four vectors of a thread, the ragged kernel runs out of registers (bf16 700x9001 on an H100: 54 us, by three launches 41).
  if (vectors < 32 || vectors > (dim % lanes == 0 ? 4 : 2) * norm_threads || tokens < 1) return {};
  // Two vectors of a thread: half as many threads wait for each other (bf16 4096x4096 on an H200: 40 us, one vector 47).
  // Rows off a boundary by one warp each, where two would join their sums in shared memory, as far as it has registers for them (H200: rms_norm_backward bf16 129990x523 332 to 139 us, f32 94287x257 193 to 107, 5000x385 22.8 to
  // 16.8; layer_norm_backward bf16 60001x523 162 to 100, 2305x521 16.4 to 18.2, f16 20000x1001 82.2 to 88.3).
  constexpr int64_t many_each = 64;
  const bool by_warp = dim % lanes != 0 && vectors > 64 && vectors <= (lanes > 4 && centered ? 96 : 128) && (lanes == 4 || tokens >= sm_count * many_each);
  const int each = by_warp ? (vectors <= 96 ? 3 : 4) : vectors <= 32 ? 1 : vectors <= 2 * norm_threads ? 2 : 4;
  const int64_t threads = over(over(vectors, each), 32) * 32;
  const auto shared = [&](int64_t groups) { return norm_scratch_bytes + groups * norm_stages * 2 * each * threads * 16; };
  // What a block adds up is written once for all of its groups. Few rows: fewer groups, for more blocks (bf16 128x1024: 5.5 us by 32 blocks of four, 6.8 by 16 of eight).
  int64_t groups = std::min<int64_t>(norm_groups, norm_threads / threads);
  // Off a boundary, groups of several warps have a block each: racecheck reports several of them in one block, where they join sums in shared memory, and whether it is
  // right is not known. Narrow ones would be too many blocks, whose sums are written and read again.
  if (dim % lanes != 0 && threads > 32) {
    if (threads < 128) return {};
    groups = 1;
  }
  while (groups > 1 && (tokens < groups * 32 || shared(groups) > most_shared)) groups /= 2;
  if (shared(groups) > most_shared) return {};
  const int64_t resident = norm_threads / (threads * groups);
  int64_t blocks = std::min(sm_count * resident, over(tokens, groups));
  // Off a boundary a block has six rows or more where that leaves no multiprocessor without one: what it adds up is as much as it reads of one (H200: layer_norm_backward f16 509x3315 16.8 to 14.5 us, 600x1999 17.2 to 14.0,
  // bf16 700x4001 19.1 to 17.9; with fewer blocks than multiprocessors f32 300x4001 16.1 to 18.0, bf16 200x7001 15.5 to 19.4).
  constexpr int64_t least_rows = 6;
  if (dim % lanes != 0 && threads > 32) blocks = std::min(blocks, std::max<int64_t>(std::min<int64_t>(tokens, sm_count), over(tokens, least_rows)));
  // The rows of a group start equally far behind a boundary.
  const int64_t whole = lanes / std::gcd(lanes, groups * dim);
  if (blocks * groups < tokens) blocks = blocks / whole * whole;
  return {each, static_cast<unsigned>(threads), static_cast<unsigned>(groups), blocks, shared(groups)};
}

// The same in one launch, where elements are few or rows do not start on 16 bytes (norm_backward_few.cu).
struct NormFewShape {
  int64_t tiles = 0;  // of 32 columns; 0: other kernels take the case
  int64_t splits = 0, rows_per_split = 0, row_blocks = 0;
  int group = 0;
};

// Elements up to which reading grad and x twice, from a cache, takes less than a second launch (on an H100: bf16 1024x1024 12.8 us, by three launches 14.6; 2000x999 19.7 and 19.0).
constexpr int64_t norm_few_most = int64_t{1} << 20;

inline NormFewShape norm_few_shape(int sm_count, int64_t tokens, int64_t dim) {
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  if (tokens < 1 || dim > norm_few_threads * norm_few_elements || tokens * dim > norm_few_most) return {};
  NormFewShape s;
  s.tiles = over(dim, 32);
  // A thread reads eight tokens at a time, 64 a block.
  const int64_t splits = std::clamp<int64_t>(std::min(over(int64_t{sm_count} * 4, s.tiles), over(tokens, 64)), 1, 256);
  s.rows_per_split = over(tokens, splits);
  s.splits = over(tokens, s.rows_per_split);
  // Four elements of a row for each thread, or as many as there are.
  s.group = 1;
  while (s.group < norm_few_threads && (s.group * norm_few_elements < dim || (s.group < 32 && s.group * 4 < dim))) s.group *= 2;
  s.row_blocks = over(tokens, norm_few_threads / s.group);
  return s;
}

}  // namespace opscope::cuda
