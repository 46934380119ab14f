// Which kernels of scatter_add.cu, scatter_look.cu and scatter_rows.cu take a shape. Pure; see planes.h of the tests for what holds over the range.
#pragma once
#include <algorithm>
#include <cstdint>

#include "../scatter_add.h"
#include "../scatter_rows.h"

namespace opscope::cuda {

struct ScatterShape {
  int64_t rows, dim, indices, bytes;  // bytes of an element
};

// Lanes of a row of few elements: a power of two.
inline int lanes_of_row(int64_t dim) {
  int lanes = 1;
  while (lanes < dim) lanes *= 2;
  return lanes;
}

// Where they run: see the head of either file. sorted: everything else.
enum class Scattering { scan, table, few, look, slots, chains, lists, ranges, sorted };

// Many indices of narrow rows that fit shared memory several times. Fewer rows than indices that a warp takes at a time would wait for each other.
inline int64_t scatter_table_warps(int64_t shared_bytes, const ScatterShape& s) {
  constexpr int64_t most_warps = 16, least_warps = 4, scratch = 1 << 10;
  if (s.dim > 32 || s.rows > 1 << 16) return 0;
  const int64_t lanes = lanes_of_row(s.dim), warps = std::min(most_warps, (shared_bytes - scratch) / (s.rows * lanes * 4));
  return warps >= least_warps && s.rows >= 32 / lanes && s.indices >= s.rows * 8 ? warps : 0;
}

// Rows of a range that a block keeps in shared memory, 0 where others do it: a range for each multiprocessor, or more where they do not fit, as long as all look through the indices
// sooner than these are sorted.
inline int64_t scatter_range_span(int64_t sm_count, int64_t shared_bytes, const ScatterShape& s) {
  constexpr int64_t most_looks = int64_t{1} << 25, least_rows = 4096, scratch = 2 << 10;
  if (s.dim > 32 || s.rows < least_rows || s.rows >= int64_t{1} << 31) return 0;
  const int64_t fit = (shared_bytes - range_bytes - scratch) / (lanes_of_row(s.dim) * 4), span = std::min((s.rows + sm_count - 1) / sm_count, std::min<int64_t>(fit, 1 << 16));
  return span > 0 && (s.rows + span - 1) / span * s.indices <= most_looks ? span : 0;
}

// Bytes of the vectors that rows are whole numbers of; 0: none.
inline int64_t scatter_vector(const ScatterShape& s) { return s.dim * s.bytes % 16 == 0 ? 16 : s.dim * s.bytes % 8 == 0 ? 8 : 0; }
inline bool scatter_vectors(const ScatterShape& s) { return scatter_vector(s) == 16; }
// Elements of a row that a thread has: a vector, or four.
inline int64_t scatter_cells(const ScatterShape& s) { return scatter_vector(s) > 0 ? scatter_vector(s) / s.bytes : 4; }
// Threads of a row that is not left to a block.
inline int scatter_lanes(const ScatterShape& s) { return lanes_of_row(std::min<int64_t>(32, (s.dim + scatter_cells(s) - 1) / scatter_cells(s))); }
// Slots of a row: of indices that are drawn alike for all rows, one row of many millions has more.
inline int scatter_room(const ScatterShape& s) { return s.indices <= s.rows * 4 ? 16 : 32; }
// Threads of a block, as many as that leave every multiprocessor a block.
inline int64_t scatter_threads(int64_t sm_count, int64_t threads) { return std::clamp<int64_t>(threads / sm_count / 32 * 32, 64, link_threads); }
// Threads that share the columns of a part of a row (scatter_look): as many as it has columns for, or fewer where that leaves multiprocessors without a block.
inline int64_t scatter_look_columns(const ScatterShape& s, int64_t lanes) { return lanes * scatter_cells(s); }
inline int scatter_look_lanes(int64_t sm_count, const ScatterShape& s) {
  const int64_t least = scatter_vector(s) > 0 ? 8 : 32;
  int64_t lanes = lanes_of_row(std::min<int64_t>(link_threads, (s.dim + scatter_cells(s) - 1) / scatter_cells(s)));
  while (lanes > least && s.rows * ((s.dim + scatter_look_columns(s, lanes) - 1) / scatter_look_columns(s, lanes)) < sm_count * 2) lanes /= 2;
  return static_cast<int>(lanes);
}
// Columns of a part of a long row (scatter_few): fewer where there are few, so that multiprocessors have work.
inline int64_t scatter_part(int64_t sm_count, const ScatterShape& s) {
  const int64_t cells = link_threads * (scatter_vectors(s) ? 16 / s.bytes : 1), wanted = s.rows * s.dim / (sm_count * 2);
  return std::clamp<int64_t>(wanted / cells * cells, cells, long_row_columns(scatter_vectors(s)));
}

inline Scattering scattering(int64_t sm_count, int64_t shared_bytes, const ScatterShape& s) {
  const int64_t cells = s.rows * ((s.dim + 31) / 32), row_bytes = s.dim * s.bytes;
  constexpr int64_t limit = int64_t{1} << 31;
  // What a block of a long row looks through is no more than what it moves, and what it adds up one after the other is not much.
  constexpr int64_t long_row = 4096, most_few = 4096, most_of_row = 64;
  // Columns of rows that blocks of several share each look for, and how many looks that is; and indices from which on tables are worth their second launch.
  constexpr int64_t most_cells = 4096, most_scanned = int64_t{1} << 24, least_tabled = 32768;
  // Blocks that look at the same time, most looks of more of them, where slots would be many; and most indices of each.
  const int64_t look_blocks = sm_count * 4;
  constexpr int64_t most_looks = int64_t{1} << 25, most_looked = 65536, most_slotted = 8;
  // Threads of rows that are more than a copy of them costs, unless rows are long: then a row is not written twice. And rows for each index from which on that is so.
  constexpr int64_t many_lanes = 400'000, long_vectors = 2048, least_idle = 4;
  // Bytes of slots.
  constexpr int64_t most_slots = 1 << 30;
  const int64_t part = scatter_part(sm_count, s), looked = scatter_look_columns(s, scatter_look_lanes(sm_count, s)), blocks = s.rows * ((s.dim + looked - 1) / looked);
  if (row_bytes >= long_row && s.indices <= most_few && s.indices <= most_of_row * s.rows && s.rows * ((s.dim + part - 1) / part) < limit) return Scattering::few;
  if (s.indices >= least_tabled && scatter_table_warps(shared_bytes, s) > 0) return Scattering::table;
  if (s.indices <= most_looked && s.dim < limit && (blocks <= look_blocks || (blocks * s.indices <= most_looks && s.indices > most_slotted * s.rows))) return Scattering::look;
  if (cells <= most_cells && cells * s.indices <= most_scanned) return Scattering::scan;
  if (scatter_table_warps(shared_bytes, s) > 0) return Scattering::table;
  if (s.indices <= most_slotted * s.rows && s.rows < limit && s.indices < limit && s.dim < limit) {
    if (s.indices * least_idle <= s.rows && s.rows * scatter_lanes(s) >= many_lanes && !(scatter_vectors(s) && row_bytes >= long_vectors)) return Scattering::lists;
    return s.indices <= s.rows || s.rows * scatter_room(s) * 4 > most_slots ? Scattering::chains : Scattering::slots;
  }
  if (scatter_range_span(sm_count, shared_bytes, s) > 0) return Scattering::ranges;
  return Scattering::sorted;
}

}  // namespace opscope::cuda
