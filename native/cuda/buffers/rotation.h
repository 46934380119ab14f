// How many sets of buffers a case is rotated over, so that no cache can answer a call (Mode::rotated).
#pragma once
#include <cstdint>

namespace opscope::cuda {

// The fewest sets whose tensors together are twice the cache, at least 2. Throws Error "unsupported" with the figures when
// that takes more than 256 sets or more than a quarter of the free memory. Bytes throughout: of one set's tensors, of all
// of a set's buffers, of the last-level cache, and of memory that is free (without the sets there already are).
int64_t sets_to_rotate(int64_t tensor_bytes, int64_t set_bytes, int64_t cache_bytes, int64_t free_bytes);

}  // namespace opscope::cuda
