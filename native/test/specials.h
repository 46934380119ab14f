#pragma once

namespace opscope {

// Prints a line with WRONG for every kernel that errs. Returns the exit code of the process.
int check_specials();

}  // namespace opscope
