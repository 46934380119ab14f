// cumsum of rows that several blocks share, read once (cumsum_slots.cu). Pure; order_test.cc has what holds over the range.
#pragma once
#include <cstdint>

namespace opscope::cuda {

// Threads of a block, blocks that every multiprocessor holds at once, neighbouring elements of a thread in a round, its rounds at most, and sums of other blocks that it reads at a time.
constexpr int cumsum_slot_threads = 256, cumsum_slot_blocks = 4, cumsum_slot_each = 4, cumsum_slot_rounds = 8, cumsum_slot_words = 3;
// Parts of a row: each reads the sums of all before it.
constexpr int64_t cumsum_slot_parts = 4096;

struct CumsumSlots {
  int rounds = 0;  // of a block, all on their way together; 0: other kernels take the case
  int64_t parts = 0, blocks = 0;  // blocks of a row, which wait for those before them, and in all
};

// As few rounds as leave no more blocks than run at a time, or else as hold a row. More blocks yet are left to others where parts are a third empty (H200: bf16 26843x1250 59.4 us, so 69.5; 3850x8295 70.9 and 74.7).
inline CumsumSlots cumsum_slots(int sm_count, int64_t rows, int64_t cols) {
  // Rows of fewer elements take less than a block.
  constexpr int64_t least = 1024;
  if (cols <= least || cols > int64_t{1} << 30) return {};
  // A part starts on a whole vector, in front of the row's first element where that does not.
  const int64_t elements = rows > 1 && cols % cumsum_slot_each != 0 ? cols + cumsum_slot_each - 1 : cols;
  for (int rounds = 1;; rounds *= 2) {
    const int64_t part = int64_t{cumsum_slot_threads} * cumsum_slot_each * rounds, parts = (elements + part - 1) / part;
    const bool resident = rows * parts <= int64_t{sm_count} * cumsum_slot_blocks;
    if (!resident && parts > 1 && rounds < cumsum_slot_rounds) continue;
    const bool few = rows * parts <= int64_t{sm_count} * 32, filled = cols * 3 >= parts * part * 2;
    return parts <= cumsum_slot_parts && (few || filled) ? CumsumSlots{rounds, parts, rows * parts} : CumsumSlots{};
  }
}

}  // namespace opscope::cuda
