// What rows_stay.cu and its plan (rows/stay.h) share: threads of a block, and rows in its shared memory at most.
#pragma once

namespace opscope::cuda {
constexpr int stay_threads = 512, stay_stages = 2;
}
