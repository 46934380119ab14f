// Empties the caches of what a case left in them.
#pragma once
#include <cstddef>
#include <vector>

#include "team.h"

namespace opscope::cpu {

struct Region {
  const std::byte* data;
  size_t bytes;
};

// On the leading thread. Takes the lines of `regions` out of every cache by address, where the processor has an
// instruction for that; then every thread reads its share of a buffer of twice the last-level caches that the team
// reaches, which empties the rest: address translations, code, prefetchers. Either alone is not enough: caches that
// guess at reuse keep a part of the case through 2x their size of reads (a fifth of a 4 MiB copy on Zen 4).
// Reading, not writing: dirty lines would be written back inside the timed window.
void evict(Team& team, const std::vector<Region>& regions);

}  // namespace opscope::cpu
