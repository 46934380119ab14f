// What scatter_ranges of scatter_add.cu takes of shared memory, the same for host and device: indices that a block looks at together, places of those of its rows that wait,
// and values that are added up together.
#pragma once

constexpr int range_threads = 512, range_batch = 8192, range_waiting = 2 * range_batch, range_values = 4096;
constexpr int range_bytes = range_waiting * 6 + range_values * 4;
