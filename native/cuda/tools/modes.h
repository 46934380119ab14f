// Checks of what happens around a kernel: the modes of sampling, inputs filled anew, rotated buffers, and the red team.
#pragma once

namespace opscope::cuda::tools {

// Prints one line per check and returns how many failed. `small`: few and small samples, for compute-sanitizer.
int check_modes(bool small);

}  // namespace opscope::cuda::tools
