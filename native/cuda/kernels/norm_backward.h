// Gradients of norms with each tensor read once (norm_backward.cu), the same for host and device: rows on their way, threads of a block at most, and bytes of
// shared memory for the sums of its warps.
#pragma once

constexpr int norm_stages = 3, norm_threads = 512, norm_scratch_bytes = 512;

// Elements up to which one block does all, in shared memory, and its threads.
constexpr int norm_small = 2048, norm_small_threads = 256;
