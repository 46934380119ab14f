// Which short rows of softmax, log_softmax, softmax_backward, layer_norm and rms_norm are taken by lanes of a warp (softmax_short.cu, layer_norm_short.cu). Pure; rows_test.cc has what holds over the whole range.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>

namespace opscope::cuda {

struct ShortShape {
  int each = 0;         // elements of a lane, or vectors of 16 bytes; 0: other kernels take the case
  bool vectors = false;
  int group_log2 = 0;   // lanes of a row: a power of two up to 32
  unsigned threads = 0;
  int64_t blocks = 0;
};

// Elements of rows that do not start on 16 bytes, and vectors of others, up to which lanes of one warp hold a row.
constexpr int64_t short_elements = 256, short_row_vectors = 128;

// `lanes`: elements of 16 bytes.
inline ShortShape short_shape(int sm_count, int64_t lanes, int64_t rows, int64_t cols) {
  const bool vectors = cols % lanes == 0;
  const int64_t n = vectors ? cols / lanes : cols;
  if (cols < 1 || rows < 1 || n > (vectors ? short_row_vectors : short_elements)) return {};
  // Of elements four or more: what lanes exchange for a row costs more than a few loads of each (bf16 40,515 rows of 53 on an H100: 9.1 us, with two 14.0).
  const int64_t each = vectors ? (n <= 32 ? 1 : n <= 64 ? 2 : 4) : n <= 32 ? 4 : 8;
  int log2 = 0;
  while ((each << log2) < n) log2++;
  const int64_t in_all = rows << log2;
  // Few rows: small blocks, so that more multiprocessors have one.
  const unsigned threads = in_all >= int64_t{sm_count} * 128 ? 128 : 64;
  return {static_cast<int>(each), vectors, log2, threads, (in_all + threads - 1) / threads};
}

// Threads of a block that has a row in shared memory, of which a multiprocessor has two: GPUs without bulk copies, which others have for such rows (rows/stay.h).
constexpr unsigned long_threads = 512;
// Bytes of such a row; 0: others take the case. Rows that fill registers of a block leave their multiprocessor idle while they are read (H200: log_softmax f16 493x48124 47.4 to 35.5 us, softmax f32 264x21911 32.7 to 23.8,
// 700x22623 60.2 to 55.5); shorter and longer ones, and few, are slower so (f32 600x16384 28.2 to 32.1, 132x8192 8.5 to 11.0, 1000x48001 168 to 238).
inline int64_t long_shared(int sm_count, int64_t shared_bytes, int64_t lanes, int64_t rows, int64_t cols) {
  constexpr int64_t least_vectors = 4096, own = 2 << 10;
  const int64_t most_bytes = std::min<int64_t>(108 << 10, shared_bytes / 2 - own);
  const int64_t vectors = cols % lanes == 0 ? cols / lanes : (cols + lanes - 1 + lanes - 1) / lanes;
  return vectors > least_vectors && vectors * 16 <= most_bytes && rows > sm_count ? vectors * 16 : 0;
}

// The end of the name of its kernels.
inline std::string short_kernel(const ShortShape& s) { return (s.vectors ? "_vectors_" : "_") + std::to_string(s.each) + "_" + std::to_string(s.group_log2); }

}  // namespace opscope::cuda
