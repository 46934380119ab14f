// Kernels that cheat, for tests of the measuring engine: none of them may end as a measurement.
#pragma once
#include <span>
#include <string_view>

#include "kernel.h"

namespace opscope::cpu {

struct Cheat {
  std::string_view impl, title;
  const Kernel* kernel;  // for op add
};

// Empty unless the environment has OPSCOPE_RED_TEAM=1.
std::span<const Cheat> cheats();

}  // namespace opscope::cpu
