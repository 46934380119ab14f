// What an x86 processor tells of itself.
#pragma once
#include <cstdint>

namespace opscope::cpu {

struct Registers {
  uint32_t a = 0, b = 0, c = 0, d = 0;
};

// All zero on other processors.
Registers cpuid(uint32_t leaf, uint32_t subleaf = 0);

}  // namespace opscope::cpu
