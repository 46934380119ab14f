// Which kernels rows and elements by index take. Pure; see test/moves_test.cc.
#pragma once
#include <cstdint>

#include "../lookup.h"

namespace opscope::cuda {

enum class Embedding {
  each,      // rows of one element: several of a thread
  shifted,   // a vector of the result lies in two rows at most, and is made of vectors of them
  gathered,  // shorter rows: the same, an element at a time
  narrow,    // a vector lies in more rows: four rows of a thread
  units,     // others: a unit of a row each
  many,      // whole vectors, several of a thread
  parts,     // the same of long rows, a part of the columns of all of them after another
};

struct EmbeddingShape {
  Embedding kind;
  int64_t unit, columns;  // bytes that rows are whole numbers of, and units of a row
  int64_t threads;
};

constexpr int64_t lookup_threads = 256;  // of a block

// Units from which on a thread has several, all of them on their way together: fewer are done in a round of blocks.
constexpr int64_t many_from = int64_t{1} << 20;

inline EmbeddingShape embedding_shape(int64_t element_bytes, int64_t rows, int64_t dim, int64_t indices) {
  // Rows of one element from which on a thread has several of them: fewer leave multiprocessors idle.
  constexpr int64_t many_single = int64_t{1} << 20;
  // Elements of the result from which on it is made of vectors where rows are no whole number of them, and vectors of a row from which on one of the result lies in two rows at most.
  constexpr int64_t many_shifted = int64_t{1} << 18, least_shifted = 2;
  // Vectors of a row up to which elements one at a time are faster than two vectors and a shift (H200: f32 2x41, 2841345 255 to 196 us, bf16 100003x67, 1000000 91 to 85; 50257x769, 8192 14.1 to 14.7).
  constexpr int64_t most_gathered = 64;
  // Rows of fewer than two vectors from which on blocks that have some of them are enough (H100: bf16 100000x3 7.6 to 6.8 us, f32 50001x7 6.4 and 7.6).
  constexpr int64_t many_narrow = int64_t{1} << 16;
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  EmbeddingShape s = {Embedding::units, dim * element_bytes % 16 == 0 ? 16 : dim * element_bytes % 4 == 0 ? 4 : element_bytes, 0, 0};
  s.columns = dim * element_bytes / s.unit;
  const int64_t lanes = 16 / s.unit, units = indices * s.columns;
  if (s.columns == 1 && s.unit <= 4 && indices >= many_single) s.kind = Embedding::each, s.threads = over(indices, many_units);
  else if (const bool narrow = s.columns < least_shifted * lanes; s.unit < 16 && s.columns > 1 && indices * dim >= many_shifted && (!narrow || indices >= many_narrow)) {
    s.kind = narrow ? Embedding::narrow : s.columns <= most_gathered * lanes ? Embedding::gathered : Embedding::shifted, s.threads = narrow ? over(indices, narrow_rows) : over(units, lanes);
  } else if (s.unit == 16 && units >= many_from) {
    // Long rows of a table that L2 does not keep, each of which several indices name (H200: f32 64x262144, 257 122 to 93.7 us, 1000x16384, 2000 61.4 to 55.2, 64x65536, 300 32.5 to 29.5; 4096x4096, 8192 63.0 and 62.6).
    constexpr int64_t long_columns = 4096, table_bytes = 16 << 20;
    const bool parts = s.columns >= long_columns && indices >= rows && rows * s.columns * 16 >= table_bytes && indices < int64_t{1} << 31;
    const int64_t of_row = over(s.columns, lookup_threads * many_units) * lookup_threads;
    s.kind = parts ? Embedding::parts : Embedding::many, s.threads = parts ? indices * of_row : over(units, many_units);
  } else s.threads = units;
  return s;
}

// Whether a thread of gather has four elements, whose indices are one access: where they are many.
inline bool gather_has_four(int64_t elements) { return elements >= many_from; }

// Whether a thread of rope has several pairs. Pairs of 16-bit elements side by side gain nothing (bf16 232987x1x254 on an H200: 148 us either way; 2048x32x128: 23.6, with several 25.4).
inline bool rope_has_many(int64_t element_bytes, int64_t pairs, bool interleaved) { return pairs >= many_from && !(interleaved && element_bytes == 2); }

}  // namespace opscope::cuda
