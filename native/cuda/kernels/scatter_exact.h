// What scatter_exact.cu takes, the same for host and device: threads of a block and blocks of a multiprocessor that have registers.
#pragma once

constexpr int exact_threads = 256, exact_blocks = 5;
