// Memory that nobody may touch, as AddressSanitizer sees it. Without it both functions do nothing.
#pragma once
#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OPSCOPE_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define OPSCOPE_ASAN 1
#endif

#if defined(OPSCOPE_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace opscope::cpu {

// From here on a read or write of these bytes ends the process with a report.
inline void forbid([[maybe_unused]] const void* data, [[maybe_unused]] size_t bytes) {
#if defined(OPSCOPE_ASAN)
  __asan_poison_memory_region(data, bytes);
#endif
}

inline void allow([[maybe_unused]] const void* data, [[maybe_unused]] size_t bytes) {
#if defined(OPSCOPE_ASAN)
  __asan_unpoison_memory_region(data, bytes);
#endif
}

}  // namespace opscope::cpu
