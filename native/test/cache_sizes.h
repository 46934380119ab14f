#pragma once

namespace opscope {

// Prints a line with WRONG for everything that is. Returns the exit code of the process.
int check_caches();

}  // namespace opscope
