// What the kernels of service.cu and the host agree on. Included by both.
#pragma once
#include <cstdint>

namespace opscope::cuda {

// How a tensor is filled: core/random.ts FillWords. `kind` is a place in its FILL_KINDS.
struct FillRule {
  uint32_t kind, key0, key1;
  float factor;
  int32_t low;
  uint32_t below;
};

// The bits of one element that a scan looks for: every bit of `finite_mask` set means NaN or infinity (0: no float).
struct ScanRule {
  uint32_t sentinel, finite_mask;
  int32_t poisoned;  // whether the sentinel is looked for
};

// What a scan adds up: elements, and bytes of the guard bands that changed.
struct ScanCounts {
  unsigned long long unwritten, non_finite, outside;
};

// Bytes around a tensor or a workspace that nobody may write, and what they hold.
constexpr int guard_bytes = 1024;
constexpr unsigned char guard_byte = 0xb5;

}  // namespace opscope::cuda
