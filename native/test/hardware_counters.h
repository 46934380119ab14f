#pragma once

namespace opscope {

// Prints a line with WRONG for every hardware counter that is read or reported wrongly. Returns the exit code of the process.
int check_counters();

}  // namespace opscope
