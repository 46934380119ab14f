// Poolings of few outputs (pooling_few.cu): a thread, lanes of a warp or a block for each. Pure; few_test.cc has what holds over the whole range.
#pragma once
#include <cstdint>

#include "../common/divide.h"
#include "../common/few_launch.h"

namespace opscope::cuda {

// The same for host and device. A window has `down` by `across` elements of the input at most; what lies behind its end counts for nothing.
struct FewWindows {
  unsigned long long x, out;  // addresses
  int outputs, log2;          // 1 << log2 lanes of an output
  int height, width, out_height, out_width;
  int down, kernel_down, stride_down, padding_down, across, kernel, stride, padding;
  Divide by_out_width, by_out_height, by_across;
  float counted;  // what a mean is over; 0: as many as an adaptive window has
};

// Elements of a window that a lane has on their way at a time; threads up to which a call is a wait for memory and for instructions; outputs of small windows, which a thread reads at once; threads of a block at most.
constexpr int few_window = 4;
// Elements of an adaptive window within a row, which a thread has on their way at once.
constexpr int64_t few_line = 8;
// Windows of up to four elements that are apart: more of them (H200: avg_pool1d f32 477,180 outputs of 3, stride 2 7.5 to 6.6 us, max_pool2d f32 401,408 of 2x2 7.0 to 6.6; stride 1, bf16 954,360 of 2 6.0 to 6.6).
constexpr int64_t few_pool_threads = int64_t{1} << 17, few_pool_outputs = int64_t{1} << 18, few_pool_apart = int64_t{1} << 19, few_pool_block = 1024;

// `elements` of the input, `window`: elements of one, at most; `together`: whether there is a kernel that has all of these on their way in one thread; `apart`: whether windows begin more than one element after each other.
inline FewLaunch few_pooling(int64_t elements, int64_t outputs, int64_t window, bool together, bool apart = false) {
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  if (outputs < 1 || elements > int64_t{1} << 24 || outputs > (!together ? few_pool_threads : apart && window <= few_window ? few_pool_apart : few_pool_outputs)) return {};
  int log2 = 0;
  while (!together && log2 < 5 && (few_window << log2) < window && (outputs << (log2 + 1)) <= few_pool_threads) log2++;
  // A block for each large window.
  const int64_t all = over(window, 32 * few_window) * 32;
  const auto wide = static_cast<unsigned>(all < few_pool_block ? all : few_pool_block);
  if (!together && window > few_window * 32 && outputs * wide <= few_pool_threads) return {true, true, 5, wide, outputs};
  // More of a window than a few rounds.
  if (!together && window > (int64_t{few_window} << log2) * 8) return {};
  const int64_t in_all = outputs << log2;
  const unsigned threads = in_all > 32 * 256 ? 128 : in_all > 32 ? 64 : 32;
  return {true, false, log2, threads, over(in_all, threads)};
}

}  // namespace opscope::cuda
