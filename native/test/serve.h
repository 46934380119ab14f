#pragma once

namespace opscope {

// Answers requests until standard input ends.
int serve();

}  // namespace opscope
