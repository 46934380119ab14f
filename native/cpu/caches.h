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

struct Caches {
  std::vector<Cache> list;  // empty: nothing is told
  bool complete = false;    // the last level is among them
};

// Answers of cpuid to a leaf and a subleaf.
using Cpuid = std::function<Registers(uint32_t leaf, uint32_t subleaf)>;

// Of so many usable logical processors on so many cores. One leaf describes each cache (Intel SDM, volume 2, CPUID, leaf 4; AMD APM, volume 3, appendix E,
// leaf 0x8000001D). Hypervisors may hide it but leave AMD's older leaves (0x80000005 and 0x80000006): these have the caches of a core, and of the last
// level only the sum over the package, which no core reaches as a whole.
Caches caches_of(const Cpuid& cpuid, int processors, int cores);

}  // namespace opscope::cpu
