#pragma once

namespace opscope {

// Prints a line with WRONG for every kernel that errs where it streams what it writes. Returns the exit code of the process.
int check_streamed();

}  // namespace opscope
