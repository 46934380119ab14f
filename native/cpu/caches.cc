#include "caches.h"

#include <algorithm>
#include <iterator>

namespace opscope::cpu {

namespace {

constexpr uint32_t MAX_BASIC = 0, MAX_EXTENDED = 0x80000000u;
constexpr uint32_t INTEL_CACHES = 4, AMD_CACHES = 0x8000001Du;

constexpr uint32_t bits(uint32_t value, int from, int count) { return value >> from & ((1u << count) - 1); }

// How many processors share a cache of `ids` identifiers, and how many such caches there are. Up to two identifiers are the threads of one core,
// of which not all may be usable; more are rounded up to a power of two.
Cache shared(Cache cache, int ids, int processors, int cores) {
  cache.shared_by = ids <= 2 ? (processors + cores - 1) / cores : std::min(ids, processors);
  cache.instances = (processors + cache.shared_by - 1) / cache.shared_by;
  return cache;
}

std::vector<Cache> described(const Cpuid& cpuid, uint32_t leaf, int processors, int cores) {
  constexpr const char* TYPES[] = {"", "Data", "Instruction", "Unified"};
  constexpr uint32_t MOST = 8;
  std::vector<Cache> list;
  for (uint32_t i = 0; i < MOST; i++) {
    const Registers r = cpuid(leaf, i);
    const uint32_t type = bits(r.a, 0, 5);
    if (type == 0 || type >= std::size(TYPES)) break;
    const int64_t line = bits(r.b, 0, 12) + 1, partitions = bits(r.b, 12, 10) + 1, ways = bits(r.b, 22, 10) + 1, sets = int64_t{r.c} + 1;
    list.push_back(shared({static_cast<int>(bits(r.a, 5, 3)), TYPES[type], line * partitions * ways * sets, 1, 1}, static_cast<int>(bits(r.a, 14, 12)) + 1, processors, cores));
  }
  return list;
}

}  // namespace

std::vector<Cache> caches_of(const Cpuid& cpuid, int processors, int cores) {
  std::vector<Cache> list;
  if (cpuid(MAX_BASIC, 0).a >= INTEL_CACHES) list = described(cpuid, INTEL_CACHES, processors, cores);
  if (list.empty() && cpuid(MAX_EXTENDED, 0).a >= AMD_CACHES) list = described(cpuid, AMD_CACHES, processors, cores);
  return list;
}

}  // namespace opscope::cpu
