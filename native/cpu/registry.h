// The kernels found at build time, by op and instruction set. Defined in the generated kernel_list.cc.
#pragma once
#include <span>
#include <string_view>

#include "kernel.h"

namespace opscope::cpu {

struct Entry {
  std::string_view op, isa;
  const Kernel* kernel;
};

std::span<const Entry> all_kernels();

}  // namespace opscope::cpu
