// Gradients of norms of few long rows in two launches (norm_backward_long.cu): which, and how they are spread. Pure; rows_test.cc has what holds over the whole range.
#pragma once
#include <cstdint>

namespace opscope::cuda {

// What the kernels take, the same for host and device.
struct NormLongArguments {
  unsigned long long grad, x, weight, mean, rstd, out, weight_out, bias_out;  // addresses; what an op has not is 0
  unsigned long long parts;  // [tokens][chunks], the two sums of each chunk of a row
  long long dim, chunk;      // elements of a row, and of a chunk of one
  int tokens, chunks;
  int columns;               // threads of a block beside each other; those behind each other share the tokens
};

// Threads of a block, and rows at most.
constexpr int norm_long_threads = 256, norm_long_tokens = 64;
// Elements of a row from which on one launch does not hold it (norm_few_shape).
constexpr int64_t norm_long_from = 4097;

struct NormLongShape {
  int64_t chunks = 0, chunk = 0;  // 0: other kernels take the case
  int64_t blocks = 0;
  int columns = 0;
};

inline NormLongShape norm_long_shape(int sm_count, int64_t tokens, int64_t dim) {
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  if (tokens < 1 || tokens > norm_long_tokens || dim < norm_long_from) return {};
  // Four elements of a thread at a time, once where that makes no more blocks than run at a time twice.
  const int64_t step = norm_long_threads * 4, chunk = over(over(dim, over(int64_t{sm_count} * 16, tokens)), step) * step;
  // As many threads beside each other as leave no multiprocessor without a block.
  int columns = norm_long_threads;
  while (columns > 32 && (columns * int64_t{sm_count} * 2 > dim)) columns /= 2;
  const int64_t blocks = over(dim, columns), fit = int64_t{sm_count} * 8;
  return {over(dim, chunk), chunk, blocks < fit ? blocks : fit, columns};
}

}  // namespace opscope::cuda
