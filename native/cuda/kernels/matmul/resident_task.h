// What the kernels of products with a short operand that stays in shared memory take (matmul/resident.cuh), the same for host and device.
#pragma once

namespace opscope::cuda {

// Warp groups that multiply, and threads of a block: one warp more fills the ring.
constexpr int resident_groups = 4, resident_threads = resident_groups * 128 + 32;
// Rows or columns of the long operand in a tile.
constexpr int resident_tile = 64;

struct ResidentTask {
  int length, few, k;   // rows of a long a, or columns of a long b; the other side
  int tiles;            // of the long side
  int chunks;           // of 128 bytes of k
  int slots, slot;      // of the ring, and bytes of each
  int bytes;            // that the copy engine brings for a tile
  int brought;          // bytes of the short operand that the copy engine brings; 0: threads put it in order
  int staged;           // bytes of the results of a warp group
  int few_line, few_k;  // elements from one line of the short operand to the next; from one of k to the next
};

}  // namespace opscope::cuda
