// What scatter_range.cu takes, the same for host and device: threads of a block that fills bins and indices of each, bins, rows of a range and indices of a list, at most.
#pragma once

constexpr int bin_threads = 512, bin_indices = 8, few_bins = 1024, most_bins = 4096, most_span = 16384, most_listed = 128;
// Bytes of shared memory of a block that fills so many bins.
constexpr int bin_shared(int bins) { return bin_threads * bin_indices * 8 + bins * 8; }
