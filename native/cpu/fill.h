// Tensors filled by the rule in core/random.ts, bit for bit.
#pragma once
#include <cstdint>

#include "prepared.h"

namespace opscope::cpu {

// Writes elements begin .. end of a tensor that starts at `out`, rounded to the storage type.
void fill_range(const Fill& fill, Storage storage, int64_t begin, int64_t end, void* out);

}  // namespace opscope::cpu
