// What blocks take that have equal runs of the stages of tiles (matmul_f32_runs.cu), the same for host and device.
#pragma once

namespace opscope::cuda {

// The tiles that each has alone, and the stages of its run of the others; the first `longer` runs have one more.
struct F32Runs {
  int rounds, stages, longer;
};

}  // namespace opscope::cuda
