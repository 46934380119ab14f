// The sizes of the caches, by the processor's own word where the system does not list them: many guests, and Windows.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "x86_cpuid.h"

namespace opscope::cpu {

struct Cache {
  int level;
  std::string type;  // "Data", "Instruction", "Unified"
  int64_t bytes;
  int shared_by;  // logical processors that share one instance
  int instances;  // instances that the usable processors reach
};

// Answers of cpuid to a leaf and a subleaf.
using Cpuid = std::function<Registers(uint32_t leaf, uint32_t subleaf)>;

// Of so many usable logical processors on so many cores; none where nothing is told. One leaf describes each cache (Intel SDM, volume 2, CPUID, leaf 4; AMD APM, volume 3,
// appendix E, leaf 0x8000001D), which hypervisors may hide. AMD's older leaves are not read: of the last level they have only the sum over the package, and without it the largest listed would be taken for it.
std::vector<Cache> caches_of(const Cpuid& cpuid, int processors, int cores);

}  // namespace opscope::cpu
