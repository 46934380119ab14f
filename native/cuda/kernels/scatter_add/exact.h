// Which scatter_add takes sums that are the same in any order (scatter_exact.cu), and its ranges of rows. Pure; see shape.h.
#pragma once
#include "../scatter_exact.h"
#include "sizes.h"

namespace opscope::cuda {

// Rows of many indices each: of fewer, ranges whose rows are whole vectors are faster; sums in integers where rows are narrow (H200, before and now: f32 154463x10, 10785847 1013 to 510 us, 2000000 160 to 92, 20011x10, 300001 36 to 24,
// 20011x32, 1000003 123 to 68, 12423x64, 400001 104 to 66, f16 30011x30, 600001 73 to 45; 50000x16, 1200001 85 to 77; 100003x6, 2000001 118 to 86 and 5000001 176 to 210, 100003x7, 1500001 69 to 75, 100000x16, 1600000 95 to 105, 250007x5, 3000001 119 to 123).
inline bool scatter_takes_exact(const ScatterShape& s) {
  constexpr int64_t least_indices = int64_t{1} << 18, least_each = 24, least_of_pieces = 13, narrow = 24, least_bytes = 32, least_of_narrow = 18, most_of_narrow = 32;
  const int64_t row_bytes = s.dim * s.bytes, least = scatter_vectors(s) ? least_each : least_of_pieces;
  return s.indices >= least_indices && s.indices >= s.rows * least && (row_bytes >= least_bytes || (row_bytes >= narrow && s.indices >= s.rows * least_of_narrow && s.indices <= s.rows * most_of_narrow));
}

// span 0: others take the case.
struct ScatterExact {
  int64_t span = 0, room = 0, bins = 0, shared = 0;
  int shift = 0;              // span is 2 to the power of it
  int vector = 0, lanes = 0;  // bytes of what a thread has of a row, and threads of a row
  int sharers = 1;            // of a row's indices
};
inline ScatterExact scatter_exact(int64_t sm_count, int64_t shared_bytes, const ScatterShape& s) {
  constexpr int64_t limit = int64_t{1} << 30, own = 2 << 10;  // own: bytes that the kernel has beside its lists
  if (s.rows > limit || s.indices > limit || s.dim > 1024) return {};
  ScatterExact t;
  const int64_t most = scatter_most_bins(shared_bytes);
  t.vector = s.bytes == 4 ? 16 : 8;
  while (s.dim * s.bytes % t.vector != 0) t.vector /= 2;
  t.lanes = static_cast<int>(s.dim * s.bytes / t.vector);
  const auto bins = [&](int shift) { return ((s.rows - 1) >> shift) + 1; };
  const auto shared = [&](int shift) { return ((int64_t{1} << shift) + scatter_room_of(s, int64_t{1} << shift)) * 4; };
  // Some thousand indices of a range, as long as these are three for each multiprocessor (H200: f32 154463x10, 10785847 with 4,500 526 us, 9,000 639; 2000000 with 830 142 us, 3,300 100; 20011x32, 1000003 with 1,600 86 us, 3,200 105).
  constexpr int64_t some = 6144, least_blocks = 3;
  while (bins(t.shift) > most || (bins(t.shift + 1) >= sm_count * least_blocks && scatter_room_of(s, int64_t{2} << t.shift) <= some)) t.shift++;
  t.bins = bins(t.shift), t.span = int64_t{1} << t.shift, t.room = scatter_room_of(s, t.span), t.shared = shared(t.shift);
  while (t.sharers < 8 && t.span * t.lanes * t.sharers < exact_threads) t.sharers *= 2;
  return t.shared + own <= shared_bytes ? t : ScatterExact{};
}

}  // namespace opscope::cuda
