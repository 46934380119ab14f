// Threads of a block of rows_several.cu, for its plan (rows/several.h) too.
#pragma once

namespace opscope::cuda {
constexpr int several_threads = 128;
}
