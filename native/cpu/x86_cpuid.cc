#include "x86_cpuid.h"

#if defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#elif defined(__x86_64__)
#include <cpuid.h>
#endif

namespace opscope::cpu {

Registers cpuid([[maybe_unused]] uint32_t leaf, [[maybe_unused]] uint32_t subleaf) {
  Registers r;
#if defined(_MSC_VER) && defined(_M_X64)
  int values[4];
  __cpuidex(values, static_cast<int>(leaf), static_cast<int>(subleaf));
  r = {static_cast<uint32_t>(values[0]), static_cast<uint32_t>(values[1]), static_cast<uint32_t>(values[2]), static_cast<uint32_t>(values[3])};
#elif defined(__x86_64__)
  __cpuid_count(leaf, subleaf, r.a, r.b, r.c, r.d);
#endif
  return r;
}

}  // namespace opscope::cpu
