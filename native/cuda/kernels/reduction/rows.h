// Reductions of rows of some vectors by lanes of a warp (reduction_rows.cu): which, and how rows are spread. Pure; plan_test.cc has what holds over the whole range.
#pragma once
#include <cstdint>

namespace opscope::cuda {

// What reduction_rows.cu takes, the same for host and device.
struct ReducedRows {
  unsigned long long x, out, parts;  // addresses; results go to parts as they are where these are not 0
  long long rows, count;             // of x; elements of a result in all
  int cols, log2;                    // 1 << log2 lanes of a warp have a row
};

// The same of results whose elements are short rows of several groups: x [groups, rows, cols].
struct SpreadRows {
  unsigned long long x, out;
  long long rows, count, groups;
  int cols, log2;  // 1 << log2 lanes of a warp have a vector of 16 bytes each of a result's rows
};

struct ReducedRowsShape {
  int vectors = 0;  // of a lane, up to `reduced_vectors`; 0: other kernels take the case
  int log2 = 0;
  int64_t blocks = 0;
};

// Vectors of a lane; of a row, at least, where places are wanted too, and at most; threads of a block. Fewer are read through shared memory, or by lanes with a vector each (H200: argmin f16 162018x38 14.1 us, so 16.9;
// argmax f32 199303x34 17.6 and 15.7).
constexpr int reduced_vectors = 4;
constexpr int64_t reduced_least = 5, reduced_least_placed = 9, reduced_most = 32 * reduced_vectors, reduced_threads = 256;
// Vectors of a lane of longer rows, at most.
constexpr int reduced_long_vectors = 8;

// Lanes of a result where each has a vector of every group, or -1: others take the case. Each thread has eight vectors on their way, so a quarter of those that fit are enough.
// `placed`: a place is wanted.
inline int spread_rows_log2(int sm_count, int64_t lanes, int64_t rows, int64_t cols, int64_t groups, bool placed = false) {
  constexpr int64_t least_threads = 256;
  const int64_t most_vectors = placed ? 16 : 32;
  const int64_t vectors = cols / lanes;
  if (groups < 2 || cols % lanes != 0 || vectors < 1 || vectors > most_vectors) return -1;
  int log2 = 0;
  while ((int64_t{1} << log2) < vectors) log2++;
  // Rows with places that others take leave no lane idle (H200: argmin f32 40x20000x64 70.4 to 54.5 us, argmax f32 3x40000x40 14.6 to 16.4).
  if (placed && vectors >= reduced_least_placed && int64_t{1} << log2 > vectors) return -1;
  return rows << log2 >= int64_t{sm_count} * least_threads ? log2 : -1;
}

// Rows of a thread where lanes have a vector of each.
constexpr int64_t several_rows = 4;

// Lanes of a row of few vectors, of which a thread has several on their way, or -1: others take the case.
inline int several_rows_log2(int sm_count, int64_t lanes, int64_t rows, int64_t cols, bool placed) {
  const int64_t vectors = cols / lanes, least = placed ? reduced_least_placed : reduced_least;
  if (cols % lanes != 0 || vectors < 1 || vectors >= least) return -1;
  int log2 = 0;
  while ((int64_t{1} << log2) < vectors) log2++;
  return rows << log2 >= int64_t{sm_count} * 512 ? log2 : -1;
}

// `lanes`: elements of 16 bytes. `placed`: a place is wanted.
inline ReducedRowsShape reduced_rows_shape(int sm_count, int64_t lanes, int64_t rows, int64_t cols, bool placed) {
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  // A row that starts off a boundary can touch one vector more.
  const int64_t vectors = cols % lanes == 0 ? cols / lanes : over(cols + lanes - 1, lanes);
  if (rows < 2 || vectors < (placed ? reduced_least_placed : reduced_least)) return {};
  if (vectors > reduced_most) {
    // Many rows: a warp for each, instead of a block; places of 16 bits take too long (H200: argmax f16 100000x2040 122 us, so 150).
    constexpr int64_t many_rows = 32;
    if (vectors > 32 * reduced_long_vectors || rows < int64_t{sm_count} * many_rows || (placed && lanes > 4)) return {};
    return {vectors <= 32 * 6 ? 6 : reduced_long_vectors, 5, over(rows * 32, reduced_threads)};
  }
  int log2 = 2;
  while ((reduced_vectors << log2) < vectors) log2++;
  // Few rows: more lanes of each.
  while (log2 < 5 && rows << log2 < int64_t{sm_count} * 1024 && (int64_t{1} << log2) < vectors) log2++;
  return {static_cast<int>(over(vectors, int64_t{1} << log2)), log2, over(rows << log2, reduced_threads)};
}

}  // namespace opscope::cuda
