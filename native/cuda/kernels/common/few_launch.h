// How a kernel for few elements is launched (`few.h` of a family says when it is).
#pragma once
#include <cstdint>

namespace opscope::cuda {

struct FewLaunch {
  bool taken = false;
  bool blocks_each = false;  // a block for each result or row, else lanes of a warp
  int log2 = 0;              // 1 << log2 lanes have a result, where a block has several
  unsigned threads = 0;
  int64_t blocks = 0;
  bool long_sum = false;     // of a block, whose threads have twice as many terms
};

}  // namespace opscope::cuda
