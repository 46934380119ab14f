// Inputs by the rule in core/random.ts, bit for bit.
#pragma once
#include <cstdint>

#include "prepared.h"

namespace opscope::cpu {

// Writes elements begin .. end of a tensor to out[begin .. end].
void fill_range(const Fill& fill, int64_t begin, int64_t end, float* out);

}  // namespace opscope::cpu
