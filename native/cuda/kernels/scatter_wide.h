// What scatter_wide.cu takes, the same for host and device: threads of a block, and blocks of a multiprocessor that have registers.
#pragma once

constexpr int wide_threads = 128, wide_blocks = 8;
