// Gradients of norms of rows that a cluster of blocks has (norm_backward_wide.cu), the same for host and device: threads of a block at most, vectors of a thread, rows on their way, and blocks of a cluster at most.
#pragma once

constexpr int norm_wide_threads = 512, norm_wide_vectors = 4, norm_wide_stages = 3, norm_wide_blocks = 8;
