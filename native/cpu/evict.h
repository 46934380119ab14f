// Empties the caches of what a case left in them.
#pragma once
#include "team.h"

namespace opscope::cpu {

// On the leading thread. Every thread reads its share of a buffer of twice the last-level caches that the team
// reaches. Reading, not writing: dirty lines would be written back inside the timed window.
void evict(Team& team);

}  // namespace opscope::cpu
