// Products of few multiplications (matmul_few.cu): lanes of a warp, or a block, have a result. Pure; few_test.cc has what holds over the whole range.
#pragma once
#include <cstdint>

#include "../common/divide.h"
#include "../common/few_launch.h"

namespace opscope::cuda {

// The same for host and device. a [batches_a, m, k], b [batch, k, n], either turned: elements from one to the next along each extent.
struct FewProduct {
  unsigned long long a, b, c;  // addresses
  int results, k, log2;        // 1 << log2 lanes of a result
  int n, mn, batches_a;
  int a_batch, a_m, a_k, b_batch, b_n, b_k;
  Divide by_n, by_mn, by_batches_a;
};

// Terms of a lane on their way together.
constexpr int few_terms = 8;
// Multiplications, and results times threads, up to which a call is a wait for memory and for instructions.
constexpr int64_t few_multiplications = int64_t{1} << 20, few_product_threads = int64_t{1} << 17;
// The same of 16 bits with all of k in one thread.
constexpr int64_t few_multiplications_of_threads = 3 << 19, few_results_of_threads = 205'000;
constexpr int few_product_block = 512;  // threads
// Of a longer k, whose vectors would take another kernel longer to share.
constexpr int few_long_terms = 16, few_long_block = 1024, few_long_results = 100;

// Of 16-bit operands whose rows all start on 16 bytes (`aligned`), which tensor cores take as they are, fewer where k is long enough for these.
constexpr int64_t few_multiplications_aligned = int64_t{1} << 18;
constexpr int few_aligned_k = 128;
// From here on, and up to where a block has a result, a few vectors times a long matrix with k contiguous (`streamed`) are sooner done by matmul_skinny, which reads it in whole vectors.
constexpr int few_streamed = 128, few_streamed_results = 256;

inline FewLaunch few_product(int sm_count, int64_t results, int64_t k, bool aligned, bool streamed, bool half) {
  if (half && k <= few_terms && results > few_product_threads && results <= few_results_of_threads && results * k <= few_multiplications_of_threads) return {true, false, 0, 128, (results + 127) / 128};
  if (streamed && k >= few_streamed && k <= 32 * few_terms && results >= few_streamed_results) return {};
  if (aligned && k >= few_aligned_k && results * k > few_multiplications_aligned) return {};
  if (k > few_product_block * few_terms && k <= few_long_block * few_long_terms && results <= few_long_results && results * k <= few_multiplications)
    return {true, true, 5, static_cast<unsigned>((k + 32 * few_long_terms - 1) / (32 * few_long_terms) * 32), results, true};
  if (results > few_product_threads || k > few_product_block * few_terms || results * k > few_multiplications) return {};
  if (k > 32 * few_terms) {
    const int64_t threads = (k + 32 * few_terms - 1) / (32 * few_terms) * 32;
    if (results * threads > few_product_threads) return {};
    return {true, true, 5, static_cast<unsigned>(threads), results};
  }
  int log2 = 0;
  while ((few_terms << log2) < k) log2++;
  const int64_t in_all = results << log2;
  if (in_all > few_product_threads) return {};
  const unsigned threads = in_all >= int64_t{sm_count} * 128 ? 128 : in_all > 32 ? 64 : 32;
  return {true, false, log2, threads, (in_all + threads - 1) / threads};
}

}  // namespace opscope::cuda
