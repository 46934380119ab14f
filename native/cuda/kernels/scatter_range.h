// What scatter_range.cu takes, the same for host and device: indices of a thread that fills bins, bins of smaller blocks, rows of a range and indices of a list, at most.
#pragma once

constexpr int bin_indices = 8, few_bins = 1024, most_bins = 4096, most_span = 16384, most_listed = 128;
// Threads of a block that fills so many bins, and bytes of its shared memory: counters of bins, and what it puts in their order.
constexpr int bin_threads_of(long long bins) { return bins > few_bins ? 1024 : 512; }
constexpr int bin_shared_of(long long bins) { return (bins > few_bins ? most_bins : few_bins) * 8 + bin_threads_of(bins) * bin_indices * 8; }
