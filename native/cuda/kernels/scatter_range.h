// What scatter_range.cu takes, the same for host and device: threads of a block that fills bins and indices of each, bins, rows of a range and indices of a list, at most.
#pragma once

constexpr int bin_threads = 512, bin_indices = 8, most_bins = 1024, most_span = 16384, most_listed = 128;
