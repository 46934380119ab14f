// What order_choose.cu takes, the same for host and device: threads of a block, and keys that it sorts at most, of rows in shared memory and of others.
#pragma once

constexpr int choose_threads = 512, most_chosen = 2048, most_chosen_far = 4096;
// Bytes of shared memory that its kernels have beside the row, at most.
constexpr int choose_own_shared = 31 << 10;
