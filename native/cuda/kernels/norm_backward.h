// Gradients of norms with each tensor read once (norm_backward.cu), the same for host and device: rows on their way, threads of a block at most, bytes of
// shared memory for the sums of its warps, and groups of a block at most.
#pragma once

constexpr int norm_stages = 3, norm_threads = 512, norm_scratch_bytes = 512, norm_groups = 8;

// Elements up to which one block does all, in shared memory, and its threads.
constexpr int norm_small = 2048, norm_small_threads = 256;
